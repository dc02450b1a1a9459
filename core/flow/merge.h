/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Merge: what its three files share. merge.c takes messages and tells what is complete,
 * merge_entry.c keeps entries, merge_config.c knows the limits.
 *
 * An entry is an open record or an *awaited* one: an announcement whose partial has not come yet.
 * Open records of half-open flows, which their tables had no room for, have a bounded list instead
 * of the wheel, unless another part is awaited: a flood of them pushes nothing else out.
 */
#ifndef LULL_FLOW_MERGE_H
#define LULL_FLOW_MERGE_H

#include <lull/flow.h>

#include <stdalign.h>

#include "cut.h"
#include "index.h"
#include "name.h"
#include "wheel.h"

#define MERGE_LIST_FREE LULL_WHEEL_OWN
#define MERGE_LIST_HELD (LULL_WHEEL_OWN + 1)
#define MERGE_LIST_AWAITED (LULL_WHEEL_OWN + 2)
#define MERGE_LIST_HALF_OPEN (LULL_WHEEL_OWN + 3)

/* That part of the room is for records of half-open flows at most. */
#define MERGE_HALF_OPEN_SHARE 8

/* Announcements that were forgotten are counted by low bits of their digest. */
#define MERGE_FORGOTTEN_SLOTS 256
#define MERGE_WORKERS_MAX 64 /* bits of struct lull_flow_record workers */

struct merge_entry {
	struct lull_wheel_node node; /* first: the wheel finds it */
	struct lull_flow_record record;
};

struct lull_flow_merge {
	struct lull_flow_index index;
	uint64_t idle_ns;
	struct lull_flow_cuts cuts;
	uint32_t payload_bytes;
	uint32_t records_max;
	uint32_t fresh; /* entries from here on were never used */
	bool hold;
	uint32_t half_open; /* entries in that list */
	lull_flow_give *give;
	void *give_arg;
	struct lull_flow_name name;
	uint32_t forgotten[MERGE_FORGOTTEN_SLOTS]; /* announced, forgotten, not here yet */
	uint64_t advanced_ns;
	uint64_t late;    /* workers that nothing waits for */
	uint64_t late_ns; /* the smallest watermark of these */
	uint64_t back;    /* waited for again, and not known to have come to left_ns */
	uint64_t left_ns[MERGE_WORKERS_MAX]; /* up to here records were given without the worker */
	alignas(LULL_CACHE_LINE) struct lull_flow_merge_counters counters;
	alignas(LULL_CACHE_LINE) struct lull_wheel wheel;
};

static inline struct merge_entry *
merge_entry(const struct lull_flow_merge *merge, uint32_t index)
{
	return (struct merge_entry *)lull_wheel_node(&merge->wheel, index);
}

static inline uint64_t
merge_record_pkts(const struct lull_flow_record *record)
{
	return record->packets[0] + record->packets[1];
}

static inline uint64_t
merge_deadline_ns(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	return lull_flow_cut_deadline_ns(&merge->cuts, merge->idle_ns, &record->key, record->cut,
					 record->last_clock_ns);
}

static inline bool
merge_same(const struct lull_flow_record *a, const struct lull_flow_record *b)
{
	return a->digest == b->digest && a->cut == b->cut && a->connection == b->connection &&
	       lull_flow_key_same(&a->key, &b->key);
}

static inline uint32_t
merge_chain(const struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	return *lull_flow_index_head(&merge->index, lull_flow_name(&merge->name, record));
}

static inline bool
merge_is_awaited(const struct merge_entry *entry)
{
	return entry->node.list == MERGE_LIST_AWAITED;
}

static inline uint32_t *
merge_forgotten(struct lull_flow_merge *merge, const struct lull_flow_record *record)
{
	return &merge->forgotten[record->digest % MERGE_FORGOTTEN_SLOTS];
}

/** The config with its defaults. */
struct lull_flow_merge_config lull_flow_merge_config_full(
	const struct lull_flow_merge_config *config);
/** A copy of @p record in the index, in no list; what must give way for it goes. */
uint32_t lull_flow_merge_create(struct lull_flow_merge *merge,
				const struct lull_flow_record *record, size_t bytes);
void lull_flow_merge_free(struct lull_flow_merge *merge, uint32_t index);
void lull_flow_merge_free_awaited(struct lull_flow_merge *merge, uint32_t index);
/** Out of the list of half-open flows, if it is in that. */
void lull_flow_merge_off_half_open(struct lull_flow_merge *merge, uint32_t index);
/** Pass a record on and free it. */
void lull_flow_merge_give(struct lull_flow_merge *merge, uint32_t index);

#endif
