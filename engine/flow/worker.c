/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker stage: packets into the flow table, protocols identified, order judged.
 */
#include <errno.h>
#include <stddef.h>

#include <rte_cycles.h>

#include "stage.h"

#define PREFETCH_AHEAD 4
/* Entries handed over per iteration at most: packets wait meanwhile. */
#define ADVANCE_ENTRIES 64
#define ADVANCE_PAUSE_NS LULL_NS_PER_MS
#define BEHIND_PAUSE_NS (50 * LULL_NS_PER_US)
/* As long as the rate of the time stamp counter is measured. */
#define TSC_NS LULL_NS_PER_MS
/* Numbers wrap: a board that nobody has raised for so long would call them late. */
#define BOARD_STALE (1u << 30)

struct flow_worker_stage {
	struct flow_worker *worker;
	struct flow_worker_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct flow_worker_counters, member, unit_text, help_text)
static const struct lull_counter_info worker_counter_table[] = {
	ROW(pkts, "packets", "packets recorded in a flow"),
	ROW(unrecorded, "packets", "packets without a record because the flow table was full"),
	ROW(reordered, "packets", "packets finished after a later packet of their bucket"),
	ROW(identified, "1", "flows whose protocol was identified before they ended"),
	ROW(notes, "1", "results of nDPI sent to the dispatcher"),
	ROW(notes_lost, "1", "results of nDPI lost because the ring was full"),
	ROW(output_refused, "packets", "packets freed because the output ring was full"),
	ROW(records, "1", "records sent to the aggregators"),
	ROW(records_deferred, "1", "times that a record had to wait for an aggregator's ring"),
	ROW(half_open_evicted, "1", "records of half-open flows sent early, the table being full"),
	ROW(left_out, "1", "records of half-open flows left out by sampling, the table being full"),
	ROW(left_out_pkts, "packets", "packets in the records left out"),
	{ .name = NULL },
};

/* ---- a packet ---- */

/*
 * Packets that this worker alone has had of their bucket came in order and only look; the others
 * also raise what is expected. Workers share the board.
 */
static bool
worker_late(uint32_t *next, uint32_t seq, bool shared)
{
	uint32_t expected = __atomic_load_n(next, __ATOMIC_RELAXED);

	if ((int32_t)(seq - expected) < 0)
		return true;
	if (!shared) {
		if (seq - expected > BOARD_STALE)
			__atomic_store_n(next, seq, __ATOMIC_RELAXED);
		return false;
	}
	while (!__atomic_compare_exchange_n(next, &expected, seq + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED)) {
		if ((int32_t)(seq - expected) < 0)
			return true;
	}
	return false;
}

/* The dispatcher lets the flow's packets carry the verdict to whichever worker gets them. */
static void
worker_note(struct flow_worker *worker, const struct lull_flow_packet *packet, uint16_t hint)
{
	struct flow_note note = { .digest = packet->digest, .app = hint };
	struct rte_ring *ring = worker->inputs[packet->dispatcher].notes;

	/* An ICMP error stands in the bucket of the flow it is about. */
	if (packet->dispatch_hash != packet->digest)
		return;
	if (rte_ring_sp_enqueue_elem(ring, &note, sizeof(note)) == 0)
		worker->counters.notes++;
	else
		worker->counters.notes_lost++;
}

static void
worker_identify(struct flow_worker *worker, const uint8_t *data, uint32_t bytes,
		const struct lull_flow_packet *packet, struct lull_flow_record *record)
{
	struct lull_identify_flow *flow = lull_flow_table_extra(worker->table, record);

	if (flow->done || packet->ip_offset >= bytes)
		return;
	/* A flood costs no states; there is nothing to be found in it. */
	if (flow->state == NULL && packet->payload_bytes == 0 &&
	    lull_flow_table_half_open(worker->table, record))
		return;
	lull_identify_packet(worker->identify, flow, packet, data + packet->ip_offset,
			     bytes - packet->ip_offset);
	if (!flow->done)
		return;
	record->app = flow->app;
	record->app_master = flow->app_master;
	record->app_confidence = flow->confidence;
	record->app_final = flow->final;
	if (flow->app == 0)
		return;
	worker->counters.identified++;
	if (packet->hint == 0 && worker->boards[packet->dispatcher] != NULL)
		worker_note(worker, packet, lull_identify_hint(flow));
}

static void
burn_cycles(uint64_t cycles)
{
	uint64_t begin = rte_rdtsc();

	while (rte_rdtsc() - begin < cycles)
		rte_pause();
}

