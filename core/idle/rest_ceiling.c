/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest_ceiling.h"

#include "bound.h"

#define UPDATE_NS (2 * LULL_NS_PER_MS)
#define CALIBRATION_NS_MAX (50 * LULL_NS_PER_US)
#define RELEASE_SHIFT 3 /* an eighth of the way up per update */
#define PROBE_NS (20 * LULL_NS_PER_MS)
#define PROBE_PROVEN_NS (200 * LULL_NS_PER_MS)

static bool
ceiling_offers(const struct lull_rest_ceiling *ceiling, enum lull_idle_state idle_state)
{
	return (ceiling->view->limits->idle_states & LULL_IDLE_STATE_BIT(idle_state)) != 0;
}

/* No loss at a rate that the user or the link stated: a promise. */
static bool
ceiling_proven(const struct lull_rest_ceiling *ceiling)
{
	return ceiling->view->limits->loss == LULL_LOSS_ZERO &&
	       ceiling->view->limits->envelope != LULL_ENVELOPE_LEARNED;
}

uint64_t
lull_rest_ceiling_ring_ns(const struct lull_rest_ceiling *ceiling)
{
	return lull_ring_guard_ns(&ceiling->guard, ceiling->view);
}

/* What is left of the objective after serving a burst, less a 32nd for what no model sees. */
static uint64_t
ceiling_latency_ns(const struct lull_rest_ceiling *ceiling, uint64_t request_ns_max)
{
	const struct lull_load *load = ceiling->view->load;
	struct lull_idle_limits limits = *ceiling->view->limits;
	uint64_t spent_ns = load->serve_ns + limits.latency_ns / 32;

	limits.latency_ns = limits.latency_ns > spent_ns ? limits.latency_ns - spent_ns : 1;
	return lull_bound_request_ns(&limits, &ceiling->view->calibration[LULL_IDLE_SLEEP],
				     &ceiling->view->stalls->rest, load->busy_ppm,
				     load->resting_ppm, request_ns_max);
}

void
lull_rest_ceiling_init(struct lull_rest_ceiling *ceiling, const struct lull_idle_view *view)
{
	*ceiling = (struct lull_rest_ceiling){
		.view = view,
		.state = LULL_VERDICT_CALIBRATING,
	};
	lull_ring_guard_init(&ceiling->guard);
}

/* Rests that calibrate are short, and no longer than is safe. */
static void
ceiling_calibrate(struct lull_rest_ceiling *ceiling, uint64_t goal_ns)
{
	uint64_t rest_ns = LULL_CLAMP(ceiling->view->limits->latency_ns / 4, 1, CALIBRATION_NS_MAX);

	ceiling->rest_ns = LULL_MIN(rest_ns, goal_ns);
	ceiling->least_ns = 1;
	ceiling->state = ceiling->rest_ns > 0 ? LULL_VERDICT_CALIBRATING : LULL_VERDICT_INFEASIBLE;
}

/* Go down at once, up slowly. */
static void
ceiling_approach(struct lull_rest_ceiling *ceiling, uint64_t goal_ns)
{
	uint64_t step_ns;

	if (goal_ns <= ceiling->rest_ns) {
		ceiling->rest_ns = goal_ns;
		return;
	}
	step_ns = ((goal_ns - ceiling->rest_ns) >> RELEASE_SHIFT) + LULL_NS_PER_US;
	ceiling->rest_ns = LULL_MIN(goal_ns, ceiling->rest_ns + step_ns);
	ceiling->rest_ns = LULL_MAX(ceiling->rest_ns, ceiling->least_ns);
}

