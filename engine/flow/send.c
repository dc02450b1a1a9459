/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the dispatcher's decision to the workers' rings. A whole burst is staged before any of it
 * is sent: what a ring refuses are then the last packets its worker was given, as the dispatcher
 * wants it.
 */
#include <string.h>

#include "base/assert.h"
#include "stage.h"

void
flow_send_loads(struct flow_io *io)
{
	for (uint32_t i = 0; i < io->worker_count; i++) {
		struct lull_dispatch_load *load = &io->loads[i];
		uint32_t used = rte_ring_count(io->rings[i]) + io->staging[i].count;

		load->capacity_pkts = rte_ring_get_capacity(io->rings[i]);
		load->used_pkts = LULL_MIN(used, load->capacity_pkts);
		load->staged_pkts = io->staging[i].count;
		load->done_pkts = __atomic_load_n(&io->pipeline->workers[i]->done[io->index].pkts,
						  __ATOMIC_ACQUIRE);
	}
}

/* ---- staging ---- */

static void
send_stage(struct flow_io *io, uint32_t worker, struct rte_mbuf *pkt, uint64_t now_ns)
{
	struct flow_staging *staging = &io->staging[worker];

	LULL_ASSERT(staging->count < FLOW_STAGING_PKTS);
	if (staging->count == 0)
		staging->since_ns = now_ns;
	staging->pkts[staging->count++] = pkt;
}

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
	flow_send_loads(io);
	for (uint32_t i = 0; needs_crcs && i < burst->kept; i++)
		crcs[i] = lull_flow_key_crc32(&flow_private(burst->pkts[i])->packet.key);
	lull_dispatch_burst(io->dispatch, burst->first_clock_ns, io->loads, burst->digests,
			    needs_crcs ? crcs : NULL, burst->kept, workers,
			    io->tracks ? marks : NULL);
	for (uint32_t i = 0; i < burst->kept; i++) {
		if (io->tracks)
			send_mark(io, burst->pkts[i], &marks[i]);
		if (io->lost_count > 0)
			send_tell_lost(io, &flow_private(burst->pkts[i])->packet);
		send_stage(io, workers[i], burst->pkts[i], now_ns);
	}
	burst->kept = 0;
}

/* ---- rings ---- */

/* Returns what the ring has no room for. Counted before a worker can see them. */
static uint32_t
send_enqueue(struct flow_io *io, uint32_t worker)
{
	struct flow_staging *staging = &io->staging[worker];
	/* Read once: room only grows meanwhile. */
	uint32_t room = rte_ring_free_count(io->rings[worker]);
	uint32_t count = LULL_MIN(staging->count, room);

	if (count > 0) {
		uint32_t sent;

		lull_cell_begin(&io->sequence);
		LULL_COUNTER_ADD(io->words.staged, -(uint64_t)count);
		LULL_COUNTER_ADD(io->words.dispatched, count);
		LULL_COUNTER_ADD(io->words.sent[worker], count);
		lull_cell_end(&io->sequence);
		sent = rte_ring_sp_enqueue_burst(io->rings[worker], (void **)staging->pkts, count,
						 NULL);
		LULL_ASSERT(sent == count);
		staging->count -= count;
		memmove(staging->pkts, staging->pkts + count,
			staging->count * sizeof(staging->pkts[0]));
		io->counters.dispatched += count;
	}
	if (staging->count > 0)
		io->counters.partial++;
	return staging->count;
}

static void
send_drop(struct flow_io *io, struct rte_mbuf **pkts, uint32_t count)
{
	if (count == 0)
		return;
	lull_cell_begin(&io->sequence);
	LULL_COUNTER_ADD(io->words.staged, -(uint64_t)count);
	LULL_COUNTER_ADD(io->words.dropped, count);
	lull_cell_end(&io->sequence);
	io->counters.drop_ring += count;
	for (uint32_t i = 0; i < count; i++)
		send_remember_lost(io, pkts[i]);
	flow_io_free(io, pkts, count);
}

/* ---- second chance ---- */

/* More than the dispatcher takes back at once, for much that waited came together. */
static void
send_drop_excess(struct flow_io *io, uint16_t from)
{
	struct flow_staging *staging = &io->staging[from];
	uint32_t excess = staging->count - LULL_MIN(staging->count, LULL_DISPATCH_BURST_MAX);

	if (excess == 0)
		return;
	lull_dispatch_dropped(io->dispatch, from, excess);
	staging->count -= excess;
	send_drop(io, staging->pkts + staging->count, excess);
}

