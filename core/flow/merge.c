/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry is an open record or an *awaited* one: an announcement whose partial has not come yet.
 * Records of one flow and cut lie more than idle_ns apart, else they would have been joined. A
 * record that ended but must wait for an awaited one is *held*: that one's partial will join it,
 * for it lasted beyond the record's end and had no silence between.
 */
#include "merge.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "cut.h"
#include "index.h"
#include "name.h"
#include "wheel.h"

#define LIST_FREE LULL_WHEEL_OWN
#define LIST_HELD (LULL_WHEEL_OWN + 1)
#define LIST_AWAITED (LULL_WHEEL_OWN + 2)

/*
 * Entries that share a head: so many only a flow leaves behind that falls silent a thousand times
 * while a worker stands still, or a flood whose sender knows the seed. The oldest gives way.
 */
#define CHAIN_MAX 4096
/* Announcements that were forgotten are counted by low bits of their digest. */
#define FORGOTTEN_SLOTS 256

struct merge_entry {
	struct lull_wheel_node node; /* first: the wheel finds it */
	struct lull_flow_record record;
};

struct lull_flow_merge {
	struct lull_flow_index index;
	uint64_t idle_ns, closed_ns;
	struct lull_flow_cuts cuts;
	uint32_t payload_bytes;
	uint32_t records_max;
	uint32_t fresh; /* entries from here on were never used */
	bool hold;
	lull_flow_give *give;
	void *give_arg;
	struct lull_flow_name name;
	uint32_t forgotten[FORGOTTEN_SLOTS]; /* announced, forgotten, not here yet */
	alignas(LULL_CACHE_LINE) struct lull_flow_merge_counters counters;
	alignas(LULL_CACHE_LINE) struct lull_wheel wheel;
};

