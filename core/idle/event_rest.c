/* SPDX-License-Identifier: BSD-3-Clause */
#include "event_rest.h"

#include "bound.h"

/* Watching takes the core: so many times as long as it took must go by before the next. */
#define PAUSES_UNKNOWN 16
#define PAUSES_KNOWN 256
#define RARE_PPM 100
/* Trials while it rests by interrupt, and else one in so many times its length. */
#define TRIAL_EVERY_NS (10 * LULL_NS_PER_MS)
#define TRIAL_PAUSES_UNKNOWN 128
#define TRIAL_PAUSES_KNOWN 1024
/* As long as the deepest idle states want, and longer than it takes to leave them. */
#define TRIAL_NS_MIN LULL_NS_PER_MS
/* If one in n were late, then three n of them would all be early in one case of twenty. */
#define EVIDENCE 3u
#define LEAST_NS LULL_NS_PER_US

#define SILENCE_NS_MIN LULL_NS_PER_S
#define SILENCE_NS_MAX (64 * LULL_NS_PER_S)

void
lull_event_rest_init(struct lull_event_rest *event, const struct lull_idle_view *view)
{
	*event = (struct lull_event_rest){ .view = view, .silence_ns = SILENCE_NS_MIN };
}

bool
lull_event_silent(const struct lull_event_rest *event, uint64_t now_ns)
{
	return now_ns >= event->view->load->packet_ns + event->silence_ns;
}

void
lull_event_end_silence(struct lull_event_rest *event)
{
	event->unmeasured = false;
	event->silence_ns = LULL_MIN(2 * event->silence_ns, SILENCE_NS_MAX);
}

/* Is it known what it takes to wake from rests that are as long? */
static bool
event_exit_known(const struct lull_idle_view *view, enum lull_idle_state idle_state)
{
	return view->calibration[idle_state].count >= LULL_CALIBRATION_READY;
}

bool
lull_event_known(const struct lull_idle_view *view, enum lull_idle_state idle_state)
{
	return view->events[idle_state].count >= LULL_EVENT_READY &&
	       event_exit_known(view, idle_state);
}

uint64_t
lull_event_late_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
		   uint32_t rare_ppm)
{
	const struct lull_calibration *event = &view->events[idle_state];
	uint32_t ppm = (uint32_t)LULL_PPM - rare_ppm;

	if (!lull_event_known(view, idle_state))
		return UINT64_MAX;
	return lull_calibration_quantile(event, ppm) +
	       LULL_MAX(lull_calibration_quantile(&view->calibration[LULL_IDLE_SLEEP], ppm),
			lull_calibration_quantile(&view->calibration[idle_state], ppm));
}

/*
 * Share of interrupts that may be late: half of the budget, since the wake-up after them may be
 * late as well.
 */
static uint32_t
event_seldom_ppm(const struct lull_idle_limits *limits)
{
	return LULL_MIN(((uint32_t)LULL_PPM - limits->percentile_ppm) / 2, LULL_EVENT_SELDOM_PPM);
}

/* So many tell whether no more are late; 0: of what is remembered none can. */
static uint32_t
event_needed(const struct lull_idle_limits *limits)
{
	uint32_t seldom_ppm = event_seldom_ppm(limits);
	uint32_t needed = seldom_ppm > 0 ? EVIDENCE * (uint32_t)LULL_PPM / seldom_ppm : UINT32_MAX;

	return needed <= LULL_CALIBRATION_WEIGHT / 2 ? needed : 0;
}

/* Are there as many? */
static bool
event_told(const struct lull_idle_view *view, enum lull_idle_state idle_state)
{
	uint32_t needed = event_needed(view->limits);

	return needed > 0 && view->events[idle_state].weight >= needed;
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

/* A promise holds for the rarest too: what was longest so far. */
static bool
event_fits_ring(const struct lull_idle_view *view, uint64_t late_ns)
{
	if (view->limits->envelope != LULL_ENVELOPE_LEARNED)
		late_ns = LULL_MAX(late_ns, lull_stalls_longest_ns(&view->stalls->rest));
	return event_ring_ns(view, late_ns) > 0;
}

bool
lull_event_fits(const struct lull_idle_view *view, enum lull_idle_state idle_state)
{
	uint64_t rare_ns = lull_event_late_ns(view, idle_state, RARE_PPM);

	return rare_ns != UINT64_MAX && event_told(view, idle_state) &&
	       event_fits_ring(view, rare_ns) &&
	       lull_event_late_ns(view, idle_state, event_seldom_ppm(view->limits)) <
		       view->limits->latency_ns;
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

static bool
event_offered(const struct lull_event_rest *event)
{
	return (event->view->limits->idle_states & LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT)) != 0;
}

struct lull_rest
lull_event_watch(const struct lull_event_rest *event, uint64_t now_ns, uint64_t limit_ns)
{
	if (now_ns < event->watch_ns || limit_ns == 0 || event_needed(event->view->limits) == 0 ||
	    !event_offered(event))
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT,
				   .limit_ns = LULL_MIN(limit_ns, LULL_EVENT_NS),
				   .watch = true };
}

/* Interrupts are early enough; a proven ring lasts for a core that needs TRIAL_NS_MIN to wake. */
static bool
event_may_try(const struct lull_idle_view *view)
{
	const struct lull_calibration *event = &view->events[LULL_IDLE_INTERRUPT];
	uint32_t seldom_ppm = event_seldom_ppm(view->limits);
	uint64_t late_ns = lull_calibration_quantile(event, (uint32_t)LULL_PPM - RARE_PPM);

	if (view->limits->envelope != LULL_ENVELOPE_LEARNED)
		late_ns += TRIAL_NS_MIN;
	return event_told(view, LULL_IDLE_INTERRUPT) &&
	       lull_calibration_quantile(event, (uint32_t)LULL_PPM - seldom_ppm) <
		       view->limits->latency_ns &&
	       event_fits_ring(view, late_ns);
}

struct lull_rest
lull_event_trial(struct lull_event_rest *event, uint64_t now_ns, uint64_t timed_ns, bool resting)
{
	uint64_t pps = event->view->load->arrival_pps, pauses = TRIAL_PAUSES_KNOWN;
	uint64_t limit_ns = LULL_NS_PER_S / (2 * LULL_MAX(pps, 1u));

	if (!event_offered(event) || timed_ns == 0 ||
	    (!resting && pps * timed_ns >= LULL_NS_PER_S / LULL_EVENT_RESTS))
		return lull_rest_none();
	limit_ns = LULL_CLAMP(limit_ns, TRIAL_NS_MIN, LULL_EVENT_NS);
	if (!event_exit_known(event->view, LULL_IDLE_INTERRUPT))
		pauses = TRIAL_PAUSES_UNKNOWN;
	event->trial_ns = now_ns + (resting ? TRIAL_EVERY_NS : pauses * limit_ns);
	event->trial_timed = resting && !event->trial_timed;
	if (event->trial_timed)
		return lull_rest_sleep(timed_ns);
	if (!event_may_try(event->view))
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = limit_ns };
}

void
lull_event_wake(struct lull_event_rest *event, const struct lull_wake *wake)
{
	bool known = event_told(event->view, wake->rest.idle_state);
	uint64_t real_ns = wake->end_ns > wake->begin_ns ? wake->end_ns - wake->begin_ns : 0;

	if (wake->rest.watch)
		event->watch_ns = wake->end_ns + real_ns * (known ? PAUSES_KNOWN : PAUSES_UNKNOWN);
}
