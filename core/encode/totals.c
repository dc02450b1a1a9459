/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/encode.h>

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_encode_totals, member, member_unit, text)

const struct lull_counter_info lull_encode_totals_table[] = {
	ROW(rx, "packets", "packets received by the I/O threads"),
	ROW(dispatched, "packets", "packets put into the workers' rings"),
	ROW(not_ip, "packets", "packets without a flow: neither IPv4 nor IPv6"),
	ROW(malformed, "packets",
	    "packets without a flow: headers contradict each other or the frame"),
	ROW(truncated, "packets", "packets without a flow: the capture cut a header of the key"),
	ROW(link, "packets", "packets without a flow: unknown link type"),
	ROW(drop_ring, "packets", "packets dropped because all rings were full"),
	ROW(missed, "packets", "packets lost by the ports without free descriptors"),
	ROW(nombuf, "packets", "packets lost by the ports without free buffers"),
	ROW(errors, "packets", "damaged packets refused by the ports"),
	ROW(unrecorded, "packets", "packets without a record because a flow table was full"),
	ROW(recorded, "packets", "packets in the records exported so far"),
	ROW(records, "records", "records exported so far"),
	ROW(evicted, "records", "records exported early because a table was full"),
	{ NULL, NULL, NULL, 0 },
};