void
flow_worker_packet(struct flow_worker *worker, const struct lull_flow_packet *packet,
		   const uint8_t *data, uint32_t bytes)
{
	uint32_t *board = worker->boards[packet->dispatcher];
	struct lull_flow_record *record;
	bool late = false;

	record = lull_flow_table_add(worker->table, packet, data + packet->payload_offset);
	if (board != NULL)
		late = worker_late(&board[packet->bucket], packet->seq,
				   (packet->mark_flags & LULL_DISPATCH_SHARED) != 0);
	worker->counters.reordered += late;
	if (record != NULL) {
		record->reordered += late;
		if (worker->identify != NULL)
			worker_identify(worker, data, bytes, packet, record);
	}
	if (worker->work_cycles > 0)
		burn_cycles(worker->work_cycles);
	worker->finished[packet->dispatcher]++;
}

static void
worker_pkt(struct flow_worker *worker, const struct rte_mbuf *pkt)
{
	flow_worker_packet(worker, &flow_private((struct rte_mbuf *)(uintptr_t)pkt)->packet,
			   rte_pktmbuf_mtod(pkt, const uint8_t *), rte_pktmbuf_data_len(pkt));
}

/* ---- a batch ---- */

/* Packets behind the workers' part; true when none waits any more. */
static bool
worker_output(struct flow_worker *worker)
{
	uint32_t sent;

	if (worker->pending_count == 0)
		return true;
	sent = rte_ring_sp_enqueue_burst(worker->out, (void **)worker->pending,
					 worker->pending_count, NULL);
	worker->pending_count -= sent;
	for (uint32_t i = 0; i < worker->pending_count; i++)
		worker->pending[i] = worker->pending[sent + i];
	if (worker->pending_count > 0 && !worker->wait) {
		LULL_COUNTER_ADD(worker->counters.output_refused, worker->pending_count);
		rte_pktmbuf_free_bulk(worker->pending, worker->pending_count);
		worker->pending_count = 0;
	}
	return worker->pending_count == 0;
}

/* To where they came from. */
static void
worker_free(struct flow_worker *worker)
{
	struct rte_mbuf **pkts = worker->batch;
	uint32_t count = worker->batch_count;

	if (worker->io_count == 1 && worker->inputs[0].io->frames != NULL) {
		flow_frames_return(worker->inputs[0].io->frames, worker->index, pkts, count);
		return;
	}
	for (uint32_t i = 0; worker->framed && i < count; i++) {
		const struct flow_io *io =
			worker->inputs[flow_private(pkts[i])->packet.dispatcher].io;

		if (io->frames != NULL)
			flow_frames_return(io->frames, worker->index, &pkts[i], 1);
		else
			rte_pktmbuf_free(pkts[i]);
	}
	if (!worker->framed)
		rte_pktmbuf_free_bulk(pkts, count);
}

static void
worker_finish(struct flow_worker *worker)
{
	flow_record_publish(worker);
	for (uint32_t i = 0; i < worker->io_count; i++)
		__atomic_store_n(&worker->done[i].pkts, worker->finished[i], __ATOMIC_RELEASE);
	if (worker->out == NULL) {
		worker_free(worker);
		return;
	}
	for (uint32_t i = 0; i < worker->batch_count; i++)
		worker->pending[i] = worker->batch[i];
	worker->pending_count = worker->batch_count;
	worker_output(worker);
}

bool
flow_worker_ready(struct flow_worker *worker, uint64_t now_ns)
{
	if (now_ns < worker->stall_end_ns || !worker_output(worker))
		return false;
	/* Else tables would fill with what has ended, and then with nothing more. */
	return !worker->wait || (!worker->behind && flow_record_room(worker));
}

static uint16_t
worker_pull(void *state, uint64_t now_ns)
{
	struct flow_worker *worker = ((struct flow_worker_stage *)state)->worker;

	if (!flow_worker_ready(worker, now_ns))
		return 0;
	flow_input_take(worker);
	if (worker->batch_count == 0)
		return 0;
	for (uint32_t i = 0; i < worker->batch_count; i++) {
		if (i + PREFETCH_AHEAD < worker->batch_count) {
			struct rte_mbuf *ahead = worker->batch[i + PREFETCH_AHEAD];

			rte_prefetch0(flow_private(ahead));
			rte_prefetch0((uint8_t *)flow_private(ahead) + LULL_CACHE_LINE);
		}
		worker_pkt(worker, worker->batch[i]);
	}
	worker_finish(worker);
	return (uint16_t)worker->batch_count;
}

/* ---- the iteration ---- */

static void
worker_announce_mark(struct flow_worker *worker, uint64_t watermark_ns)
{
	flow_record_publish(worker);
	__atomic_store_n(&worker->watermark_ns, watermark_ns, __ATOMIC_RELEASE);
}

/* Nothing comes any more: what ended before goes as such, the rest as cut off by the end. */
static void
worker_flush(struct flow_worker *worker, uint64_t mark_ns)
{
	uint64_t deferred = worker->counters.records_deferred;

	worker_announce_mark(worker, lull_flow_table_advance(worker->table, mark_ns, 0));
	if (worker->counters.records_deferred != deferred)
		return;
	worker->flushed = lull_flow_table_flush(worker->table);
	worker_announce_mark(worker, worker->flushed ? FLOW_CLOCK_END : worker->watermark_ns);
}

