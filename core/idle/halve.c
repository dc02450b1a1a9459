/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Halve: sleep 1 us longer in each empty iteration, half as long after traffic.
 *
 * Source: Snabb, pace_breathing() in src/core/app.lua. An iteration with packets
 * never sleeps and halves the sleep, rounded down to whole us; an empty iteration
 * grows it by 1 us and sleeps, but only once the last packets are more than
 * 1 us past. Halving remembers: a single packet in silence costs half the
 * length, where ramp forgets either all of it or none.
 * Snabb counts freed packets, we count received ones; its maximum is 100 us,
 * ours rest_ns_max.
 */
#include "governor.h"

#define HALVE_STEP_NS LULL_NS_PER_US
#define HALVE_QUIET_NS LULL_NS_PER_US

struct halve {
	const struct lull_idle_view *view;
	uint64_t rest_ns;
	uint64_t traffic_ns; /* last iteration with packets */
};
_Static_assert(sizeof(struct halve) <= LULL_GOVERNOR_STATE_SIZE, "state of halve");

static void
halve_init(void *state, const struct lull_idle_view *view)
{
	struct halve *halve = state;

	halve->view = view;
}

static struct lull_rest
halve_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct halve *halve = state;

	if (iteration->pkt_count > 0) {
		halve->rest_ns = halve->rest_ns / (2 * LULL_NS_PER_US) * LULL_NS_PER_US;
		halve->traffic_ns = iteration->now_ns;
		return lull_rest_none();
	}
	if (iteration->now_ns - halve->traffic_ns <= HALVE_QUIET_NS)
		return lull_rest_none();
	halve->rest_ns = LULL_MIN(halve->rest_ns + HALVE_STEP_NS, halve->view->limits->rest_ns_max);
	return lull_rest_sleep(halve->rest_ns);
}

const struct lull_idle_governor lull_idle_halve = {
	.name = "halve",
	.summary = "as Snabb: sleep 1 us longer after each empty poll, half as long after traffic",
	.state_size = sizeof(struct halve),
	.init = halve_init,
	.plan = halve_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
