/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_ethdev.h>
#include <rte_memcpy.h>

#include <lull/engine.h>

#include "engine/dpdk/port.h"
#include "engine/dpdk/port_watch.h"
#include "traffic.h"
#include "traffic/probe.h"

/* The UDP source port; no checksum covers it. */
#define FLOW_PORT_OFFSET LULL_PROBE_UDP_OFFSET

static_assert(LULL_PROBE_FRAME_MIN <= LULL_TRAFFIC_HEADER_BYTES, "a header holds all of the probe");

/* Packets of one send: first chosen, then built, stamped and sent together. */
struct batch {
	uint16_t count; /* 0..burst_pkts */
	struct rte_mbuf *pkts[LULL_BURST_MAX];
	uint64_t due_ns[LULL_BURST_MAX];
	uint16_t size_bytes[LULL_BURST_MAX];
	uint16_t stream[LULL_BURST_MAX];
};

/* A device that has been removed takes nothing, and its registers must not be touched. */
static uint16_t
source_send(struct lull_traffic *traffic, struct batch *batch)
{
	if (lull_port_is_gone(traffic->config.tx_port_id))
		return 0;
	return rte_eth_tx_burst(traffic->config.tx_port_id, traffic->config.tx_queue_id,
				batch->pkts, batch->count);
}

static void
source_headers(struct lull_traffic *traffic)
{
	const struct lull_arrival_config *arrival = &traffic->config.arrival;
	const struct lull_probe probe = { .run = traffic->config.run };
	uint8_t frame[LULL_REPLAY_FRAME_MAX];
	uint32_t i;

	traffic->size_count = arrival->size_count;
	for (i = 0; i < arrival->size_count; i++) {
		traffic->sizes[i] = arrival->size_bytes[i];
		lull_probe_write(frame, arrival->size_bytes[i], &probe, 0);
		memset(&traffic->headers[i], 0, sizeof(traffic->headers[i]));
		memcpy(traffic->headers[i].bytes, frame,
		       LULL_MIN(arrival->size_bytes[i], LULL_TRAFFIC_HEADER_BYTES));
	}
}

void
lull_traffic_source_init(struct lull_traffic *traffic)
{
	const struct lull_probe probe = { .run = traffic->config.run };
	uint8_t frame[LULL_PROBE_FRAME_MIN];
	uint32_t flow;

	source_headers(traffic);
	for (flow = 0; flow < traffic->config.flow_count; flow++) {
		lull_probe_write(frame, sizeof(frame), &probe, (uint16_t)flow);
		memcpy(&traffic->flow_port[flow], frame + FLOW_PORT_OFFSET,
		       sizeof(traffic->flow_port[flow]));
	}
}

/* A replay that was told to end stays ended; what waited for the driver was refused. */
static void
replay_end(struct lull_traffic *traffic)
{
	traffic->off = true;
	rte_pktmbuf_free_bulk(traffic->waiting, traffic->waiting_count);
	LULL_COUNTER_ADD(traffic->counters.rejected, traffic->waiting_count);
	traffic->waiting_count = 0;
}

void
lull_traffic_source_change(struct lull_traffic *traffic, const struct lull_arrival_config *arrival,
			   uint64_t now_ns)
{
	if (traffic->config.replay != NULL) {
		if (arrival->kind == LULL_ARRIVAL_OFF)
			replay_end(traffic);
		return;
	}
	traffic->config.arrival = *arrival;
	source_headers(traffic);
	lull_arrival_init(&traffic->arrival, arrival, now_ns);
}

bool
lull_traffic_source_done(const struct lull_traffic *traffic)
{
	if (traffic->waiting_count > 0)
		return false;
	if (traffic->config.count_max != 0 && traffic->offered_all >= traffic->config.count_max)
		return true;
	return traffic->config.replay != NULL &&
	       (traffic->off || traffic->cursor.due_ns == UINT64_MAX);
}

uint64_t
lull_traffic_source_next_ns(const struct lull_traffic *traffic)
{
	if (traffic->waiting_count > 0)
		return 0;
	if (lull_traffic_source_done(traffic))
		return UINT64_MAX;
	return traffic->config.replay != NULL ? traffic->cursor.due_ns :
						lull_arrival_next_ns(&traffic->arrival);
}

/* How many packets one send may take. */
static uint16_t
source_room(const struct lull_traffic *traffic)
{
	uint64_t room = traffic->config.burst_pkts;

	if (traffic->config.count_max != 0)
		room = LULL_MIN(room, traffic->config.count_max - traffic->offered_all);
	return (uint16_t)room;
}

/* Lost at the receiver, who should know. */
static void
source_refused(struct lull_traffic *traffic, uint64_t pkts)
{
	LULL_COUNTER_ADD(traffic->counters.rejected, pkts);
	lull_port_pair_refused(traffic->config.tx_port_id, pkts);
}

