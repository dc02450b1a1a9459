/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objective: hold "added latency at the percentile <= T, no loss" at the least CPU, or say that it
 * cannot be done. Ours.
 *
 * Whenever every queue is drained it rests, under load as well as when idle, for
 *	min(latency bound, ring bound, cap)		(bound.h)
 * and only if that is above break-even. Falling bounds act at once, rising ones are approached step
 * by step; a late wake-up cuts the rest by a quarter, a lost packet halves the ring bound for
 * seconds. Where no sleep fits, the lightest wait that a packet ends takes over, then the pause.
 *
 * Stalls of half a millisecond and more spend the error budget beside the rests (stalls.h). Where
 * they spend all of it, resting or polling is decided by which of the two does better (course.h).
 */
#include "bound.h"
#include "course.h"
#include "event_rest.h"
#include "governor.h"
#include "outlook.h"
#include "ring_guard.h"

#define UPDATE_NS (2 * LULL_NS_PER_MS)
#define PAUSE_NS LULL_NS_PER_US
#define CALIBRATION_NS_MAX (50 * LULL_NS_PER_US)
#define PROBE_NS (20 * LULL_NS_PER_MS)     /* while the last ones were late */
#define PROBE_FINE_NS (2 * LULL_NS_PER_MS) /* while they were fine */
#define PROBE_LATE_PPM 20000
#define PROBE_PROVEN_NS (200 * LULL_NS_PER_MS)
#define RELEASE_SHIFT 3 /* an eighth of the way up per update */
/* After so long without a packet none can be late, whatever holds the thread up. */
#define SILENCE_NS LULL_NS_PER_S

struct objective {
	const struct lull_idle_view *view;
	uint64_t update_ns; /* when to reckon again */
	uint64_t rest_ns;   /* what to ask for when drained */
	uint64_t probe_ns;  /* next trial rest while sleeping is out of the question */
	uint64_t event_ns;  /* what to ask for where a packet ends the rest */
	struct lull_event_rest event;
	struct lull_ring_guard guard;
	struct lull_course course;
	enum lull_idle_state idle_state;
	enum lull_verdict_state state;
	enum lull_bound binding;
};

static void
objective_init(void *state, const struct lull_idle_view *view)
{
	struct objective *objective = state;

	objective->view = view;
	lull_ring_guard_init(&objective->guard);
	lull_event_rest_init(&objective->event, view);
	objective->idle_state = LULL_IDLE_SLEEP;
	objective->state = LULL_VERDICT_CALIBRATING;
	lull_course_init(&objective->course, view->stalls);
}

static bool
objective_offers(const struct objective *objective, enum lull_idle_state idle_state)
{
	return (objective->view->limits->idle_states & LULL_IDLE_STATE_BIT(idle_state)) != 0;
}

/* An interrupt is early enough, and that was measured. */
static bool
objective_interrupt_fits(const struct objective *objective)
{
	return objective_offers(objective, LULL_IDLE_INTERRUPT) &&
	       lull_event_fits(objective->view, LULL_IDLE_INTERRUPT) &&
	       lull_ring_guard_ns(&objective->guard, objective->view) > 0;
}

/* No sleep fits: take what a packet ends, else spare the core's power at least. */
static void
objective_fall_back(struct objective *objective, enum lull_verdict_state state,
		    enum lull_bound binding)
{
	objective->state = state;
	objective->binding = binding;
	objective->rest_ns = 0;
	if (objective_offers(objective, LULL_IDLE_MONITOR))
		objective->idle_state = LULL_IDLE_MONITOR;
	else if (binding != LULL_BOUND_OVERSHOOT && objective_interrupt_fits(objective))
		objective->idle_state = LULL_IDLE_INTERRUPT;
	else if (objective_offers(objective, LULL_IDLE_PAUSE))
		objective->idle_state = LULL_IDLE_PAUSE;
	else
		objective->idle_state = LULL_IDLE_NONE;
	if (objective->idle_state == LULL_IDLE_INTERRUPT ||
	    objective->idle_state == LULL_IDLE_MONITOR)
		objective->event_ns = lull_event_limit_ns(objective->view, objective->idle_state,
							  objective->view->limits->latency_ns / 2);
}

