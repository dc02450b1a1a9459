/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "source.h"

#define PIXEL_NONE UINT32_MAX

void
source_preset(void *settings)
{
	((struct source_settings *)settings)->pixel_choice = PIXEL_NONE;
}

int
source_check(void *state, struct lull_error *error)
{
	struct source_settings *settings = &((struct source *)state)->settings;
	struct lull_emulator_config *config = &settings->emulator;

	if (settings->cpus.count > 1)
		return lull_error_set(error, -EINVAL, "cpus: one thread sends, so one CPU");
	config->pixel = settings->pixel_choice == PIXEL_NONE ?
				LULL_PIXEL_UNKNOWN :
				(enum lull_pixel)(settings->pixel_choice + 1);
	config->log = settings->log;
	return lull_emulator_config_check(config, error);
}
