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
 */
#include "bound.h"
#include "governor.h"
#include "ring_guard.h"

#define UPDATE_NS (2 * LULL_NS_PER_MS)
#define PAUSE_NS LULL_NS_PER_US
#define EVENT_NS (10 * LULL_NS_PER_MS)
#define CALIBRATION_NS_MAX (50 * LULL_NS_PER_US)
#define PROBE_NS (20 * LULL_NS_PER_MS)        /* while the last ones were late */
#define PROBE_FINE_NS (2 * LULL_NS_PER_MS)    /* while they were fine */
#define PROBE_EARLY_NS (200 * LULL_NS_PER_US) /* one hiccup among few rests looks like a habit */
#define PROBE_EARLY_COUNT 4096
#define PROBE_PROVEN_NS (200 * LULL_NS_PER_MS)

/* Polling is judged after this much of it; if it is no better, resting goes on for so long. */
#define POLL_JUDGE_NS (100 * LULL_NS_PER_MS)
#define POLL_FADE_SHIFT 9
#define ANYWAY_NS (2 * LULL_NS_PER_S)

#define RELEASE_SHIFT 3 /* an eighth of the way up per update */

/* Suspend when the last rests use thrice the error budget, resume at half of it. */
#define SUSPEND_FACTOR 3
#define RESUME_DIVISOR 2
#define RECENT_SHIFT 7      /* the last 128 rests */
#define BUDGET_PPM_MIN 8000 /* one hiccup among 128 */

struct objective {
	const struct lull_idle_view *view;
	uint64_t poll_turn_ns;   /* the turn before, if no sleep lay in between */
	uint64_t poll_ns;        /* time spent polling, fading ... */
	uint64_t poll_excess_ns; /* ... and of it what gaps between turns were beyond T */
	uint64_t anyway_ns;      /* until then rest although the objective is lost */
	uint64_t update_ns;      /* when to reckon again */
	uint64_t rest_ns;        /* what to ask for when drained */
	uint64_t probe_ns;       /* next trial rest while sleeping is out of the question */
	uint64_t asked_ns;       /* the last rest asked for while the objective was held */
	uint64_t recent_excess_ns, recent_real_ns; /* sums over the last rests, fading */
	struct lull_ring_guard guard;
	enum lull_rest_depth depth;
	enum lull_verdict_state state;
	enum lull_bound binding;
};

static void
objective_init(void *state, const struct lull_idle_view *view)
{
	struct objective *objective = state;

	objective->view = view;
	lull_ring_guard_init(&objective->guard);
	objective->depth = LULL_REST_SLEEP;
	objective->state = LULL_VERDICT_CALIBRATING;
	/*
	 * As if the last rests had all been good ones: the first hiccup must not look like a habit.
	 */
	objective->recent_real_ns = view->limits->latency_ns << RECENT_SHIFT;
}

static bool
objective_offers(const struct objective *objective, enum lull_rest_depth depth)
{
	return (objective->view->limits->depths & LULL_REST_BIT(depth)) != 0;
}

/* What is left of the objective after serving a burst, less a 20th for what no model sees. */
static struct lull_idle_limits
objective_tightened(const struct objective *objective)
{
	struct lull_idle_limits limits = *objective->view->limits;
	uint64_t spent_ns = objective->view->load->serve_ns + limits.latency_ns / 20;

	limits.latency_ns = limits.latency_ns > spent_ns ? limits.latency_ns - spent_ns : 1;
	return limits;
}

/* An interrupt wakes about as late as a timer does. */
static bool
objective_interrupt_fits(const struct objective *objective)
{
	uint64_t late_ns = objective->view->calibration[LULL_REST_SLEEP].p99_ns;

	return objective_offers(objective, LULL_REST_INTERRUPT) &&
	       late_ns < objective->view->limits->latency_ns &&
	       lull_ring_guard_ns(&objective->guard, objective->view) > 0;
}

