/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Tally: the state behind lull_tally_*() in lull/traffic.h.
 */
#ifndef LULL_TALLY_H
#define LULL_TALLY_H

#include <stdalign.h>

#include <lull/traffic.h>

#define LULL_TALLY_RETIRED 4

/** What came of one sender's sequence. */
struct lull_tally_stream {
	bool known; /* a run was seen or announced */
	uint16_t run;
	uint32_t highest; /* number; those above have not come */
	uint32_t depth;   /* numbers up to the highest that still count, at most the window */
	uint32_t retired_count;
	uint16_t retired[LULL_TALLY_RETIRED]; /* runs before this one, in a ring */
	/* Bit seq % LULL_TALLY_WINDOW: came. Right for the last `depth` numbers, else old. */
	alignas(LULL_CACHE_LINE) uint64_t came[LULL_TALLY_WINDOW / 64];
};

struct lull_tally {
	alignas(LULL_CACHE_LINE) struct lull_tally_counters counters;
	uint64_t latency_ns_min; /* UINT64_MAX while there is none */
	struct lull_histogram latency;
	struct lull_tally_stream streams[LULL_TALLY_STREAMS];
};

#endif
