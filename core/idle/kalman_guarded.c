/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kalman-guarded: the sleep model of the literature with its weak points mended. Ours.
 *
 * Estimators and record table are those of kalman. What differs, each with the scenario that shows
 * it in tests/unit/kalman_guarded_test.c and docs/sleep-model.md:
 *
 * 1. Ring and latency. The search stops at what bound.h allows (rest_ceiling.h). kalman fills the
 *    ring on a burst at line rate and misses any objective, because its table knows neither.
 * 2. Rising load. The record may rise with the load, the rest not beyond the ceiling, and by one
 *    step per window, which is how long the estimate takes to see its effect. kalman takes every
 *    rise for a reason to sleep longer, several steps before the first one shows.
 * 3. Falling load. A lower speed is tried: if a shorter rest does not raise it, there is less to
 *    carry, and it becomes the record. Records also fade. kalman takes its table's rest until the
 *    old speed comes back, however short that is and however long it takes.
 * 4. A rest that cost speed is taken back: by half, when the trial says that a shorter one carries
 *    more, and it does not grow again for a second. kalman never shortens a rest.
 * 5. Ratchet. Speeds within the tolerance leave the record where it is. kalman lets it follow, one
 *    tolerance at a time, down to where nothing of the speed is left.
 * 6. Decay. All rests lose an eighth every two seconds, so one that nothing confirms is forgotten.
 * 7. Loss halves the room reckoned with in the ring for seconds (miss()), a late wake-up takes a
 *    quarter off the ceiling. kalman notices neither.
 * 8. Silence. When nothing has come for a window there is no speed to lose: it rests up to the
 *    ceiling. kalman stays where it was, at the start at usleep(0).
 * 9. It rests after every iteration that drained the queues. kalman waits for an empty one, which a
 *    steady load may never give it.
 *
 * 10. Speeds are compared by the mean of the window, whose error is known, and differ when they do
 *    so by more than the tolerance and by more than twice its standard error: the scatter of a
 *    window of sparse packets is neither a rise nor a fall. kalman takes a lucky interval for the
 *    record. The estimate of the packet size is used as it is.
 */
#include "event_rest.h"
#include "kalman_meter.h"
#include "record_table.h"
#include "rest_ceiling.h"
#include "speed_trial.h"

#define PAUSE_NS LULL_NS_PER_US
#define READ_NS (50 * LULL_NS_PER_US) /* between readings of the speed while there is no sleep */
#define FADE_NS (2 * LULL_NS_PER_S)
#define HOLD_NS LULL_NS_PER_S /* after a rest was taken back */
#define SPAN_RESTS 8          /* a rest is judged over so many at least */

struct guarded {
	const struct lull_idle_view *view;
	uint64_t rest_ns;     /* of now; 0: poll */
	uint64_t fade_ns;     /* when the table fades next */
	uint64_t raise_ns;    /* no rest grows before */
	uint64_t tried_ns;    /* the rest that the trial is about ... */
	uint32_t tried_bytes; /* ... and its packet size */
	struct lull_rest_ceiling ceiling;
	struct lull_speed_trial trial;
	struct lull_kalman_meter meter;
	struct lull_record_table table;
};
_Static_assert(sizeof(struct guarded) <= LULL_GOVERNOR_STATE_SIZE, "state of kalman-guarded");

enum change { CHANGE_NONE, CHANGE_FALL, CHANGE_RISE };

static void
guarded_init(void *state, const struct lull_idle_view *view)
{
	const struct lull_kalman_config *config = &view->limits->kalman;
	struct guarded *guarded = state;

	guarded->view = view;
	lull_rest_ceiling_init(&guarded->ceiling, view);
	lull_speed_trial_init(&guarded->trial);
	lull_kalman_meter_init(&guarded->meter, config->window_ns);
	lull_record_table_init(&guarded->table, config->layout, config->row_bytes);
}

/* How long a rest is tried before anything is concluded from the speed. */
static uint64_t
guarded_span_ns(const struct guarded *guarded, uint64_t rest_ns)
{
	uint64_t real_ns = rest_ns + guarded->view->calibration[LULL_IDLE_SLEEP].p50_ns;

	return LULL_MAX(guarded->view->limits->kalman.window_ns, SPAN_RESTS * real_ns);
}

