/* SPDX-License-Identifier: BSD-3-Clause */
#include "cam.h"
#include "net/module.h"

static const char *const cam_examples[] = {
	"lull-cam --backend kernel:eth0 --stream "
	"protocol=rfc4175,port=5004,width=1920,height=1280,pixel=uyvy8 --json -",
	"lull-cam --discover --backend kernel:eth0",
	"lull-cam --backend dpdk:af_packet=eth0 --control 192.168.1.10 --resend --record pictures",
	"lull-cam --backend kernel:eth0 --stream "
	"protocol=gvsp,port=20202,width=1920,height=1280,pixel=bayer-rg12p --cameras 8 --check",
	NULL,
};

/* What makes the program leave at once. */
static int
main_instead(void *state, bool *done, struct lull_error *error)
{
	struct cam *cam = state;
	const struct cam_settings *settings = &cam->settings;
	int rc = 0;

	*done = settings->help_stream || settings->man_stream || settings->discover ||
		settings->check;
	if (settings->help_stream || settings->man_stream) {
		cam_spec_print_keys(stdout, settings->man_stream);
	} else if (settings->discover) {
		rc = cam_discover_print(cam, stdout, error);
	} else if (settings->check) {
		rc = cam_open(cam, error);
		if (rc == 0)
			rc = cam_check_print(cam, stdout, error);
		cam_close(cam);
	}
	return rc;
}

static const char *
main_dpdk(void)
{
	const struct lull_net_module *module = lull_net_module_loaded();

	return module != NULL ? module->dpdk_version() : "";
}

static const struct lull_program cam_program = {
	.name = "lull-cam",
	.version = LULL_VERSION,
	.summary = "Receive images of cameras over Ethernet, and say what was lost and how long it "
		   "took.",
	.examples = cam_examples,
	.options = cam_options,
	LULL_PROGRAM_STATE(struct cam),
	.check = cam_check,
	.instead = main_instead,
	.open = cam_open_all,
	.run = cam_run,
	.close = cam_close,
	.result = cam_result,
	.dpdk = main_dpdk,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&cam_program, argc, argv);
}
