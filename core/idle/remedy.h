/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Remedy: which other limits would let a loop rest that cannot, and what each would bring.
 *
 * Each is tried with the bounds that the objective goes by (outlook.h, ring_guard.h): a copy of the
 * limits is changed, and they say how long a rest would be. A remedy saves half of the CPU where it
 * can, and leaves room for what wake-ups may still turn out to be: few have been measured where a
 * loop cannot rest.
 *
 * Threads: pure functions. Memory: the caller's structs.
 */
#ifndef LULL_REMEDY_H
#define LULL_REMEDY_H

#include "governor.h"

/**
 * What remedies are reckoned from. The thread of the loop copies it, which is quick; to reckon
 * takes as long as a ring of a fast link needs to fill, and is left to who wants to know.
 */
struct lull_remedy_basis {
	struct lull_calibration sleeps;
	struct lull_stalls stalls; /* while it rests */
	struct lull_load load;
	struct lull_pace pace;
	struct lull_arrival_curve curve;
	uint64_t interrupt_late_ns; /* seldom later; UINT64_MAX: not known */
	bool interrupt_fits;
};

/** Copy it from @p view. */
void lull_remedy_basis_read(struct lull_remedy_basis *basis, const struct lull_idle_view *view);
/** The same of an idle object, by the thread that owns it. */
void lull_idle_remedy_basis(const struct lull_idle *idle, struct lull_remedy_basis *basis);
/** Is @p verdict one for which there may be remedies? */
static inline bool
lull_remedies_wanted(const struct lull_verdict *verdict)
{
	return verdict->state == LULL_VERDICT_INFEASIBLE ||
	       verdict->state == LULL_VERDICT_SUSPENDED;
}
/** Fill in the remedies of @p verdict, whose state says that the objective does not hold. */
void lull_remedies_find(struct lull_verdict *verdict, const struct lull_idle_limits *limits,
			const struct lull_remedy_basis *basis);

/**
 * The smallest ring of 2^k descriptors with which a rest saves half of the CPU, else the largest on
 * offer if that saves any; limits->ring_pkts where that is enough, or where no ring on offer is, or
 * where it is not the ring that forbids to rest.
 */
uint32_t lull_remedy_ring_pkts(const struct lull_idle_limits *limits,
			       const struct lull_remedy_basis *basis);

#endif
