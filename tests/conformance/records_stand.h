/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers and log that move on at random with what a dispatcher of records_dispatch.h gives them.
 * Workers stand still until nobody waits for them.
 */
#ifndef RECORDS_STAND_H
#define RECORDS_STAND_H

#include "records_dispatch.h"

/* ---- worker ---- */

/* What flow_record_hand() of the engine finds out. */
static inline uint8_t
worker_split(const struct worker *worker, const struct lull_flow_record *record)
{
	const struct stand *stand = worker->stand;
	const struct bucket *bucket = &stand->buckets[record->digest & stand->bucket_mask];

	if (stand->worker_count == 1 && stand->traffic.dispatcher_count == 1)
		return 0;
	return stand->traffic.dispatcher_count > 1 || record->announced != 0 ||
	       bucket->split_ns > record->first_clock_ns;
}

static inline bool
worker_hand(void *arg, struct lull_flow_record *record, void *extra)
{
	struct worker *worker = arg;
	struct stand *stand = worker->stand;

	assert_true((extra == NULL) == (record->message == LULL_FLOW_ANNOUNCE));
	if (worker->ring_count == stand->ring_pkts || lull_prng_below(&stand->prng, 12) == 0)
		return false;
	record->split = worker_split(worker, record);
	memcpy(&worker->ring[worker->ring_count++], record, lull_flow_record_bytes(KEPT_BYTES));
	return true;
}

static inline void
worker_account(const struct worker *worker)
{
	const struct lull_flow_table_counters *counters = lull_flow_table_counters(worker->table);

	assert_int_equal(counters->pkts, counters->entry_pkts + counters->handed_pkts);
	assert_int_equal(counters->created, counters->entries + counters->ended_idle +
						    counters->ended_active + counters->ended_flush +
						    counters->ended_closed + counters->evicted +
						    counters->left_out);
}

static inline void
worker_take(struct worker *worker, uint32_t dispatcher, uint32_t count)
{
	struct traffic *traffic = &worker->stand->traffic;

	while (count-- > 0 && worker->head[dispatcher] < worker->tail[dispatcher]) {
		uint32_t index = worker->queue[dispatcher][worker->head[dispatcher]++];
		const struct lull_flow_packet *packet = &traffic->pkts[index];
		struct lull_flow_record *record;

		record = lull_flow_table_add(worker->table, packet, traffic->payload[index]);
		worker->taken_ns[dispatcher] = packet->clock_ns;
		if (record == NULL)
			continue;
		record->app = (uint16_t)(packet->key.port[0] + 1);
		record->app_confidence = 3;
	}
}

/*
 * Up to where all packets of a dispatcher have been taken. Where the queue is in order the next one
 * tells; else what was published, once all that was there then is taken.
 */
static inline uint64_t
worker_upto_ns(struct worker *worker, uint32_t number)
{
	const struct stand *stand = worker->stand;

	if (!stand->refuses)
		return worker->head[number] < worker->tail[number] ?
			       worker->taken_ns[number] :
			       stand->dispatchers[number].published_ns;
	for (int i = 0; i < 2 && worker->head[number] >= worker->seen_tail[number]; i++) {
		worker->mark_ns[number] = worker->seen_ns[number];
		worker->seen_ns[number] = stand->dispatchers[number].published_ns;
		worker->seen_tail[number] = worker->tail[number];
	}
	return worker->mark_ns[number];
}

static inline void
worker_step(struct worker *worker)
{
	struct stand *stand = worker->stand;
	uint64_t clock_ns = UINT64_MAX, watermark_ns;
	bool done = true;

	if (worker->watermark_ns == UINT64_MAX)
		return;
	for (uint32_t i = 0; i < stand->traffic.dispatcher_count; i++) {
		uint64_t upto_ns;

		worker_take(worker, i, (uint32_t)lull_prng_below(&stand->prng, 40));
		upto_ns = worker_upto_ns(worker, i);
		done = done && stand->dispatchers[i].done && worker->head[i] == worker->tail[i];
		clock_ns = LULL_MIN(clock_ns, upto_ns);
	}
	/* What was said once holds, though the queue has filled since. */
	clock_ns = LULL_MAX(clock_ns, worker->clock_ns);
	worker->clock_ns = clock_ns;
	watermark_ns = lull_flow_table_advance(worker->table, clock_ns,
					       (uint32_t)lull_prng_below(&stand->prng, 4));
	assert_true(watermark_ns <= clock_ns);
	assert_true(watermark_ns >= worker->watermark_ns);
	worker->watermark_ns = watermark_ns;
	if (done && lull_flow_table_flush(worker->table))
		worker->watermark_ns = UINT64_MAX;
	worker_account(worker);
}

