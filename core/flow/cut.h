/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Cut: where on the clock the records of a flow end at the latest.
 *
 * The phase of a flow follows from its key alone, not from the seed of the digests, which is
 * another one in each live run: the same packets make the same records. Who can choose keys can
 * choose flows that are cut at once; what that costs is a burst of records, no more.
 */
#ifndef LULL_FLOW_CUT_H
#define LULL_FLOW_CUT_H

#include <lull/flow.h>

struct lull_flow_cuts {
	uint64_t active_ns; /* 0: no cuts */
	double inverse;
};

static inline struct lull_flow_cuts
lull_flow_cuts(uint64_t active_ns)
{
	return (struct lull_flow_cuts){ active_ns, active_ns > 0 ? 1.0 / (double)active_ns : 0 };
}

/* Below active_ns; the product of 31 and at most 31 bits (one day is less than 2^47 ns) fits. */
static inline uint64_t
lull_flow_cut_phase(const struct lull_flow_cuts *cuts, const struct lull_flow_key *key)
{
	return lull_flow_digest(0, key) * (cuts->active_ns >> 16) >> 15;
}

/** Number of the cut that a packet belongs to: (clock + phase) / active, without a division. */
static inline uint32_t
lull_flow_cut_number(const struct lull_flow_cuts *cuts, const struct lull_flow_key *key,
		     uint64_t clock_ns)
{
	uint64_t at, number;

	if (cuts->active_ns == 0)
		return 0;
	at = clock_ns + lull_flow_cut_phase(cuts, key);
	number = (uint64_t)((double)at * cuts->inverse);
	/* Rounding leaves it one off at most. */
	if (number * cuts->active_ns > at)
		number--;
	else if (at - number * cuts->active_ns >= cuts->active_ns)
		number++;
	return (uint32_t)number;
}

/** First clock behind cut @p number. */
static inline uint64_t
lull_flow_cut_end_ns(const struct lull_flow_cuts *cuts, const struct lull_flow_key *key,
		     uint32_t number)
{
	if (cuts->active_ns == 0)
		return UINT64_MAX;
	return ((uint64_t)number + 1) * cuts->active_ns - lull_flow_cut_phase(cuts, key);
}

/** Clock from which on nothing joins what was last seen at @p last_clock_ns, by its own silence. */
static inline uint64_t
lull_flow_cut_deadline_ns(const struct lull_flow_cuts *cuts, uint64_t idle_ns,
			  const struct lull_flow_key *key, uint32_t number, uint64_t last_clock_ns)
{
	uint64_t silent_ns = last_clock_ns + idle_ns + 1;
	uint64_t cut_ns = lull_flow_cut_end_ns(cuts, key, number);

	return LULL_MIN(silent_ns, cut_ns);
}

#endif
