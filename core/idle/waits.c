/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits.h"

#include <string.h>

#include <lull/base.h>

#define UNIT 256
#define MISSED_NS LULL_NS_PER_S
#define MISSED_PKTS_X256 (5 * UNIT / 2) /* three, or rounding */
#define STEPS_QUARTERS 9                /* of a budget: more than one stall of 20 ms takes at p99 */

void
lull_waits_init(struct lull_waits *waits, uint64_t now_ns)
{
	memset(waits, 0, sizeof(*waits));
	waits->poll_ns = now_ns;
	waits->window_ns = now_ns;
	waits->step_ns = now_ns;
	lull_stall_watch_init(&waits->watch, now_ns);
	lull_arrival_curve_init(&waits->curve, now_ns);
	for (uint32_t i = 0; i < LULL_IDLE_QUEUES_MAX; i++) {
		waits->queues[i].empty_ns = now_ns;
		waits->queues[i].batch_ns = now_ns;
	}
}

static struct lull_waits_mark
waits_now(const struct lull_waits *waits)
{
	return (struct lull_waits_mark){ waits->pkts, waits->late_pkts_x256 };
}

static struct lull_waits_mark
waits_since(const struct lull_waits *waits, const struct lull_waits_mark *then)
{
	return (struct lull_waits_mark){ waits->pkts - then->pkts,
					 waits->late_pkts_x256 - then->late_pkts_x256 };
}

void
lull_waits_mark(struct lull_waits *waits, uint64_t now_ns)
{
	waits->window_ns = now_ns;
	waits->window = waits_now(waits);
	lull_histogram_clear(&waits->histogram);
}

struct lull_waits_mark
lull_waits_window(const struct lull_waits *waits)
{
	return waits_since(waits, &waits->window);
}

void
lull_waits_forget(struct lull_waits *waits, uint64_t now_ns)
{
	lull_stall_watch_forget(&waits->watch, now_ns);
	for (uint32_t i = 0; i < LULL_WAITS_STEPS; i++)
		waits->steps[i] = waits_now(waits);
}

void
lull_waits_note(struct lull_waits *waits)
{
	if (!waits->trial)
		lull_stall_watch_stall(&waits->watch, waits->poll_ns, waits->gap_ns);
}

/* A tenth of a second has gone by, or more. */
void
lull_waits_step(struct lull_waits *waits, uint64_t now_ns)
{
	uint32_t steps = 0;

	while (now_ns >= waits->step_ns + LULL_WAITS_STEP_NS && steps++ < LULL_WAITS_STEPS) {
		waits->step_ns += LULL_WAITS_STEP_NS;
		waits->step = (waits->step + 1) % LULL_WAITS_STEPS;
		waits->steps[waits->step] = waits_now(waits);
	}
	if (steps > LULL_WAITS_STEPS)
		waits->step_ns = now_ns;
	lull_stall_watch_fold(&waits->watch, now_ns);
	lull_arrival_curve_fade(&waits->curve, now_ns);
}

void
lull_waits_batch(struct lull_waits *waits, uint32_t index)
{
	struct lull_wait_queue *queue = &waits->queues[index];

	lull_arrival_curve_add(&waits->curve, &waits->windows[index], queue->batch_ns,
			       waits->poll_ns, queue->batch_pkts);
	queue->batch_pkts = 0;
}

void
lull_waits_late(struct lull_waits *waits, const struct lull_wait_pending *pending, uint64_t gap_ns,
		uint64_t latency_ns)
{
	if (gap_ns > latency_ns)
		waits->late_pkts_x256 += pending->pkts * UNIT * (gap_ns - latency_ns) / gap_ns;
	if (waits->trial)
		return;
	if (pending->stalled)
		lull_stall_watch_met(&waits->watch, gap_ns, pending->pkts);
	else
		lull_stall_watch_fine(&waits->watch, 0, pending->pkts);
}

void
lull_waits_rested(struct lull_waits *waits, const struct lull_wake *wake)
{
	waits->planned_ns += wake->rest.limit_ns << wake->rest.watch;
	if (wake->rest.idle_state >= LULL_IDLE_MONITOR)
		waits->rested = true;
}

void
lull_waits_woken(struct lull_waits *waits, uint64_t since_ns)
{
	for (uint32_t i = 0; i < waits->queue_count; i++)
		waits->queues[i].empty_ns = LULL_MAX(waits->queues[i].empty_ns, since_ns);
}

void
lull_waits_found_empty(struct lull_waits *waits, uint32_t index, uint64_t empty_ns)
{
	waits->poll_ns = empty_ns;
	waits->queues[index] =
		(struct lull_wait_queue){ .empty_ns = empty_ns, .batch_ns = empty_ns };
}

void
lull_waits_polled(struct lull_waits *waits, uint64_t now_ns, uint64_t pkts, uint64_t idle_ns)
{
	uint64_t span_ns = now_ns > waits->poll_ns ? now_ns - waits->poll_ns : 0;
	uint64_t planned_ns = idle_ns > 0 ? idle_ns : span_ns;

	if (lull_stall_is(span_ns, planned_ns))
		lull_stall_watch_stall(&waits->watch, now_ns, span_ns);
	else
		lull_stall_watch_fine(&waits->watch, span_ns, 0);
	/* All of them on one queue: at most that many came to any. */
	if (pkts > 0)
		lull_arrival_curve_add(&waits->curve, &waits->windows[0], waits->poll_ns, now_ns,
				       pkts);
	lull_stall_watch_fine(&waits->watch, 0, pkts);
	lull_histogram_add(&waits->histogram, 0, pkts);
	waits->pkts += pkts;
	waits->poll_ns = LULL_MAX(waits->poll_ns, now_ns);
	waits->planned_ns = 0;
	waits->rested = false;
	/* What comes from here on waited for no rest before it. */
	for (uint32_t i = 0; i < LULL_IDLE_QUEUES_MAX; i++)
		waits->queues[i] =
			(struct lull_wait_queue){ .empty_ns = now_ns, .batch_ns = now_ns };
}

static bool
waits_beyond(const struct lull_waits_mark *seen, double budget_ppm)
{
	return seen->late_pkts_x256 >= MISSED_PKTS_X256 &&
	       (double)seen->late_pkts_x256 * LULL_PPM > (double)seen->pkts * budget_ppm * UNIT;
}

bool
lull_waits_missed(const struct lull_waits *waits, uint64_t now_ns, uint32_t budget_ppm)
{
	struct lull_waits_mark window = lull_waits_window(waits);
	/* The oldest step: what came since is the last second. */
	struct lull_waits_mark last =
		waits_since(waits, &waits->steps[(waits->step + 1) % LULL_WAITS_STEPS]);

	if (now_ns >= waits->window_ns + MISSED_NS && waits_beyond(&window, budget_ppm))
		return true;
	/* Steps of a loop that nothing has come to for long are of another time. */
	if (now_ns > waits->step_ns + LULL_WAITS_STEPS * LULL_WAITS_STEP_NS)
		return false;
	return waits_beyond(&last, budget_ppm * STEPS_QUARTERS / 4.0);
}
