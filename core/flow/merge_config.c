/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "merge.h"

#define DEFAULT_RECORDS 65536
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define DAY_NS (24 * 3600 * LULL_NS_PER_S)

#define ROW(member, unit_text, help_text)                                                          \
	{                                                                                          \
		.name = #member, .unit = unit_text, .help = help_text,                             \
		.offset = offsetof(struct lull_flow_merge_counters, member)                        \
	}
const struct lull_counter_info lull_flow_merge_counter_table[] = {
	ROW(partials, "1", "partial records taken"),
	ROW(announcements, "1", "announcements taken"),
	ROW(records, "1", "records given"),
	ROW(pkts, "packets", "packets in the records given"),
	ROW(open, "1", "open records now"),
	ROW(open_pkts, "packets", "packets in the open records now"),
	ROW(awaited, "1", "entries announced and not yet here"),
	ROW(joined, "1", "partial records added to another one"),
	ROW(evicted, "1", "records given early for want of room"),
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

static int
merge_range(struct lull_config_error *error, const char *field, uint64_t value, uint64_t low,
	    uint64_t high)
{
	if (value >= low && value <= high)
		return 0;
	if (error != NULL)
		*error = (struct lull_config_error){ field, value, low, high };
	return -EINVAL;
}

int
lull_flow_merge_config_check(const struct lull_flow_merge_config *config,
			     struct lull_config_error *error)
{
	struct lull_flow_merge_config full = lull_flow_merge_config_full(config);
	int rc = merge_range(error, "records_max", full.records_max, 16, 1u << 26);

	if (rc == 0)
		rc = merge_range(error, "idle_ns", full.idle_ns, LULL_NS_PER_MS, DAY_NS);
	if (rc == 0 && full.active_ns > 0)
		rc = merge_range(error, "active_ns", full.active_ns, LULL_NS_PER_S, DAY_NS);
	if (rc == 0)
		rc = merge_range(error, "payload_bytes", full.payload_bytes, 0,
				 LULL_FLOW_PAYLOAD_MAX);
	return rc;
}