/* What @p from refused goes to others that have room, or is dropped. */
static void
send_refused(struct flow_io *io, uint16_t from, uint64_t now_ns)
{
	struct rte_mbuf *pkts[FLOW_STAGING_PKTS], *dropped[FLOW_STAGING_PKTS];
	struct lull_dispatch_mark marks[FLOW_STAGING_PKTS];
	uint32_t digests[FLOW_STAGING_PKTS];
	uint16_t workers[FLOW_STAGING_PKTS];
	struct flow_staging *staging = &io->staging[from];
	uint32_t count, dropped_count = 0;

	send_drop_excess(io, from);
	count = staging->count;
	LULL_ASSERT(count > 0 && count <= FLOW_STAGING_PKTS);
	memcpy(pkts, staging->pkts, count * sizeof(pkts[0]));
	staging->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct lull_flow_packet *packet = &flow_private(pkts[i])->packet;

		digests[i] = packet->dispatch_hash;
		marks[i] = (struct lull_dispatch_mark){ packet->bucket, packet->seq,
							packet->mark_flags, packet->hint };
	}
	lull_dispatch_refused(io->dispatch, now_ns, from, io->loads, digests, count, workers,
			      io->tracks ? marks : NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct flow_staging *other = &io->staging[workers[i]];

		if (workers[i] == from) {
			dropped[dropped_count++] = pkts[i];
			continue;
		}
		if (other->count == FLOW_STAGING_PKTS) {
			lull_dispatch_dropped(io->dispatch, workers[i], 1);
			dropped[dropped_count++] = pkts[i];
			continue;
		}
		if (io->tracks)
			send_mark(io, pkts[i], &marks[i]);
		send_stage(io, workers[i], pkts[i], now_ns);
		other->given++;
		io->loads[workers[i]].used_pkts++;
		io->counters.retried++;
	}
	send_drop(io, dropped, dropped_count);
}

/* Send what others refused; what finds no room here either is dropped. */
static void
send_given(struct flow_io *io, uint16_t worker)
{
	struct flow_staging *staging = &io->staging[worker];
	uint32_t left = send_enqueue(io, worker);
	uint32_t dropped = LULL_MIN(left, staging->given);

	staging->given = 0;
	if (dropped == 0)
		return;
	lull_dispatch_dropped(io->dispatch, worker, dropped);
	staging->count -= dropped;
	send_drop(io, staging->pkts + staging->count, dropped);
}

static void
send_retry(struct flow_io *io, uint64_t now_ns, uint32_t full)
{
	flow_send_loads(io);
	/* Nobody is given what would then stand behind packets that were refused themselves. */
	for (uint16_t i = 0; i < io->worker_count; i++) {
		if ((full >> i & 1) != 0)
			io->loads[i].used_pkts = io->loads[i].capacity_pkts;
	}
	for (uint16_t i = 0; i < io->worker_count; i++) {
		if ((full >> i & 1) != 0)
			send_refused(io, i, now_ns);
	}
	for (uint16_t i = 0; i < io->worker_count; i++) {
		if (io->staging[i].given > 0)
			send_given(io, i);
	}
}

/* ---- flush ---- */

void
flow_send_flush(struct flow_io *io, uint64_t now_ns, bool all)
{
	uint32_t full = 0;

	for (uint32_t i = 0; i < io->worker_count; i++) {
		struct flow_staging *staging = &io->staging[i];
		bool late = all || io->blocked || now_ns >= staging->since_ns + io->flush_ns;

		if (staging->count == 0 || (staging->count < io->flush_pkts && !late))
			continue;
		if (staging->count >= io->flush_pkts)
			io->counters.flushes_size++;
		else
			io->counters.flushes_deadline++;
		if (send_enqueue(io, i) > 0)
			full |= 1u << i;
	}
	io->blocked = full != 0 && io->wait;
	if (full != 0 && !io->wait)
		send_retry(io, io->clock_ns, full);
}

uint64_t
flow_send_floor(const struct flow_io *io)
{
	uint64_t clock_ns = io->clock_ns;

	for (uint32_t i = 0; i < io->worker_count; i++) {
		if (io->staging[i].count > 0)
			clock_ns = LULL_MIN(clock_ns,
					    flow_private(io->staging[i].pkts[0])->packet.clock_ns);
	}
	/* Another packet may still come at that very clock. */
	return clock_ns == 0 ? 0 : clock_ns - 1;
}

uint64_t
flow_send_deadline(const struct flow_io *io)
{
	uint64_t since_ns = UINT64_MAX;

	for (uint32_t i = 0; i < io->worker_count; i++) {
		if (io->staging[i].count > 0)
			since_ns = LULL_MIN(since_ns, io->staging[i].since_ns);
	}
	return since_ns == UINT64_MAX ? 0 : since_ns + io->flush_ns;
}
