/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dispatchers that split the packets of records_world.h over workers in every way. Full rings
 * refuse packets, which then go to another worker behind younger ones, or are lost.
 */
#ifndef RECORDS_DISPATCH_H
#define RECORDS_DISPATCH_H

#include <stdio.h>

#include <lull/dispatch.h>

#include "case.h"
#include "records_world.h"

#define WORKERS_MAX 8
#define DISPATCHERS_MAX 2
#define RING_MAX 64
#define BUCKETS_MAX 256
#define BURST_MAX 32
#define REFUSED_MAX 8
#define SEEDS 1500

enum split { SPLIT_RANDOM, SPLIT_TURNS, SPLIT_HASH, SPLIT_MOVING, SPLIT_COUNT };

struct bucket {
	uint32_t worker;
	bool known, shared;
	uint64_t last_ns;
	uint64_t split_ns; /* clock of the last packet that was marked as shared */
};

/* Of a flow that lost a packet, until the next one tells. */
struct loss {
	bool pending;
	uint64_t clock_ns;
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
	/* What was published, and how many packets were there when that was read. */
	uint64_t seen_ns[DISPATCHERS_MAX], mark_ns[DISPATCHERS_MAX];
	uint32_t seen_tail[DISPATCHERS_MAX];
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
	bool refuses; /* rings are full at times */
	bool leaves;  /* nobody waits for a worker that stands still for long */
	uint64_t late;
	uint64_t advanced_ns;
	uint64_t retried, dropped;
	struct loss losses[FLOWS_MAX];
	struct dispatcher dispatchers[DISPATCHERS_MAX];
	struct bucket buckets[BUCKETS_MAX];
	struct worker workers[WORKERS_MAX];
	void *merge_memory;
	struct lull_flow_merge *merge;
	bool snapshot_taken;
	uint64_t snapshots_ns[WORKERS_MAX];
	uint32_t given_count;
	uint64_t given_pkts;
	struct kept given[RECORDS_MAX];
};

/* ---- dispatcher: buckets as lull/dispatch.h describes them ---- */

static inline uint32_t
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

static inline struct bucket *
stand_bucket(struct stand *stand, const struct lull_flow_packet *packet)
{
	return &stand->buckets[packet->digest & stand->bucket_mask];
}

/* As the engine writes it down, before the packet or a later clock is told to anybody. */
static inline void
stand_tell_split(struct stand *stand, const struct lull_flow_packet *packet)
{
	struct bucket *bucket = stand_bucket(stand, packet);

	if ((packet->mark_flags & LULL_DISPATCH_SHARED) != 0)
		bucket->split_ns = LULL_MAX(bucket->split_ns, packet->clock_ns + 1);
}

static inline void
stand_tell_lost(struct stand *stand, struct lull_flow_packet *packet)
{
	struct loss *loss = &stand->losses[packet->key.port[0]];

	if (loss->pending && packet->clock_ns <= loss->clock_ns + stand->traffic.idle_ns)
		packet->mark_flags |= LULL_FLOW_MARK_LOST;
	loss->pending = false;
}

static inline void
stand_dispatch_packet(struct stand *stand, uint32_t index, uint64_t now_ns)
{
	struct lull_flow_packet *packet = &stand->traffic.pkts[index];
	struct bucket *bucket = &stand->buckets[packet->digest & stand->bucket_mask];
	/* The clock of a burst may be off from its packets' by idle_ns at either end. */
	uint64_t forget_ns = stand->traffic.idle_ns * (stand->bursts ? 2 : 1);
	struct worker *worker;
	uint32_t chosen;

	if (bucket->known && now_ns > bucket->last_ns + forget_ns)
		*bucket = (struct bucket){ .split_ns = bucket->split_ns };
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
	stand_tell_split(stand, packet);
	stand_tell_lost(stand, packet);
	bucket->known = true;
	bucket->worker = chosen;
	bucket->last_ns = now_ns;
	worker = &stand->workers[chosen];
	worker->queue[packet->dispatcher][worker->tail[packet->dispatcher]++] = index;
}

/* A refused packet: another worker gets it, behind what that one was given, or it is lost. */
static inline void
stand_refuse(struct stand *stand, uint32_t index, uint32_t from)
{
	struct lull_flow_packet *packet = &stand->traffic.pkts[index];
	struct bucket *bucket = stand_bucket(stand, packet);
	uint32_t second = (uint32_t)lull_prng_below(&stand->prng, stand->worker_count);
	struct worker *worker = &stand->workers[second];

	if (second == from || lull_prng_below(&stand->prng, 3) == 0) {
		stand->traffic.gone[index] = true;
		stand->losses[packet->key.port[0]] = (struct loss){ true, packet->clock_ns };
		stand->dropped++;
		return;
	}
	bucket->shared = bucket->shared || bucket->worker != second;
	if (bucket->shared && stand->traffic.dispatcher_count == 1)
		packet->mark_flags |= LULL_DISPATCH_SHARED;
	bucket->worker = second;
	stand_tell_split(stand, packet);
	worker->queue[packet->dispatcher][worker->tail[packet->dispatcher]++] = index;
	stand->retried++;
}

/* The ring of a worker has no room for the last packets of this burst. */
static inline void
stand_refuse_some(struct stand *stand, uint32_t number, const uint32_t *tails)
{
	uint32_t from = (uint32_t)lull_prng_below(&stand->prng, stand->worker_count);
	struct worker *worker = &stand->workers[from];
	uint32_t given = worker->tail[number] - tails[from], refused[REFUSED_MAX];
	uint32_t count = (uint32_t)lull_prng_below(&stand->prng, REFUSED_MAX + 1);

	count = LULL_MIN(count, given);
	worker->tail[number] -= count;
	memcpy(refused, &worker->queue[number][worker->tail[number]], count * sizeof(refused[0]));
	for (uint32_t i = 0; i < count; i++)
		stand_refuse(stand, refused[i], from);
}

/* A burst: its clocks lie within idle_ns of each other. */
static inline void
stand_dispatch(struct stand *stand, uint32_t number)
{
	struct dispatcher *dispatcher = &stand->dispatchers[number];
	const struct traffic *traffic = &stand->traffic;
	uint32_t burst[BURST_MAX], count = 0;
	uint32_t limit = stand->bursts ? 1 + (uint32_t)lull_prng_below(&stand->prng, BURST_MAX) : 1;
	uint32_t at = dispatcher->next, tails[WORKERS_MAX];
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
	for (uint32_t i = 0; i < stand->worker_count; i++)
		tails[i] = stand->workers[i].tail[number];
	for (uint32_t i = 0; i < count; i++)
		stand_dispatch_packet(stand, burst[i], now_ns);
	if (stand->refuses)
		stand_refuse_some(stand, number, tails);
	if (count > 0)
		dispatcher->published_ns = now_ns;
	if (dispatcher->done)
		dispatcher->published_ns = traffic->end_clock_ns;
}

#endif
