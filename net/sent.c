/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "backend.h"

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_net_sent, member, member_unit, text)

const struct lull_counter_info lull_net_sent_table[] = {
	ROW(pkts, "packets", "sent"),
	ROW(bytes, "bytes", "of their payload"),
	ROW(too_long, "packets", "dropped: longer than the MTU"),
	ROW(unreachable, "packets", "dropped: no route, no socket or no MAC address for them"),
	ROW(full, "packets", "not taken, for want of room"),
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
