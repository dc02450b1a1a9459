/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames: packets of a source, as mbufs of our own that point at the bytes where they lie.
 *
 * No mempool: it needs DPDK's environment. The I/O loop takes them and gets them back, the last one
 * first, so that few of them are in use and stay in caches; workers return them by a ring each.
 *
 * Threads: take, give and fill on the I/O loop's; return on the worker's. Memory: of the pipeline.
 */
#ifndef LULL_FLOW_FRAMES_H
#define LULL_FLOW_FRAMES_H

#include <rte_mbuf.h>

#include <lull/pipeline.h>

struct flow_frames; /* opaque */

/**
 * @param count   that can be anywhere at once
 * @param copies  bytes are copied: they are gone at the next read
 * @return NULL: no memory
 */
struct flow_frames *flow_frames_create(uint32_t count, uint32_t worker_count, bool copies);
/** NULL is ignored. */
void flow_frames_destroy(struct flow_frames *frames);
/** false: so many are not there. */
bool flow_frames_take(struct flow_frames *frames, struct rte_mbuf **pkts, uint32_t count);
/** Back, by the I/O loop. */
void flow_frames_give(struct flow_frames *frames, struct rte_mbuf *const *pkts, uint32_t count);
/** Back, by a worker. */
void flow_frames_return(struct flow_frames *frames, uint32_t worker, struct rte_mbuf *const *pkts,
			uint32_t count);
/** How many are under way. The I/O loop has ended, or asks itself. */
uint32_t flow_frames_in_use(struct flow_frames *frames);
/**
 * Make @p pkt the first @p bytes of a frame; 65535 at most.
 * @return false: there is no memory for a long one, it has been cut
 */
bool flow_frames_fill(struct flow_frames *frames, struct rte_mbuf *pkt, const uint8_t *data,
		      uint32_t bytes);
/** The same of a packet out of a mempool: its bytes are copied in any case. */
bool flow_frames_copy(struct rte_mbuf *pkt, const uint8_t *data, uint16_t bytes);

#endif
