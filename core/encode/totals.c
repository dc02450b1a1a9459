/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/encode.h>

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_encode_totals, member, member_unit, text)

const struct lull_counter_info lull_encode_totals_table[] = {
	ROW(rx, "packets", "received by the I/O loops"),
	ROW(dispatched, "packets", "taken by the workers' rings"),
	ROW(not_ip, "packets", "of no flow: neither IPv4 nor IPv6"),
	ROW(malformed, "packets", "of no flow: headers contradict each other or the frame"),
	ROW(truncated, "packets", "of no flow: the capture cut a header that the key needs"),
	ROW(link, "packets", "of no flow: a link type that is not read"),
	ROW(drop_ring, "packets", "dropped because all rings were full"),
	ROW(missed, "packets", "lost by the ports for want of descriptors"),
	ROW(nombuf, "packets", "lost by the ports for want of mbufs"),
	ROW(errors, "packets", "refused by the ports as damaged"),
	ROW(unrecorded, "packets", "no room in a flow table"),
	ROW(recorded, "packets", "in the records given so far"),
	ROW(records, "records", "given so far"),
	ROW(evicted, "records", "given early for want of room"),
	{ NULL, NULL, NULL, 0 },
};
