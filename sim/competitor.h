/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Competitor: an ordinary program that lives on the core of a polling thread.
 *
 * It runs for a while, rests for a while, and so on; one that never rests is a
 * busy loop. It gets what the thread leaves free. A thread of a real-time class
 * it never stops; an ordinary one shares with it as under a fair scheduler:
 * after a slice each it is the other's turn, and who slept is owed something,
 * a slice at most.
 * Threads: belongs to one core; time only goes forward.
 */
#ifndef LULL_SIM_COMPETITOR_H
#define LULL_SIM_COMPETITOR_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#include "base/prng.h"

/** A slice of the fair scheduler, and the tick that ends it at the earliest after it. */
#define LULL_SIM_FAIR_SLICE_NS (3 * LULL_NS_PER_MS)
#define LULL_SIM_FAIR_TICK_NS LULL_NS_PER_MS

struct lull_sim_competitor {
	uint64_t run_ns;    /* CPU time of one run; 0: nobody is there */
	uint64_t rest_ns;   /* mean rest between two; 0: a busy loop */
	uint64_t switch_ns; /* nobody's time whenever the core changes hands */
	uint64_t at_ns;     /* reckoned up to here */
	uint64_t left_ns;   /* of this run; 0: it rests ... */
	uint64_t wake_ns;   /* ... until here */
	uint64_t got_ns;    /* CPU time it had */
	int64_t lead_ns;    /* what the thread had more than it */
	uint64_t slice_ns;  /* an ordinary thread may keep the core until here */
	struct lull_prng prng;
};

/** @p share_ppm of the core as long as it need not wait, in runs of @p run_ns; 0: nobody. */
void lull_sim_competitor_init(struct lull_sim_competitor *competitor, uint32_t share_ppm,
			      uint64_t run_ns, uint64_t switch_ns, uint64_t seed);

static inline bool
lull_sim_competitor_present(const struct lull_sim_competitor *competitor)
{
	return competitor->run_ns > 0;
}

/** The core is free for it from where it stands until @p until_ns. */
void lull_sim_competitor_run(struct lull_sim_competitor *competitor, uint64_t until_ns);
/** Nobody runs: the hypervisor has the core, or it changes hands. */
void lull_sim_competitor_skip(struct lull_sim_competitor *competitor, uint64_t until_ns);
/** Does it want the core at @p at_ns, up to which it was reckoned? */
bool lull_sim_competitor_wants(const struct lull_sim_competitor *competitor, uint64_t at_ns);
/** The thread used the core for @p ns. */
void lull_sim_competitor_charge(struct lull_sim_competitor *competitor, uint64_t ns);
/** How long an ordinary thread that wakes beside it waits for having had more than its share. */
uint64_t lull_sim_competitor_debt(struct lull_sim_competitor *competitor);
/** How long it keeps the core of an ordinary thread that does not rest; 0: not now. */
uint64_t lull_sim_competitor_iterate(struct lull_sim_competitor *competitor, uint64_t now_ns);

#endif
