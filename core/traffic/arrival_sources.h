/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sources: how many of a crowd of on/off sources send, and until when.
 *
 * Each source is on, then off, for Pareto times; that of many such sources
 * together is self-similar is due to Willinger, Taqqu, Sherman and Wilson (1997).
 * A number of sources that send stays until the first of them changes, so
 * packets need not know of sources.
 */
#ifndef LULL_ARRIVAL_SOURCES_H
#define LULL_ARRIVAL_SOURCES_H

#include <lull/traffic.h>

#include "base/prng.h"

struct lull_arrival_source {
	uint64_t change_ns; /* UINT64_MAX: never */
	bool on;
};

struct lull_arrival_sources {
	uint32_t count, on_count;
	double stretch_doublings; /* of the shortest time, for an exponential step of 1 */
	double shortest_ns[2];    /* off, on */
	double pkts_per_ns;       /* of one that is on */
	struct lull_arrival_source heap[LULL_ARRIVAL_SOURCES_MAX]; /* the first to change first */
};

/** Start at @p now_ns in the middle of things; @p config is self-similar and passed its check. */
void lull_arrival_sources_init(struct lull_arrival_sources *sources,
			       const struct lull_arrival_config *config, struct lull_prng *prng,
			       uint64_t now_ns);
/** The first source to change does so, at heap[0].change_ns, which must not be "never". */
void lull_arrival_sources_change(struct lull_arrival_sources *sources, struct lull_prng *prng);

#endif