/* Go down at once, up slowly. */
static void
objective_approach(struct objective *objective, uint64_t goal_ns)
{
	uint64_t step_ns;

	if (goal_ns <= objective->rest_ns) {
		objective->rest_ns = goal_ns;
		return;
	}
	step_ns = ((goal_ns - objective->rest_ns) >> RELEASE_SHIFT) + LULL_NS_PER_US;
	objective->rest_ns = LULL_MIN(goal_ns, objective->rest_ns + step_ns);
}

static bool
objective_proven(const struct objective *objective)
{
	return objective->view->limits->loss == LULL_LOSS_ZERO &&
	       objective->view->limits->envelope != LULL_ENVELOPE_LEARNED;
}

/* No packet for so long that none can be late. */
static bool
objective_silent(const struct objective *objective, uint64_t now_ns)
{
	return now_ns >= objective->view->load->packet_ns + SILENCE_NS;
}

/*
 * Fewer than one packet in ten rests: waiting for the packet itself is cheaper, once interrupts are
 * known to be early enough. Where nothing comes nothing can be learned either: one packet after a
 * silence may be late by what nobody knows, unless it could overflow a ring that is promised. Each
 * such packet makes the silence longer that it takes the next time.
 */
static bool
objective_prefers_interrupt(const struct objective *objective, uint64_t now_ns)
{
	const struct lull_idle_view *view = objective->view;

	if (!objective_offers(objective, LULL_IDLE_INTERRUPT))
		return false;
	if (!lull_event_known(view, LULL_IDLE_INTERRUPT))
		return lull_event_silent(&objective->event, now_ns) && !objective_proven(objective);
	return objective_interrupt_fits(objective) &&
	       view->load->arrival_pps * objective->rest_ns < LULL_NS_PER_S / LULL_EVENT_RESTS;
}

/* Rests that calibrate are short, and no longer than is safe. */
static void
objective_calibrate(struct objective *objective, const struct lull_outlook *outlook)
{
	objective->state = LULL_VERDICT_CALIBRATING;
	objective->idle_state = LULL_IDLE_SLEEP;
	objective->rest_ns = LULL_CLAMP(outlook->limits.latency_ns / 4, 1, CALIBRATION_NS_MAX);
	objective->rest_ns = LULL_MIN(objective->rest_ns, outlook->goal_ns);
	if (objective->rest_ns == 0)
		objective_fall_back(objective, LULL_VERDICT_INFEASIBLE, outlook->binding);
}

/* Whether latency, ring and cap leave a rest worth making. */
static void
objective_bound_latency(const struct objective *objective, struct lull_outlook *outlook)
{
	const struct lull_stalls *stalls =
		objective->course.lost ? NULL : &objective->view->stalls->rest;

	lull_outlook_bound_latency(outlook, objective->view, stalls);
	/* Once refused, it takes a quarter more to be allowed again. */
	if (objective->state == LULL_VERDICT_INFEASIBLE && objective->idle_state != LULL_IDLE_SLEEP)
		outlook->forbidden = outlook->goal_ns == 0 ||
				     outlook->goal_ns < outlook->least_ns + outlook->least_ns / 4;
}

