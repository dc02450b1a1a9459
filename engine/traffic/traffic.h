/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Traffic: what the files of the traffic stage share, its state.
 *
 * traffic.c is the stage and the sink, source.c the source.
 * Threads: written by the loop; counters, histograms, `next`,
 *          `seen`, times and flags are read by others.
 */
#ifndef LULL_ENGINE_TRAFFIC_H
#define LULL_ENGINE_TRAFFIC_H

#include <stdalign.h>

#include <lull/engine.h>
#include <lull/generator.h>

#include "replay.h"
#include "traffic/arrival.h"
#include "traffic/tally.h"

#define LULL_TRAFFIC_FLOWS_MAX 65536
/** What changes from packet to packet lies in here; the rest of a frame is zero. */
#define LULL_TRAFFIC_HEADER_BYTES 64
/** Bursts an iteration may send before it looks at the queues again. */
#define LULL_TRAFFIC_ITERATION_BURSTS 4

struct lull_traffic_header {
	alignas(LULL_TRAFFIC_HEADER_BYTES) uint8_t bytes[LULL_TRAFFIC_HEADER_BYTES];
};

struct lull_traffic {
	struct lull_traffic_config config;
	struct lull_traffic_counters counters;
	struct lull_traffic_times times;

	/* source */
	bool started;         /**< the first iteration has been */
	bool off;             /**< a replay was told to end */
	bool silent, done;    /**< see lull_traffic_silent(), lull_traffic_done() */
	uint64_t offered_all; /**< in every window together */
	uint32_t flow;        /**< of the next packet */
	struct lull_arrival arrival;
	uint32_t size_count;
	uint16_t sizes[LULL_SIZE_MIX_MAX];
	struct lull_traffic_header headers[LULL_SIZE_MIX_MAX];
	struct lull_replay_cursor cursor;
	uint64_t skipped_seen;                    /**< of cursor.skipped, already counted */
	struct rte_mbuf *waiting[LULL_BURST_MAX]; /**< refused, a replay at full speed keeps them */
	uint16_t waiting_count;

	/* between source and sink, by stream */
	uint32_t seq[LULL_TALLY_STREAMS];  /**< of the next packet */
	uint32_t next[LULL_TALLY_STREAMS]; /**< one beyond the last that the driver took */
	uint32_t seen[LULL_TALLY_STREAMS]; /**< one beyond the highest that came back */

	/* sink */
	bool full;         /**< a receive of this iteration may have left packets behind */
	uint64_t empty_ns; /**< when the queues were last known to be empty */

	struct lull_histogram gap, late;
	struct lull_tally tally;
	uint16_t flow_port[LULL_TRAFFIC_FLOWS_MAX]; /**< as it stands in the frame */
};

static inline void
lull_traffic_time_set(uint64_t *time_ns, uint64_t now_ns)
{
	__atomic_store_n(time_ns, now_ns, __ATOMIC_RELAXED);
}

/** Something happened at @p now_ns: the first time in this window, and the last so far. */
static inline void
lull_traffic_time(uint64_t *first_ns, uint64_t *last_ns, uint64_t now_ns)
{
	if (*first_ns == 0)
		lull_traffic_time_set(first_ns, now_ns);
	lull_traffic_time_set(last_ns, now_ns);
}

/** Make headers for the sizes of the arrival and ports for the flows. */
void lull_traffic_source_init(struct lull_traffic *traffic);
/** Send what is due at @p now_ns, a bounded number of packets. */
void lull_traffic_source_send(struct lull_traffic *traffic, uint64_t now_ns);
/** When the next packet leaves; UINT64_MAX: never. */
uint64_t lull_traffic_source_next_ns(const struct lull_traffic *traffic);
/** Nothing will ever be sent again. */
bool lull_traffic_source_done(const struct lull_traffic *traffic);
/** Replace the arrival. */
void lull_traffic_source_change(struct lull_traffic *traffic,
				const struct lull_arrival_config *arrival, uint64_t now_ns);

#endif
