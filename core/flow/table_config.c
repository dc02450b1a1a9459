/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/range.h"
#include "table.h"

#define DEFAULT_ENTRIES 65536
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define DEFAULT_CLOSED_NS (5 * LULL_NS_PER_S)
#define DAY_NS (24 * 3600 * LULL_NS_PER_S)
#define DEFAULT_PREFIX4_BITS 24
#define DEFAULT_PREFIX6_BITS 48
#define EXTRA_BYTES_MAX 65536

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_flow_table_counters, member, unit_text, help_text)
const struct lull_counter_info lull_flow_table_counter_table[] = {
	ROW(pkts, "packets", "packets recorded in an entry"),
	ROW(unrecorded, "packets", "packets without a record because the table was full"),
	ROW(behind, "packets", "packets that came after their worker's watermark had passed them"),
	ROW(entries, "1", "entries now"),
	ROW(entry_pkts, "packets", "packets in the entries now"),
	ROW(handed_pkts, "packets", "packets in the entries handed over"),
	ROW(created, "1", "entries made"),
	ROW(ended_idle, "1", "entries handed over after the idle timeout"),
	ROW(ended_active, "1", "entries handed over at the active timeout"),
	ROW(ended_flush, "1", "entries handed over at the end of the input"),
	ROW(ended_closed, "1", "entries handed over with the end of their TCP connection"),
	ROW(evicted, "1", "entries handed over early because the table was full"),
	ROW(half_open_evicted, "1", "of these, entries of half-open flows"),
	ROW(left_out, "1",
	    "entries of half-open flows left out by sampling because the table was full"),
	ROW(left_out_pkts, "packets", "packets in the entries left out"),
	ROW(announced, "1", "entries announced to the aggregators"),
	ROW(deferred, "1", "times that an entry had to wait for room in a ring"),
	{ .name = NULL },
};

struct lull_flow_table_config
lull_flow_table_config_full(const struct lull_flow_table_config *config)
{
	struct lull_flow_table_config full = *config;

	if (full.entries_max == 0)
		full.entries_max = DEFAULT_ENTRIES;
	if (full.idle_ns == 0)
		full.idle_ns = DEFAULT_IDLE_NS;
	if (full.closed_ns == 0)
		full.closed_ns = DEFAULT_CLOSED_NS;
	if (full.prefix4_bits == 0)
		full.prefix4_bits = DEFAULT_PREFIX4_BITS;
	if (full.prefix6_bits == 0)
		full.prefix6_bits = DEFAULT_PREFIX6_BITS;
	return full;
}

int
lull_flow_table_config_check(const struct lull_flow_table_config *config, struct lull_range *error)
{
	struct lull_flow_table_config full = lull_flow_table_config_full(config);
	const struct lull_range ranges[] = {
		{ "entries_max", full.entries_max, 16, 1u << 26 },
		{ "idle_ns", full.idle_ns, LULL_NS_PER_MS, DAY_NS },
		{ "closed_ns", full.closed_ns, LULL_NS_PER_MS, DAY_NS },
		{ "active_ns", full.active_ns, full.active_ns > 0 ? LULL_NS_PER_S : 0, DAY_NS },
		{ "payload_bytes", full.payload_bytes, 0, LULL_FLOW_PAYLOAD_MAX },
		{ "extra_bytes", full.extra_bytes, 0, EXTRA_BYTES_MAX },
		{ "prefix4_bits", full.prefix4_bits, 1, 32 },
		{ "prefix6_bits", full.prefix6_bits, 1, 128 },
		{ "worker_index", full.worker_index, 0, 63 },
	};

	return LULL_RANGES_CHECK(ranges, error);
}