/* When would polling be no better? */
static struct lull_course_case
objective_case(const struct objective *objective, const struct lull_outlook *outlook,
	       uint64_t now_ns)
{
	const struct lull_idle_limits *limits = objective->view->limits;
	const struct lull_pace *pace = objective->view->pace;
	struct lull_course_case given = {
		.now_ns = now_ns,
		.latency_ns = limits->latency_ns,
		.budget_ppm = (uint32_t)LULL_PPM - limits->percentile_ppm,
		.forbidden = outlook->forbidden,
		.promised = outlook->binding == LULL_BOUND_RING && objective_proven(objective),
	};

	given.poll_wait_ns = given.latency_ns;
	given.poll_budget_ppm = given.budget_ppm;
	if (outlook->forbidden && outlook->binding == LULL_BOUND_RING) {
		/* Stalls in which the ring overflows at the rate that was promised. */
		given.poll_budget_ppm = 0;
		given.poll_wait_ns =
			objective_proven(objective) ?
				lull_bound_ring_ns(limits, pace, limits->pps_max, 0) :
				lull_bound_learned_ns(limits, pace, objective->view->curve, 0, 0);
	}
	return given;
}

/*
 * The bounds forbid to rest, but polling breaks the objective as well: rest as if wake-ups were as
 * usual. 0: not even that is worth it.
 */
static uint64_t
objective_anyway_ns(const struct objective *objective, const struct lull_outlook *outlook)
{
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_IDLE_SLEEP];
	const struct lull_idle_limits *limits = &outlook->limits;
	const struct lull_pace *pace = objective->view->pace;
	uint64_t usual_ns = calibration->p50_ns, least_ns = lull_bound_break_even_ns(calibration);
	uint64_t goal_ns = limits->rest_ns_max, latency_ns = outlook->latency_ns;

	if (latency_ns < least_ns)
		latency_ns = limits->latency_ns > usual_ns ? limits->latency_ns - usual_ns : 0;
	if (objective_proven(objective))
		goal_ns = lull_bound_ring_ns(limits, pace, limits->pps_max,
					     lull_calibration_usual(calibration, 999900));
	else if (limits->loss == LULL_LOSS_ZERO)
		goal_ns = lull_bound_learned_ns(limits, pace, objective->view->curve, usual_ns,
						usual_ns);
	goal_ns = LULL_MIN(LULL_MIN(goal_ns, limits->rest_ns_max), latency_ns);
	return goal_ns < least_ns ? 0 : goal_ns;
}

static void
objective_rest(struct objective *objective, enum lull_verdict_state state,
	       const struct lull_outlook *outlook, uint64_t now_ns)
{
	uint64_t least_ns =
		lull_bound_break_even_ns(&objective->view->calibration[LULL_IDLE_SLEEP]);

	objective->state = state;
	objective->binding =
		state == LULL_VERDICT_FEASIBLE ? outlook->binding : LULL_BOUND_OVERSHOOT;
	objective_approach(objective, outlook->goal_ns);
	objective->rest_ns = LULL_MAX(objective->rest_ns, least_ns);
	objective->idle_state = objective_prefers_interrupt(objective, now_ns) ?
					LULL_IDLE_INTERRUPT :
					LULL_IDLE_SLEEP;
	objective->event.unmeasured = objective->idle_state == LULL_IDLE_INTERRUPT &&
				      !lull_event_known(objective->view, LULL_IDLE_INTERRUPT);
	objective->event_ns = LULL_EVENT_NS;
}

static void
objective_forbidden(struct objective *objective, const struct lull_outlook *outlook,
		    uint64_t now_ns)
{
	/* A burst after silence could overflow the ring all the same. */
	bool silent = objective_silent(objective, now_ns) &&
		      !(outlook->binding == LULL_BOUND_RING && objective_proven(objective));
	uint64_t anyway_ns = objective_anyway_ns(objective, outlook);

	objective_fall_back(objective, LULL_VERDICT_INFEASIBLE, outlook->binding);
	if (anyway_ns == 0 || outlook->binding == LULL_BOUND_CAP ||
	    (objective->course.state == LULL_COURSE_POLLING && !silent))
		return;
	objective->idle_state = LULL_IDLE_SLEEP;
	objective->rest_ns = anyway_ns;
}

