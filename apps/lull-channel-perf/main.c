/* SPDX-License-Identifier: BSD-3-Clause */
#include "perf.h"

static const char *const perf_examples[] = {
	"lull-channel-perf --listen --name b --rail kernel:eth0 --rail kernel:eth1 --key-file key",
	"lull-channel-perf --to b --rail kernel:eth0 --rail kernel:eth1 --key-file key",
	"lull-channel-perf --to b --job latency --rail dpdk:af_packet=eth0 --key-file key --json -",
	"lull-channel-perf --to b --to c --to d --job incast --rail kernel:eth0 --key-file key",
	NULL,
};

static const struct lull_program perf_program = {
	.name = "lull-channel-perf",
	.version = LULL_VERSION,
	.summary = "Measure a channel between nodes: bandwidth, latency, requests, incast, bursts.",
	.examples = perf_examples,
	.options = perf_options,
	LULL_PROGRAM_STATE(struct perf),
	.check = perf_check,
	.instead = perf_instead,
	.open = perf_open,
	.run = perf_run,
	.close = perf_close,
	.result = perf_result,
	.print = perf_print,
	.dpdk = lull_link_dpdk,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&perf_program, argc, argv);
}
