/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker knows of flows, on its way out: records to the aggregators, the heaviest to whoever
 * asks.
 */
#include <string.h>

#include "base/assert.h"
#include "stage.h"

#define MESSAGES_PER_PKT 3 /* its flow's old record, another one's for want of room, its own */
#define TOP_NS LULL_NS_PER_S
#define TOP_SLICE 64
#define TOP_PAUSE_NS (50 * LULL_NS_PER_US)

/* ---- to the aggregators ---- */

/* Parts of one flow meet in one aggregator. */
static uint32_t
record_aggregator(const struct flow_worker *worker, uint32_t digest)
{
	/* No flow has parts: the one of its own thread, as long as there are so many. */
	if (worker->feed != NULL)
		return worker->index % worker->aggregator_count;
	return (uint32_t)((uint64_t)digest * worker->aggregator_count / (LULL_DIGEST_MAX + 1ull));
}

static void
record_finish(struct flow_worker *worker, struct lull_flow_record *record,
	      struct lull_identify_flow *flow)
{
	if (worker->identify == NULL || flow == NULL)
		return;
	lull_identify_end(worker->identify, flow, record);
	record->app = flow->app;
	record->app_master = flow->app_master;
	record->app_confidence = flow->confidence;
	record->app_final = flow->final;
	record->app_number = flow->app != 0 || flow->final ? record->first_number : 0;
}

/*
 * May another worker have packets of it? With several dispatchers, any, and parts
 * where their clocks cross. What ended by the clock
 * that was published is known here, and so is what ended because a later packet came.
 */
static bool
record_split(const struct flow_worker *worker, const struct lull_flow_record *record)
{
	const uint64_t *split_ns;

	if (worker->alone)
		return false;
	if (worker->splits == NULL || record->announced != 0)
		return true;
	split_ns = &worker->splits[record->digest & worker->bucket_mask];
	return __atomic_load_n(split_ns, __ATOMIC_RELAXED) >= record->first_clock_ns;
}

/* What was left out was in an entry first, and is without a record then. */
static void
record_set_pkts(struct flow_worker_words *words, const struct lull_flow_table_counters *table)
{
	lull_cell_set(&words->pkts, table->pkts - table->left_out_pkts);
	lull_cell_set(&words->unrecorded, table->unrecorded + table->left_out_pkts);
}

/*
 * Counted before the aggregator can see it. Packets of the batch in hand may be among those handed.
 */
static void
record_count(struct flow_worker *worker, uint32_t aggregator, uint64_t pkts)
{
	const struct lull_flow_table_counters *table = lull_flow_table_counters(worker->table);
	struct flow_worker_words *words = &worker->words;

	lull_cell_begin(&worker->sequence);
	record_set_pkts(words, table);
	LULL_COUNTER_ADD(words->put[aggregator], 1);
	LULL_COUNTER_ADD(words->put_pkts[aggregator], pkts);
	LULL_COUNTER_ADD(words->handed_pkts, pkts);
	lull_cell_set(&words->entry_pkts, words->pkts - words->handed_pkts);
	lull_cell_end(&worker->sequence);
}

bool
flow_record_hand(void *arg, struct lull_flow_record *record, void *extra)
{
	struct flow_worker *worker = arg;
	uint32_t aggregator = record_aggregator(worker, record->digest);
	uint64_t pkts = 0;
	int rc;

	if (record->message == LULL_FLOW_LEFT_OUT) {
		record_finish(worker, record, extra);
		flow_record_publish(worker);
		return true;
	}
	if (rte_ring_free_count(worker->aggregators[aggregator]) == 0) {
		worker->counters.records_deferred++;
		return false;
	}
	if (record->message == LULL_FLOW_PARTIAL) {
		record_finish(worker, record, extra);
		record->split = record_split(worker, record);
		pkts = record->packets[0] + record->packets[1];
		worker->counters.records++;
	}
	record_count(worker, aggregator, pkts);
	rc = rte_ring_sp_enqueue_elem(worker->aggregators[aggregator], record,
				      worker->record_bytes);
	LULL_ASSERT(rc == 0);
	return true;
}

bool
flow_record_room(const struct flow_worker *worker)
{
	uint32_t wanted = MESSAGES_PER_PKT * FLOW_BATCH * worker->io_count;

	for (uint32_t i = 0; i < worker->aggregator_count; i++) {
		const struct rte_ring *aggregator = worker->aggregators[i];

		if (rte_ring_free_count(aggregator) <
		    LULL_MIN(wanted, rte_ring_get_capacity(aggregator)))
			return false;
	}
	return true;
}

void
flow_record_publish(struct flow_worker *worker)
{
	const struct lull_flow_table_counters *table = lull_flow_table_counters(worker->table);
	struct flow_worker_words *words = &worker->words;

	lull_cell_begin(&worker->sequence);
	record_set_pkts(words, table);
	lull_cell_set(&words->entry_pkts, table->entry_pkts);
	lull_cell_set(&words->handed_pkts, table->handed_pkts);
	lull_cell_set(&words->reordered, worker->counters.reordered);
	lull_cell_end(&worker->sequence);
	worker->counters.pkts = table->pkts;
	worker->counters.unrecorded = table->unrecorded;
	worker->counters.half_open_evicted = table->half_open_evicted;
	worker->counters.left_out = table->left_out;
	worker->counters.left_out_pkts = table->left_out_pkts;
}

/* ---- the heaviest ---- */

static void
top_visit(void *arg, const struct lull_flow_record *record)
{
	lull_flow_top_offer(arg, record);
}

static void
top_publish(struct flow_worker *worker)
{
	uint64_t *words = worker->top_words.words;
	size_t bytes = offsetof(struct lull_flow_top, records) +
		       worker->top.count * sizeof(worker->top.records[0]);

	lull_cell_begin(&worker->top_sequence);
	flow_counters_copy(words, &worker->top, bytes);
	lull_cell_end(&worker->top_sequence);
}

uint64_t
flow_top_iterate(struct flow_worker *worker, uint64_t now_ns)
{
	if (!worker->top_round) {
		if (now_ns < worker->top_next_ns)
			return 0;
		worker->top_round = true;
		worker->top_cursor = 0;
		lull_flow_top_clear(&worker->top);
	}
	lull_flow_table_visit(worker->table, &worker->top_cursor, TOP_SLICE, top_visit,
			      &worker->top);
	if (worker->top_cursor != 0)
		return now_ns + TOP_PAUSE_NS;
	top_publish(worker);
	worker->top_round = false;
	worker->top_next_ns = now_ns + TOP_NS;
	return 0;
}
