/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Course: does a loop rest, or poll because polling would do better?
 *
 * Stalls may cost more than the objective allows. That alone is no reason to poll: a host that
 * holds up a sleeper may hold up a poller as much, and then the saving would be given away for
 * nothing. So each is judged by its own record (stalls.h), and the other is tried where the one
 * fails by far or for seconds, and again after ever longer times as it fails again:
 *
 *     resting --- lost, with evidence ---> polling --- fails too ---> resting, all the same
 *        ^                                    |  ^
 *        |                 holds, tried again |  | lost again: held twice as long
 *        +---- kept ------ trying to rest <---+--+
 *
 * Threads: belongs to one governor. Memory: one fixed struct.
 */
#ifndef LULL_COURSE_H
#define LULL_COURSE_H

#include "stalls.h"

enum lull_course_state {
	LULL_COURSE_RESTING,
	LULL_COURSE_POLLING,
	LULL_COURSE_TRYING, /* resting again, on trial */
};

struct lull_course {
	struct lull_stall_watch *stalls;
	enum lull_course_state state;
	bool lost;             /* while resting, stalls spend the error budget */
	uint64_t since_ns;     /* in this state */
	uint64_t lost_ns;      /* lost since then */
	uint64_t anyway_ns;    /* until then polling is known to do no better */
	uint64_t rest_hold_ns; /* polling lasts so long before resting is tried again */
	uint64_t poll_hold_ns; /* resting all the same lasts so long before polling is */
};

/** What the governor has concluded from its other bounds. */
struct lull_course_case {
	uint64_t now_ns;
	uint64_t latency_ns; /* objective */
	uint32_t budget_ppm; /* share of packets that may wait longer */
	bool forbidden;      /* its bounds leave no room for a rest */
	bool promised;       /* ... by a promise of no loss, which holds from the start */
	/* Polling fails when more than poll_budget_ppm of the packets wait longer than this. */
	uint64_t poll_wait_ns;
	uint32_t poll_budget_ppm;
};

void lull_course_init(struct lull_course *course, struct lull_stall_watch *stalls);
/** Judge anew; every few ms. */
void lull_course_update(struct lull_course *course, const struct lull_course_case *given);

#endif