static void
objective_follow(struct objective *objective, const struct lull_outlook *outlook, uint64_t now_ns)
{
	switch (objective->course.state) {
	case LULL_COURSE_POLLING:
		if (objective_silent(objective, now_ns))
			objective_rest(objective, LULL_VERDICT_SUSPENDED, outlook, now_ns);
		else
			objective_fall_back(objective, LULL_VERDICT_SUSPENDED,
					    LULL_BOUND_OVERSHOOT);
		break;
	case LULL_COURSE_TRYING:
		objective_rest(objective, LULL_VERDICT_SUSPENDED, outlook, now_ns);
		break;
	default:
		objective_rest(objective,
			       objective->course.lost ? LULL_VERDICT_INFEASIBLE :
							LULL_VERDICT_FEASIBLE,
			       outlook, now_ns);
	}
}

static void
objective_update(struct objective *objective, uint64_t now_ns)
{
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_IDLE_SLEEP];
	struct lull_course_case given;
	struct lull_outlook outlook;

	objective->update_ns = now_ns + UPDATE_NS;
	objective->event.unmeasured = false;
	lull_ring_guard_release(&objective->guard, now_ns);
	if (!objective_offers(objective, LULL_IDLE_SLEEP)) {
		objective_fall_back(objective, LULL_VERDICT_INFEASIBLE, LULL_BOUND_NONE);
		return;
	}
	lull_outlook_begin(&outlook, objective->view,
			   lull_ring_guard_ns(&objective->guard, objective->view));
	if (calibration->count < LULL_CALIBRATION_READY) {
		objective_calibrate(objective, &outlook);
		return;
	}
	objective_bound_latency(objective, &outlook);
	given = objective_case(objective, &outlook, now_ns);
	lull_course_update(&objective->course, &given);
	if (outlook.forbidden)
		objective_forbidden(objective, &outlook, now_ns);
	else
		objective_follow(objective, &outlook, now_ns);
}

/*
 * While not sleeping, a trial rest now and then on an idle queue keeps the calibration alive; far
 * between where a promise of no loss forbids even that one, never where none was made before.
 */
static bool
objective_probes(struct objective *objective, const struct lull_idle_iteration *iteration)
{
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_IDLE_SLEEP];
	bool proven = objective_proven(objective);

	/* While polling does better than resting, resting is tried in earnest from time to time. */
	if (objective->idle_state == LULL_IDLE_SLEEP ||
	    objective->state != LULL_VERDICT_INFEASIBLE || iteration->pkt_count > 0 ||
	    iteration->now_ns < objective->probe_ns ||
	    !objective_offers(objective, LULL_IDLE_SLEEP) || (proven && calibration->count == 0))
		return false;
	objective->probe_ns =
		iteration->now_ns + (proven                                 ? PROBE_PROVEN_NS :
				     calibration->late_ppm > PROBE_LATE_PPM ? PROBE_NS :
									      PROBE_FINE_NS);
	return true;
}

/* How late interrupts are is measured where they may be used: few packets come. */
static struct lull_rest
objective_watch(const struct objective *objective, const struct lull_idle_iteration *iteration)
{
	const struct lull_idle_view *view = objective->view;
	/* A packet that is held that long must still be in time. */
	uint64_t limit_ns =
		view->limits->latency_ns - view->limits->latency_ns / LULL_OUTLOOK_MARGIN_SHARE;

	/* A loop that rests by interrupt hardly ever polls for nothing. */
	if ((iteration->pkt_count > 0 && objective->idle_state != LULL_IDLE_INTERRUPT) ||
	    iteration->now_ns < objective->event.watch_ns ||
	    objective->state == LULL_VERDICT_CALIBRATING ||
	    objective_silent(objective, iteration->now_ns) ||
	    view->load->arrival_pps * limit_ns > LULL_NS_PER_S)
		return lull_rest_none();
	limit_ns = LULL_MIN(limit_ns, lull_ring_guard_ns(&objective->guard, view));
	return lull_event_watch(&objective->event, iteration->now_ns, limit_ns);
}

