/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

size_t
lull_scheduler_state_none(const struct lull_dispatch_config *config)
{
	(void)config;
	return 0;
}

void
lull_scheduler_init_none(void *state, const struct lull_schedule_view *view)
{
	(void)state;
	(void)view;
}
