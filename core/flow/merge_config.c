/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/range.h"
#include "merge.h"

#define DEFAULT_RECORDS 65536
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define DAY_NS (24 * 3600 * LULL_NS_PER_S)

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_flow_merge_counters, member, unit_text, help_text)
const struct lull_counter_info lull_flow_merge_counter_table[] = {
	ROW(partials, "1", "partial records received"),
	ROW(announcements, "1", "announcements received"),
	ROW(records, "1", "complete records passed on"),
	ROW(pkts, "packets", "packets in the records passed on"),
	ROW(open, "1", "open records now"),
	ROW(open_pkts, "packets", "packets in the open records now"),
	ROW(awaited, "1", "announced entries that have not arrived yet"),
	ROW(joined, "1", "partial records joined to another one"),
	ROW(passed, "1", "records passed on at once because their flow was not split"),
	ROW(evicted, "1", "records passed on early because memory was full"),
	ROW(late, "1", "records passed on that may lack the part of a late worker"),
	ROW(late_parts, "1", "partial records that came after their record was passed on"),
	{ .name = NULL },
};

struct lull_flow_merge_config
lull_flow_merge_config_full(const struct lull_flow_merge_config *config)
{
	struct lull_flow_merge_config full = *config;

	if (full.records_max == 0)
		full.records_max = DEFAULT_RECORDS;
	if (full.idle_ns == 0)
		full.idle_ns = DEFAULT_IDLE_NS;
	return full;
}

int
lull_flow_merge_config_check(const struct lull_flow_merge_config *config, struct lull_range *error)
{
	struct lull_flow_merge_config full = lull_flow_merge_config_full(config);
	const struct lull_range ranges[] = {
		{ "records_max", full.records_max, 16, 1u << 26 },
		{ "idle_ns", full.idle_ns, LULL_NS_PER_MS, DAY_NS },
		{ "active_ns", full.active_ns, full.active_ns > 0 ? LULL_NS_PER_S : 0, DAY_NS },
		{ "payload_bytes", full.payload_bytes, 0, LULL_FLOW_PAYLOAD_MAX },
	};

	return LULL_RANGES_CHECK(ranges, error);
}
