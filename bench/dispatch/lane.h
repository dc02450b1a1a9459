/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Lane: the work of an I/O loop between receive and the workers' rings, on one thread.
 *
 * A pass takes every frame once, in bursts: parse and digest with prefetch ahead, decide, stage,
 * enqueue on single-producer rings. All rows stage, enqueue and look at ring loads alike. Between
 * windows, outside the measurement, the same thread empties the rings and checks what it finds.
 * Threads: one.
 * Memory:  of headers_memory().
 */
#ifndef LULL_BENCH_LANE_H
#define LULL_BENCH_LANE_H

#include <rte_ring.h>

#include <lull/dispatch.h>
#include <lull/flow.h>

#include "figure.h"
#include "headers.h"
#include "ticks.h"

#define LANE_WORKERS_MAX 16
#define LANE_BURST_MAX 256
#define LANE_FLUSH_PKTS 32

struct lane_config {
	uint32_t worker_count; /**< 1..LANE_WORKERS_MAX */
	uint32_t burst_pkts;   /**< 1..LANE_BURST_MAX */
	uint32_t ring_pkts;    /**< of each worker, a power of two */
	uint32_t prefetch;     /**< frames ahead */
	bool hot;              /**< worker 0 is shown as half full: overload to be relieved */
};

struct lane_staged {
	uint32_t count;
	void *pkts[LANE_FLUSH_PKTS];
};

struct lane {
	struct lane_config config;
	const struct headers *headers;
	struct lull_flow_parser *parser;
	struct ticks *ticks;
	uint32_t window_bursts; /* between two looks at the clock */
	uint32_t next;          /* worker of the rows without a scheduler */
	uint64_t now_ns;        /* invented, for the dispatchers */
	uint64_t lost, strayed; /* what the check found missing or doubled: 0 */
	struct lane_staged staged[LANE_WORKERS_MAX];
	struct rte_ring *rings[LANE_WORKERS_MAX];
};

/** What a row does besides staging. */
struct lane_row {
	const char *name;
	bool parses;                    /* reads the frames */
	struct lull_dispatch *dispatch; /* NULL: workers in turn */
	bool tracks;
	uint64_t done_pkts[LANE_WORKERS_MAX];
	struct figure figure; /* ns per packet, of each round */
};

/** 0 or -1: no memory for the rings. */
int lane_open(struct lane *lane, const struct lane_config *config, struct headers *headers,
	      struct lull_flow_parser *parser, struct ticks *ticks);
/** All frames once; TSC cycles per packet. */
double lane_pass(struct lane *lane, struct lane_row *row);
/** Parse a burst: digests of frames first .. first + count - 1; also used beside the peers. */
void lane_digests(const struct lane *lane, uint32_t first, uint32_t count, uint32_t *digests,
		  uint32_t *crcs);

#endif