static void
source_count(struct lull_traffic *traffic, const struct batch *batch, uint16_t sent,
	     uint64_t now_ns)
{
	struct lull_traffic_counters *counters = &traffic->counters;
	uint64_t bytes = 0;
	uint16_t i;

	for (i = 0; i < sent; i++)
		bytes += batch->size_bytes[i];
	LULL_COUNTER_ADD(counters->sent, sent);
	LULL_COUNTER_ADD(counters->sent_bytes, bytes);
	if (sent < batch->count)
		source_refused(traffic, (uint64_t)(batch->count - sent));
	if (sent > 0)
		lull_traffic_time(&traffic->times.first_sent_ns, &traffic->times.last_sent_ns,
				  now_ns);
}

/* ---- probes ---- */

static void
probes_choose(struct lull_traffic *traffic, struct batch *batch, uint64_t now_ns)
{
	uint16_t room = source_room(traffic);
	uint64_t due_ns;

	batch->count = 0;
	while (batch->count < room) {
		due_ns = lull_arrival_next_ns(&traffic->arrival);
		if (due_ns > now_ns)
			break;
		batch->due_ns[batch->count] = due_ns;
		batch->size_bytes[batch->count] = lull_arrival_take(&traffic->arrival);
		batch->count++;
	}
	traffic->offered_all += batch->count;
	LULL_COUNTER_ADD(traffic->counters.offered, batch->count);
}

static const struct lull_traffic_header *
probes_header(const struct lull_traffic *traffic, uint16_t size_bytes)
{
	uint32_t i = 0;

	while (i + 1 < traffic->size_count && traffic->sizes[i] != size_bytes)
		i++;
	return &traffic->headers[i];
}

/* Next flow and the sequence it belongs to. */
static uint16_t
probes_flow(struct lull_traffic *traffic, uint16_t *stream)
{
	uint32_t flow = traffic->flow;

	traffic->flow = flow + 1 < traffic->config.flow_count ? flow + 1 : 0;
	*stream = flow % LULL_TALLY_STREAMS;
	return traffic->flow_port[flow];
}

static void
probes_build(struct lull_traffic *traffic, struct batch *batch)
{
	struct rte_mbuf *pkt;
	uint16_t i, port;
	uint8_t *frame;

	for (i = 0; i < batch->count; i++) {
		pkt = batch->pkts[i];
		frame = rte_pktmbuf_mtod(pkt, uint8_t *);
		port = probes_flow(traffic, &batch->stream[i]);
		rte_memcpy(frame, probes_header(traffic, batch->size_bytes[i])->bytes,
			   LULL_TRAFFIC_HEADER_BYTES);
		memcpy(frame + FLOW_PORT_OFFSET, &port, sizeof(port));
		pkt->data_len = batch->size_bytes[i];
		pkt->pkt_len = batch->size_bytes[i];
	}
}

/* Numbers of packets that never became one are spent all the same. */
static void
probes_skip(struct lull_traffic *traffic, const struct batch *batch)
{
	uint16_t i, stream;

	for (i = 0; i < batch->count; i++) {
		probes_flow(traffic, &stream);
		traffic->seq[stream]++;
	}
	LULL_COUNTER_ADD(traffic->counters.no_buffer, batch->count);
}

static void
probes_stamp(struct lull_traffic *traffic, const struct batch *batch, uint64_t stamp_ns)
{
	struct lull_probe probe = { .run = traffic->config.run, .stamp_ns = stamp_ns };
	uint16_t i;

	for (i = 0; i < batch->count; i++) {
		probe.stream = batch->stream[i];
		probe.seq = traffic->seq[probe.stream]++;
		lull_probe_update(rte_pktmbuf_mtod(batch->pkts[i], uint8_t *), &probe);
		lull_histogram_add(&traffic->late, stamp_ns - batch->due_ns[i], 1);
	}
}

/* The driver took the first @p sent: move `next` past them, for lull_traffic_in_flight(). */
static void
probes_taken(struct lull_traffic *traffic, const struct batch *batch, uint16_t sent)
{
	uint32_t refused[LULL_TALLY_STREAMS] = { 0 };
	uint32_t taken = 0;
	uint16_t i;

	for (i = 0; i < sent; i++)
		taken |= 1u << batch->stream[i];
	for (i = sent; i < batch->count; i++)
		refused[batch->stream[i]]++;
	for (i = 0; i < LULL_TALLY_STREAMS && taken >> i != 0; i++)
		if ((taken >> i & 1) != 0)
			__atomic_store_n(&traffic->next[i], traffic->seq[i] - refused[i],
					 __ATOMIC_RELAXED);
}

/* Returns the packets that were due, now_ns moves on to the time of sending. */
static uint16_t
probes_send(struct lull_traffic *traffic, uint64_t *now_ns)
{
	struct batch batch;
	uint16_t sent;

	probes_choose(traffic, &batch, *now_ns);
	if (batch.count == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(traffic->config.pool, batch.pkts, batch.count) != 0) {
		probes_skip(traffic, &batch);
		return batch.count;
	}
	probes_build(traffic, &batch);
	*now_ns = lull_clock_ns();
	probes_stamp(traffic, &batch, *now_ns);
	sent = source_send(traffic, &batch);
	source_count(traffic, &batch, sent, *now_ns);
	probes_taken(traffic, &batch, sent);
	if (sent < batch.count)
		rte_pktmbuf_free_bulk(&batch.pkts[sent], batch.count - sent);
	return batch.count;
}

