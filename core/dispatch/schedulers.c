/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "scheduler.h"

/* A new scheduler is one new file and one line here. */
/* clang-format off */
const struct lull_scheduler *const lull_schedulers[] = {
	&lull_scheduler_rr_packet,
	&lull_scheduler_rr_burst,
	&lull_scheduler_crc32,
	&lull_scheduler_hash,
	&lull_scheduler_hrw,
	&lull_scheduler_ahrw,
	&lull_scheduler_ahrw_paper,
	&lull_scheduler_subflow,
	&lull_scheduler_subflow_paper,
	&lull_scheduler_sticky,
	&lull_scheduler_jsq,
	NULL,
};
/* clang-format on */

const struct lull_scheduler *
lull_scheduler_find(const char *name)
{
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		if (strcmp(lull_schedulers[i]->name, name) == 0)
			return lull_schedulers[i];
	}
	return NULL;
}

const char *
lull_scheduler_name(const struct lull_scheduler *scheduler)
{
	return scheduler->name;
}

const char *
lull_scheduler_summary(const struct lull_scheduler *scheduler)
{
	return scheduler->summary;
}

bool
lull_scheduler_splits(const struct lull_scheduler *scheduler)
{
	return scheduler->splits;
}