static size_t
merge_aligned(size_t bytes)
{
	return (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

static size_t
merge_stride(const struct lull_flow_merge_config *config)
{
	return offsetof(struct merge_entry, record) + lull_flow_record_bytes(config->payload_bytes);
}

static size_t
merge_heads_bytes(const struct lull_flow_merge_config *config)
{
	return merge_aligned(lull_flow_index_heads(config->records_max) * sizeof(uint32_t));
}

size_t
lull_flow_merge_size(const struct lull_flow_merge_config *config)
{
	struct lull_flow_merge_config full = lull_flow_merge_config_full(config);

	return merge_aligned(sizeof(struct lull_flow_merge)) + merge_heads_bytes(&full) +
	       full.records_max * merge_stride(&full);
}

int
lull_flow_merge_init(void *memory, const struct lull_flow_merge_config *config,
		     lull_flow_give *give, void *give_arg, struct lull_flow_merge **out)
{
	struct lull_flow_merge *merge = memory;
	struct lull_flow_merge_config full = lull_flow_merge_config_full(config);
	uint8_t *heads = (uint8_t *)memory + merge_aligned(sizeof(*merge));

	if (memory == NULL || give == NULL || (uintptr_t)memory % LULL_CACHE_LINE != 0 ||
	    lull_flow_merge_config_check(config, NULL) != 0)
		return -EINVAL;
	memset(merge, 0, sizeof(*merge));
	merge->idle_ns = full.idle_ns;
	merge->closed_ns = full.closed_ns;
	merge->cuts = lull_flow_cuts(full.active_ns);
	merge->payload_bytes = full.payload_bytes;
	merge->records_max = full.records_max;
	merge->hold = full.hold;
	lull_flow_name_init(&merge->name, full.seed);
	merge->give = give;
	merge->give_arg = give_arg;
	lull_flow_index_init(&merge->index, (uint32_t *)(void *)heads, full.records_max);
	lull_wheel_init(&merge->wheel, heads + merge_heads_bytes(&full), merge_stride(&full));
	*out = merge;
	return 0;
}

static struct merge_entry *
merge_entry(const struct lull_flow_merge *merge, uint32_t index)
{
	return (struct merge_entry *)lull_wheel_node(&merge->wheel, index);
}

static uint64_t
merge_record_pkts(const struct lull_flow_record *record)
{
	return record->packets[0] + record->packets[1];
}

static uint64_t
merge_deadline_ns(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	/* A shared one may have an earlier part in an entry that knows nothing of the end. */
	uint64_t silence_ns = record->closed && !record->shared ?
				      LULL_MIN(merge->closed_ns, merge->idle_ns) :
				      merge->idle_ns;

	return lull_flow_cut_deadline_ns(&merge->cuts, silence_ns, &record->key, record->cut,
					 record->last_clock_ns);
}

/* ---- entries ---- */

static bool
merge_same(const struct lull_flow_record *a, const struct lull_flow_record *b)
{
	return a->digest == b->digest && a->cut == b->cut && a->connection == b->connection &&
	       lull_flow_key_same(&a->key, &b->key);
}

static uint32_t
merge_chain(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	return *lull_flow_index_head(&merge->index, lull_flow_name(&merge->name, record));
}

static bool
merge_is_awaited(const struct merge_entry *entry)
{
	return entry->node.list == LIST_AWAITED;
}

static void
merge_free(struct lull_flow_merge *merge, uint32_t index)
{
	lull_flow_index_unlink(&merge->index, &merge->wheel,
			       lull_flow_name(&merge->name, &merge_entry(merge, index)->record),
			       index);
	lull_wheel_put(&merge->wheel, index, LIST_FREE);
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

static uint32_t *
merge_forgotten(struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	return &merge->forgotten[record->digest % FORGOTTEN_SLOTS];
}

static void
merge_give(struct lull_flow_merge *merge, uint32_t index)
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
	merge_free(merge, index);
}

static void
merge_free_awaited(struct lull_flow_merge *merge, uint32_t index)
{
	LULL_COUNTER_ADD(merge->counters.awaited, UINT64_MAX);
	merge_free(merge, index);
}

/* Give a record early, or forget an announcement until its partial is here. */
static void
merge_evict(struct lull_flow_merge *merge, uint32_t index)
{
	struct lull_flow_record *record = &merge_entry(merge, index)->record;

	if (merge_is_awaited(merge_entry(merge, index))) {
		++*merge_forgotten(merge, record);
		merge_free_awaited(merge, index);
		return;
	}
	record->end = LULL_FLOW_END_EVICTED;
	record->exact = 0;
	merge_spoil(merge, record);
	LULL_COUNTER_ADD(merge->counters.evicted, 1);
	merge_give(merge, index);
}

/* The oldest record: held ones have ended already. Announcements go when there is nothing else. */
static uint32_t
merge_oldest(const struct lull_flow_merge *merge)
{
	uint32_t index = merge->wheel.lists[LIST_HELD].head;

	if (index == LULL_WHEEL_NONE)
		index = lull_wheel_oldest(&merge->wheel);
	return index != LULL_WHEEL_NONE ? index : merge->wheel.lists[LIST_AWAITED].head;
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

/* A copy of @p record in the index, in no list. */
static uint32_t
merge_create(struct lull_flow_merge *merge, const struct lull_flow_record *record, size_t bytes)
{
	const struct lull_wheel_list *unused = &merge->wheel.lists[LIST_FREE];
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

/* ---- messages ---- */

static void
merge_announce(struct lull_flow_merge *merge, const struct lull_flow_record *message)
{
	uint32_t index = merge_create(merge, message, sizeof(*message));

	merge_entry(merge, index)->record.exact = 1;
	lull_wheel_put(&merge->wheel, index, LIST_AWAITED);
	LULL_COUNTER_ADD(merge->counters.awaited, 1);
}

/* Records that waited for this one: ended long ago, so due at once unless it joins them. */
static void
merge_release_held(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	uint32_t index = merge_chain(merge, part);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (entry->node.list == LIST_HELD && merge_same(&entry->record, part))
			lull_wheel_arm(&merge->wheel, index,
				       merge_deadline_ns(merge, &entry->record));
	}
}

/*
 * An announced partial has come. Entries of one flow leave a worker in the order in which they were
 * announced, so it is the oldest: the last in the chain. Returns whether it is still exact.
 */
static bool
merge_arrived(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	uint32_t index = merge_chain(merge, part), found = LULL_WHEEL_NONE;
	bool exact;

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		const struct merge_entry *entry = merge_entry(merge, index);

		if (merge_is_awaited(entry) && entry->record.workers == part->workers &&
		    merge_same(&entry->record, part))
			found = index;
	}
	if (found == LULL_WHEEL_NONE) {
		--*merge_forgotten(merge, part);
		return false;
	}
	exact = merge_entry(merge, found)->record.exact;
	merge_free_awaited(merge, found);
	merge_release_held(merge, part);
	return exact;
}

static bool
merge_touches(const struct lull_flow_merge *merge, const struct lull_flow_record *a,
	      const struct lull_flow_record *b)
{
	return a->first_clock_ns <= b->last_clock_ns + merge->idle_ns &&
	       b->first_clock_ns <= a->last_clock_ns + merge->idle_ns;
}

/* The open record that holds @p part now; what it bridges becomes one. NONE: there is none. */
static uint32_t
merge_join(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	uint32_t index = merge_chain(merge, part), next, whole = LULL_WHEEL_NONE;

	for (; index != LULL_WHEEL_NONE; index = next) {
		struct merge_entry *entry = merge_entry(merge, index);
		struct lull_flow_record *record;

		next = entry->node.chain;
		if (merge_is_awaited(entry) || !merge_same(&entry->record, part) ||
		    !merge_touches(merge, &entry->record, part))
			continue;
		if (whole == LULL_WHEEL_NONE) {
			whole = index;
			continue;
		}
		record = &merge_entry(merge, whole)->record;
		lull_flow_record_join(record, &entry->record, merge->payload_bytes);
		LULL_COUNTER_ADD(merge->counters.open, UINT64_MAX);
		LULL_COUNTER_ADD(merge->counters.joined, 1);
		merge_free(merge, index);
	}
	if (whole == LULL_WHEEL_NONE)
		return whole;
	lull_flow_record_join(&merge_entry(merge, whole)->record, part, merge->payload_bytes);
	LULL_COUNTER_ADD(merge->counters.joined, 1);
	return whole;
}

static void
merge_pass(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	merge->give(merge->give_arg, part);
	LULL_COUNTER_ADD(merge->counters.records, 1);
	LULL_COUNTER_ADD(merge->counters.pkts, merge_record_pkts(part));
}

static void
merge_partial(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	bool exact = !part->announced || merge_arrived(merge, part);
	bool empty = merge->counters.open == 0 && merge->counters.awaited == 0;
	uint32_t index = empty ? LULL_WHEEL_NONE : merge_join(merge, part);
	struct lull_flow_record *record;

	if (index == LULL_WHEEL_NONE && !merge->hold && !part->announced) {
		merge_pass(merge, part);
		return;
	}
	if (index == LULL_WHEEL_NONE) {
		index = merge_create(merge, part, lull_flow_record_bytes(merge->payload_bytes));
		LULL_COUNTER_ADD(merge->counters.open, 1);
	}
	LULL_COUNTER_ADD(merge->counters.open_pkts, merge_record_pkts(part));
	record = &merge_entry(merge, index)->record;
	record->exact &= exact;
	lull_wheel_arm(&merge->wheel, index, merge_deadline_ns(merge, record));
}

void
lull_flow_merge_add(struct lull_flow_merge *merge, const struct lull_flow_record *message)
{
	if (message->message == LULL_FLOW_ANNOUNCE) {
		LULL_COUNTER_ADD(merge->counters.announcements, 1);
		merge_announce(merge, message);
	} else {
		LULL_COUNTER_ADD(merge->counters.partials, 1);
		merge_partial(merge, message);
	}
}

/* ---- completeness ---- */

/* May an announced entry that has not come yet belong to this record? */
static bool
merge_must_wait(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	uint32_t index = merge_chain(merge, record);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		const struct merge_entry *entry = merge_entry(merge, index);

		if (merge_is_awaited(entry) && merge_same(&entry->record, record) &&
		    entry->record.first_clock_ns <= record->last_clock_ns + merge->idle_ns)
			return true;
	}
	return false;
}

/* All workers have flushed: nothing is awaited any more. */
static void
merge_give_all(struct lull_flow_merge *merge)
{
	const struct lull_wheel_list *lists = merge->wheel.lists;
	uint32_t index;

	while ((index = lists[LIST_HELD].head) != LULL_WHEEL_NONE)
		merge_give(merge, index);
	while ((index = lull_wheel_oldest(&merge->wheel)) != LULL_WHEEL_NONE)
		merge_give(merge, index);
	while ((index = lists[LIST_AWAITED].head) != LULL_WHEEL_NONE)
		merge_free_awaited(merge, index);
}

void
lull_flow_merge_advance(struct lull_flow_merge *merge, uint64_t watermark_ns)
{
	uint32_t index, steps = UINT32_MAX;

	if (watermark_ns == UINT64_MAX) {
		merge_give_all(merge);
		return;
	}
	while ((index = lull_wheel_due(&merge->wheel, watermark_ns, &steps)) != LULL_WHEEL_NONE) {
		if (merge_must_wait(merge, &merge_entry(merge, index)->record))
			lull_wheel_put(&merge->wheel, index, LIST_HELD);
		else
			merge_give(merge, index);
	}
}

void
lull_flow_merge_timeouts(struct lull_flow_merge *merge, uint64_t idle_ns)
{
	uint32_t index;

	merge->idle_ns = idle_ns;
	for (index = 0; index < merge->fresh; index++) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (entry->node.list != LIST_FREE && entry->node.list != LIST_AWAITED)
			lull_wheel_arm(&merge->wheel, index,
				       merge_deadline_ns(merge, &entry->record));
	}
}

void
lull_flow_merge_hold(struct lull_flow_merge *merge, bool hold)
{
	merge->hold = hold;
}

const struct lull_flow_merge_counters *
lull_flow_merge_counters(const struct lull_flow_merge *merge)
{
	return &merge->counters;
}
