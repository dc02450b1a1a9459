/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim_program.h"

static const char *const sim_examples[] = {
	"lull-sim --traffic poisson:300k --governor spin,ramp,objective --max-latency 100",
	"lull-sim --traffic poisson:300k --link 10G --ring 4096 --max-latency 200",
	"lull-sim --pcap my.pcap --governor objective --max-latency 200 --json -",
	"lull-sim --traffic onoff:10M,1ms,9ms --link 25G --ring 2048 --stall 100ms:2ms",
	"lull-sim --traffic poisson:100k --competitor 100 --sched-policy fifo",
	NULL,
};

static const struct lull_program sim_program = {
	.name = "lull-sim",
	.version = LULL_VERSION,
	.summary = "Run governors in virtual time, on traffic and costs of your choice, and say "
		   "exactly what they cost and saved.",
	.examples = sim_examples,
	.options = sim_options,
	LULL_PROGRAM_STATE(struct sim_program),
	.preset = sim_preset,
	.check = sim_check,
	.instead = sim_describe,
	.open = sim_open,
	.run = sim_run,
	.close = sim_close,
	.result = sim_result,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&sim_program, argc, argv);
}
