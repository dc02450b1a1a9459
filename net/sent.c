/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "backend.h"

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_net_sent, member, member_unit, text)

const struct lull_counter_info lull_net_sent_table[] = {
	ROW(pkts, "packets", "packets sent"),
	ROW(bytes, "bytes", "payload bytes sent"),
	ROW(too_long, "packets", "packets dropped because they exceed the MTU"),
	ROW(unreachable, "packets", "packets dropped without a route, socket or MAC address"),
	ROW(full, "packets", "packets dropped because the queue was full"),
	{ .name = NULL },
};

void
lull_net_sent_read(const struct lull_net_sent *from, struct lull_net_sent *to)
{
	*to = (struct lull_net_sent){
		.pkts = LULL_COUNTER_READ(from->pkts),
		.bytes = LULL_COUNTER_READ(from->bytes),
		.too_long = LULL_COUNTER_READ(from->too_long),
		.unreachable = LULL_COUNTER_READ(from->unreachable),
		.full = LULL_COUNTER_READ(from->full),
	};
}
