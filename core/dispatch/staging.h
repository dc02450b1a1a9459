/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Staging: from the dispatcher's decisions to the workers' rings, and a second chance for what they
 * refuse. The engine and the simulator use this one.
 *
 * A whole burst is staged before any of it is sent: what a ring refuses are then the last packets
 * its worker was given, as the dispatcher wants it. Packets are pointers; whose they are, says a
 * table of functions.
 *
 * Order: a ring gets packets in the order in which they were staged for it. What another worker was
 * given first, and its ring refused, comes behind younger ones.
 * Threads: one. Memory: the owner's.
 */
#ifndef LULL_STAGING_H
#define LULL_STAGING_H

#include <lull/dispatch.h>

#include "base/assert.h"

/** Packets staged for one worker at most; more than a burst and what waited is never there. */
#define LULL_STAGING_PKTS 768

/** What the owner of packets and rings does; all are required. */
struct lull_staging_way {
	/** used_pkts of the ring alone, capacity_pkts and done_pkts of @p worker. */
	void (*look)(void *owner, uint32_t worker, struct lull_dispatch_load *load);
	/** Put packets into the ring of @p worker. @return how many had room: the first ones */
	uint32_t (*send)(void *owner, uint32_t worker, void **pkts, uint32_t count);
	/** What was decided of a packet; @p mark is not filled in unless packets have marks. */
	uint32_t (*decided)(const void *pkt, struct lull_dispatch_mark *mark);
	/** It goes to another worker, with this mark, if packets have marks (else NULL). */
	void (*changed)(void *owner, void *pkt, const struct lull_dispatch_mark *mark);
	/** These were decided and are lost. */
	void (*drop)(void *owner, void **pkts, uint32_t count);
};

struct lull_staging_counters {
	uint64_t flushes_size, flushes_deadline, partial, retried;
};

/** Packets decided for a worker, not yet in its ring. */
struct lull_staged {
	uint32_t count;
	uint32_t given;    /**< the last so many were refused by another worker */
	uint64_t since_ns; /**< when the oldest came */
	void *pkts[LULL_STAGING_PKTS];
};

struct lull_staging {
	const struct lull_staging_way *way;
	void *owner;
	struct lull_dispatch *dispatch;
	uint32_t worker_count, flush_pkts;
	uint64_t flush_ns;
	bool marks;   /**< packets have marks */
	bool wait;    /**< for room, instead of dropping */
	bool blocked; /**< a ring was full and wait is set */
	struct lull_staging_counters counters;
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
	struct lull_staged workers[LULL_DISPATCH_WORKERS_MAX];
};

/** How full the workers are, into staging->loads. */
void lull_staging_look(struct lull_staging *staging);
/** Send what is due: full bursts, what has waited long enough, or @p all. */
void lull_staging_flush(struct lull_staging *staging, uint64_t now_ns, uint64_t clock_ns, bool all);
/** When the oldest staged packet must go; 0: none is staged. */
uint64_t lull_staging_deadline_ns(const struct lull_staging *staging);

static inline void
lull_staging_add(struct lull_staging *staging, uint32_t worker, void *pkt, uint64_t now_ns)
{
	struct lull_staged *staged = &staging->workers[worker];

	LULL_ASSERT(staged->count < LULL_STAGING_PKTS);
	if (staged->count == 0)
		staged->since_ns = now_ns;
	staged->pkts[staged->count++] = pkt;
}

#endif
