/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

static const char *const copy_examples[] = {
	"lull-channel-copy --listen --into /data --name b --rail kernel:eth0 --key-file key",
	"lull-channel-copy --to b --rail kernel:eth0 --key-file key results/ notes.txt",
	"tar c results | lull-channel-copy --to b --rail kernel:eth0 --key-file key -",
	"lull-channel-copy --listen --into - --name b --rail kernel:eth0 --key-file key | tar x",
	NULL,
};

static const struct lull_program copy_program = {
	.name = "lull-channel-copy",
	.version = LULL_VERSION,
	.summary =
		"Copy files and folders to another node over all its rails; go on after a break.",
	.examples = copy_examples,
	.operands = "[FILE|FOLDER|-]...",
	.options = copy_options,
	LULL_PROGRAM_STATE(struct copy),
	.check = copy_check,
	.instead = copy_instead,
	.open = copy_open,
	.run = copy_run,
	.close = copy_close,
	.result = copy_result,
	.dpdk = lull_link_dpdk,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&copy_program, argc, argv);
}