/* How far polling itself is held up, by other programs or the hypervisor. */
static void
objective_watch_polling(struct objective *objective, const struct lull_idle_turn *turn)
{
	uint64_t latency_ns = objective->view->limits->latency_ns;
	uint64_t gap_ns;

	if (objective->poll_turn_ns != 0 && turn->follows) {
		gap_ns = turn->now_ns - objective->poll_turn_ns;
		objective->poll_ns += gap_ns;
		if (gap_ns > latency_ns)
			objective->poll_excess_ns += gap_ns - latency_ns;
	}
	objective->poll_turn_ns = turn->now_ns;
}

/* Would polling break the objective as well? Not before it has been tried for a while. */
static bool
objective_polling_fails(const struct objective *objective)
{
	uint64_t budget_ppm = LULL_PPM - objective->view->limits->percentile_ppm;

	return objective->poll_ns >= POLL_JUDGE_NS &&
	       objective->poll_excess_ns > objective->poll_ns / LULL_PPM * budget_ppm;
}

/*
 * Late wake-ups forbid resting because polling would do better. Where the host holds up a polling
 * thread as much, giving up the saving buys nothing: rest as if wake-ups were as usual, say that
 * the objective is lost, and look again every two seconds. Not where no loss was promised.
 */
static bool
objective_rests_anyway(struct objective *objective, uint64_t now_ns)
{
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_REST_SLEEP];
	struct lull_idle_limits limits = objective_tightened(objective);
	uint64_t pps = lull_bound_pps(&limits, objective->view->load->envelope_pps);
	uint64_t goal_ns = limits.rest_ns_max;

	if (limits.loss == LULL_LOSS_ZERO && limits.envelope != LULL_ENVELOPE_LEARNED)
		return false;
	if (now_ns >= objective->anyway_ns) {
		if (!objective_polling_fails(objective))
			return false;
		objective->anyway_ns = now_ns + ANYWAY_NS;
		objective->poll_ns = 0;
		objective->poll_excess_ns = 0;
	}
	if (limits.loss == LULL_LOSS_ZERO)
		goal_ns = LULL_MIN(goal_ns, lull_bound_ring_ns(&limits, pps, calibration->p50_ns));
	if (limits.latency_ns < goal_ns + calibration->p50_ns)
		goal_ns = limits.latency_ns > calibration->p50_ns ?
				  limits.latency_ns - calibration->p50_ns :
				  0;
	if (goal_ns < lull_bound_break_even_ns(calibration))
		return false;
	objective->rest_ns = goal_ns;
	objective->depth = LULL_REST_SLEEP;
	return true;
}

/* No sleep fits: take what a packet ends, else spare the core's power at least. */
static void
objective_fall_back(struct objective *objective, uint64_t now_ns, enum lull_verdict_state state,
		    enum lull_bound binding)
{
	objective->state = state;
	objective->binding = binding;
	objective->rest_ns = 0;
	if (objective_offers(objective, LULL_REST_SLEEP) && binding != LULL_BOUND_CAP &&
	    objective_rests_anyway(objective, now_ns))
		return;
	if (objective_offers(objective, LULL_REST_MONITOR))
		objective->depth = LULL_REST_MONITOR;
	else if (binding != LULL_BOUND_OVERSHOOT && objective_interrupt_fits(objective))
		objective->depth = LULL_REST_INTERRUPT;
	else if (objective_offers(objective, LULL_REST_PAUSE))
		objective->depth = LULL_REST_PAUSE;
	else
		objective->depth = LULL_REST_NONE;
}

/* Have the last rests used more than factor / divisor of the error budget? */
static bool
objective_recent_budgets(const struct objective *objective, uint32_t factor, uint32_t divisor)
{
	uint64_t budget_ppm =
		LULL_MAX(LULL_PPM - objective->view->limits->percentile_ppm, BUDGET_PPM_MIN);

	return objective->recent_excess_ns * LULL_PPM / objective->recent_real_ns >
	       budget_ppm * factor / divisor;
}

