/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of one flow and cut lie more than idle_ns apart, else they would have been joined. A
 * record that ended but must wait for an awaited one is *held*: that one's partial will join it,
 * for it lasted beyond the record's end and had no silence between.
 *
 * Of a worker that is late nothing is known beyond its watermark, neither its partials nor its
 * announcements. What ended behind it may lack a part of that worker; and what of it began before
 * the last record was given without it may belong to such a record.
 */
#include "merge.h"

#include <errno.h>
#include <string.h>

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

/* ---- messages ---- */

/* Half-open so far, but another part has come up: it waits for that one. */
static void
merge_arm_half_open(struct lull_flow_merge *merge, const struct lull_flow_record *message)
{
	uint32_t index = merge_chain(merge, message);

	for (; merge->half_open > 0 && index != LULL_WHEEL_NONE;
	     index = merge_entry(merge, index)->node.chain) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (entry->node.list != MERGE_LIST_HALF_OPEN ||
		    !merge_same(&entry->record, message))
			continue;
		lull_flow_merge_off_half_open(merge, index);
		lull_wheel_arm(&merge->wheel, index, merge_deadline_ns(merge, &entry->record));
	}
}

static void
merge_announce(struct lull_flow_merge *merge, const struct lull_flow_record *message)
{
	uint32_t index;

	merge_arm_half_open(merge, message);
	index = lull_flow_merge_create(merge, message, sizeof(*message));
	merge_entry(merge, index)->record.exact = 1;
	lull_wheel_put(&merge->wheel, index, MERGE_LIST_AWAITED);
	LULL_COUNTER_ADD(merge->counters.awaited, 1);
}

/* Records that waited for this one: ended long ago, so due at once unless it joins them. */
static void
merge_release_held(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	uint32_t index = merge_chain(merge, part);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (entry->node.list == MERGE_LIST_HELD && merge_same(&entry->record, part))
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
	lull_flow_merge_free_awaited(merge, found);
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
		lull_flow_merge_free(merge, index);
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
	LULL_COUNTER_ADD(merge->counters.passed, 1);
	LULL_COUNTER_ADD(merge->counters.records, 1);
	LULL_COUNTER_ADD(merge->counters.pkts, merge_record_pkts(part));
}

/* May other parts of its record come, or have come? An evicted one may go on in the next. */
static bool
merge_holds(const struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	return part->announced != 0 ||
	       (merge->hold && (part->split != 0 || part->end == LULL_FLOW_END_EVICTED));
}

/* May the record that it is a part of have been given? */
static bool
merge_is_late(const struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	uint32_t worker = (uint32_t)__builtin_ctzll(part->workers);

	return merge_deadline_ns(merge, part) <= merge->advanced_ns ||
	       (merge->left_ns[worker] > 0 && part->first_clock_ns <= merge->left_ns[worker]);
}

/* Is a part of this record awaited, be it of the same worker? */
static bool
merge_awaits(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	uint32_t index = merge_chain(merge, record);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		const struct merge_entry *entry = merge_entry(merge, index);

		if (merge_is_awaited(entry) && merge_same(&entry->record, record))
			return true;
	}
	return false;
}

/* Until when it stays: its own time, or as long as there is room for half-open ones. */
static void
merge_keep(struct lull_flow_merge *merge, uint32_t index)
{
	const struct lull_flow_record *record = &merge_entry(merge, index)->record;
	const struct lull_wheel_list *half_open = &merge->wheel.lists[MERGE_LIST_HALF_OPEN];

	lull_flow_merge_off_half_open(merge, index);
	if (record->half_open == 0 || merge_awaits(merge, record)) {
		lull_wheel_arm(&merge->wheel, index, merge_deadline_ns(merge, record));
		return;
	}
	lull_wheel_put(&merge->wheel, index, MERGE_LIST_HALF_OPEN);
	if (++merge->half_open > merge->records_max / MERGE_HALF_OPEN_SHARE)
		lull_flow_merge_give(merge, half_open->head);
}