static void
ceiling_update(struct lull_rest_ceiling *ceiling)
{
	const struct lull_calibration *calibration = &ceiling->view->calibration[LULL_IDLE_SLEEP];
	uint64_t ring_ns = lull_rest_ceiling_ring_ns(ceiling);
	uint64_t goal_ns = ceiling->view->limits->rest_ns_max;
	uint64_t latency_ns;

	ceiling->binding = LULL_BOUND_CAP;
	if (ring_ns < goal_ns) {
		goal_ns = ring_ns;
		ceiling->binding = LULL_BOUND_RING;
	}
	if (calibration->count < LULL_CALIBRATION_READY) {
		ceiling_calibrate(ceiling, goal_ns);
		return;
	}
	latency_ns = ceiling_latency_ns(ceiling, goal_ns);
	if (latency_ns < goal_ns) {
		goal_ns = latency_ns;
		ceiling->binding = latency_ns == 0 ? LULL_BOUND_OVERSHOOT : LULL_BOUND_LATENCY;
	}
	ceiling->least_ns = lull_bound_break_even_ns(calibration);
	/* Once refused, it takes a quarter more to be allowed again. */
	if (goal_ns == 0 ||
	    goal_ns < ceiling->least_ns + (ceiling->rest_ns == 0 ? ceiling->least_ns / 4 : 0)) {
		ceiling->rest_ns = 0;
		ceiling->state = LULL_VERDICT_INFEASIBLE;
		return;
	}
	ceiling->state = LULL_VERDICT_FEASIBLE;
	ceiling_approach(ceiling, goal_ns);
}

void
lull_rest_ceiling_iteration(struct lull_rest_ceiling *ceiling, uint64_t now_ns)
{
	if (now_ns < ceiling->update_ns)
		return;
	ceiling->update_ns = now_ns + UPDATE_NS;
	lull_ring_guard_release(&ceiling->guard, now_ns);
	if (ceiling_offers(ceiling, LULL_IDLE_SLEEP)) {
		ceiling_update(ceiling);
		return;
	}
	ceiling->rest_ns = 0;
	ceiling->binding = LULL_BOUND_NONE;
	ceiling->state = LULL_VERDICT_INFEASIBLE;
}

bool
lull_rest_ceiling_probes(struct lull_rest_ceiling *ceiling,
			 const struct lull_idle_iteration *iteration)
{
	bool proven = ceiling_proven(ceiling);

	if (ceiling->rest_ns > 0 || iteration->pkt_count > 0 ||
	    iteration->now_ns < ceiling->probe_ns || !ceiling_offers(ceiling, LULL_IDLE_SLEEP) ||
	    (proven && ceiling->view->calibration[LULL_IDLE_SLEEP].count == 0))
		return false;
	ceiling->probe_ns = iteration->now_ns + (proven ? PROBE_PROVEN_NS : PROBE_NS);
	return true;
}

enum lull_idle_state
lull_rest_ceiling_fallback(const struct lull_rest_ceiling *ceiling)
{
	if (ceiling_offers(ceiling, LULL_IDLE_MONITOR))
		return LULL_IDLE_MONITOR;
	if (ceiling_offers(ceiling, LULL_IDLE_PAUSE))
		return LULL_IDLE_PAUSE;
	return LULL_IDLE_NONE;
}

void
lull_rest_ceiling_wake(struct lull_rest_ceiling *ceiling, const struct lull_wake *wake)
{
	uint64_t real_ns = wake->end_ns - wake->begin_ns;
	uint64_t usual_ns = ceiling->view->calibration[LULL_IDLE_SLEEP].p99_ns;

	if (wake->rest.idle_state != LULL_IDLE_SLEEP || wake->reason != LULL_WAKE_TIMER ||
	    ceiling->state != LULL_VERDICT_FEASIBLE)
		return;
	if (real_ns > wake->rest.limit_ns + 4 * usual_ns &&
	    real_ns > ceiling->view->limits->latency_ns) {
		ceiling->rest_ns -= ceiling->rest_ns / 4;
		LULL_COUNTER_ADD(ceiling->view->counters->backoffs, 1);
	}
}

void
lull_rest_ceiling_miss(struct lull_rest_ceiling *ceiling, uint64_t now_ns)
{
	if (ceiling->view->limits->loss == LULL_LOSS_TOLERATE)
		return;
	lull_ring_guard_miss(&ceiling->guard, now_ns);
	ceiling->update_ns = now_ns;
	LULL_COUNTER_ADD(ceiling->view->counters->backoffs, 1);
}
