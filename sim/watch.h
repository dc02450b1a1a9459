/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Watch: takes a loop out of its real-time class when it stops resting.
 *
 * As the live programs have it: a look every 4 ms from another core; a loop
 * that did not rest since the last one, or used most of its core for 20 ms, is
 * an ordinary thread within two looks. It comes back after 80 ms in which every
 * look would have let it stay: longer than a burst, and than a slice of the
 * fair scheduler, after which an ordinary thread always looks rested.
 * Threads: belongs to one simulated thread; time is handed in.
 */
#ifndef LULL_SIM_WATCH_H
#define LULL_SIM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#define LULL_SIM_WATCH_NS (4 * LULL_NS_PER_MS) /* between two looks */
#define LULL_SIM_WATCH_WINDOW 5                /* looks over which CPU time is reckoned */
#define LULL_SIM_WATCH_BUSY_PPM 700000u        /* of the core: more is no resting loop */
#define LULL_SIM_WATCH_CALM 20                 /* good looks before it is trusted again */

struct lull_sim_watch {
	bool wanted;   /* the class was asked for */
	bool realtime; /* it has it now */
	bool rested;   /* since the last look */
	uint64_t look_ns;
	uint64_t look_count, calm_count;
	uint64_t at_ns[LULL_SIM_WATCH_WINDOW], cpu_ns[LULL_SIM_WATCH_WINDOW];
	uint64_t leave_count;
};

/** Begins in the class when @p wanted. */
void lull_sim_watch_init(struct lull_sim_watch *watch, bool wanted, uint64_t now_ns);
/** Slow path of the one below. */
bool lull_sim_watch_look(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns);

/** After each turn and its rest; @p cpu_ns is all it ever used. True when it just left the class. */
static inline bool
lull_sim_watch_turn(struct lull_sim_watch *watch, bool rested, uint64_t now_ns, uint64_t cpu_ns)
{
	if (!watch->wanted)
		return false;
	watch->rested = watch->rested || rested;
	return now_ns >= watch->look_ns && lull_sim_watch_look(watch, now_ns, cpu_ns);
}

#endif
