/* SPDX-License-Identifier: BSD-3-Clause */
#include "framework.h"

static const char *const model_examples[] = {
	"lull-model --send-rest usleep:0 --receive-rest usleep:0 --rate 400k --duration 5",
	"lull-model --size 512 --rate 200k --receive-rest objective --duration 5 --json -",
	"lull-model --burst-cost",
	NULL,
};

static const struct lull_program model_program = {
	.name = "lull-model",
	.version = LULL_VERSION,
	.summary = "Measure what a sleeping sender and a sleeping receiver use and lose: the test "
		   "framework of the sleep model.",
	.examples = model_examples,
	.options = model_options,
	LULL_PROGRAM_STATE(struct framework),
	.check = framework_check,
	.open = framework_open,
	.run = framework_run,
	.close = framework_close,
	.result = framework_result,
	.print = framework_print,
	.dpdk = lull_engine_dpdk_version,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&model_program, argc, argv);
}
