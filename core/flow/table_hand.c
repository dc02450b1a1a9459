/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "table.h"

/* Moves on the wheel per entry that may be handed over. */
#define STEPS_PER_ENTRY 8

/* ---- announcements: those that found no room wait in a list, the oldest first ---- */

static void
table_mute_add(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);

	entry->mute = 1;
	entry->mute_next = LULL_WHEEL_NONE;
	entry->mute_prev = table->mute_tail;
	if (table->mute_tail == LULL_WHEEL_NONE)
		table->mute_head = index;
	else
		table_entry(table, table->mute_tail)->mute_next = index;
	table->mute_tail = index;
}

static void
table_mute_take(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);

	entry->mute = 0;
	if (entry->mute_prev == LULL_WHEEL_NONE)
		table->mute_head = entry->mute_next;
	else
		table_entry(table, entry->mute_prev)->mute_next = entry->mute_next;
	if (entry->mute_next == LULL_WHEEL_NONE)
		table->mute_tail = entry->mute_prev;
	else
		table_entry(table, entry->mute_next)->mute_prev = entry->mute_prev;
}

static bool
table_announce_one(struct lull_flow_table *table, struct lull_flow_record *record)
{
	struct lull_flow_record *message = table->message;

	message->key = record->key;
	message->digest = record->digest;
	message->cut = record->cut;
	message->connection = record->connection;
	message->workers = record->workers;
	/* An earlier packet may come behind this one, none below what advance() heard. */
	message->first_clock_ns = LULL_MIN(record->first_clock_ns, table->advanced_ns);
	message->message = LULL_FLOW_ANNOUNCE;
	if (!table->hand(table->hand_arg, message, NULL)) {
		LULL_COUNTER_ADD(table->counters.deferred, 1);
		return false;
	}
	record->announced = 1;
	LULL_COUNTER_ADD(table->counters.announced, 1);
	return true;
}

/* true: none waits any more. */
static bool
table_announce_waiting(struct lull_flow_table *table, uint32_t count)
{
	while (table->mute_head != LULL_WHEEL_NONE && count-- > 0) {
		uint32_t index = table->mute_head;

		if (!table_announce_one(table, &table_entry(table, index)->record))
			return false;
		table_mute_take(table, index);
	}
	return table->mute_head == LULL_WHEEL_NONE;
}

void
lull_flow_table_announce(struct lull_flow_table *table, uint32_t index)
{
	if (!table_announce_waiting(table, TABLE_RETRIES_MAX) ||
	    !table_announce_one(table, &table_entry(table, index)->record))
		table_mute_add(table, index);
}

/* ---- the end of entries ---- */

static void
table_count_end(struct lull_flow_table *table, const struct lull_flow_record *record)
{
	struct lull_flow_table_counters *counters = &table->counters;
	uint64_t pkts = record->packets[0] + record->packets[1];

	LULL_COUNTER_ADD(counters->entries, UINT64_MAX);
	LULL_COUNTER_ADD(counters->entry_pkts, 0 - pkts);
	LULL_COUNTER_ADD(counters->handed_pkts, pkts);
	if (record->end == LULL_FLOW_END_IDLE)
		LULL_COUNTER_ADD(counters->ended_idle, 1);
	else if (record->end == LULL_FLOW_END_ACTIVE)
		LULL_COUNTER_ADD(counters->ended_active, 1);
	else if (record->end == LULL_FLOW_END_FLUSH)
		LULL_COUNTER_ADD(counters->ended_flush, 1);
	else if (record->end == LULL_FLOW_END_CLOSED)
		LULL_COUNTER_ADD(counters->ended_closed, 1);
	else
		LULL_COUNTER_ADD(counters->evicted, 1);
	LULL_COUNTER_ADD(counters->half_open_evicted, record->half_open != 0);
}

/* It has ended, and gives way no more. */
static void
table_off_probation(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);

	if (entry->heard != 0)
		lull_flow_probation_leave(&table->probation, index);
	entry->heard = 0;
}

static void
table_free(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);

	if (entry->mute)
		table_mute_take(table, index);
	if (entry->node.list != TABLE_LIST_ENDED)
		lull_flow_index_unlink(&table->index, &table->wheel, entry->record.digest, index);
	table_off_probation(table, index);
	lull_wheel_put(&table->wheel, index, TABLE_LIST_FREE);
}

void
lull_flow_table_leave_out(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);
	struct lull_flow_record *record = &entry->record;
	struct lull_flow_table_counters *counters = &table->counters;
	uint64_t pkts = record->packets[0] + record->packets[1];
	bool taken;

	LULL_COUNTER_ADD(counters->entries, UINT64_MAX);
	LULL_COUNTER_ADD(counters->entry_pkts, 0 - pkts);
	LULL_COUNTER_ADD(counters->left_out, 1);
	LULL_COUNTER_ADD(counters->left_out_pkts, pkts);
	record->message = LULL_FLOW_LEFT_OUT;
	taken = table->hand(table->hand_arg, record, (uint8_t *)entry + table->extra_offset);
	LULL_ASSERT(taken);
	table_free(table, index);
}

