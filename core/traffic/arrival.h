/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Arrival: the state behind lull_arrival_*() in lull/traffic.h.
 *
 * A profile is an optional lead-in (ramp, step), then a cycle of segments that
 * repeats; within a segment the rate changes linearly. What is kept between
 * packets is the work: packets due since the segment began. The time follows
 * from it, so rounding never adds up. Self-similar traffic has no cycle: a
 * segment lasts until the next source changes. Incast has no profile at all.
 */
#ifndef LULL_ARRIVAL_H
#define LULL_ARRIVAL_H

#include <lull/traffic.h>

#include "arrival_incast.h"
#include "arrival_sources.h"
#include "base/prng.h"

/** Part of a profile with a linear rate. Numbers of packets are real numbers here. */
struct lull_arrival_segment {
	double begin_ns; /* after the cycle's begin */
	double length_ns;
	double area_pkts;   /* due in all of it */
	double pkts_per_ns; /* at its begin */
	double slope;       /* change of that per ns */
	double gap_ns;      /* between packets where the slope is 0 */
};

struct lull_arrival {
	uint64_t next_ns;
	double work_pkts; /* due from the segment's begin to the next packet, that one included */
	struct lull_arrival_segment segment; /* the one the next packet lies in */
	struct lull_prng gap_prng, size_prng;
	uint64_t cycle_begin_ns;
	uint32_t segment_index;
	bool lead_in; /* segment is the one before the first cycle */

	/* written by init alone */
	bool random;            /* steps are drawn */
	bool bunched;           /* incast */
	uint32_t segment_count; /* in a cycle */
	uint64_t cycle_ns;
	double cycle_pkts; /* due in a cycle */
	uint32_t weight_sum;
	uint32_t weight_ends[LULL_SIZE_MIX_MAX]; /* sum of the weights up to each size */
	struct lull_arrival_config config;

	union { /* of the kinds that are called so */
		struct lull_arrival_sources sources;
		struct lull_arrival_incast incast;
	};
};

#endif
