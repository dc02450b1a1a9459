/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

static const char *const node_examples[] = {
	"lull-channel-node --rail kernel:eth0 --rail kernel:eth1",
	"lull-channel-node --rail dpdk:0000:81:00.0 --rail dpdk:0000:81:00.1 --max-latency 100us",
	"lull-channel-perf --listen --name b --rail node: --key-file key",
	NULL,
};

static const struct lull_program node_program = {
	.name = "lull-channel-node",
	.version = LULL_VERSION,
	.summary =
		"Own the rails of a node and carry packets for all its processes with a channel.",
	.examples = node_examples,
	.options = node_options,
	LULL_PROGRAM_STATE(struct node),
	.check = node_check,
	.instead = node_instead,
	.open = node_open,
	.run = node_run,
	.close = node_close,
	.result = node_result,
	.dpdk = node_dpdk,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&node_program, argc, argv);
}