static void
worker_advance(struct flow_worker *worker)
{
	uint64_t deferred = worker->counters.records_deferred, records = worker->counters.records;
	uint64_t mark_ns = flow_input_mark(worker);

	worker->behind = false;
	if (worker->flushed)
		return;
	if (flow_closing(worker->pipeline) && flow_input_ended(worker)) {
		worker_flush(worker, mark_ns);
	} else if (mark_ns > worker->watermark_ns) {
		worker_announce_mark(
			worker, lull_flow_table_advance(worker->table, mark_ns, ADVANCE_ENTRIES));
		worker->behind = worker->counters.records_deferred != deferred ||
				 worker->counters.records - records >= ADVANCE_ENTRIES;
	}
}

static uint64_t
worker_deadline(const struct flow_worker *worker, uint64_t now_ns, uint64_t other_ns)
{
	uint64_t deadline_ns = UINT64_MAX;

	if (worker->live && !worker->flushed)
		deadline_ns = LULL_MAX(lull_flow_table_deadline_ns(worker->table),
				       now_ns + ADVANCE_PAUSE_NS);
	if (other_ns != 0)
		deadline_ns = LULL_MIN(deadline_ns, other_ns);
	/* It takes nothing until that is done. */
	if (worker->wait && worker->behind)
		deadline_ns = now_ns + (flow_record_room(worker) ? 0 : BEHIND_PAUSE_NS);
	return deadline_ns == UINT64_MAX ? 0 : deadline_ns;
}

static uint64_t
worker_iterate(void *state, uint64_t now_ns)
{
	struct flow_worker_stage *stage = state;
	struct flow_worker *worker = stage->worker;
	bool sent;
	uint64_t top_ns;

	if (now_ns < worker->stall_end_ns)
		return worker->stall_end_ns;
	worker_advance(worker);
	sent = worker_output(worker);
	if (worker->flushed && sent)
		__atomic_store_n(&worker->done_all, true, __ATOMIC_RELEASE);
	top_ns = flow_top_iterate(worker, now_ns);
	flow_counters_copy(&stage->counters, &worker->counters, sizeof(stage->counters));
	return worker_deadline(worker, now_ns, top_ns);
}

/* DPDK measures it when its environment starts; without one it is done here. */
static double
worker_tsc_hz(void)
{
	uint64_t begin = rte_rdtsc(), begin_ns = lull_clock_ns(), end_ns = begin_ns;

	if (rte_get_tsc_hz() > 0)
		return (double)rte_get_tsc_hz();
	while (end_ns - begin_ns < TSC_NS)
		end_ns = lull_clock_ns();
	return (double)(rte_rdtsc() - begin) * (double)LULL_NS_PER_S / (double)(end_ns - begin_ns);
}

static uint64_t
worker_cycles(uint64_t work_ns)
{
	if (work_ns == 0)
		return 0;
	return (uint64_t)((double)LULL_MIN(work_ns, LULL_NS_PER_S) * worker_tsc_hz() /
			  (double)LULL_NS_PER_S);
}

static void
worker_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct flow_worker *worker = ((struct flow_worker_stage *)state)->worker;
	const struct lull_pipeline_command *command = flow_command(data, size);

	if (command == NULL)
		return;
	switch (command->verb) {
	case LULL_PIPELINE_IDLE:
		lull_flow_table_timeouts(worker->table,
					 flow_idle_ns(worker->pipeline, command->idle_ns));
		if (worker->connections != NULL)
			lull_flow_connections_timeouts(
				worker->connections,
				flow_idle_ns(worker->pipeline, command->idle_ns));
		break;
	case LULL_PIPELINE_WORK:
		worker->work_cycles = worker_cycles(command->work_ns);
		break;
	case LULL_PIPELINE_STALL:
		worker->stall_end_ns = now_ns + command->stall_ns;
		break;
	default:
		break;
	}
}

static int
worker_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	struct flow_worker_stage *stage = state;

	(void)now_ns;
	if (place->index >= place->pipeline->config.worker_count)
		return -EINVAL;
	stage->worker = place->pipeline->workers[place->index];
	stage->worker->work_cycles = worker_cycles(place->pipeline->config.work_ns);
	return 0;
}

const struct lull_stage lull_stage_flow_worker = {
	.name = "flow_worker",
	.summary = "keep the records of flows and identify their protocols",
	.state_size = sizeof(struct flow_worker_stage),
	.init = worker_init,
	.pull = worker_pull,
	.iterate = worker_iterate,
	.command = worker_command,
	.counters = worker_counter_table,
	.counters_offset = offsetof(struct flow_worker_stage, counters),
};
