/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stalls: how often and for how long a loop cannot look at its queues, told in late packets.
 *
 * Wake-ups come a little late all the time; calibration.h has their distribution, over thousands of
 * rests. A *stall* is another matter: another program, or the hypervisor, takes the CPU for half a
 * millisecond or more, some times a second or once in ten. What that costs is no matter of rests
 * but of time: a stall of length L makes late whatever arrives in its first L - T. So stalls are
 * kept by length with the time over which they were seen, and both fade together: a share stays
 * what it was, its evidence gets less.
 *
 * One model for all that is concluded: what a rest may still spend of the error budget, what is
 * predicted, when resting is suspended and when it is tried again. A loop that rests and one that
 * polls are watched apart, because the one decides whether the other would do better.
 * Threads: belongs to one loop. Memory: fixed structs.
 */
#ifndef LULL_STALLS_H
#define LULL_STALLS_H

#include <stdbool.h>
#include <stdint.h>

/** A gap beyond what was planned, from which on it is a stall: 2^19 ns, a bin edge below. */
#define LULL_STALL_BITS 19
#define LULL_STALL_NS (1ULL << LULL_STALL_BITS)
#define LULL_STALL_MEMORY_NS 20000000000ULL /* some 20 s */
#define LULL_STALL_BINS 12                  /* by powers of two, up to 2^30 ns and more */

struct lull_stalls {
	uint64_t step_ns; /* fades by 1/128 in this time */
	uint64_t fade_ns;
	uint64_t time_ns;   /* watched */
	uint64_t pkts_x256; /* received meanwhile */
	struct {
		uint64_t count_x256;
		uint64_t len_ns; /* sum */
		uint64_t pkts_x256;
	} bins[LULL_STALL_BINS];
};

struct lull_stall_watch {
	struct lull_stalls rest;   /* over some 20 s of a loop that rests */
	struct lull_stalls poll;   /* likewise while it polls instead */
	struct lull_stalls recent; /* the last quarter of a second of what it does now */
	bool polling;              /* what it does now; set by lull_stall_watch_turn_to() */
	uint64_t since_ns;         /* nothing is known of a time before */
	uint64_t fresh_ns;         /* looks without a stall that the records do not know yet ... */
	uint64_t fresh_pkts;       /* ... and packets */
};

void lull_stall_watch_init(struct lull_stall_watch *watch, uint64_t now_ns);
/** What has been seen is of another time; what the loop does goes on. */
void lull_stall_watch_forget(struct lull_stall_watch *watch, uint64_t now_ns);
/** From here on it rests, or polls instead: the recent record begins anew. */
void lull_stall_watch_turn_to(struct lull_stall_watch *watch, bool polling, uint64_t now_ns);
/** Is a gap of @p gap_ns, of which @p planned_ns were asked for as a rest, a stall? */
static inline bool
lull_stall_is(uint64_t gap_ns, uint64_t planned_ns)
{
	return gap_ns >= planned_ns + LULL_STALL_NS;
}
/** Looks at the queues that no stall lay between, and packets that met none: cheap. */
static inline void
lull_stall_watch_fine(struct lull_stall_watch *watch, uint64_t gap_ns, uint64_t pkts)
{
	watch->fresh_ns += gap_ns;
	watch->fresh_pkts += pkts;
}
/** Have the records know all; every few ms, and before they are read. */
void lull_stall_watch_fold(struct lull_stall_watch *watch, uint64_t now_ns);
/** The queues were looked at, for the first time since a stall of @p gap_ns. */
void lull_stall_watch_stall(struct lull_stall_watch *watch, uint64_t now_ns, uint64_t gap_ns);
/** Packets that had come during a stall of @p gap_ns. */
void lull_stall_watch_met(struct lull_stall_watch *watch, uint64_t gap_ns, uint32_t pkts);

void lull_stalls_init(struct lull_stalls *stalls, uint64_t memory_ns, uint64_t now_ns);
/**
 * Share of packets that stalls alone make wait longer than @p wait_ns, parts per million. Counted
 * in packets where @p budget_ppm of them are at least ten, else in time, which is the same for
 * packets that come when they like. The first second counts as if it had been preceded by none.
 */
uint32_t lull_stalls_late_ppm(const struct lull_stalls *stalls, uint64_t wait_ns,
			      uint32_t budget_ppm);
/** The same in time alone, of no more than the time that was watched. */
uint32_t lull_stalls_time_ppm(const struct lull_stalls *stalls, uint64_t wait_ns);
/** Shortest wait that stalls make no more than @p budget_ppm of the packets exceed. */
uint64_t lull_stalls_wait_ns(const struct lull_stalls *stalls, uint32_t budget_ppm);
/** How many stalls longer than @p wait_ns stand behind that, times 256. */
uint64_t lull_stalls_count_x256(const struct lull_stalls *stalls, uint64_t wait_ns);
/** Per 1000 s, of any length. */
uint64_t lull_stalls_rate(const struct lull_stalls *stalls);
/** Length of the longest ones, mean of their bin; 0: none. */
uint64_t lull_stalls_longest_ns(const struct lull_stalls *stalls);

#endif
