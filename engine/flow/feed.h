/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Feed: a source whose frames the workers read themselves, without an I/O loop.
 *
 *     source -> read, in turn -> parse, side by side -> settle, in order -> taken by every worker
 *
 * Frames are read in *lots*. Whoever has nothing else to do reads the next one: times, clocks and
 * numbers are given then, one lot after the other, and what may depend on other packets, fragments,
 * is parsed. The rest is parsed while others read and parse the next lots, and a worker is chosen
 * for each packet. Settling, again one lot after the other, counts; then each worker takes its
 * packets of the lot. So what a worker gets, and in which order, does not depend on who reads.
 *
 * A lot is used again when all workers have taken it. A worker that stands still therefore stops
 * the reading, as a full ring does.
 *
 * Threads: read, settle and take on each worker's; the turns are locks that nobody waits for.
 * Memory:  of the pipeline.
 */
#ifndef LULL_FLOW_FEED_H
#define LULL_FLOW_FEED_H

#include <lull/pipeline.h>

struct flow_feed; /* opaque */
struct flow_worker;

/** @return NULL: no memory. io 0 of the pipeline is there. */
struct flow_feed *flow_feed_create(struct lull_pipeline *pipeline);
/** NULL is ignored. */
void flow_feed_destroy(struct flow_feed *feed);
/** Read and parse a lot. @return frames; 0: no turn, no room, or nothing more to read */
uint32_t flow_feed_read(struct flow_feed *feed, struct flow_worker *worker);
/** Settle the lots whose turn it is. */
void flow_feed_settle(struct flow_feed *feed, struct flow_worker *worker);
/** The worker's next packets into its table. @return how many packets it has passed */
uint32_t flow_feed_take(struct flow_feed *feed, struct flow_worker *worker);
/** Packets that can be between settling and a worker. */
uint32_t flow_feed_room(const struct lull_pipeline *pipeline);

#endif