static void
merge_partial(struct lull_flow_merge *merge, const struct lull_flow_record *part)
{
	bool exact = !part->announced || merge_arrived(merge, part);
	bool empty = merge->counters.open == 0 && merge->counters.awaited == 0;
	bool holds = merge_holds(merge, part);
	uint32_t index = empty ? LULL_WHEEL_NONE : merge_join(merge, part);
	struct lull_flow_record *record;

	if (holds && part->end != LULL_FLOW_END_EVICTED && merge_is_late(merge, part)) {
		LULL_COUNTER_ADD(merge->counters.late_parts, 1);
		exact = false;
	}
	if (index == LULL_WHEEL_NONE && !holds) {
		merge_pass(merge, part);
		return;
	}
	if (index == LULL_WHEEL_NONE) {
		index = lull_flow_merge_create(merge, part,
					       lull_flow_record_bytes(merge->payload_bytes));
		LULL_COUNTER_ADD(merge->counters.open, 1);
	}
	LULL_COUNTER_ADD(merge->counters.open_pkts, merge_record_pkts(part));
	record = &merge_entry(merge, index)->record;
	record->exact &= exact;
	merge_keep(merge, index);
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

/* May an announced entry of these workers that has not come yet belong to this record? */
static bool
merge_must_wait(const struct lull_flow_merge *merge, const struct lull_flow_record *record,
		uint64_t workers)
{
	uint32_t index = merge_chain(merge, record);

	for (; index != LULL_WHEEL_NONE; index = merge_entry(merge, index)->node.chain) {
		const struct merge_entry *entry = merge_entry(merge, index);

		if (merge_is_awaited(entry) && (entry->record.workers & workers) != 0 &&
		    merge_same(&entry->record, record) &&
		    entry->record.first_clock_ns <= record->last_clock_ns + merge->idle_ns)
			return true;
	}
	return false;
}

/*
 * May a worker that is late, or was and has not caught up, have a part of this ended record? Of the
 * latter kind only what was held is given meanwhile.
 */
static bool
merge_lacks(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	if (merge->back != 0)
		return true;
	return merge->late != 0 && (merge_deadline_ns(merge, record) > merge->late_ns ||
				    merge_must_wait(merge, record, merge->late));
}

static void
merge_give_ended(struct lull_flow_merge *merge, uint32_t index)
{
	struct lull_flow_record *record = &merge_entry(merge, index)->record;

	if (merge_lacks(merge, record)) {
		LULL_COUNTER_ADD(merge->counters.late, 1);
		record->exact = 0;
	}
	lull_flow_merge_give(merge, index);
}

/* All workers have flushed: nothing is awaited any more. */
static void
merge_give_all(struct lull_flow_merge *merge)
{
	const struct lull_wheel_list *lists = merge->wheel.lists;
	uint32_t index;

	while ((index = lists[MERGE_LIST_HALF_OPEN].head) != LULL_WHEEL_NONE)
		lull_flow_merge_give(merge, index);
	while ((index = lists[MERGE_LIST_HELD].head) != LULL_WHEEL_NONE)
		lull_flow_merge_give(merge, index);
	while ((index = lull_wheel_oldest(&merge->wheel)) != LULL_WHEEL_NONE)
		lull_flow_merge_give(merge, index);
	while ((index = lists[MERGE_LIST_AWAITED].head) != LULL_WHEEL_NONE)
		lull_flow_merge_free_awaited(merge, index);
}

/* It has ended by the watermark. */
static void
merge_end(struct lull_flow_merge *merge, uint32_t index)
{
	if (merge_must_wait(merge, &merge_entry(merge, index)->record, ~merge->late))
		lull_wheel_put(&merge->wheel, index, MERGE_LIST_HELD);
	else
		merge_give_ended(merge, index);
}

/* In the order in which they came, which is nearly that of their deadlines. */
static void
merge_end_half_open(struct lull_flow_merge *merge, uint64_t watermark_ns)
{
	const struct lull_wheel_list *half_open = &merge->wheel.lists[MERGE_LIST_HALF_OPEN];

	while (half_open->head != LULL_WHEEL_NONE) {
		uint32_t index = half_open->head;

		if (merge_deadline_ns(merge, &merge_entry(merge, index)->record) > watermark_ns)
			return;
		lull_flow_merge_off_half_open(merge, index);
		merge_end(merge, index);
	}
}

void
lull_flow_merge_advance(struct lull_flow_merge *merge, uint64_t watermark_ns)
{
	uint32_t index, steps = UINT32_MAX;

	merge->advanced_ns = watermark_ns;
	if (watermark_ns == UINT64_MAX) {
		merge_give_all(merge);
		return;
	}
	for (uint64_t late = merge->late; late != 0; late &= late - 1)
		merge->left_ns[__builtin_ctzll(late)] = watermark_ns;
	for (uint64_t back = merge->back; back != 0; back &= back - 1) {
		uint32_t worker = (uint32_t)__builtin_ctzll(back);

		if (watermark_ns > merge->left_ns[worker])
			merge->back &= ~(1ull << worker);
	}
	merge_end_half_open(merge, watermark_ns);
	while ((index = lull_wheel_due(&merge->wheel, watermark_ns, &steps)) != LULL_WHEEL_NONE)
		merge_end(merge, index);
}

/* What waited for them alone ended long ago: it is due. */
static void
merge_release_all(struct lull_flow_merge *merge)
{
	const struct lull_wheel_list *held = &merge->wheel.lists[MERGE_LIST_HELD];
	uint32_t index;

	while ((index = held->head) != LULL_WHEEL_NONE)
		lull_wheel_arm(&merge->wheel, index,
			       merge_deadline_ns(merge, &merge_entry(merge, index)->record));
}

void
lull_flow_merge_late(struct lull_flow_merge *merge, uint64_t workers, uint64_t watermark_ns)
{
	uint64_t more = workers & ~merge->late;

	merge->back = (merge->back | (merge->late & ~workers)) & ~workers;
	merge->late = workers;
	merge->late_ns = workers != 0 ? watermark_ns : 0;
	if (more != 0)
		merge_release_all(merge);
}

void
lull_flow_merge_timeouts(struct lull_flow_merge *merge, uint64_t idle_ns)
{
	uint32_t index;

	merge->idle_ns = idle_ns;
	for (index = 0; index < merge->fresh; index++) {
		struct merge_entry *entry = merge_entry(merge, index);

		if (entry->node.list != MERGE_LIST_FREE && entry->node.list != MERGE_LIST_AWAITED &&
		    entry->node.list != MERGE_LIST_HALF_OPEN)
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
