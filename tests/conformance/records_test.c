/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records do not depend on who saw which packet when: the same packets split over workers in every
 * way, with workers, log and dispatchers that move on at random, make the records that the
 * definition asks for, byte by byte.
 *
 * LULL_SEEDS in the environment tries so many seeds, LULL_SEED begins with that one.
 */
#include <stdio.h>

#include <lull/dispatch.h>

#include "case.h"
#include "records_world.h"

#define WORKERS_MAX 8
#define DISPATCHERS_MAX 2
#define RING_MAX 64
#define BUCKETS_MAX 256
#define BURST_MAX 32
#define SEEDS 1500

enum split { SPLIT_RANDOM, SPLIT_TURNS, SPLIT_HASH, SPLIT_MOVING, SPLIT_COUNT };

struct bucket {
	uint32_t worker;
	bool known, shared;
	uint64_t last_ns;
};

struct dispatcher {
	uint32_t next;         /* packet to be looked at */
	uint64_t published_ns; /* all before is in the queues */
	bool done;
};

struct worker {
	struct stand *stand;
	void *memory;
	struct lull_flow_table *table;
	uint32_t queue[DISPATCHERS_MAX][PKTS_MAX];
	uint32_t head[DISPATCHERS_MAX], tail[DISPATCHERS_MAX];
	uint64_t taken_ns[DISPATCHERS_MAX];
	struct kept ring[RING_MAX];
	uint32_t ring_count;
	uint64_t clock_ns, watermark_ns;
};

struct stand {
	struct traffic traffic;
	struct lull_prng prng;
	enum split split;
	uint32_t worker_count, bucket_mask, ring_pkts, entries_max;
	bool bursts, unmarked;
	struct dispatcher dispatchers[DISPATCHERS_MAX];
	struct bucket buckets[BUCKETS_MAX];
	struct worker workers[WORKERS_MAX];
	void *merge_memory;
	struct lull_flow_merge *merge;
	bool snapshot_taken;
	uint64_t snapshot_ns;
	uint32_t given_count;
	uint64_t given_pkts;
	struct kept given[RECORDS_MAX];
};

/* ---- dispatcher: buckets as lull/dispatch.h describes them ---- */

static uint32_t
stand_choose(struct stand *stand, const struct bucket *bucket, uint32_t index)
{
	uint32_t any = (uint32_t)lull_prng_below(&stand->prng, stand->worker_count);

	switch (stand->split) {
	case SPLIT_RANDOM:
		return any;
	case SPLIT_TURNS:
		return index % stand->worker_count;
	case SPLIT_HASH:
		return stand->traffic.pkts[index].digest % stand->worker_count;
	default:
		if (bucket->known && lull_prng_below(&stand->prng, 12) > 0)
			return bucket->worker;
		return any;
	}
}

static void
stand_dispatch_packet(struct stand *stand, uint32_t index, uint64_t now_ns)
{
	struct lull_flow_packet *packet = &stand->traffic.pkts[index];
	struct bucket *bucket = &stand->buckets[packet->digest & stand->bucket_mask];
	/* The clock of a burst may be off from its packets' by idle_ns at either end. */
	uint64_t forget_ns = stand->traffic.idle_ns * (stand->bursts ? 2 : 1);
	struct worker *worker;
	uint32_t chosen;

	if (bucket->known && now_ns > bucket->last_ns + forget_ns)
		*bucket = (struct bucket){ .known = false };
	chosen = stand_choose(stand, bucket, index);
	packet->mark_flags = 0;
	if (bucket->known && bucket->worker != chosen) {
		bucket->shared = true;
		packet->mark_flags |= LULL_DISPATCH_MOVED;
	}
	if (bucket->shared)
		packet->mark_flags |= LULL_DISPATCH_SHARED;
	if (stand->unmarked || stand->traffic.dispatcher_count > 1)
		packet->mark_flags = 0;
	bucket->known = true;
	bucket->worker = chosen;
	bucket->last_ns = now_ns;
	worker = &stand->workers[chosen];
	worker->queue[packet->dispatcher][worker->tail[packet->dispatcher]++] = index;
}

