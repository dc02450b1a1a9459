/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "record.h"
#include "table.h"

/* Flows that share a head: more are no accident, and the last one gives way. */
#define CHAIN_MAX 64
/* Entries put off before one is evicted that is not quite the oldest. */
#define SECOND_CHANCES_MAX 16

static size_t
table_aligned(size_t bytes)
{
	return (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

static size_t
table_extra_offset(const struct lull_flow_table_config *config)
{
	return offsetof(struct table_entry, record) + lull_flow_record_bytes(config->payload_bytes);
}

static size_t
table_stride(const struct lull_flow_table_config *config)
{
	return (table_extra_offset(config) + config->extra_bytes + 7) / 8 * 8;
}

static size_t
table_heads_bytes(const struct lull_flow_table_config *config)
{
	return table_aligned(lull_flow_index_heads(config->entries_max) * sizeof(uint32_t));
}

static size_t
table_message_bytes(const struct lull_flow_table_config *config)
{
	return table_aligned(lull_flow_record_bytes(config->payload_bytes));
}

size_t
lull_flow_table_size(const struct lull_flow_table_config *config)
{
	struct lull_flow_table_config full = lull_flow_table_config_full(config);

	return table_aligned(sizeof(struct lull_flow_table)) + table_message_bytes(&full) +
	       table_heads_bytes(&full) + lull_flow_probation_size(&full) +
	       full.entries_max * table_stride(&full);
}

int
lull_flow_table_init(void *memory, const struct lull_flow_table_config *config,
		     lull_flow_hand *hand, void *hand_arg, struct lull_flow_table **out)
{
	struct lull_flow_table *table = memory;
	struct lull_flow_table_config full = lull_flow_table_config_full(config);
	uint8_t *at = memory;

	if (memory == NULL || hand == NULL || (uintptr_t)memory % LULL_CACHE_LINE != 0 ||
	    lull_flow_table_config_check(config, NULL) != 0)
		return -EINVAL;
	memset(table, 0, sizeof(*table));
	table->idle_ns = full.idle_ns;
	table->closed_ns = full.closed_ns;
	table->cuts = lull_flow_cuts(full.active_ns);
	table->payload_bytes = full.payload_bytes;
	table->worker_index = full.worker_index;
	table->entries_max = full.entries_max;
	table->extra_offset = (uint32_t)table_extra_offset(&full);
	table->extra_bytes = full.extra_bytes;
	table->mute_head = table->mute_tail = LULL_WHEEL_NONE;
	table->announce_all = full.announce_all;
	table->hand = hand;
	table->hand_arg = hand_arg;
	at += table_aligned(sizeof(*table));
	table->message = (struct lull_flow_record *)(void *)at;
	memset(at, 0, table_message_bytes(&full));
	at += table_message_bytes(&full);
	lull_flow_index_init(&table->index, (uint32_t *)(void *)at, full.entries_max);
	at += table_heads_bytes(&full);
	lull_flow_probation_init(&table->probation, at, &full);
	at += lull_flow_probation_size(&full);
	lull_wheel_init(&table->wheel, at, table_stride(&full));
	*out = table;
	return 0;
}

/* Oldest by and large: what has had packets since its deadline was set is put off first. */
static uint32_t
table_oldest(struct lull_flow_table *table)
{
	uint32_t chances = SECOND_CHANCES_MAX;
	uint32_t index = lull_wheel_oldest(&table->wheel);

	while (index != LULL_WHEEL_NONE && chances-- > 0) {
		struct table_entry *entry = table_entry(table, index);
		uint64_t deadline_ns = table_deadline_ns(table, &entry->record);

		if (deadline_ns == entry->node.deadline_ns)
			break;
		lull_wheel_arm(&table->wheel, index, deadline_ns);
		index = lull_wheel_oldest(&table->wheel);
	}
	return index;
}

/*
 * Whoever samples has no use for a half-open entry that finds no room either. One that was
 * announced is awaited, and may be part of a flow that has answered elsewhere: it is never left
 * out.
 * @p room: nothing that ended before waits
 */
static bool
table_evict(struct lull_flow_table *table, uint32_t index, bool room)
{
	struct table_entry *entry = table_entry(table, index);
	struct lull_flow_record *record = &entry->record;
	bool samples = table->probation.quota > 0 && entry->heard != 0 && !entry->mute &&
		       !record->announced;
	uint8_t exact = record->exact;

	if (!samples || lull_flow_probation_keeps(&table->probation, record->digest,
						  table->clock_ns, &record->sampling)) {
		record->end = LULL_FLOW_END_EVICTED;
		record->exact = 0;
		record->half_open = entry->heard;
		if (room && lull_flow_table_hand_entry(table, index))
			return true;
		record->exact = exact;
		record->half_open = 0;
		record->sampling = 0;
		if (!samples)
			return false;
	}
	lull_flow_table_leave_out(table, index);
	return true;
}

/* Does the packet come behind the end of this record of its flow? An older one does not end it. */
static bool
table_ends(const struct lull_flow_record *record, const struct lull_flow_packet *packet,
	   uint32_t cut)
{
	if (record->cut != cut)
		return (int32_t)(cut - record->cut) > 0;
	return (int16_t)(packet->connection - record->connection) > 0;
}

/*
 * The entry of this flow, cut and connection. A younger one of the flow may be beside it: what was
 * sent elsewhere first comes late.
 * @p ended: another entry of the flow that ends with this packet
 * @p last: the last entry that was looked at, when there were suspiciously many; else none
 */
static uint32_t
table_find(struct lull_flow_table *table, const struct lull_flow_packet *packet, uint32_t cut,
	   uint32_t *ended, uint32_t *last)
{
	uint32_t index = *lull_flow_index_head(&table->index, packet->digest);
	uint32_t steps = 0;

	*ended = LULL_WHEEL_NONE;
	*last = LULL_WHEEL_NONE;
	while (index != LULL_WHEEL_NONE) {
		const struct table_entry *entry = table_entry(table, index);

		if (entry->record.digest == packet->digest &&
		    lull_flow_key_same(&entry->record.key, &packet->key)) {
			if (entry->record.cut == cut &&
			    entry->record.connection == packet->connection)
				return index;
			if (table_ends(&entry->record, packet, cut))
				*ended = index;
		}
		if (++steps == CHAIN_MAX)
			*last = index;
		index = entry->node.chain;
	}
	return LULL_WHEEL_NONE;
}

static uint32_t
table_unused(struct lull_flow_table *table)
{
	uint32_t index = table->wheel.lists[TABLE_LIST_FREE].head;

	if (index != LULL_WHEEL_NONE) {
		lull_wheel_take(&table->wheel, index);
	} else if (table->fresh < table->entries_max) {
		index = table->fresh++;
		table_entry(table, index)->node.list = LULL_WHEEL_NONE;
	}
	return index;
}

/* An entry's memory, in no list, by evicting @p victim if that is one; LULL_WHEEL_NONE: none. */
static uint32_t
table_take(struct lull_flow_table *table, uint32_t victim)
{
	uint32_t retries = TABLE_RETRIES_MAX;
	uint32_t index = victim == LULL_WHEEL_NONE ? table_unused(table) : LULL_WHEEL_NONE;
	bool handed;

	if (index != LULL_WHEEL_NONE)
		return index;
	handed = lull_flow_table_hand_ended(table, &retries);
	if (victim == LULL_WHEEL_NONE) {
		index = table_unused(table);
		if (index != LULL_WHEEL_NONE)
			return index;
		victim = lull_flow_probation_victim(&table->probation);
	}
	if (victim == LULL_WHEEL_NONE)
		victim = table_oldest(table);
	if (victim == LULL_WHEEL_NONE || !table_evict(table, victim, handed))
		return LULL_WHEEL_NONE;
	return table_unused(table);
}

static uint32_t
table_create(struct lull_flow_table *table, const struct lull_flow_packet *packet, uint32_t cut,
	     uint32_t victim)
{
	uint32_t index = table_take(table, victim);
	struct table_entry *entry;

	if (index == LULL_WHEEL_NONE)
		return index;
	entry = table_entry(table, index);
	entry->mute = 0;
	entry->heard = LULL_FLOW_PROBATION_NEW;
	lull_flow_probation_enter(&table->probation, index, packet);
	memset(&entry->record, 0, lull_flow_record_bytes(table->payload_bytes));
	memset((uint8_t *)entry + table->extra_offset, 0, table->extra_bytes);
	lull_flow_record_begin(&entry->record, packet, cut, table->worker_index);
	lull_flow_index_link(&table->index, &table->wheel, packet->digest, index);
	lull_wheel_arm(&table->wheel, index, table_deadline_ns(table, &entry->record));
	LULL_COUNTER_ADD(table->counters.created, 1);
	LULL_COUNTER_ADD(table->counters.entries, 1);
	return index;
}

static void
table_hear(struct lull_flow_table *table, uint32_t index, const struct lull_flow_packet *packet)
{
	struct table_entry *entry = table_entry(table, index);

	entry->heard = lull_flow_probation_hear(entry->heard, packet);
	if (entry->heard == 0)
		lull_flow_probation_leave(&table->probation, index);
	else
		lull_flow_probation_touch(&table->probation, index);
}

/* The second silence is before the entry: clocks of several dispatchers may cross. */
static bool
table_continues(const struct lull_flow_table *table, const struct lull_flow_record *record,
		const struct lull_flow_packet *packet)
{
	return packet->clock_ns <= record->last_clock_ns + table->idle_ns &&
	       packet->clock_ns + table->idle_ns >= record->first_clock_ns;
}

struct lull_flow_record *
lull_flow_table_add(struct lull_flow_table *table, const struct lull_flow_packet *packet,
		    const uint8_t *payload)
{
	uint32_t cut = lull_flow_cut_number(&table->cuts, &packet->key, packet->clock_ns);
	uint32_t victim, ended, index = table_find(table, packet, cut, &ended, &victim);
	struct table_entry *entry;
	bool closed;

	table->clock_ns = LULL_MAX(table->clock_ns, packet->clock_ns);
	if (index != LULL_WHEEL_NONE &&
	    !table_continues(table, &table_entry(table, index)->record, packet)) {
		ended = index;
		index = LULL_WHEEL_NONE;
	}
	if (index == LULL_WHEEL_NONE && ended != LULL_WHEEL_NONE) {
		lull_flow_table_end_entry(table, ended);
		victim = LULL_WHEEL_NONE;
	}
	if (index == LULL_WHEEL_NONE)
		index = table_create(table, packet, cut, victim);
	if (index == LULL_WHEEL_NONE) {
		LULL_COUNTER_ADD(table->counters.unrecorded, 1);
		return NULL;
	}
	entry = table_entry(table, index);
	closed = entry->record.closed;
	lull_flow_record_count(&entry->record, packet, payload, table->payload_bytes);
	if (entry->heard != 0)
		table_hear(table, index, packet);
	/* Later packets put it off again when it is due, but nothing else brings it forward. */
	if (entry->record.closed && !closed)
		lull_wheel_arm(&table->wheel, index, table_deadline_ns(table, &entry->record));
	if (packet->clock_ns < table->advanced_ns) {
		/* The merge was told that none would come. */
		LULL_COUNTER_ADD(table->counters.behind, 1);
		entry->record.exact = 0;
	}
	LULL_COUNTER_ADD(table->counters.pkts, 1);
	LULL_COUNTER_ADD(table->counters.entry_pkts, 1);
	if ((table->announce_all || (packet->mark_flags & LULL_FLOW_MARK_SHARED) != 0) &&
	    !entry->record.announced && !entry->mute)
		lull_flow_table_announce(table, index);
	return &entry->record;
}

void *
lull_flow_table_extra(struct lull_flow_table *table, struct lull_flow_record *record)
{
	return (uint8_t *)record - offsetof(struct table_entry, record) + table->extra_offset;
}

bool
lull_flow_table_half_open(struct lull_flow_table *table, const struct lull_flow_record *record)
{
	const uint8_t *bytes = (const uint8_t *)record - offsetof(struct table_entry, record);

	(void)table;
	return ((const struct table_entry *)(const void *)bytes)->heard != 0;
}

void
lull_flow_table_timeouts(struct lull_flow_table *table, uint64_t idle_ns)
{
	uint32_t index;

	table->idle_ns = idle_ns;
	for (index = 0; index < table->fresh; index++) {
		struct table_entry *entry = table_entry(table, index);

		if (entry->node.list != TABLE_LIST_FREE && entry->node.list != TABLE_LIST_ENDED)
			lull_wheel_arm(&table->wheel, index,
				       table_deadline_ns(table, &entry->record));
	}
}

const struct lull_flow_table_counters *
lull_flow_table_counters(const struct lull_flow_table *table)
{
	return &table->counters;
}

void
lull_flow_table_visit(struct lull_flow_table *table, uint32_t *cursor, uint32_t count,
		      void (*visit)(void *arg, const struct lull_flow_record *record), void *arg)
{
	for (; *cursor < table->fresh && count > 0; ++*cursor) {
		const struct table_entry *entry = table_entry(table, *cursor);

		if (entry->node.list == TABLE_LIST_FREE)
			continue;
		visit(arg, &entry->record);
		count--;
	}
	if (*cursor >= table->fresh)
		*cursor = 0;
}
