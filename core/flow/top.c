/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <string.h>

static bool
top_heavier(const struct lull_flow_record *a, const struct lull_flow_record *b)
{
	uint64_t a_bytes = a->bytes[0] + a->bytes[1], b_bytes = b->bytes[0] + b->bytes[1];

	if (a_bytes != b_bytes)
		return a_bytes > b_bytes;
	return lull_flow_record_compare(a, b) < 0;
}

void
lull_flow_top_clear(struct lull_flow_top *top)
{
	top->count = 0;
}

void
lull_flow_top_offer(struct lull_flow_top *top, const struct lull_flow_record *record)
{
	uint32_t place = top->count;

	if (place == LULL_FLOW_TOP_MAX && !top_heavier(record, &top->records[place - 1]))
		return;
	if (place < LULL_FLOW_TOP_MAX)
		top->count++;
	else
		place--;
	while (place > 0 && top_heavier(record, &top->records[place - 1])) {
		top->records[place] = top->records[place - 1];
		place--;
	}
	top->records[place] = *record;
	top->records[place].payload_len[0] = 0;
	top->records[place].payload_len[1] = 0;
}
