/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Remedy case: limits and a machine as they would be, and what the bounds say of them.
 *
 * Threads: pure functions. Memory: the caller's structs; a case points to its machine.
 */
#ifndef LULL_REMEDY_CASE_H
#define LULL_REMEDY_CASE_H

#include "outlook.h"
#include "remedy.h"

/** The most descriptors that a user can ask for, where the device does not tell its own limit. */
#define LULL_REMEDY_RING_PKTS_MAX 32768u

/* The machine as it is known, or would be. */
struct lull_remedy_machine {
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT]; /* of sleeps alone */
	struct lull_stall_watch stalls;
	const struct lull_remedy_basis *basis;
	bool measured;
};

/* The limits as they would be. */
struct lull_remedy_case {
	struct lull_idle_view view;
	struct lull_idle_limits limits;
	const struct lull_remedy_machine *machine;
	struct lull_outlook outlook;
	uint32_t changes;
};

/** As the basis has it, or a guess; @p rests: the loop does, so its rests cost what they cost. */
void lull_remedy_machine_begin(struct lull_remedy_machine *machine,
			       const struct lull_remedy_basis *basis, bool rests);
/** As if nothing ever held the thread up: wake-ups are as they usually are. */
void lull_remedy_machine_calm(struct lull_remedy_machine *machine);

/** These limits on @p machine; returns @p trial. */
struct lull_remedy_case *lull_remedy_case_begin(struct lull_remedy_case *trial,
						const struct lull_idle_limits *limits,
						struct lull_remedy_machine *machine);
/** Fill in the outlook. */
void lull_remedy_case_reckon(struct lull_remedy_case *trial);
/** Longest request by the ring; UINT64_MAX: any. */
uint64_t lull_remedy_case_ring_ns(const struct lull_remedy_case *trial);
/** Does the ring allow @p rest_ns, with room for what wake-ups may still turn out to be? */
bool lull_remedy_case_allows(const struct lull_remedy_case *trial, uint64_t rest_ns);
/** A request that saves something for certain. */
uint64_t lull_remedy_case_least_ns(const struct lull_remedy_case *trial);
/** A request that saves half of the CPU. */
uint64_t lull_remedy_case_worth_ns(const struct lull_remedy_case *trial);

/** The largest ring on offer; it need not be a power of two. */
uint32_t lull_remedy_ring_most(const struct lull_idle_limits *limits);
/** Descriptors with which it can rest; 0: none on offer. */
uint32_t lull_remedy_case_ring(struct lull_remedy_case *trial);

/** Change one limit as far as a rest needs it. False: that would not do, nothing changes. */
bool lull_remedy_case_set_ring(struct lull_remedy_case *trial);
bool lull_remedy_case_set_rate(struct lull_remedy_case *trial);
bool lull_remedy_case_set_latency(struct lull_remedy_case *trial);
/** Change whatever else forbids to rest. True: nothing does any more. */
bool lull_remedy_case_complete(struct lull_remedy_case *trial);
/** What it is for the user; @p fits: lull_remedy_case_complete() said so. */
struct lull_remedy lull_remedy_case_result(const struct lull_remedy_case *trial, bool fits);

/** Of sleeps. */
static inline const struct lull_calibration *
lull_remedy_case_sleeps(const struct lull_remedy_case *trial)
{
	return &trial->view.calibration[LULL_IDLE_SLEEP];
}

#endif
