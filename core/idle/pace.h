/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pace: how long a poll iteration of a loop takes, by the packets that it carries.
 *
 * While a loop serves its other queues, one of them fills: before a rest, from its last poll on,
 * and after a rest, until its turn comes. What that takes is measured in every iteration, by
 * powers of two of its packets, as a mean and as the length that few iterations exceed. Costs per
 * packet fall with the number of packets; so what larger iterations take than any seen so far is
 * drawn as a straight line through an empty one and the largest.
 *
 * The iteration right after a rest is kept apart, as it is the one that a ring waits for: caches
 * are cold, the clock may be low. How much dearer it is than others of as many packets is a ratio
 * of means, by which the others are then scaled.
 * Threads: belongs to one loop. Memory: one fixed struct.
 */
#ifndef LULL_PACE_H
#define LULL_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/idle.h>

#define LULL_PACE_SCALES 16 /* 1, 2..3, 4..7 packets ... 2^15 and more */
/* Values are in 1/256, so that small ones move too. */
#define LULL_PACE_SHIFT 8
/* One that was held up counts as so many times the usual, and this. */
#define LULL_PACE_GROWTH 8
#define LULL_PACE_SLACK_NS (10 * LULL_NS_PER_US)
/*
 * Before any was seen, so many times an empty one, the slack, and so much for each packet: the
 * first packet of a flow may take a program a millisecond, and those behind it do not.
 */
#define LULL_PACE_PKT_NS LULL_NS_PER_US

/* So many are as good as more; half as many while none is seen for so long. */
#define LULL_PACE_COUNT_MAX 64
#define LULL_PACE_FADE_NS (8 * LULL_NS_PER_S)

struct lull_pace_scale {
	uint64_t long_x256; /* ns that few iterations exceed; 0: none seen */
	uint64_t mean_x256; /* ns */
	uint64_t pkts_x256; /* mean */
	uint64_t count;     /* of such iterations, LULL_PACE_COUNT_MAX at most; 0: forgotten */
};

/* Iterations right after a rest. */
struct lull_pace_cold {
	uint64_t mean_x256; /* ns */
	uint64_t pkts_x256; /* mean */
	uint64_t count;     /* LULL_PACE_COUNT_MAX at most */
	uint64_t long_x256; /* the longest since the last fading ... */
	uint64_t old_x256;  /* ... and before it since the one before */
};

struct lull_pace {
	uint32_t queue_count; /* that an iteration polls; 0: none has ended */
	uint64_t empty_x256;  /* mean length of an iteration without packets, ns */
	uint64_t fade_ns;
	struct lull_pace_scale scales[LULL_PACE_SCALES];
	struct lull_pace_scale full[LULL_PACE_SCALES]; /* that found a whole burst in a queue */
	struct lull_pace_cold cold[LULL_PACE_SCALES];
};

/** An iteration polled so many queues; what was learned with another number does not count. */
static inline void lull_pace_polls(struct lull_pace *pace, uint32_t queue_count);
/** What is known does not hold any longer; the number of queues stays. */
void lull_pace_forget(struct lull_pace *pace);
/** Now and then: what was not seen for a minute is forgotten. */
static inline void lull_pace_fade(struct lull_pace *pace, uint64_t now_ns);
/** An iteration without packets took @p span_ns. Zeros are a pace that knows nothing. */
static inline void lull_pace_empty(struct lull_pace *pace, uint64_t span_ns);
/** One with @p pkts > 0 did; @p full: a queue gave a whole burst. */
static inline void lull_pace_busy(struct lull_pace *pace, uint64_t span_ns, uint64_t pkts,
				  bool full);
/** One right after a rest did: @p pkts > 0, whatever a queue gave. */
void lull_pace_after_rest(struct lull_pace *pace, uint64_t span_ns, uint64_t pkts);
/**
 * Length of an iteration in which each queue gives @p burst_pkts, right after a rest or not, ns. 0:
 * not known, for no packets have come.
 */
uint64_t lull_pace_full_ns(const struct lull_pace *pace, uint32_t burst_pkts);
/**
 * More packets may come at @p pps during an iteration right after a rest than it takes, with a
 * whole burst in one queue or in all: so many more at most. 0 while nobody knows.
 */
