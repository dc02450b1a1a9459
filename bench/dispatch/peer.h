/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Peer: DPDK's own ways to spread packets over workers, doing what a lane does.
 *
 * The calling thread parses, digests and hands over; other lcores are the workers (and event_sw's
 * scheduler) and throw away what they get. Wall time of whole passes: waiting for the others is
 * part of it. The mbufs are few and warm, as a driver would leave them; the frames are cold.
 */
#ifndef LULL_BENCH_PEER_H
#define LULL_BENCH_PEER_H

#include "lane.h"

#define PEER_NOTE_SIZE 96

struct peer {
	const char *name;
	/** 0; -1 and why in @p note. */
	int (*open)(uint32_t worker_count, char *note);
	/** All frames once: TSC cycles per packet; below 0: packets were lost. */
	double (*pass)(const struct lane *lane);
	void (*close)(void);
};
extern const struct peer peer_distributor, peer_event_sw, peer_event_dsw;

/** What the mbufs of the peers are taken from in turn. */
#define PEER_MBUFS 8192
extern struct rte_mbuf *peer_mbufs[PEER_MBUFS];

#endif