/* ---- replay ---- */

static void
replay_skipped(struct lull_traffic *traffic)
{
	LULL_COUNTER_ADD(traffic->counters.skipped,
			 traffic->cursor.skipped - traffic->skipped_seen);
	traffic->skipped_seen = traffic->cursor.skipped;
}

/* The frame the cursor stands at as an mbuf; NULL: no buffer. */
static struct rte_mbuf *
replay_build(const struct lull_traffic *traffic)
{
	const struct lull_replay_cursor *cursor = &traffic->cursor;
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(traffic->config.pool);

	if (pkt == NULL)
		return NULL;
	rte_memcpy(rte_pktmbuf_mtod(pkt, void *), cursor->data, cursor->len_bytes);
	pkt->data_len = cursor->len_bytes;
	pkt->pkt_len = cursor->len_bytes;
	return pkt;
}

static void
replay_choose(struct lull_traffic *traffic, struct batch *batch, uint64_t now_ns)
{
	struct lull_traffic_counters *counters = &traffic->counters;
	struct lull_replay_cursor *cursor = &traffic->cursor;
	uint16_t room = source_room(traffic);
	struct rte_mbuf *pkt;

	batch->count = 0;
	while (batch->count < room && cursor->due_ns <= now_ns) {
		pkt = replay_build(traffic);
		if (pkt == NULL && !lull_replay_timed(cursor->replay))
			break;
		traffic->offered_all++;
		LULL_COUNTER_ADD(counters->offered, 1);
		LULL_COUNTER_ADD(counters->truncated, cursor->truncated);
		if (pkt == NULL) {
			LULL_COUNTER_ADD(counters->no_buffer, 1);
			room--;
		} else {
			batch->pkts[batch->count] = pkt;
			batch->due_ns[batch->count] = cursor->due_ns;
			batch->size_bytes[batch->count] = cursor->len_bytes;
			batch->count++;
		}
		lull_replay_step(cursor);
	}
	replay_skipped(traffic);
}

/* At full speed the driver sets the pace: what it refuses goes first next time. */
static void
replay_keep(struct lull_traffic *traffic, const struct batch *batch, uint16_t sent)
{
	traffic->waiting_count = batch->count - sent;
	memcpy(traffic->waiting, &batch->pkts[sent],
	       traffic->waiting_count * sizeof(traffic->waiting[0]));
	LULL_COUNTER_ADD(traffic->counters.retried, traffic->waiting_count);
}

static void
replay_resume(struct lull_traffic *traffic, struct batch *batch)
{
	uint16_t i;

	batch->count = traffic->waiting_count;
	for (i = 0; i < batch->count; i++) {
		batch->pkts[i] = traffic->waiting[i];
		batch->size_bytes[i] = (uint16_t)batch->pkts[i]->pkt_len;
	}
	traffic->waiting_count = 0;
}

static uint16_t
replay_send(struct lull_traffic *traffic, uint64_t *now_ns)
{
	bool timed = lull_replay_timed(traffic->config.replay);
	struct batch batch;
	uint16_t sent, i;

	if (traffic->off)
		return 0;
	if (traffic->waiting_count > 0)
		replay_resume(traffic, &batch);
	else
		replay_choose(traffic, &batch, *now_ns);
	if (batch.count == 0)
		return 0;
	*now_ns = lull_clock_ns();
	for (i = 0; timed && i < batch.count; i++)
		lull_histogram_add(&traffic->late, *now_ns - batch.due_ns[i], 1);
	sent = source_send(traffic, &batch);
	if (timed || lull_port_is_gone(traffic->config.tx_port_id)) {
		source_count(traffic, &batch, sent, *now_ns);
		if (sent < batch.count)
			rte_pktmbuf_free_bulk(&batch.pkts[sent], batch.count - sent);
	} else {
		replay_keep(traffic, &batch, sent);
		batch.count = sent;
		source_count(traffic, &batch, sent, *now_ns);
	}
	return sent == 0 ? 0 : batch.count;
}

void
lull_traffic_source_send(struct lull_traffic *traffic, uint64_t now_ns)
{
	/* behind with receiving: then send no more than an iteration receives */
	uint32_t bursts = traffic->full ? 1 : LULL_TRAFFIC_ITERATION_BURSTS;
	uint16_t count;
	uint32_t i;

	for (i = 0; i < bursts; i++) {
		count = traffic->config.replay != NULL ? replay_send(traffic, &now_ns) :
							 probes_send(traffic, &now_ns);
		if (count < traffic->config.burst_pkts)
			break;
	}
}
