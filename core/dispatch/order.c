/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/dispatch.h>

#include "base/assert.h"

const char *
lull_order_name(enum lull_order order)
{
	static const char *const names[] = {
		[LULL_ORDER_NONE] = "none",
		[LULL_ORDER_DRAIN] = "drain",
		[LULL_ORDER_RESEQUENCE] = "resequence",
	};

	LULL_ASSERT(order <= LULL_ORDER_RESEQUENCE);
	return names[order];
}
