/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow stages: what the loops of a pipeline share.
 *
 *     flow_io ----- rings of mbufs ------> flow_worker -- rings of records --> flow_aggregator
 *                   <- notes: verdicts --      |
 *     flow_send                                `-------- rings of mbufs -----> flow_output
 *
 * All of it belongs to the pipeline, which allocates it; the state of a loop's stage is a pointer
 * to its part and a copy of its counters for telemetry.
 *
 * Conservation: each loop keeps a cell (flow_cell.h) of what came in, what went out and what it
 * holds. What goes into a ring is counted before it can be taken out of it, so a reader that looks
 * downstream, upstream and downstream again knows bounds that never fail (pipeline_check.c).
 *
 * Clocks: an I/O loop publishes the clock up to which everything has reached the rings. A worker
 * reads it before it finds the ring empty, and its own watermark is published after its records
 * are in the rings of the aggregators. Aggregators read watermarks before they empty these.
 *
 * Splits: with one I/O loop, it writes down for each bucket the clock of its last packet that may
 * have parts of its flow elsewhere, before it publishes that clock or sends a later packet. So a
 * worker that hands over an entry can tell whether it is all of its record.
 *
 * Threads: members are written by the loop they belong to; those read by others say so.
 */
#ifndef LULL_FLOW_STAGE_H
#define LULL_FLOW_STAGE_H

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <lull/histogram.h>
#include <lull/pipeline.h>

#include "dispatch/staging.h"
#include "flow/stamp.h"
#include "flow/ticks.h"
#include "host/cell.h"
#include "host/port_readings.h"

#include "feed.h"
#include "frames.h"
#include "identify.h"

#define FLOW_WORKERS LULL_DISPATCH_WORKERS_MAX
/* What waited for a worker, less than flush_pkts, a burst, and fragments whose first one came. */
static_assert(2 * LULL_BURST_MAX + LULL_FLOW_EARLY_MAX <= LULL_STAGING_PKTS, "all can be staged");
#define FLOW_PORTS_MAX 16
/* Packets a worker takes from a ring at a time, and records an aggregator takes. */
#define FLOW_BATCH 64
#define FLOW_RECORDS 32
#define FLOW_RECORD_BATCHES 4
#define FLOW_NOTES 1024
/* Packets a worker has taken and not finished at most: next of each ring, and its batch. */
#define FLOW_HANDS(io_count) (((io_count) + 1) * FLOW_BATCH)
/* Flows of which an I/O loop remembers a drop, a power of two; of two in one slot the last. */
#define FLOW_LOST_SLOTS 16384
#define FLOW_CLOCK_END UINT64_MAX
/* A silent input still moves the clock this often, so that records end. */
#define FLOW_SILENCE_NS (10 * LULL_NS_PER_MS)

/* Behind each mbuf. */
struct flow_private {
	struct lull_flow_packet packet;
	uint64_t output_ns; /* clock when the output loop took it */
};
static_assert(sizeof(struct flow_private) <= LULL_PIPELINE_PRIVATE,
	      "what a packet carries fits its private bytes");

static inline struct flow_private *
flow_private(struct rte_mbuf *pkt)
{
	return rte_mbuf_to_priv(pkt);
}

/* The other way. */
static inline struct rte_mbuf *
flow_mbuf(struct lull_flow_packet *packet)
{
	static_assert(offsetof(struct flow_private, packet) == 0, "it comes first");
	return RTE_PTR_SUB(packet, sizeof(struct rte_mbuf));
}

/* A verdict, from a worker to the dispatcher that sent it the packet. */
struct flow_note {
	uint32_t digest, app;
};

/* ---- I/O ---- */

struct flow_io_counters {
	uint64_t rx_pkts, rx_bytes, dispatched, not_ip, link, truncated, malformed, drop_ring;
	uint64_t flushes_size, flushes_deadline, partial, retried, nombuf, frames_cut, notes;
	uint64_t clock_steps, clock_back, port_stamps, port_stamps_odd;
};
/*
 * rx = sum of causes; causes[OK] = staged + dispatched + dropped; dispatched = sum of sent. Staged
 * are fragments too that wait for their first one.
 */
struct flow_io_words {
	uint64_t rx, causes[LULL_FLOW_CAUSE_COUNT], staged, dispatched, dropped;
	uint64_t sent[FLOW_WORKERS];
};

/* A flow lost a packet, and none of it has come since to tell its record. */
struct flow_lost {
	uint64_t clock_ns;
	uint32_t digest;
	bool pending;
};

/* A burst on its way through the I/O loop. */
struct flow_burst {
	uint32_t kept, gone;
	uint64_t bytes, first_clock_ns;
	uint64_t causes[LULL_FLOW_CAUSE_COUNT];
	struct rte_mbuf *pkts[LULL_BURST_MAX], *freed[LULL_BURST_MAX];
	uint32_t digests[LULL_BURST_MAX];
};

struct flow_io {
	struct lull_pipeline *pipeline;
	uint32_t index, worker_count;
	struct lull_dispatch *dispatch;
	struct lull_flow_parser *parser;
	struct flow_frames *frames; /* of a source; NULL: the pipeline's pool, or ports */
	struct lull_flow_connections *connections;
	bool from_source;
	bool exhausted; /* the source has come to its end */
	bool several;   /* several I/O loops feed the workers */
	uint32_t burst_pkts;
	uint32_t early_count; /* fragments that wait for their first one */
	uint32_t bucket_mask;
	uint64_t *splits;   /* clock per bucket; NULL: none is split, or all are */
	uint64_t clock_ns;  /* of the last packet; live: of the last iteration */
	uint64_t behind_ns; /* files: what stamps are behind that clock, since they went back ... */
	uint64_t level_ns;  /* ... from here */
	uint64_t number;    /* of the last packet */
	uint64_t span_ns;   /* most clock that one decision may span */
	struct lull_stamp stamp; /* of packets that their driver does not stamp */
	uint64_t looked_ns;      /* clock of the last iteration */
	uint64_t stamp_iteration_ns;
	uint64_t stamp_flag; /* of mbufs whose driver stamped them; 0: no driver does */
	int stamp_offset;
	uint64_t ticks_next_ns; /* when to read the clocks of ports again */
	struct lull_ticks ticks[RTE_MAX_ETHPORTS];
	struct lull_staging staging; /* blocked: no more input until the ring has room */
	struct rte_ring *rings[FLOW_WORKERS], *notes[FLOW_WORKERS];
	struct flow_io_counters counters;
	struct flow_burst burst;
	uint32_t lost_count; /* pending ones */
	uint64_t idle_ns;    /* then a flow is another one */
	struct flow_lost lost[FLOW_LOST_SLOTS];

	/* Read by others. */
	alignas(LULL_CACHE_LINE) uint32_t sequence;
	struct flow_io_words words;
	alignas(LULL_CACHE_LINE) uint64_t clock_out; /* published; FLOW_CLOCK_END: nothing comes */
	uint64_t clock_last;                         /* valid when clock_out says the end */
};

/* flow_early.c */
/** The packet parsed last, a fragment without its first one, waits, or goes on. */
void flow_early_hold(struct flow_io *io, struct lull_flow_packet *packet, uint64_t now_ns);
/** What need not wait any more at @p clock_ns goes the way of all packets. */
void flow_early_release(struct flow_io *io, uint64_t clock_ns, uint64_t now_ns);
/** When something that is staged or waits has to go at the latest; 0: nothing has to. */
uint64_t flow_early_deadline(const struct flow_io *io, uint64_t now_ns, bool ending);
/* io.c, for feed.c */
/** The clock of the next frame of a source, by its stamp. */
uint64_t flow_io_clock(struct flow_io *io, uint64_t time_ns);
/** Shall a frame be looked at? */
bool flow_io_accepts(const struct flow_io *io, const struct lull_pipeline_frame *frame);

static inline bool
flow_io_ended(const struct flow_io *io)
{
	return __atomic_load_n(&io->clock_out, __ATOMIC_ACQUIRE) == FLOW_CLOCK_END;
}

/* flow_ticks.c */
/** Read the clocks of ports that stamp packets, now and then. */
void flow_ticks_look(struct flow_io *io, uint64_t now_ns);

/* flow_send.c */
/** Set io->staging up. */
void flow_send_init(struct flow_io *io, const struct lull_pipeline_config *config);
/** Number a packet at io->clock_ns and make it part of io->burst. */
void flow_send_add(struct flow_io *io, struct lull_flow_packet *packet, uint64_t now_ns);
/** Decide for the packets kept in io->burst, oldest first, and stage them. */
void flow_send_burst(struct flow_io *io, uint64_t now_ns);
/** Send what is due: full bursts, what has waited long enough, or @p all. */
void flow_send_flush(struct flow_io *io, uint64_t now_ns, bool all);
/** Nothing that is still staged has a clock up to this. */
uint64_t flow_send_floor(const struct flow_io *io);

/* ---- worker ---- */

struct flow_worker_counters {
	uint64_t pkts, unrecorded, reordered, identified, notes, notes_lost, output_refused;
	uint64_t records, records_deferred;
	uint64_t half_open_evicted, left_out, left_out_pkts;
};
/*
 * pkts = entry_pkts + handed_pkts; handed_pkts = sum of put_pkts; taken - pkts - unrecorded is in
 * hand. What the table left out counts as unrecorded. put and taken: per aggregator and per I/O
 * loop.
 */
struct flow_worker_words {
	uint64_t taken[LULL_PIPELINE_IO_MAX], pkts, unrecorded, entry_pkts, handed_pkts;
	uint64_t put[LULL_PIPELINE_AGGREGATOR_MAX], put_pkts[LULL_PIPELINE_AGGREGATOR_MAX];
	uint64_t reordered;
};

/* The ring of one I/O loop, as the worker sees it. */
struct flow_input {
	struct rte_ring *ring, *notes;
	const struct flow_io *io;
	uint32_t head, count;
	bool ended;        /* the I/O loop sends nothing more and the ring is empty */
	uint64_t mark_ns;  /* all up to this clock has been taken */
	uint64_t clock_ns; /* all up to this one too, with so many further packets of the ring */
	uint32_t until;
	struct rte_mbuf *pkts[FLOW_BATCH];
};

struct flow_top_words {
	uint64_t words[(sizeof(struct lull_flow_top) + 7) / 8];
};

struct flow_worker {
	struct lull_pipeline *pipeline;
	uint32_t index, io_count, aggregator_count;
	struct lull_flow_table *table;
	struct lull_identify *identify; /* NULL: off */
	bool wait;                      /* for room in the rings behind it */
	bool behind;                    /* what has ended is still in the table */
	bool strict;  /* several files: take packets in the order of their clocks */
	bool ordered; /* a file that waits for room: its ring is in the order of clocks */
	bool live;    /* clocks are those of the loops */
	bool framed;  /* some I/O loop has frames of its own */
	bool flushed;
	uint32_t record_bytes;
	uint64_t work_cycles, stall_end_ns;
	struct flow_input inputs[LULL_PIPELINE_IO_MAX];
	uint32_t batch_count;
	struct rte_mbuf *batch[FLOW_BATCH * LULL_PIPELINE_IO_MAX];
	uint64_t finished[LULL_PIPELINE_IO_MAX];
	uint32_t pending_count; /* done, the output ring has no room */
	struct rte_mbuf *pending[FLOW_BATCH * LULL_PIPELINE_IO_MAX];
	struct rte_ring *aggregators[LULL_PIPELINE_AGGREGATOR_MAX], *out;
	uint32_t *boards[LULL_PIPELINE_IO_MAX]; /* next number per bucket; NULL: not tracked */
	const uint64_t *splits;                 /* that of the only I/O loop */
	uint32_t bucket_mask;
	bool alone; /* no flow has packets elsewhere, nor another clock */
	/* Reads the source itself; NULL: I/O loops do. */
	struct flow_feed *feed;
	struct lull_flow_connections *connections;
	struct flow_io_counters read; /* what it has read */
	uint64_t lot;                 /* that it takes next */
	uint32_t lot_at;
	struct flow_worker_counters counters;
	/* The round that looks for the heaviest flows. */
	bool top_round;
	uint32_t top_cursor;
	uint64_t top_next_ns;
	struct lull_flow_top top;

	/* Read by others. */
	alignas(LULL_CACHE_LINE) uint32_t sequence;
	struct flow_worker_words words;
	/* Packets of each I/O loop finished: only that loop reads it. */
	struct {
		alignas(LULL_CACHE_LINE) uint64_t pkts;
	} done[LULL_PIPELINE_IO_MAX];
	alignas(LULL_CACHE_LINE) uint64_t watermark_ns;
	bool done_all; /* flushed, and the output ring has all */
	alignas(LULL_CACHE_LINE) uint32_t top_sequence;
	struct flow_top_words top_words;
};

/* worker.c, for feed.c and whole.c */
/** May it take packets, and is there room for what they bring about? */
bool flow_worker_ready(struct flow_worker *worker, uint64_t now_ns);
/** A packet, and the frame that it is in. */
void flow_worker_packet(struct flow_worker *worker, const struct lull_flow_packet *packet,
			const uint8_t *data, uint32_t bytes);

/* flow_input.c */
/** Fill worker->batch with what has come, in the order of clocks where that can be told. */
void flow_input_take(struct flow_worker *worker);
/** All packets up to this clock have been taken. */
uint64_t flow_input_mark(const struct flow_worker *worker);
/** Nothing will come any more. */
bool flow_input_ended(const struct flow_worker *worker);

/* flow_record.c: the worker's way to the aggregators */
lull_flow_hand flow_record_hand;
/** Is there room at every aggregator for all that a batch can end, evict and announce? */
bool flow_record_room(const struct flow_worker *worker);
/** Counters of the table into the cell; nothing of it is under way. */
void flow_record_publish(struct flow_worker *worker);
/** Work on the round of the heaviest flows; returns when it wants to go on, 0: any time. */
uint64_t flow_top_iterate(struct flow_worker *worker, uint64_t now_ns);

/* ---- aggregator ---- */

struct flow_aggregator_counters {
	uint64_t messages, announcements, records, pkts, late, held_back;
};
/* Sum of got_pkts = pkts + open_pkts. Per worker. */
struct flow_aggregator_words {
	uint64_t got[FLOW_WORKERS], got_pkts[FLOW_WORKERS], records, pkts, open_pkts;
};

/* A watermark that was read, and how many messages of the ring still belong to it. */
struct flow_told {
	uint64_t watermark_ns;
	uint32_t until;
};

struct flow_aggregator {
	struct lull_pipeline *pipeline;
	uint32_t index, worker_count, record_bytes;
	uint64_t advanced_ns;
	uint64_t late_ns;       /* a worker so far behind is late; 0: none is */
	uint64_t late_check_ns; /* when to look again */
	uint32_t full_records;  /* with so many in the merge, only what it waits for is fetched */
	struct lull_flow_merge *merge;
	struct lull_pipeline_sink sink;
	struct rte_ring *rings[FLOW_WORKERS];
	struct flow_told told[FLOW_WORKERS];
	uint64_t watermarks_ns[FLOW_WORKERS]; /* all up to it has been fetched */
	uint64_t totals_next_ns;
	struct lull_encode_totals totals;
	struct flow_aggregator_counters counters;
	uint8_t *messages; /* FLOW_RECORDS of record_bytes */

	/* Read by others. */
	alignas(LULL_CACHE_LINE) uint32_t sequence;
	struct flow_aggregator_words words;
	bool drained, done;
	alignas(LULL_CACHE_LINE) uint64_t late; /* bit per worker that nothing waits for */
	uint64_t late_times[FLOW_WORKERS], late_total_ns[FLOW_WORKERS];
	uint64_t late_begin_ns[FLOW_WORKERS];
};

/* flow_late.c */
/**
 * Which workers are late, now and then; tells the merge.
 * @return true: the answer has changed
 */
bool flow_late_look(struct flow_aggregator *aggregator, uint64_t now_ns);
/** The clock up to which all workers that are not late have told everything. */
uint64_t flow_late_watermark(const struct flow_aggregator *aggregator);

/* ---- output ---- */

struct flow_output_counters {
	uint64_t rx_pkts, tx_pkts, tx_drops, tx_retries, reordered;
};

struct flow_output {
	struct lull_pipeline *pipeline;
	uint32_t worker_count, bucket_bits;
	bool send, wait;
	uint16_t port_id, queue_id;
	struct lull_resequence *resequence; /* NULL: as they come */
	void **released;
	uint32_t *next; /* number expected, per I/O loop and bucket */
	struct rte_ring *rings[FLOW_WORKERS];
	struct flow_output_counters counters;
	struct lull_histogram wait_histogram;

	/* Read by others. */
	bool done;
};

/* ---- pipeline ---- */

struct lull_pipeline {
	struct lull_pipeline_config config; /* defaults filled in */
	uint64_t id;                        /* part of the names of its rings */
	bool tracks;
	struct flow_io *ios[LULL_PIPELINE_IO_MAX];
	struct flow_worker *workers[FLOW_WORKERS];
	struct flow_aggregator *aggregators[LULL_PIPELINE_AGGREGATOR_MAX];
	struct flow_output *output;
	struct flow_feed *feed;   /* NULL: I/O loops read */
	struct rte_mempool *pool; /* of sources whose packets are sent on */
	uint32_t *boards[LULL_PIPELINE_IO_MAX];
	uint64_t *splits;

	/* Main thread, before the loops run. */
	uint32_t port_count;
	uint64_t port_clocks; /* bit per port id: it stamps packets by its own clock */
	struct {
		uint16_t port_id;
		struct lull_port_reading begin; /* when it joined */
	} ports[FLOW_PORTS_MAX];

	alignas(LULL_CACHE_LINE) bool closing; /* lull_pipeline_finish() */
};

static inline bool
flow_closing(const struct lull_pipeline *pipeline)
{
	return __atomic_load_n(&pipeline->closing, __ATOMIC_ACQUIRE);
}

/* On the I/O loop's thread. */
static inline void
flow_io_free(struct flow_io *io, struct rte_mbuf **pkts, uint32_t count)
{
	if (io->frames != NULL)
		flow_frames_give(io->frames, pkts, count);
	else
		rte_pktmbuf_free_bulk(pkts, count);
}

/* Tables may wait no longer than the dispatchers remember who had a flow: see pipeline.c. */
static inline uint64_t
flow_idle_ns(const struct lull_pipeline *pipeline, uint64_t idle_ns)
{
	return LULL_CLAMP(idle_ns, LULL_NS_PER_MS, pipeline->config.dispatch.idle_ns / 2);
}

/* Copy the loop's counters to where telemetry reads them. */
static inline void
flow_counters_copy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		__atomic_store_n((uint64_t *)to + i, ((const uint64_t *)from)[i], __ATOMIC_RELAXED);
}

/* The command of a message, or NULL when it is none. */
static inline const struct lull_pipeline_command *
flow_command(const void *data, size_t size)
{
	return size == sizeof(struct lull_pipeline_command) ? data : NULL;
}

/* pipeline_totals.c */
/** The totals alone. Any thread. */
void flow_totals(const struct lull_pipeline *pipeline, struct lull_encode_totals *totals);

#endif