/* The observation of Algorithm 2, the mean over the window: how far it may be off is known. */
static double
guarded_speed(const struct guarded *guarded)
{
	return guarded->meter.speed_estimate.observation;
}

static enum change
guarded_compare(const struct guarded *guarded, double record)
{
	const struct lull_sample_window *window = &guarded->meter.speed_estimate.window;
	double tolerated = record * guarded->view->limits->kalman.tolerance_ppm / LULL_PPM;
	double gap = guarded_speed(guarded) - record;
	double beyond = (gap < 0.0 ? -gap : gap) - tolerated;

	if (window->count < 2 || beyond <= 0.0 ||
	    beyond * beyond * window->count <= 4.0 * lull_sample_window_variance(window))
		return CHANGE_NONE;
	return gap < 0.0 ? CHANGE_FALL : CHANGE_RISE;
}

/* Has a trial come to an end? */
static void
guarded_learn(struct guarded *guarded, uint64_t now_ns, uint64_t bytes)
{
	uint32_t tolerance_ppm = guarded->view->limits->kalman.tolerance_ppm;
	double speed = guarded_speed(guarded);

	switch (lull_speed_trial_add(&guarded->trial, now_ns, bytes, tolerance_ppm)) {
	case LULL_TRIAL_COSTS:
		lull_record_table_lower(&guarded->table, guarded->tried_bytes,
					guarded->tried_ns / 2);
		guarded->raise_ns = now_ns + HOLD_NS;
		LULL_COUNTER_ADD(guarded->view->counters->backoffs, 1);
		break;
	case LULL_TRIAL_FREE:
		lull_record_table_find(&guarded->table, guarded->tried_bytes)->speed_max = speed;
		break;
	case LULL_TRIAL_OPEN:
		break;
	}
}

/* Let the rest of this packet size grow by a step. */
static void
guarded_raise(struct guarded *guarded, uint64_t now_ns, uint32_t bytes, uint64_t rest_ns)
{
	uint64_t goal_ns = rest_ns + guarded->view->limits->kalman.step_ns;

	if (now_ns < guarded->raise_ns)
		return;
	goal_ns = LULL_MAX(goal_ns, guarded->ceiling.least_ns);
	goal_ns = LULL_MIN(goal_ns, guarded->ceiling.rest_ns);
	lull_record_table_raise(&guarded->table, bytes, goal_ns);
	guarded->raise_ns = now_ns + guarded_span_ns(guarded, goal_ns);
}

/* Algorithm 3, mended: returns the rest for what moves now. */
static uint64_t
guarded_search(struct guarded *guarded, uint64_t now_ns)
{
	uint32_t bytes = (uint32_t)guarded->meter.packet_bytes;
	struct lull_record_row *row = lull_record_table_find(&guarded->table, bytes);
	uint64_t rest_ns = LULL_MIN((uint64_t)row->rest_ns, guarded->ceiling.rest_ns);
	enum change change = guarded_compare(guarded, row->speed_max);

	if (!guarded->trial.running && change != CHANGE_NONE &&
	    rest_ns >= guarded->ceiling.least_ns &&
	    lull_speed_trial_begin(&guarded->trial, now_ns, guarded_span_ns(guarded, rest_ns))) {
		guarded->tried_ns = rest_ns;
		guarded->tried_bytes = bytes;
	}
	if (change == CHANGE_RISE)
		row->speed_max = guarded_speed(guarded);
	if (guarded->trial.running) {
		rest_ns = LULL_MIN(guarded->tried_ns, guarded->ceiling.rest_ns);
		return lull_speed_trial_is_short(&guarded->trial) ? rest_ns / 2 : rest_ns;
	}
	if (change != CHANGE_FALL)
		guarded_raise(guarded, now_ns, bytes, rest_ns);
	return LULL_MIN((uint64_t)row->rest_ns, guarded->ceiling.rest_ns);
}

