/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_rows.h"

const char *
lull_dispatch_scheduler_name(uint32_t index)
{
	uint32_t i;

	for (i = 0; i < index && lull_schedulers[i] != NULL; i++)
		;
	return lull_schedulers[i] != NULL ? lull_scheduler_name(lull_schedulers[i]) : NULL;
}

const char *
lull_dispatch_scheduler_help(uint32_t index)
{
	return lull_scheduler_summary(lull_schedulers[index]);
}

const char *
lull_dispatch_order_name(uint32_t index)
{
	return index <= LULL_ORDER_RESEQUENCE ? lull_order_name((enum lull_order)index) : NULL;
}
