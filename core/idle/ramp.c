/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ramp: sleep 1 us longer in each iteration until a queue fills half a burst.
 *
 * Source: Open vSwitch 3.2, load-based sleeping of its polling threads
 * (other_config:pmd-sleep-max; pmd_thread_main() in lib/dpif-netdev.c). The
 * order there is kept, because its effects are what we compare with:
 *  1. any queue that returned 16 packets or more sets the sleep to 0;
 *  2. a sleep that is not 0 is slept now;
 *  3. the sleep grows by 1 us, up to the cap, also in an iteration that reset it.
 * So the iteration of a burst never sleeps and the one after it sleeps 1 us; a
 * trickle below 16 packets per iteration is slept through like silence, and every
 * packet of it waits; full length M us is reached after M iterations and M^2 / 2 us
 * of sleep; nothing decays.
 * OVS allows no cap beyond 10 ms, for the sake of its RCU. Here rest_ns_max
 * alone is the cap.
 */
#include "governor.h"

#define RAMP_STEP_NS LULL_NS_PER_US
#define RAMP_BUSY_PKTS 16 /* half of OVS's burst, whatever ours is */

struct ramp {
	const struct lull_idle_view *view;
	uint64_t rest_ns; /* of the next iteration */
};
_Static_assert(sizeof(struct ramp) <= LULL_GOVERNOR_STATE_SIZE, "state of ramp");

static void
ramp_init(void *state, const struct lull_idle_view *view)
{
	struct ramp *ramp = state;

	ramp->view = view;
}

static struct lull_rest
ramp_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct ramp *ramp = state;
	uint64_t rest_ns;

	if (iteration->queue_pkts_max >= RAMP_BUSY_PKTS)
		ramp->rest_ns = 0;
	rest_ns = ramp->rest_ns;
	ramp->rest_ns = LULL_MIN(rest_ns + RAMP_STEP_NS, ramp->view->limits->rest_ns_max);
	return lull_rest_sleep(rest_ns);
}

const struct lull_idle_governor lull_idle_ramp = {
	.name = "ramp",
	.summary = "as Open vSwitch: sleep 1 us longer each time, not at all after 16 packets",
	.state_size = sizeof(struct ramp),
	.init = ramp_init,
	.plan = ramp_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
