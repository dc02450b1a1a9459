/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kalman: search for the longest sleep that costs no speed, per packet size.
 *
 * Source: the sleep model of the literature, its Algorithms 1-3 (docs/sleep-model.md). Faithful,
 * weak points and all: kalman-guarded mends them. The loop polls on while packets come. An
 * iteration that received nothing estimates the transmission speed since the last sleep, looks into
 * the record table for the estimated packet size, and sleeps for what stands there.
 *
 * What the text leaves open, read plainly (estimate.c says more):
 * - A sleep of 0 is usleep(0), as in its starting state: a sleep of the shortest kind, as yield's.
 * - What one iteration received from all queues is one burst.
 * - The speed of an interval in which nothing came is 0 and counts like any other. Before the first
 *   packet 0 is "equal to or smaller" than the record of 0, so an idle start stays at usleep(0).
 * - The packet size is rounded down to whole bytes; below 64 and beyond 1500 the table ends. Frames
 *   are counted without their CRC.
 * - Where nobody measures sizes a packet counts as 64 bytes: speeds are packet rates then, and one
 *   row of the table is used.
 * - The sleep used last (s of the search) is the one the table gave, also where the limits of the
 *   user cut it: the text knows no limits. It may grow far beyond them.
 */
#include "kalman_meter.h"
#include "record_table.h"

struct kalman {
	const struct lull_idle_view *view;
	uint64_t rest_ns; /* used last */
	struct lull_kalman_meter meter;
	struct lull_record_table table;
};
_Static_assert(sizeof(struct kalman) <= LULL_GOVERNOR_STATE_SIZE, "state of kalman");

#define KALMAN_REST_NS_MIN 1 /* as good as 0, which would mean no rest */

static void
kalman_init(void *state, const struct lull_idle_view *view)
{
	const struct lull_kalman_config *config = &view->limits->kalman;
	struct kalman *kalman = state;

	kalman->view = view;
	lull_kalman_meter_init(&kalman->meter, config->window_ns);
	lull_record_table_init(&kalman->table, config->layout, config->row_bytes);
}

static struct lull_rest
kalman_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct kalman *kalman = state;
	const struct lull_kalman_config *config = &kalman->view->limits->kalman;

	lull_kalman_meter_iteration(&kalman->meter, iteration);
	if (iteration->pkt_count > 0)
		return lull_rest_none();
	lull_kalman_meter_sleep(&kalman->meter, iteration->now_ns);
	kalman->rest_ns = lull_record_table_search(
		&kalman->table, (uint32_t)kalman->meter.packet_bytes, kalman->meter.speed,
		kalman->rest_ns, config->step_ns, config->tolerance_ppm);
	return lull_rest_sleep(LULL_MAX(kalman->rest_ns, (uint64_t)KALMAN_REST_NS_MIN));
}

const struct lull_idle_governor lull_idle_kalman = {
	.name = "kalman",
	.summary = "published sleep model: search for the longest sleep that costs no speed",
	.state_size = sizeof(struct kalman),
	.init = kalman_init,
	.plan = kalman_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
	.wants_sizes = true,
};