bool
lull_flow_table_hand_entry(struct lull_flow_table *table, uint32_t index)
{
	struct table_entry *entry = table_entry(table, index);
	struct lull_flow_record *record = &entry->record;

	record->app_number = record->app != 0 || record->app_final != 0 ? record->first_number : 0;
	if (!table->hand(table->hand_arg, record, (uint8_t *)entry + table->extra_offset)) {
		LULL_COUNTER_ADD(table->counters.deferred, 1);
		return false;
	}
	table_count_end(table, record);
	table_free(table, index);
	return true;
}

/* Hand over what ended while there was no room: before all that ended later. true: nothing left. */
bool
lull_flow_table_hand_ended(struct lull_flow_table *table, uint32_t *count)
{
	const struct lull_wheel_list *ended = &table->wheel.lists[TABLE_LIST_ENDED];

	for (; ended->head != LULL_WHEEL_NONE && *count > 0; --*count) {
		if (!lull_flow_table_hand_entry(table, ended->head))
			return false;
	}
	return ended->head == LULL_WHEEL_NONE;
}

/*
 * What the record shows counts before what ended this part of it: only some workers see where the
 * next connection begins. The last record of a connection that has one behind it always shows it.
 */
static uint8_t
table_reason(const struct lull_flow_table *table, const struct lull_flow_record *record)
{
	if (record->ending)
		return LULL_FLOW_END_CLOSED;
	return table_deadline_ns(table, record) <= record->last_clock_ns + table->idle_ns ?
		       LULL_FLOW_END_ACTIVE :
		       LULL_FLOW_END_IDLE;
}

/* A packet came that does not belong to this entry any more. */
void
lull_flow_table_end_entry(struct lull_flow_table *table, uint32_t index)
{
	struct lull_flow_record *record = &table_entry(table, index)->record;
	uint32_t retries = TABLE_RETRIES_MAX;

	record->end = table_reason(table, record);
	if (lull_flow_table_hand_ended(table, &retries) && lull_flow_table_hand_entry(table, index))
		return;
	lull_flow_index_unlink(&table->index, &table->wheel, record->digest, index);
	table_off_probation(table, index);
	lull_wheel_put(&table->wheel, index, TABLE_LIST_ENDED);
}

/* ---- time ---- */

/* Hand over what the wheel says is due, at most @p count entries. */
static void
table_hand_due(struct lull_flow_table *table, uint64_t clock_ns, uint32_t count)
{
	uint32_t steps =
		count > UINT32_MAX / STEPS_PER_ENTRY ? UINT32_MAX : count * STEPS_PER_ENTRY;

	while (count > 0) {
		uint32_t index = lull_wheel_due(&table->wheel, clock_ns, &steps);
		struct lull_flow_record *record;
		uint64_t deadline_ns;

		if (index == LULL_WHEEL_NONE)
			return;
		record = &table_entry(table, index)->record;
		deadline_ns = table_deadline_ns(table, record);
		if (deadline_ns > clock_ns) {
			lull_wheel_arm(&table->wheel, index, deadline_ns);
			continue;
		}
		record->end = table_reason(table, record);
		if (!lull_flow_table_hand_entry(table, index))
			return;
		count--;
	}
}

uint64_t
lull_flow_table_advance(struct lull_flow_table *table, uint64_t clock_ns, uint32_t entries_max)
{
	uint32_t count = entries_max == 0 ? UINT32_MAX : entries_max;
	uint64_t floor_ns;

	table->advanced_ns = LULL_MAX(table->advanced_ns, clock_ns);
	table->clock_ns = LULL_MAX(table->clock_ns, clock_ns);
	/* As long as one of these waits, what was said last is all that can be said. */
	if (!table_announce_waiting(table, UINT32_MAX) ||
	    !lull_flow_table_hand_ended(table, &count))
		return table->watermark_ns;
	table_hand_due(table, table->advanced_ns, count);
	floor_ns = lull_wheel_floor_ns(&table->wheel);
	if (floor_ns <= table->advanced_ns)
		floor_ns = floor_ns > 0 ? floor_ns - 1 : 0;
	else
		floor_ns = table->advanced_ns;
	table->watermark_ns = LULL_MAX(table->watermark_ns, floor_ns);
	return table->watermark_ns;
}

bool
lull_flow_table_flush(struct lull_flow_table *table)
{
	uint32_t index, count = UINT32_MAX;

	if (!lull_flow_table_hand_ended(table, &count))
		return false;
	while ((index = lull_wheel_oldest(&table->wheel)) != LULL_WHEEL_NONE) {
		struct lull_flow_record *record = &table_entry(table, index)->record;

		record->end = table_reason(table, record);
		if (record->end != LULL_FLOW_END_CLOSED &&
		    table_deadline_ns(table, record) > table->clock_ns)
			record->end = LULL_FLOW_END_FLUSH;
		if (!lull_flow_table_hand_entry(table, index))
			return false;
	}
	return true;
}

uint64_t
lull_flow_table_deadline_ns(const struct lull_flow_table *table)
{
	if (table->mute_head != LULL_WHEEL_NONE ||
	    table->wheel.lists[TABLE_LIST_ENDED].head != LULL_WHEEL_NONE)
		return table->clock_ns;
	return lull_wheel_floor_ns(&table->wheel);
}