/* A sleep could begin now: how long? */
static void
guarded_decide(struct guarded *guarded, uint64_t now_ns)
{
	uint64_t bytes = guarded->meter.bytes;

	lull_kalman_meter_sleep(&guarded->meter, now_ns);
	if (now_ns >= guarded->fade_ns) {
		lull_record_table_fade(&guarded->table);
		guarded->fade_ns = now_ns + FADE_NS;
	}
	if (guarded->ceiling.state == LULL_VERDICT_CALIBRATING ||
	    now_ns > guarded->meter.moved_ns + guarded->view->limits->kalman.window_ns) {
		lull_speed_trial_stop(&guarded->trial);
		guarded->rest_ns = guarded->ceiling.rest_ns;
		return;
	}
	guarded_learn(guarded, now_ns, bytes);
	guarded->rest_ns = guarded_search(guarded, now_ns);
	if (guarded->rest_ns < guarded->ceiling.least_ns)
		guarded->rest_ns = 0;
}

/* A sleep would break a limit, or cost speed. */
static struct lull_rest
guarded_fall_back(const struct guarded *guarded)
{
	switch (lull_rest_ceiling_fallback(&guarded->ceiling)) {
	case LULL_IDLE_MONITOR:
		return (struct lull_rest){ .idle_state = LULL_IDLE_MONITOR,
					   .limit_ns = lull_event_limit_ns(
						   guarded->view, LULL_IDLE_MONITOR,
						   guarded->view->limits->latency_ns / 2) };
	case LULL_IDLE_PAUSE:
		return (struct lull_rest){ .idle_state = LULL_IDLE_PAUSE, .limit_ns = PAUSE_NS };
	default:
		return lull_rest_none();
	}
}

static struct lull_rest
guarded_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct guarded *guarded = state;

	lull_kalman_meter_iteration(&guarded->meter, iteration);
	lull_rest_ceiling_iteration(&guarded->ceiling, iteration->now_ns);
	if (!iteration->drained)
		return lull_rest_none();
	if (lull_rest_ceiling_probes(&guarded->ceiling, iteration))
		return lull_rest_sleep(1);
	if (guarded->ceiling.rest_ns == 0) {
		guarded->rest_ns = 0;
		return guarded_fall_back(guarded);
	}
	if (guarded->rest_ns > 0 || iteration->now_ns >= guarded->meter.sleep_ns + READ_NS)
		guarded_decide(guarded, iteration->now_ns);
	if (guarded->rest_ns == 0)
		return guarded_fall_back(guarded);
	return lull_rest_sleep(guarded->rest_ns);
}

static void
guarded_wake(void *state, const struct lull_wake *wake)
{
	struct guarded *guarded = state;

	lull_rest_ceiling_wake(&guarded->ceiling, wake);
}

static void
guarded_miss(void *state, uint64_t now_ns, uint64_t pkts)
{
	struct guarded *guarded = state;

	(void)pkts;
	lull_rest_ceiling_miss(&guarded->ceiling, now_ns);
}

static void
guarded_verdict(const void *state, struct lull_verdict *verdict)
{
	const struct guarded *guarded = state;
	const struct lull_rest_ceiling *ceiling = &guarded->ceiling;

	verdict->state = ceiling->state;
	verdict->rest_ns = guarded->rest_ns;
	/* Shorter than the ceiling: it is the speed that decides. */
	verdict->binding = ceiling->rest_ns > 0 && guarded->rest_ns < ceiling->rest_ns ?
				   LULL_BOUND_NONE :
				   ceiling->binding;
	verdict->idle_state =
		guarded->rest_ns > 0 ? LULL_IDLE_SLEEP : lull_rest_ceiling_fallback(ceiling);
	verdict->ring_bound_ns = lull_rest_ceiling_ring_ns(ceiling);
}

const struct lull_idle_governor lull_idle_kalman_guarded = {
	.name = "kalman-guarded",
	.summary = "kalman within the bounds of ring and latency; shortens sleeps that cost speed",
	.state_size = sizeof(struct guarded),
	.init = guarded_init,
	.plan = guarded_plan,
	.wake = guarded_wake,
	.miss = guarded_miss,
	.verdict = guarded_verdict,
	.wants_sizes = true,
};
