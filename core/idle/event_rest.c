/* SPDX-License-Identifier: BSD-3-Clause */
#include "event_rest.h"

#include "bound.h"

/* Watching takes the core: so many times as long as it took must go by before the next. */
#define PAUSES_UNKNOWN 16
#define PAUSES_KNOWN 256
#define RARE_PPM 100
#define SELDOM_PPM 1000
#define LEAST_NS LULL_NS_PER_US

uint64_t
lull_event_late_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
		   uint32_t rare_ppm)
{
	const struct lull_calibration *event = &view->events[idle_state];
	uint32_t ppm = (uint32_t)LULL_PPM - rare_ppm;

	if (event->count < LULL_EVENT_READY)
		return UINT64_MAX;
	return lull_calibration_quantile(event, ppm) +
	       LULL_MAX(lull_calibration_quantile(&view->calibration[LULL_IDLE_SLEEP], ppm),
			lull_calibration_quantile(&view->calibration[idle_state], ppm));
}

/* The longest rest for which the ring holds what comes until a thread that is so late takes it. */
static uint64_t
event_ring_ns(const struct lull_idle_view *view, uint64_t late_ns)
{
	const struct lull_idle_limits *limits = view->limits;

	if (limits->loss == LULL_LOSS_TOLERATE)
		return UINT64_MAX;
	if (limits->envelope == LULL_ENVELOPE_LEARNED)
		return lull_bound_learned_ns(limits, view->pace, view->curve, late_ns, late_ns);
	return lull_bound_ring_ns(limits, view->pace, limits->pps_max, late_ns);
}

bool
lull_event_fits(const struct lull_idle_view *view, enum lull_idle_state idle_state)
{
	uint64_t rare_ns = lull_event_late_ns(view, idle_state, RARE_PPM);

	return rare_ns != UINT64_MAX && event_ring_ns(view, rare_ns) > 0 &&
	       lull_event_late_ns(view, idle_state, SELDOM_PPM) < view->limits->latency_ns;
}

uint64_t
lull_event_limit_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
		    uint64_t timed_ns)
{
	const struct lull_calibration *timer = &view->calibration[idle_state];
	uint64_t ring_ns;

	if (lull_event_fits(view, idle_state))
		return LULL_EVENT_NS;
	/*
	 * As if no word ever came: the rest ends by its timer, and the ring must last till then.
	 * What stalls the thread would stall one that polls.
	 */
	ring_ns = event_ring_ns(view, lull_calibration_usual(timer, (uint32_t)LULL_PPM - RARE_PPM));
	/* Where it does not last in any case a short rest is no worse than none. */
	return LULL_MIN(LULL_MIN(timed_ns, LULL_EVENT_NS), LULL_MAX(ring_ns, LEAST_NS));
}

struct lull_rest
lull_event_watch(const struct lull_event_rest *event, uint64_t now_ns, uint64_t limit_ns)
{
	if (now_ns < event->watch_ns || limit_ns == 0 ||
	    (event->view->limits->idle_states & LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT)) == 0)
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT,
				   .limit_ns = LULL_MIN(limit_ns, LULL_EVENT_NS),
				   .watch = true };
}

void
lull_event_wake(struct lull_event_rest *event, const struct lull_wake *wake)
{
	bool known = event->view->events[wake->rest.idle_state].count >= LULL_EVENT_READY;
	uint64_t real_ns = wake->end_ns > wake->begin_ns ? wake->end_ns - wake->begin_ns : 0;

	if (wake->rest.watch)
		event->watch_ns = wake->end_ns + real_ns * (known ? PAUSES_KNOWN : PAUSES_UNKNOWN);
}
