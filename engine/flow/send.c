/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the dispatcher's decision to the workers' rings: what packets carry of it, what the rings
 * are, and what is lost. When they are sent, and where to, is core/dispatch/staging.h.
 */
#include "base/assert.h"
#include "stage.h"

#define NUMBER_IO_BITS 2 /* LULL_PIPELINE_IO_MAX */

/* ---- marks ---- */

/* Does it go where another flow goes? ICMP errors do: one key, many buckets, many workers. */
static bool
send_scattered(const struct lull_flow_packet *packet)
{
	return packet->key.proto == LULL_FLOW_PROTO_ICMP ||
	       packet->key.proto == LULL_FLOW_PROTO_ICMP6 ||
	       packet->dispatch_hash != packet->digest;
}

/* Other workers may have packets of this flow: what ends behind its clock is not known whole. */
static void
send_tell_split(struct flow_io *io, const struct lull_flow_packet *packet)
{
	uint64_t *split_ns = &io->splits[packet->digest & io->bucket_mask];

	if (packet->clock_ns > *split_ns)
		__atomic_store_n(split_ns, packet->clock_ns, __ATOMIC_RELAXED);
}

static void
send_mark(struct flow_io *io, struct rte_mbuf *pkt, const struct lull_dispatch_mark *mark)
{
	struct lull_flow_packet *packet = &flow_private(pkt)->packet;

	packet->bucket = mark->bucket;
	packet->seq = mark->seq;
	packet->mark_flags = mark->flags;
	packet->hint = mark->app;
	if (send_scattered(packet)) {
		packet->mark_flags |= LULL_DISPATCH_SHARED;
		packet->hint = 0;
	}
	if ((packet->mark_flags & LULL_DISPATCH_SHARED) != 0 && io->splits != NULL)
		send_tell_split(io, packet);
}

/* ---- lost ---- */

static struct flow_lost *
send_lost(struct flow_io *io, uint32_t digest)
{
	return &io->lost[digest & (FLOW_LOST_SLOTS - 1)];
}

static void
send_remember_lost(struct flow_io *io, struct rte_mbuf *pkt)
{
	const struct lull_flow_packet *packet = &flow_private(pkt)->packet;
	struct flow_lost *lost = send_lost(io, packet->digest);

	io->lost_count += !lost->pending;
	*lost = (struct flow_lost){ packet->clock_ns, packet->digest, true };
}

/* The next packet of a flow that lost one takes that to the flow's record. */
static void
send_tell_lost(struct flow_io *io, struct lull_flow_packet *packet)
{
	struct flow_lost *lost = send_lost(io, packet->digest);

	if (!lost->pending || lost->digest != packet->digest)
		return;
	lost->pending = false;
	io->lost_count--;
	if (packet->clock_ns <= lost->clock_ns + io->idle_ns)
		packet->mark_flags |= LULL_FLOW_MARK_LOST;
}

/* ---- rings ---- */

static void
send_look(void *owner, uint32_t worker, struct lull_dispatch_load *load)
{
	const struct flow_io *io = owner;

	load->capacity_pkts = rte_ring_get_capacity(io->rings[worker]);
	load->used_pkts = rte_ring_count(io->rings[worker]);
	load->done_pkts = __atomic_load_n(&io->pipeline->workers[worker]->done[io->index].pkts,
					  __ATOMIC_ACQUIRE);
}

/* Counted before a worker can see them. */
static uint32_t
send_enqueue(void *owner, uint32_t worker, void **pkts, uint32_t count)
{
	struct flow_io *io = owner;
	/* Read once: room only grows meanwhile. */
	uint32_t room = rte_ring_free_count(io->rings[worker]), sent;

	count = LULL_MIN(count, room);
	if (count == 0)
		return 0;
	lull_cell_begin(&io->sequence);
	LULL_COUNTER_ADD(io->words.staged, -(uint64_t)count);
	LULL_COUNTER_ADD(io->words.dispatched, count);
	LULL_COUNTER_ADD(io->words.sent[worker], count);
	lull_cell_end(&io->sequence);
	sent = rte_ring_sp_enqueue_burst(io->rings[worker], pkts, count, NULL);
	LULL_ASSERT(sent == count);
	io->counters.dispatched += count;
	return count;
}

static uint32_t
send_decided(const void *pkt, struct lull_dispatch_mark *mark)
{
	const struct lull_flow_packet *packet = rte_mbuf_to_priv((struct rte_mbuf *)(uintptr_t)pkt);

	*mark = (struct lull_dispatch_mark){ packet->bucket, packet->seq, packet->mark_flags,
					     packet->hint };
	return packet->dispatch_hash;
}

static void
send_changed(void *owner, void *pkt, const struct lull_dispatch_mark *mark)
{
	if (mark != NULL)
		send_mark(owner, pkt, mark);
}