/* ---- log ---- */

/*
 * Clocks that cross end entries early. And where the FIN was dropped, only the worker that gets the
 * next connection knows that this one has ended.
 */
static inline bool
stand_ends_vary(const struct stand *stand)
{
	return stand->traffic.dispatcher_count > 1 || stand->refuses;
}

static inline void
stand_give(void *arg, const struct lull_flow_record *record)
{
	struct stand *stand = arg;
	struct kept *kept = &stand->given[stand->given_count++];

	assert_true(stand->given_count <= RECORDS_MAX);
	memset(kept, 0, sizeof(*kept));
	memcpy(kept, record, lull_flow_record_bytes(KEPT_BYTES));
	kept->record.workers = 0;
	kept->record.moves = 0;
	kept->record.reordered = 0;
	kept->record.announced = 0;
	kept->record.split = 0;
	if (stand_ends_vary(stand))
		kept->record.end = 0;
	stand->given_pkts += record->packets[0] + record->packets[1];
}

/* Some workers are called late for a time; never all of them, and none that has flushed. */
static inline void
stand_judge(struct stand *stand)
{
	uint64_t watermark_ns = UINT64_MAX;

	if (lull_prng_below(&stand->prng, 10) == 0)
		stand->late = lull_prng_u64(&stand->prng) & lull_prng_u64(&stand->prng) &
			      ((1ull << stand->worker_count) - 1);
	for (uint32_t i = 0; i < stand->worker_count; i++) {
		if (stand->snapshots_ns[i] == UINT64_MAX)
			stand->late &= ~(1ull << i);
	}
	for (uint32_t i = 0; i < stand->worker_count; i++) {
		if ((stand->late >> i & 1) != 0)
			watermark_ns = LULL_MIN(watermark_ns, stand->snapshots_ns[i]);
	}
	lull_flow_merge_late(stand->merge, stand->late, watermark_ns);
}

/* Without those that are late; the end is only reached with them. */
static inline uint64_t
stand_watermark_ns(const struct stand *stand)
{
	uint64_t watermark_ns = UINT64_MAX;

	for (uint32_t i = 0; i < stand->worker_count; i++) {
		if ((stand->late >> i & 1) == 0)
			watermark_ns = LULL_MIN(watermark_ns, stand->snapshots_ns[i]);
	}
	if (watermark_ns == UINT64_MAX && stand->late != 0)
		return stand->advanced_ns;
	return LULL_MAX(watermark_ns, stand->advanced_ns);
}

/* First the watermarks; whatever happens before the second half is only more. */
static inline void
stand_log(struct stand *stand)
{
	const struct lull_flow_merge_counters *counters = lull_flow_merge_counters(stand->merge);
	uint64_t handed_pkts = 0;

	stand->snapshot_taken = !stand->snapshot_taken;
	if (stand->snapshot_taken) {
		for (uint32_t i = 0; i < stand->worker_count; i++)
			stand->snapshots_ns[i] = stand->workers[i].watermark_ns;
		return;
	}
	for (uint32_t i = 0; i < stand->worker_count; i++) {
		struct worker *worker = &stand->workers[i];

		for (uint32_t j = 0; j < worker->ring_count; j++)
			lull_flow_merge_add(stand->merge, &worker->ring[j].record);
		worker->ring_count = 0;
		handed_pkts += lull_flow_table_counters(worker->table)->handed_pkts;
	}
	if (stand->leaves)
		stand_judge(stand);
	stand->advanced_ns = stand_watermark_ns(stand);
	lull_flow_merge_advance(stand->merge, stand->advanced_ns);
	assert_int_equal(counters->pkts, stand->given_pkts);
	assert_int_equal(counters->pkts + counters->open_pkts, handed_pkts);
	assert_int_equal(counters->partials, counters->records + counters->open + counters->joined);
}

/* ---- a run ---- */