/* A burst: its clocks lie within idle_ns of each other. */
static void
stand_dispatch(struct stand *stand, uint32_t number)
{
	struct dispatcher *dispatcher = &stand->dispatchers[number];
	const struct traffic *traffic = &stand->traffic;
	uint32_t burst[BURST_MAX], count = 0;
	uint32_t limit = stand->bursts ? 1 + (uint32_t)lull_prng_below(&stand->prng, BURST_MAX) : 1;
	uint32_t at = dispatcher->next;
	uint64_t now_ns;

	for (; at < traffic->pkt_count && count < limit; at++) {
		const struct lull_flow_packet *packet = &traffic->pkts[at];

		if (packet->dispatcher != number)
			continue;
		if (count > 0 &&
		    packet->clock_ns - traffic->pkts[burst[0]].clock_ns > traffic->idle_ns)
			break;
		burst[count++] = at;
	}
	dispatcher->next = at;
	dispatcher->done = at == traffic->pkt_count;
	now_ns = count > 0 ? traffic->pkts[burst[count - 1]].clock_ns : 0;
	for (uint32_t i = 0; i < count; i++)
		stand_dispatch_packet(stand, burst[i], now_ns);
	if (count > 0)
		dispatcher->published_ns = now_ns;
	if (dispatcher->done)
		dispatcher->published_ns = traffic->end_clock_ns;
}

/* ---- worker ---- */

static bool
worker_hand(void *arg, struct lull_flow_record *record, void *extra)
{
	struct worker *worker = arg;
	struct stand *stand = worker->stand;

	assert_true((extra == NULL) == (record->message == LULL_FLOW_ANNOUNCE));
	if (worker->ring_count == stand->ring_pkts || lull_prng_below(&stand->prng, 12) == 0)
		return false;
	memcpy(&worker->ring[worker->ring_count++], record, lull_flow_record_bytes(KEPT_BYTES));
	return true;
}

static void
worker_account(const struct worker *worker)
{
	const struct lull_flow_table_counters *counters = lull_flow_table_counters(worker->table);

	assert_int_equal(counters->pkts, counters->entry_pkts + counters->handed_pkts);
	assert_int_equal(counters->created, counters->entries + counters->ended_idle +
						    counters->ended_active + counters->ended_flush +
						    counters->ended_closed + counters->evicted);
}

static void
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

static void
worker_step(struct worker *worker)
{
	struct stand *stand = worker->stand;
	uint64_t clock_ns = UINT64_MAX, watermark_ns;
	bool done = true;

	if (worker->watermark_ns == UINT64_MAX)
		return;
	for (uint32_t i = 0; i < stand->traffic.dispatcher_count; i++) {
		uint64_t upto_ns = stand->dispatchers[i].published_ns;

		worker_take(worker, i, (uint32_t)lull_prng_below(&stand->prng, 40));
		if (worker->head[i] < worker->tail[i])
			upto_ns = worker->taken_ns[i];
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

static void
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
	kept->record.shared = 0;
	if (stand->traffic.dispatcher_count > 1) /* clocks that cross end entries early */
		kept->record.end = 0;
	stand->given_pkts += record->packets[0] + record->packets[1];
}

/* First the watermarks; whatever happens before the second half is only more. */
static void
stand_log(struct stand *stand)
{
	const struct lull_flow_merge_counters *counters = lull_flow_merge_counters(stand->merge);
	uint64_t handed_pkts = 0;

	stand->snapshot_taken = !stand->snapshot_taken;
	if (stand->snapshot_taken) {
		stand->snapshot_ns = UINT64_MAX;
		for (uint32_t i = 0; i < stand->worker_count; i++)
			stand->snapshot_ns =
				LULL_MIN(stand->snapshot_ns, stand->workers[i].watermark_ns);
		return;
	}
	for (uint32_t i = 0; i < stand->worker_count; i++) {
		struct worker *worker = &stand->workers[i];

		for (uint32_t j = 0; j < worker->ring_count; j++)
			lull_flow_merge_add(stand->merge, &worker->ring[j].record);
		worker->ring_count = 0;
		handed_pkts += lull_flow_table_counters(worker->table)->handed_pkts;
	}
	lull_flow_merge_advance(stand->merge, stand->snapshot_ns);
	assert_int_equal(counters->pkts, stand->given_pkts);
	assert_int_equal(counters->pkts + counters->open_pkts, handed_pkts);
	assert_int_equal(counters->partials, counters->records + counters->open + counters->joined);
}

/* ---- a run ---- */

static void *
stand_memory(size_t bytes)
{
	return aligned_alloc(LULL_CACHE_LINE,
			     (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE);
}

static struct stand *
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

static void
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
		.closed_ns = traffic->closed_ns,
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
static void
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
		done = stand->snapshot_ns == UINT64_MAX && !stand->snapshot_taken;
	}
}