/*
 * The request bound learns from thousands of rests; this notices within a hundred that the host has
 * begun to wake the thread late: the share of packets that the last rests must have made wait
 * beyond T. One rest counts for T at most, so a single hiccup is no habit. With hysteresis.
 */
static bool
objective_suspended(const struct objective *objective)
{
	if (objective->state == LULL_VERDICT_SUSPENDED)
		return objective_recent_budgets(objective, 1, RESUME_DIVISOR);
	return objective_recent_budgets(objective, SUSPEND_FACTOR, 1);
}

/* A rest, or a trial taken for one of the length that was last asked for. */
static void
objective_recent(struct objective *objective, uint64_t overshoot_ns)
{
	uint64_t latency_ns = objective->view->limits->latency_ns;
	uint64_t real_ns = objective->asked_ns + overshoot_ns;
	uint64_t excess_ns = real_ns > latency_ns ? real_ns - latency_ns : 0;

	objective->recent_excess_ns += LULL_MIN(excess_ns, latency_ns);
	objective->recent_excess_ns -= objective->recent_excess_ns >> RECENT_SHIFT;
	objective->recent_real_ns += LULL_MIN(real_ns, 2 * latency_ns);
	objective->recent_real_ns -= objective->recent_real_ns >> RECENT_SHIFT;
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

/* Fewer than one packet in ten rests: waiting for the packet itself is cheaper. */
static bool
objective_prefers_interrupt(const struct objective *objective)
{
	const struct lull_load *load = objective->view->load;

	return objective_interrupt_fits(objective) &&
	       load->arrival_pps * objective->rest_ns < LULL_NS_PER_S / 10;
}

static void
objective_update(struct objective *objective, uint64_t now_ns)
{
	const struct lull_load *load = objective->view->load;
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_REST_SLEEP];
	struct lull_idle_limits limits = objective_tightened(objective);
	uint64_t ring_ns = lull_ring_guard_ns(&objective->guard, objective->view);
	uint64_t least_ns = lull_bound_break_even_ns(calibration);
	enum lull_bound binding = LULL_BOUND_CAP;
	uint64_t latency_ns, goal_ns;

	objective->update_ns = now_ns + UPDATE_NS;
	objective->poll_ns -= objective->poll_ns >> POLL_FADE_SHIFT;
	objective->poll_excess_ns -= objective->poll_excess_ns >> POLL_FADE_SHIFT;
	lull_ring_guard_release(&objective->guard, now_ns);
	if (!objective_offers(objective, LULL_REST_SLEEP)) {
		objective_fall_back(objective, now_ns, LULL_VERDICT_INFEASIBLE, LULL_BOUND_NONE);
		return;
	}
	goal_ns = limits.rest_ns_max;
	if (ring_ns < goal_ns) {
		goal_ns = ring_ns;
		binding = LULL_BOUND_RING;
	}
	if (calibration->count < LULL_CALIBRATION_READY) {
		objective->state = LULL_VERDICT_CALIBRATING;
		objective->depth = LULL_REST_SLEEP;
		objective->rest_ns = LULL_CLAMP(limits.latency_ns / 4, 1, CALIBRATION_NS_MAX);
		objective->rest_ns = LULL_MIN(objective->rest_ns, goal_ns);
		if (objective->rest_ns == 0)
			objective_fall_back(objective, now_ns, LULL_VERDICT_INFEASIBLE, binding);
		return;
	}
	latency_ns = lull_bound_request_ns(&limits, calibration, load->busy_ppm, load->resting_ppm,
					   goal_ns);
	if (latency_ns < goal_ns) {
		goal_ns = latency_ns;
		binding = latency_ns == 0 ? LULL_BOUND_OVERSHOOT : LULL_BOUND_LATENCY;
	}
	if (objective->state == LULL_VERDICT_INFEASIBLE)
		least_ns += least_ns / 4;
	if (goal_ns == 0 || goal_ns < least_ns) {
		objective_fall_back(objective, now_ns, LULL_VERDICT_INFEASIBLE, binding);
		return;
	}
	if (objective_suspended(objective)) {
		objective_fall_back(objective, now_ns, LULL_VERDICT_SUSPENDED,
				    LULL_BOUND_OVERSHOOT);
		return;
	}
	objective->state = LULL_VERDICT_FEASIBLE;
	objective->binding = binding;
	objective_approach(objective, goal_ns);
	if (objective->rest_ns < least_ns)
		objective->rest_ns = least_ns;
	objective->depth =
		objective_prefers_interrupt(objective) ? LULL_REST_INTERRUPT : LULL_REST_SLEEP;
}