uint64_t lull_pace_behind_pkts(const struct lull_pace *pace, uint32_t burst_pkts, uint64_t pps);
/**
 * Do packets at @p pps come faster than the loop takes them where a queue has a backlog? Iterations
 * that found a whole burst in a queue tell, those of each power of two of packets by themselves,
 * since one with a single full queue is the dearest per packet; and empty ones that take too long
 * as they are. False while there were few.
 */
bool lull_pace_outrun(const struct lull_pace *pace, uint32_t burst_pkts, uint64_t pps);

/* The slow part of fading. */
void lull_pace_halve(struct lull_pace *pace, uint64_t now_ns);

static inline void
lull_pace_polls(struct lull_pace *pace, uint32_t queue_count)
{
	if (__builtin_expect(pace->queue_count == queue_count, 1))
		return;
	lull_pace_forget(pace);
	pace->queue_count = queue_count;
}

static inline void
lull_pace_fade(struct lull_pace *pace, uint64_t now_ns)
{
	if (now_ns >= pace->fade_ns + LULL_PACE_FADE_NS)
		lull_pace_halve(pace, now_ns);
}

static inline uint64_t
lull_pace_moved(uint64_t mean, uint64_t value, uint32_t shift)
{
	return value > mean ? mean + ((value - mean) >> shift) : mean - ((mean - value) >> shift);
}

/* Not much longer than @p usual_x256, unless that is not known. */
static inline uint64_t
lull_pace_cut(uint64_t usual_x256, uint64_t span_ns)
{
	uint64_t most = LULL_PACE_GROWTH * usual_x256 + (LULL_PACE_SLACK_NS << LULL_PACE_SHIFT);

	return LULL_MIN(span_ns << LULL_PACE_SHIFT, most);
}

/* The first of its kind. */
static inline uint64_t
lull_pace_cut_first(const struct lull_pace *pace, uint64_t span_ns, uint64_t pkts)
{
	uint64_t most_x256 = LULL_PACE_GROWTH * pace->empty_x256 +
			     ((LULL_PACE_SLACK_NS + pkts * LULL_PACE_PKT_NS) << LULL_PACE_SHIFT);

	return LULL_MIN(span_ns << LULL_PACE_SHIFT, most_x256);
}

static inline void
lull_pace_empty(struct lull_pace *pace, uint64_t span_ns)
{
	pace->empty_x256 =
		lull_pace_moved(pace->empty_x256, lull_pace_cut(pace->empty_x256, span_ns), 4);
}

static inline void
lull_pace_add(const struct lull_pace *pace, struct lull_pace_scale *scale, uint64_t span_ns,
	      uint64_t pkts)
{
	uint64_t span_x256;

	if (scale->count == 0) {
		span_x256 = lull_pace_cut_first(pace, span_ns, pkts);
		*scale = (struct lull_pace_scale){ LULL_MAX(span_x256, 1), span_x256,
						   pkts << LULL_PACE_SHIFT, 1 };
		return;
	}
	scale->count += scale->count < LULL_PACE_COUNT_MAX;
	span_x256 = lull_pace_cut(scale->mean_x256, span_ns);
	scale->mean_x256 = lull_pace_moved(scale->mean_x256, span_x256, 4);
	scale->pkts_x256 = lull_pace_moved(scale->pkts_x256, pkts << LULL_PACE_SHIFT, 4);
	/* Up fast and down slowly: one in fifty or so is longer. */
	scale->long_x256 =
		lull_pace_moved(scale->long_x256, span_x256, span_x256 > scale->long_x256 ? 2 : 8);
}

static inline void
lull_pace_busy(struct lull_pace *pace, uint64_t span_ns, uint64_t pkts, bool full)
{
	uint32_t octave = 63u - (uint32_t)__builtin_clzll(pkts);

	octave = LULL_MIN(octave, LULL_PACE_SCALES - 1u);
	lull_pace_add(pace, &pace->scales[octave], span_ns, pkts);
	if (full)
		lull_pace_add(pace, &pace->full[octave], span_ns, pkts);
}

#endif