static void
stand_destroy(struct stand *stand)
{
	for (uint32_t i = 0; i < stand->worker_count; i++)
		free(stand->workers[i].memory);
	free(stand->merge_memory);
	free(stand);
}

static uint64_t
environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

static int
stand_difference(struct stand *stand)
{
	return kept_compare(stand->traffic.expected, stand->traffic.expected_count, stand->given,
			    stand->given_count);
}

TEST(records__same_for_every_split)
{
	uint64_t first = environment("LULL_SEED", 0), count = environment("LULL_SEEDS", SEEDS);

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct stand *stand = stand_create(seed);
		const struct lull_flow_merge_counters *counters;
		int difference;

		stand_run(stand);
		counters = lull_flow_merge_counters(stand->merge);
		difference = stand_difference(stand);
		if (difference >= 0)
			fail_msg("seed %llu: record %d differs: %u workers, split %d, %u "
				 "dispatchers, %u records, %u expected",
				 (unsigned long long)seed, difference, stand->worker_count,
				 (int)stand->split, stand->traffic.dispatcher_count,
				 stand->given_count, stand->traffic.expected_count);
		assert_int_equal(counters->open + counters->awaited + counters->evicted, 0);
		assert_int_equal(stand->given_pkts, stand->traffic.pkt_count);
		stand_destroy(stand);
	}
}

/* The case above would notice: without the dispatcher's marks some record is given too early. */
TEST(records__need_announcements)
{
	uint32_t differ = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct stand *stand = stand_create(seed);

		stand->traffic.dispatcher_count = 1;
		for (uint32_t i = 0; i < stand->traffic.pkt_count; i++)
			stand->traffic.pkts[i].dispatcher = 0;
		stand->unmarked = true;
		stand_run(stand);
		differ += stand_difference(stand) >= 0;
		stand_destroy(stand);
	}
	assert_true(differ > 5);
}

/* Too little room everywhere: records come early and say so, packets are all accounted for. */
TEST(records__conserve_packets_without_room)
{
	uint64_t evicted = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct stand *stand = stand_create(seed);
		uint64_t inexact = 0, unrecorded = 0;

		stand->entries_max = 16;
		stand_run(stand);
		for (uint32_t i = 0; i < stand->worker_count; i++) {
			const struct lull_flow_table_counters *counters =
				lull_flow_table_counters(stand->workers[i].table);

			unrecorded += counters->unrecorded;
			evicted += counters->evicted;
		}
		for (uint32_t i = 0; i < stand->given_count; i++) {
			inexact += stand->given[i].record.exact == 0;
			if (stand->given[i].record.end == LULL_FLOW_END_EVICTED)
				assert_int_equal(stand->given[i].record.exact, 0);
		}
		assert_int_equal(stand->given_pkts + unrecorded, stand->traffic.pkt_count);
		if (inexact == 0 && unrecorded == 0)
			assert_int_equal(stand_difference(stand), -1);
		stand_destroy(stand);
	}
	assert_true(evicted > 1000);
}