/*
 * While not sleeping, a trial rest now and then on an idle queue keeps the calibration alive; far
 * between where a promise of no loss forbids even that one, never where none was made before.
 */
static bool
objective_probes(struct objective *objective, const struct lull_idle_turn *turn)
{
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_REST_SLEEP];
	bool proven = objective->view->limits->loss == LULL_LOSS_ZERO &&
		      objective->view->limits->envelope != LULL_ENVELOPE_LEARNED;

	if (objective->depth == LULL_REST_SLEEP || objective->state == LULL_VERDICT_FEASIBLE ||
	    turn->pkt_count > 0 || turn->now_ns < objective->probe_ns ||
	    !objective_offers(objective, LULL_REST_SLEEP) || (proven && calibration->count == 0))
		return false;
	if (proven)
		objective->probe_ns = turn->now_ns + PROBE_PROVEN_NS;
	else if (objective_recent_budgets(objective, 1, 1))
		objective->probe_ns = turn->now_ns + PROBE_NS;
	else if (calibration->count < PROBE_EARLY_COUNT)
		objective->probe_ns = turn->now_ns + PROBE_EARLY_NS;
	else
		objective->probe_ns = turn->now_ns + PROBE_FINE_NS;
	return true;
}

static struct lull_rest
objective_plan(void *state, const struct lull_idle_turn *turn)
{
	struct objective *objective = state;

	objective_watch_polling(objective, turn);
	if (turn->now_ns >= objective->update_ns)
		objective_update(objective, turn->now_ns);
	if (!turn->drained)
		return lull_rest_none();
	if (objective_probes(objective, turn))
		return lull_rest_sleep(1);
	switch (objective->depth) {
	case LULL_REST_SLEEP:
		objective->asked_ns = objective->rest_ns;
		return lull_rest_sleep(objective->rest_ns);
	case LULL_REST_INTERRUPT:
	case LULL_REST_MONITOR:
		return (struct lull_rest){ objective->depth, EVENT_NS };
	case LULL_REST_PAUSE:
		return (struct lull_rest){ LULL_REST_PAUSE, PAUSE_NS };
	default:
		return lull_rest_none();
	}
}

static void
objective_wake(void *state, const struct lull_wake *wake)
{
	struct objective *objective = state;
	const struct lull_calibration *calibration = &objective->view->calibration[LULL_REST_SLEEP];
	uint64_t real_ns = wake->end_ns - wake->begin_ns;

	if (wake->rest.depth >= LULL_REST_SLEEP)
		objective->poll_turn_ns = 0;
	if (wake->rest.depth != LULL_REST_SLEEP || wake->reason != LULL_WAKE_TIMER)
		return;
	objective_recent(objective,
			 real_ns > wake->rest.limit_ns ? real_ns - wake->rest.limit_ns : 0);
	if (objective->state != LULL_VERDICT_FEASIBLE)
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
	verdict->depth = objective->depth;
	verdict->rest_ns = objective->rest_ns;
	verdict->ring_bound_ns = lull_ring_guard_ns(&objective->guard, objective->view);
}

const struct lull_idle_governor lull_idle_objective = {
	.name = "objective",
	.summary = "hold the stated added latency and loss at the least CPU, or say that it cannot",
	.state_size = sizeof(struct objective),
	.init = objective_init,
	.plan = objective_plan,
	.wake = objective_wake,
	.miss = objective_miss,
	.verdict = objective_verdict,
};
