/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel_sim.h"

static const char *const channel_sim_examples[] = {
	"lull-channel-sim --nodes 2 --rails 200M,100M,50M --wire loss=1%,delay=1ms --kill 1@2s",
	"lull-channel-sim --rails 200M,100M --spread weigh --speed 0:50M@1s --json -",
	"lull-channel-sim --job latency --message 64 --wire loss=1% --rest 1ms",
	"lull-channel-sim --job incast --nodes 33 --rails 1G",
	"lull-channel-sim --scenarios 10000 --seed 1",
	NULL,
};

static const struct lull_program channel_sim_program = {
	.name = "lull-channel-sim",
	.version = LULL_VERSION,
	.summary = "Run channels between nodes in virtual time, over rails with faults of your "
		   "choice, and check every promise of a channel at each step.",
	.examples = channel_sim_examples,
	.options = channel_sim_options,
	LULL_PROGRAM_STATE(struct channel_sim),
	.check = channel_sim_check,
	.open = channel_sim_open,
	.run = channel_sim_run,
	.close = channel_sim_close,
	.result = channel_sim_result,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&channel_sim_program, argc, argv);
}
