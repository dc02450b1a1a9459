/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Table: what its three files share. table.c takes packets, table_hand.c hands entries over,
 * table_config.c knows the limits.
 *
 * An entry lives in one of these: the index and the wheel (it may get packets), the list of ended
 * ones that nobody had room for, the list of free ones. One of a half-open flow also stands on
 * probation. 40 + 224 bytes, 16 on probation and 4..8 of the index make 4 M entries fit into
 * 1.2 GiB.
 */
#ifndef LULL_FLOW_TABLE_H
#define LULL_FLOW_TABLE_H

#include <lull/flow.h>

#include <stdalign.h>

#include "cut.h"
#include "index.h"
#include "probation.h"
#include "wheel.h"

#define TABLE_LIST_FREE LULL_WHEEL_OWN
#define TABLE_LIST_ENDED (LULL_WHEEL_OWN + 1)
/* Waiting messages tried again per packet. */
#define TABLE_RETRIES_MAX 4

struct table_entry {
	struct lull_wheel_node node; /* first: the wheel finds it */
	uint32_t mute_next, mute_prev;
	uint8_t mute;  /* waits to be announced */
	uint8_t heard; /* on probation; 0: it has answered, or ended */
	struct lull_flow_record record;
};

struct lull_flow_table {
	struct lull_flow_index index;
	uint64_t idle_ns, closed_ns;
	struct lull_flow_cuts cuts;
	uint64_t clock_ns; /* largest seen */
	uint64_t advanced_ns;
	uint64_t watermark_ns;
	uint32_t payload_bytes, worker_index;
	uint32_t entries_max;
	uint32_t fresh; /* entries from here on were never used */
	uint32_t extra_offset, extra_bytes;
	uint32_t mute_head, mute_tail;
	bool announce_all;
	lull_flow_hand *hand;
	void *hand_arg;
	struct lull_flow_record *message; /* an announcement, with room for payload */
	alignas(LULL_CACHE_LINE) struct lull_flow_table_counters counters;
	struct lull_flow_probation probation;
	alignas(LULL_CACHE_LINE) struct lull_wheel wheel;
};

static inline struct table_entry *
table_entry(const struct lull_flow_table *table, uint32_t index)
{
	return (struct table_entry *)lull_wheel_node(&table->wheel, index);
}

static inline uint64_t
table_deadline_ns(const struct lull_flow_table *table, const struct lull_flow_record *record)
{
	uint64_t silence_ns =
		record->closed ? LULL_MIN(table->closed_ns, table->idle_ns) : table->idle_ns;

	return lull_flow_cut_deadline_ns(&table->cuts, silence_ns, &record->key, record->cut,
					 record->last_clock_ns);
}

/** A packet with this digest will be added: ask for what tells its entry. */
static inline void
lull_flow_table_prefetch_head(const struct lull_flow_table *table, uint32_t digest)
{
	__builtin_prefetch(lull_flow_index_head(&table->index, digest));
}

/** The same for the entry; the head is there. */
static inline void
lull_flow_table_prefetch_entry(const struct lull_flow_table *table, uint32_t digest)
{
	uint32_t index = *lull_flow_index_head(&table->index, digest);
	const uint8_t *entry;

	if (index == LULL_WHEEL_NONE)
		return;
	entry = (const uint8_t *)table_entry(table, index);
	for (size_t at = 0; at < sizeof(struct table_entry); at += LULL_CACHE_LINE)
		__builtin_prefetch(entry + at, 1);
}

/** The config with its defaults. */
struct lull_flow_table_config lull_flow_table_config_full(
	const struct lull_flow_table_config *config);
/** Announce an entry, now or when there is room. */
void lull_flow_table_announce(struct lull_flow_table *table, uint32_t index);
/** Hand over an entry as it is and free it; false: no room, nothing has changed. */
bool lull_flow_table_hand_entry(struct lull_flow_table *table, uint32_t index);
/** Free an entry without a record: its packets are counted, and its extra bytes are taken back. */
void lull_flow_table_leave_out(struct lull_flow_table *table, uint32_t index);
/** At most @p *count of those that ended without room, before all later ones. true: none left. */
bool lull_flow_table_hand_ended(struct lull_flow_table *table, uint32_t *count);
/** A packet came that does not belong to this entry any more: it leaves the index. */
void lull_flow_table_end_entry(struct lull_flow_table *table, uint32_t index);

#endif
