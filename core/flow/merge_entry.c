/* SPDX-License-Identifier: BSD-3-Clause */
/* Merge, its entries: which of them gives way when there is no room. */
#include "merge.h"

#include <string.h>

/*
 * Entries that share a head: so many only a flow leaves behind that falls silent a thousand times
 * while a worker stands still, or a flood whose sender knows the seed. The oldest gives way.
 */
#define CHAIN_MAX 4096

void
lull_flow_merge_off_half_open(struct lull_flow_merge *merge, uint32_t index)
{
	if (merge_entry(merge, index)->node.list != MERGE_LIST_HALF_OPEN)
		return;
	lull_wheel_take(&merge->wheel, index);
	merge->half_open--;
}

void
lull_flow_merge_free(struct lull_flow_merge *merge, uint32_t index)
{
	lull_flow_merge_off_half_open(merge, index);
	lull_flow_index_unlink(&merge->index, &merge->wheel,
			       lull_flow_name(&merge->name, &merge_entry(merge, index)->record),
			       index);
	lull_wheel_put(&merge->wheel, index, MERGE_LIST_FREE);
}

/* What is awaited of the flow of an evicted record will not be whole. */
static void
merge_spoil(struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	uint32_t index = merge_chain(merge, record);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (merge_is_awaited(entry) && merge_same(&entry->record, record))
			entry->record.exact = 0;
	}
}

void
lull_flow_merge_give(struct lull_flow_merge *merge, uint32_t index)
{
	struct lull_flow_record *record = &merge_entry(merge, index)->record;
	uint64_t pkts = merge_record_pkts(record);

	/* What is forgotten may have been a part of it. */
	if (*merge_forgotten(merge, record) > 0)
		record->exact = 0;
	merge->give(merge->give_arg, record);
	LULL_COUNTER_ADD(merge->counters.records, 1);
	LULL_COUNTER_ADD(merge->counters.pkts, pkts);
	LULL_COUNTER_ADD(merge->counters.open, UINT64_MAX);
	LULL_COUNTER_ADD(merge->counters.open_pkts, 0 - pkts);
	lull_flow_merge_free(merge, index);
}

void
lull_flow_merge_free_awaited(struct lull_flow_merge *merge, uint32_t index)
{
	LULL_COUNTER_ADD(merge->counters.awaited, UINT64_MAX);
	lull_flow_merge_free(merge, index);
}

/* Give a record early, or forget an announcement until its partial is here. */
static void
merge_evict(struct lull_flow_merge *merge, uint32_t index)
{
	struct lull_flow_record *record = &merge_entry(merge, index)->record;

	if (merge_is_awaited(merge_entry(merge, index))) {
		++*merge_forgotten(merge, record);
		lull_flow_merge_free_awaited(merge, index);
		return;
	}
	record->end = LULL_FLOW_END_EVICTED;
	record->exact = 0;
	merge_spoil(merge, record);
	LULL_COUNTER_ADD(merge->counters.evicted, 1);
	lull_flow_merge_give(merge, index);
}

/*
 * The oldest record: half-open ones first, and held ones have ended already. Announcements go when
 * there is nothing else.
 */
static uint32_t
merge_oldest(const struct lull_flow_merge *merge)
{
	uint32_t index = merge->wheel.lists[MERGE_LIST_HALF_OPEN].head;

	if (index == LULL_WHEEL_NONE)
		index = merge->wheel.lists[MERGE_LIST_HELD].head;
	if (index == LULL_WHEEL_NONE)
		index = lull_wheel_oldest(&merge->wheel);
	return index != LULL_WHEEL_NONE ? index : merge->wheel.lists[MERGE_LIST_AWAITED].head;
}

/*
 * Keep the chain of @p record short: the oldest record in it goes, an announcement when there is
 * nothing else, so that none is forgotten that a held record waits for.
 */
static void
merge_shorten(struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	uint32_t index = merge_chain(merge, record), last = LULL_WHEEL_NONE;
	uint32_t awaited = LULL_WHEEL_NONE, count = 0;

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		if (merge_is_awaited(merge_entry(merge, index)))
			awaited = index;
		else
			last = index;
		count++;
	}
	if (count >= CHAIN_MAX)
		merge_evict(merge, last != LULL_WHEEL_NONE ? last : awaited);
}

uint32_t
lull_flow_merge_create(struct lull_flow_merge *merge, const struct lull_flow_record *record,
		       size_t bytes)
{
	const struct lull_wheel_list *unused = &merge->wheel.lists[MERGE_LIST_FREE];
	uint32_t index;

	merge_shorten(merge, record);
	if (unused->head == LULL_WHEEL_NONE && merge->fresh == merge->records_max)
		merge_evict(merge, merge_oldest(merge));
	index = unused->head;
	if (index != LULL_WHEEL_NONE) {
		lull_wheel_take(&merge->wheel, index);
	} else {
		index = merge->fresh++;
		merge_entry(merge, index)->node.list = LULL_WHEEL_NONE;
	}
	memcpy(&merge_entry(merge, index)->record, record, bytes);
	lull_flow_index_link(&merge->index, &merge->wheel, lull_flow_name(&merge->name, record),
			     index);
	return index;
}
