/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

static const char *const source_examples[] = {
	"lull-cam-source --to 127.0.0.1:5004 --frames 300 --json -",
	"lull-cam-source --protocol gvsp --bind 10.0.0.2 --pixel bayer-rg12p",
	"lull-cam-source --protocol cmp --interface veth0 --cameras 8 --packet 8640",
	NULL,
};

static const struct lull_program source_program = {
	.name = "lull-cam-source",
	.version = LULL_VERSION,
	.summary = "Be one or several cameras that exist only in software: known pictures, known "
		   "faults.",
	.examples = source_examples,
	.options = source_options,
	LULL_PROGRAM_STATE(struct source),
	.preset = source_preset,
	.check = source_check,
	.open = source_open,
	.run = source_run,
	.close = source_close,
	.result = source_result,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&source_program, argc, argv);
}
