/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Watch: takes a loop out of its real-time class when it stops resting.
 *
 * As the live programs have it: a sample every 4 ms from another
 * core; a loop that did not rest since the last one, or used most of its core for
 * 20 ms, is an ordinary thread within two samples. It comes back after 50 ms of samples
 * that saw it rest and use less than half, twice as long each time that it could
 * not stay for a second.
 * Threads: belongs to one simulated thread; time is handed in.
 */
#ifndef LULL_SIM_WATCH_H
#define LULL_SIM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#define LULL_SIM_WATCH_NS (4 * LULL_NS_PER_MS) /* between two samples */
#define LULL_SIM_WATCH_WINDOW 5                /* samples over which CPU time is reckoned */
#define LULL_SIM_WATCH_BUSY_PPM 700000u        /* of the core in it: more is no resting loop */
#define LULL_SIM_WATCH_QUIET_PPM 500000u       /* between two samples: more is not at rest */
#define LULL_SIM_WATCH_QUIET_NS (50 * LULL_NS_PER_MS)      /* before it is trusted again ... */
#define LULL_SIM_WATCH_QUIET_NS_MAX (400 * LULL_NS_PER_MS) /* ... at most */
#define LULL_SIM_WATCH_STAY_NS LULL_NS_PER_S               /* who stayed so long did not flap */

struct lull_sim_watch {
	bool wanted;   /* the class was asked for */
	bool realtime; /* it has it now */
	bool rested;   /* since the last sample */
	uint64_t sample_ns;
	uint64_t sample_count;
	uint64_t seen_ns, seen_cpu_ns; /* at the last sample */
	uint64_t enter_ns;             /* when it came into the class */
	uint64_t quiet_begin_ns;       /* outside: at rest since, 0: not at rest */
	uint64_t quiet_ns;             /* so long it must be */
	uint64_t at_ns[LULL_SIM_WATCH_WINDOW], cpu_ns[LULL_SIM_WATCH_WINDOW];
	uint64_t leave_count;
};

/** Begins in the class when @p wanted. */
void lull_sim_watch_init(struct lull_sim_watch *watch, bool wanted, uint64_t now_ns);
/** Slow path of the one below. */
bool lull_sim_watch_sample(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns);

/**
 * After each iteration and its rest; @p cpu_ns is all it ever used. True: it just left the class.
 */
static inline bool
lull_sim_watch_iteration(struct lull_sim_watch *watch, bool rested, uint64_t now_ns,
			 uint64_t cpu_ns)
{
	if (!watch->wanted)
		return false;
	watch->rested = watch->rested || rested;
	return now_ns >= watch->sample_ns && lull_sim_watch_sample(watch, now_ns, cpu_ns);
}

#endif
