/* SPDX-License-Identifier: BSD-3-Clause */
#include "course.h"

#include <lull/base.h>

#define REST_HOLD_NS_MIN (4 * LULL_NS_PER_S)
#define REST_HOLD_NS_MAX (64 * LULL_NS_PER_S)
#define POLL_HOLD_NS_MIN (30 * LULL_NS_PER_S)
#define POLL_HOLD_NS_MAX (300 * LULL_NS_PER_S)
#define TRIAL_NS (2 * LULL_NS_PER_S)
/* Polling takes the whole core, so a bad moment or a few packets beyond the budget are no reason:
 * it takes twice the budget for so long, or four times of late. */
#define LOST_NS (3 * LULL_NS_PER_S)
#define LOST_QUARTERS 8
#define GROSS_QUARTERS 16
/* A program that starts holds up its own threads, and one that polls is not lent a real-time class:
 * for so long nothing is given up, from the start or from a change of class on. */
#define BEGIN_NS LULL_NS_PER_S
/* A few stalls are no rate: so many before the saving is given up for them, and before polling
 * counts as no better. Records fade, so half a stall less. */
#define EVIDENCE_X256 (9 * 256 / 2)
#define SOME_EVIDENCE_X256 (3 * 256 / 2)
/* The last moments alone count as lost at 1.75 budgets. */
#define RECENT_QUARTERS 7
#define GROSS_EVIDENCE_X256 (5 * 256 / 2)

void
lull_course_init(struct lull_course *course, struct lull_stall_watch *stalls)
{
	*course = (struct lull_course){
		.stalls = stalls,
		.rest_hold_ns = REST_HOLD_NS_MIN,
		.poll_hold_ns = POLL_HOLD_NS_MIN,
	};
}

static void
course_enter(struct lull_course *course, enum lull_course_state state, uint64_t now_ns)
{
	course->state = state;
	course->since_ns = now_ns;
	lull_stall_watch_turn_to(course->stalls, state == LULL_COURSE_POLLING, now_ns);
	/* What was known of it is of another time. */
	if (state == LULL_COURSE_POLLING)
		lull_stalls_init(&course->stalls->poll, LULL_STALL_MEMORY_NS, now_ns);
	if (state == LULL_COURSE_TRYING)
		lull_stalls_init(&course->stalls->rest, LULL_STALL_MEMORY_NS, now_ns);
}

/* Has a record spent so many quarters of the budget, with so many stalls behind that? */
static bool
course_spent(const struct lull_stalls *stalls, const struct lull_course_case *given,
	     uint32_t quarters, uint64_t evidence_x256)
{
	return lull_stalls_late_ppm(stalls, given->latency_ns, given->budget_ppm) >
		       (uint64_t)given->budget_ppm * quarters / 4 &&
	       lull_stalls_count_x256(stalls, given->latency_ns) >= evidence_x256;
}

/* The same for the last moments: nothing is known of a time before. */
static bool
course_spent_lately(const struct lull_stalls *recent, const struct lull_course_case *given,
		    uint32_t quarters, uint64_t evidence_x256)
{
	return lull_stalls_time_ppm(recent, given->latency_ns) >
		       (uint64_t)given->budget_ppm * quarters / 4 &&
	       lull_stalls_count_x256(recent, given->latency_ns) >= evidence_x256;
}

/* Is the budget spent while it rests? Until it is down to three quarters. */
static bool
course_lost(const struct lull_course *course, const struct lull_course_case *given)
{
	return course_spent(&course->stalls->rest, given, course->lost ? 3 : 4, 0) ||
	       course_spent_lately(&course->stalls->recent, given,
				   course->lost ? 4 : RECENT_QUARTERS, SOME_EVIDENCE_X256);
}

static void
course_judge(struct lull_course *course, const struct lull_course_case *given)
{
	bool lost = course_lost(course, given);

	if (lost && !course->lost)
		course->lost_ns = given->now_ns;
	course->lost = lost;
}

/* Is that enough to give up the saving for? */
static bool
course_lost_for_good(const struct lull_course *course, const struct lull_course_case *given)
{
	if (course_spent_lately(&course->stalls->recent, given, GROSS_QUARTERS,
				GROSS_EVIDENCE_X256))
		return true;
	return course->lost && given->now_ns >= course->lost_ns + LOST_NS &&
	       course_spent(&course->stalls->rest, given, LOST_QUARTERS, EVIDENCE_X256);
}

static bool
course_polling_fails(const struct lull_course *course, const struct lull_course_case *given)
{
	const struct lull_stalls *poll = &course->stalls->poll;

	return lull_stalls_count_x256(poll, given->poll_wait_ns) >= SOME_EVIDENCE_X256 &&
	       lull_stalls_late_ppm(poll, given->poll_wait_ns, given->poll_budget_ppm) >
		       given->poll_budget_ppm;
}

static void
course_rest(struct lull_course *course, const struct lull_course_case *given)
{
	bool for_good;

	course_judge(course, given);
	if (given->now_ns < course->anyway_ns)
		return;
	if (given->now_ns < course->stalls->since_ns + BEGIN_NS &&
	    !(given->forbidden && given->promised))
		return;
	for_good = course_lost_for_good(course, given);
	course->lost = course->lost || for_good;
	if (given->forbidden || for_good)
		course_enter(course, LULL_COURSE_POLLING, given->now_ns);
}

static void
course_poll(struct lull_course *course, const struct lull_course_case *given)
{
	if (course_polling_fails(course, given)) {
		course->anyway_ns = given->now_ns + course->poll_hold_ns;
		course->poll_hold_ns = LULL_MIN(2 * course->poll_hold_ns, POLL_HOLD_NS_MAX);
		course_enter(course, LULL_COURSE_RESTING, given->now_ns);
		return;
	}
	if (given->forbidden)
		return;
	/* It polled only because its bounds forbade to rest, and they do no longer. */
	if (!course->lost)
		course_enter(course, LULL_COURSE_RESTING, given->now_ns);
	else if (given->now_ns >= course->since_ns + course->rest_hold_ns)
		course_enter(course, LULL_COURSE_TRYING, given->now_ns);
}

static void
course_try(struct lull_course *course, const struct lull_course_case *given)
{
	course_judge(course, given);
	if (given->forbidden ||
	    course_spent(&course->stalls->rest, given, LOST_QUARTERS, SOME_EVIDENCE_X256)) {
		course->lost = true;
		course->rest_hold_ns = LULL_MIN(2 * course->rest_hold_ns, REST_HOLD_NS_MAX);
		course_enter(course, LULL_COURSE_POLLING, given->now_ns);
	} else if (given->now_ns >= course->since_ns + TRIAL_NS) {
		course->rest_hold_ns = REST_HOLD_NS_MIN;
		course->poll_hold_ns = POLL_HOLD_NS_MIN;
		course_enter(course, LULL_COURSE_RESTING, given->now_ns);
	}
}

void
lull_course_update(struct lull_course *course, const struct lull_course_case *given)
{
	lull_stall_watch_fold(course->stalls, given->now_ns);
	switch (course->state) {
	case LULL_COURSE_RESTING:
		course_rest(course, given);
		break;
	case LULL_COURSE_POLLING:
		course_poll(course, given);
		break;
	case LULL_COURSE_TRYING:
		course_try(course, given);
		break;
	}
}
