/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_sim.h"

static const char *const flow_sim_examples[] = {
	"lull-flow-sim --scheduler all --zipf 1.1 --load 0.5,0.7,0.9",
	"lull-flow-sim --scheduler hrw,sticky --target 1 --start cold --bisect --seeds 5",
	"lull-flow-sim --scheduler sticky --order resequence --elephant 50 --json -",
	NULL,
};

static const struct lull_program flow_sim_program = {
	.name = "lull-flow-sim",
	.version = LULL_VERSION,
	.summary =
		"Dispatch packets to workers in virtual time, and say what each scheduler loses, "
		"moves and reorders.",
	.examples = flow_sim_examples,
	.options = flow_sim_options,
	LULL_PROGRAM_STATE(struct flow_sim),
	.check = flow_sim_check,
	.open = flow_sim_open,
	.run = flow_sim_run,
	.close = flow_sim_close,
	.result = flow_sim_result,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&flow_sim_program, argc, argv);
}