static inline void *
stand_memory(size_t bytes)
{
	return aligned_alloc(LULL_CACHE_LINE,
			     (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE);
}

static inline struct stand *
stand_create(uint64_t seed)
{
	static const uint32_t worker_counts[] = { 1, 2, 3, 8 };
	struct stand *stand = calloc(1, sizeof(*stand));
	struct traffic *traffic = &stand->traffic;
	struct lull_prng *prng = &stand->prng;

	lull_prng_init(&traffic->prng, seed, 0);
	lull_prng_init(prng, seed, 1);
	traffic->idle_ns = LULL_NS_PER_MS + lull_prng_below(prng, 2 * LULL_NS_PER_S);
	if (lull_prng_below(prng, 2) == 0)
		traffic->active_ns = LULL_NS_PER_S + lull_prng_below(prng, 5 * LULL_NS_PER_S);
	traffic->flow_count =
		1 + (uint32_t)lull_prng_below(prng, lull_prng_below(prng, 2) ? FLOWS_MAX : 8);
	traffic->pkt_count =
		1 + (uint32_t)lull_prng_below(prng, lull_prng_below(prng, 4) ? 300 : PKTS_MAX);
	traffic->dispatcher_count = lull_prng_below(prng, 4) == 0 ? 2 : 1;
	traffic->closed_ns = LULL_NS_PER_MS + lull_prng_below(prng, traffic->idle_ns);
	traffic_make(traffic);
	traffic_mark(traffic);
	reference_make(traffic);
	stand->split = (enum split)lull_prng_below(prng, SPLIT_COUNT);
	stand->worker_count = worker_counts[lull_prng_below(prng, 4)];
	stand->bucket_mask = (1u << lull_prng_below(prng, 9)) - 1;
	if (stand->split == SPLIT_HASH) /* what stays in its bucket's worker is never shared */
		stand->bucket_mask = BUCKETS_MAX - 1;
	stand->bursts = lull_prng_below(prng, 2) == 0;
	stand->ring_pkts = 1 + (uint32_t)lull_prng_below(prng, RING_MAX);
	stand->entries_max = PKTS_MAX;
	return stand;
}

static inline void
stand_start(struct stand *stand)
{
	struct traffic *traffic = &stand->traffic;
	struct lull_flow_table_config table = {
		.entries_max = stand->entries_max,
		.idle_ns = traffic->idle_ns,
		.active_ns = traffic->active_ns,
		.closed_ns = traffic->closed_ns,
		.payload_bytes = KEPT_BYTES,
		.announce_all = traffic->dispatcher_count > 1,
	};
	struct lull_flow_merge_config merge = {
		.records_max = 2 * stand->entries_max,
		.idle_ns = traffic->idle_ns,
		.active_ns = traffic->active_ns,
		.payload_bytes = KEPT_BYTES,
		.hold = stand->worker_count > 1 || traffic->dispatcher_count > 1 ||
			lull_prng_below(&stand->prng, 2) == 0,
	};

	for (uint32_t i = 0; i < stand->worker_count; i++) {
		struct worker *worker = &stand->workers[i];

		table.worker_index = i;
		worker->stand = stand;
		worker->memory = stand_memory(lull_flow_table_size(&table));
		assert_int_equal(lull_flow_table_init(worker->memory, &table, worker_hand, worker,
						      &worker->table),
				 0);
	}
	stand->merge_memory = stand_memory(lull_flow_merge_size(&merge));
	assert_int_equal(
		lull_flow_merge_init(stand->merge_memory, &merge, stand_give, stand, &stand->merge),
		0);
}

/* Everyone moves on at random; some stand still for long. */
static inline void
stand_run(struct stand *stand)
{
	uint32_t actors = stand->traffic.dispatcher_count + stand->worker_count + 1;
	uint32_t lazy = 0, iterations = 0;
	bool done = false;

	stand_start(stand);
	for (uint32_t i = 0; stand->traffic.dispatcher_count > 1 && i < PKTS_MAX; i++)
		stand->traffic.expected[i].record.end = 0;
	while (!done) {
		uint32_t actor = (uint32_t)lull_prng_below(&stand->prng, actors);

		assert_true(++iterations < 10000000); /* else nobody gets on */
		if (lull_prng_below(&stand->prng, 50) == 0)
			lazy = (uint32_t)lull_prng_below(&stand->prng, actors);
		if (actor == lazy)
			continue;
		if (actor < stand->worker_count)
			worker_step(&stand->workers[actor]);
		else if (actor == stand->worker_count)
			stand_log(stand);
		else
			stand_dispatch(stand, actor - stand->worker_count - 1);
		done = stand->advanced_ns == UINT64_MAX && !stand->snapshot_taken;
	}
}

static inline void
stand_destroy(struct stand *stand)
{
	for (uint32_t i = 0; i < stand->worker_count; i++)
		free(stand->workers[i].memory);
	free(stand->merge_memory);
	free(stand);
}

static inline uint64_t
environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

/* Clocks of several dispatchers that cross end entries early. */
static inline void
stand_blank_ends(struct stand *stand)
{
	for (uint32_t i = 0; stand_ends_vary(stand) && i < RECORDS_MAX; i++)
		stand->traffic.expected[i].record.end = 0;
}

static inline int
stand_difference(struct stand *stand)
{
	return kept_compare(stand->traffic.expected, stand->traffic.expected_count, stand->given,
			    stand->given_count);
}

#endif
