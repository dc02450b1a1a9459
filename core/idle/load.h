/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Load: what arrives, how long serving it takes and how much of it meets a resting loop.
 *
 * Fed by idle.c once per settled iteration; governors and verdicts read it.
 * Memory: one fixed struct.
 */
#ifndef LULL_LOAD_H
#define LULL_LOAD_H

#include <stdint.h>

#define LULL_LOAD_WINDOW_NS 2000000ULL /* rates are means of windows of 2 ms, then smoothed */

struct lull_load {
	uint64_t arrival_pps; /* all queues, smoothed */
	uint32_t busy_ppm;    /* rho: share of time spent on iterations that carried packets */
	uint32_t
		/* f: share of packets that arrived during a rest, over about 2048 packets */
		resting_ppm;
	uint64_t serve_ns;  /* mean length of an iteration that carried packets */
	uint64_t packet_ns; /* when the last packet came; 0: none yet */
	/* current window */
	uint64_t window_begin_ns;
	uint64_t window_pkts;
	uint64_t window_busy_ns;
};

void lull_load_init(struct lull_load *load, uint64_t now_ns);
/** An iteration ended at @p end_ns having carried @p pkts in @p busy_ns (0 when empty). */
void lull_load_iteration(struct lull_load *load, uint64_t end_ns, uint64_t pkts, uint64_t busy_ns);
/** Of @p pkts fetched, @p resting arrived during a rest. */
void lull_load_share(struct lull_load *load, uint64_t pkts, uint64_t resting);

#endif