/* Rests by interrupt show neither stalls nor their own end where packets end them. */
static struct lull_rest
objective_try(struct objective *objective, uint64_t now_ns)
{
	bool resting = objective->idle_state == LULL_IDLE_INTERRUPT && !objective->event.unmeasured;

	if (!lull_event_trial_due(&objective->event, now_ns) ||
	    objective->state == LULL_VERDICT_CALIBRATING ||
	    (!resting && objective_silent(objective, now_ns)))
		return lull_rest_none();
	return lull_event_trial(&objective->event, now_ns, objective->rest_ns, resting);
}

static struct lull_rest
objective_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct objective *objective = state;
	struct lull_rest watch;

	if (iteration->now_ns >= objective->update_ns)
		objective_update(objective, iteration->now_ns);
	if (objective->event.unmeasured && iteration->pkt_count > 0) {
		lull_event_end_silence(&objective->event);
		objective->idle_state = LULL_IDLE_SLEEP;
	}
	if (!iteration->drained)
		return lull_rest_none();
	if (objective_probes(objective, iteration))
		return lull_rest_sleep(1);
	watch = objective_watch(objective, iteration);
	if (watch.idle_state == LULL_IDLE_NONE)
		watch = objective_try(objective, iteration->now_ns);
	if (watch.idle_state != LULL_IDLE_NONE)
		return watch;
	switch (objective->idle_state) {
	case LULL_IDLE_SLEEP:
		return lull_rest_sleep(objective->rest_ns);
	case LULL_IDLE_INTERRUPT:
	case LULL_IDLE_MONITOR:
		return (struct lull_rest){ .idle_state = objective->idle_state,
					   .limit_ns = objective->event_ns };
	case LULL_IDLE_PAUSE:
		return (struct lull_rest){ .idle_state = LULL_IDLE_PAUSE, .limit_ns = PAUSE_NS };
	default:
		return lull_rest_none();
	}
}

static void
objective_wake(void *state, const struct lull_wake *wake)
{
	struct objective *objective = state;
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_IDLE_SLEEP];
	uint64_t real_ns = wake->end_ns - wake->begin_ns;

	lull_event_wake(&objective->event, wake);
	if (wake->rest.idle_state != LULL_IDLE_SLEEP || wake->reason != LULL_WAKE_TIMER ||
	    objective->state != LULL_VERDICT_FEASIBLE)
		return;
	if (real_ns > wake->rest.limit_ns + 4 * calibration->p99_ns &&
	    real_ns > objective->view->limits->latency_ns) {
		objective->rest_ns -= objective->rest_ns / 4;
		LULL_COUNTER_ADD(objective->view->counters->backoffs, 1);
	}
}

static void
objective_miss(void *state, uint64_t now_ns, uint64_t pkts)
{
	struct objective *objective = state;

	(void)pkts;
	if (objective->view->limits->loss == LULL_LOSS_TOLERATE)
		return;
	lull_ring_guard_miss(&objective->guard, now_ns);
	objective->update_ns = now_ns;
	LULL_COUNTER_ADD(objective->view->counters->backoffs, 1);
}

static void
objective_verdict(const void *state, struct lull_verdict *verdict)
{
	const struct objective *objective = state;

	verdict->state = objective->state;
	verdict->binding = objective->binding;
	verdict->idle_state = objective->idle_state;
	verdict->rest_ns = objective->rest_ns;
	verdict->ring_bound_ns = lull_ring_guard_ns(&objective->guard, objective->view);
}

const struct lull_idle_governor lull_idle_objective = {
	.name = "objective",
	.summary = "hold the limits of added latency and loss at the least CPU, or say why not",
	.state_size = sizeof(struct objective),
	.init = objective_init,
	.plan = objective_plan,
	.wake = objective_wake,
	.miss = objective_miss,
	.verdict = objective_verdict,
};