static void
send_drop(void *owner, void **pkts, uint32_t count)
{
	struct flow_io *io = owner;

	lull_cell_begin(&io->sequence);
	LULL_COUNTER_ADD(io->words.staged, -(uint64_t)count);
	LULL_COUNTER_ADD(io->words.dropped, count);
	lull_cell_end(&io->sequence);
	io->counters.drop_ring += count;
	for (uint32_t i = 0; i < count; i++)
		send_remember_lost(io, pkts[i]);
	flow_io_free(io, (struct rte_mbuf **)pkts, count);
}

static const struct lull_staging_way send_way = {
	.look = send_look,
	.send = send_enqueue,
	.decided = send_decided,
	.changed = send_changed,
	.drop = send_drop,
};

void
flow_send_init(struct flow_io *io, const struct lull_pipeline_config *config)
{
	io->staging.way = &send_way;
	io->staging.owner = io;
	io->staging.dispatch = io->dispatch;
	io->staging.worker_count = config->worker_count;
	io->staging.flush_pkts = config->flush_pkts;
	io->staging.flush_ns = config->flush_ns;
	io->staging.marks = lull_dispatch_tracks(io->dispatch);
	io->staging.wait = config->wait;
}

/* ---- decisions ---- */

void
flow_send_burst(struct flow_io *io, uint64_t now_ns)
{
	bool needs_crcs = lull_dispatch_needs_crcs(io->dispatch);
	struct lull_dispatch_mark marks[LULL_BURST_MAX];
	struct flow_burst *burst = &io->burst;
	uint16_t workers[LULL_BURST_MAX];
	uint32_t crcs[LULL_BURST_MAX];

	if (burst->kept == 0)
		return;
	lull_staging_look(&io->staging);
	for (uint32_t i = 0; needs_crcs && i < burst->kept; i++)
		crcs[i] = lull_flow_key_crc32(&flow_private(burst->pkts[i])->packet.key);
	lull_dispatch_burst(io->dispatch, burst->first_clock_ns, io->staging.loads, burst->digests,
			    needs_crcs ? crcs : NULL, burst->kept, workers,
			    io->staging.marks ? marks : NULL);
	for (uint32_t i = 0; i < burst->kept; i++) {
		if (io->staging.marks)
			send_mark(io, burst->pkts[i], &marks[i]);
		if (io->lost_count > 0)
			send_tell_lost(io, &flow_private(burst->pkts[i])->packet);
		lull_staging_add(&io->staging, workers[i], burst->pkts[i], now_ns);
	}
	burst->kept = 0;
}

/* Numbers of several I/O loops compare by clock; within one they never repeat. */
static uint64_t
send_number(struct flow_io *io)
{
	uint64_t clock_number = io->clock_ns << NUMBER_IO_BITS | io->index;

	if (io->several)
		io->number = LULL_MAX(io->number + (1u << NUMBER_IO_BITS), clock_number);
	else
		io->number++;
	return io->number;
}

void
flow_send_add(struct flow_io *io, struct lull_flow_packet *packet, uint64_t now_ns)
{
	struct flow_burst *burst = &io->burst;

	/* The dispatcher hears one clock per call: buckets are forgotten by it. */
	if (burst->kept > 0 &&
	    (burst->kept == LULL_BURST_MAX || io->clock_ns - burst->first_clock_ns > io->span_ns))
		flow_send_burst(io, now_ns);
	if (burst->kept == 0)
		burst->first_clock_ns = io->clock_ns;
	packet->clock_ns = io->clock_ns;
	packet->number = send_number(io);
	lull_flow_connections_mark(io->connections, packet);
	packet->dispatcher = (uint8_t)io->index;
	burst->digests[burst->kept] = packet->dispatch_hash;
	burst->pkts[burst->kept++] = flow_mbuf(packet);
}

/* ---- flush ---- */

void
flow_send_flush(struct flow_io *io, uint64_t now_ns, bool all)
{
	const struct lull_staging_counters *counters = &io->staging.counters;

	lull_staging_flush(&io->staging, now_ns, io->clock_ns, all);
	io->counters.flushes_size = counters->flushes_size;
	io->counters.flushes_deadline = counters->flushes_deadline;
	io->counters.partial = counters->partial;
	io->counters.retried = counters->retried;
}

uint64_t
flow_send_floor(const struct flow_io *io)
{
	uint64_t clock_ns = io->clock_ns;

	for (uint32_t i = 0; i < io->worker_count; i++) {
		const struct lull_staged *staged = &io->staging.workers[i];

		if (staged->count > 0)
			clock_ns =
				LULL_MIN(clock_ns, flow_private(staged->pkts[0])->packet.clock_ns);
	}
	/* Another packet may still come at that very clock. */
	return clock_ns == 0 ? 0 : clock_ns - 1;
}
