/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Drain: sleep 1 us longer after each empty period, no longer than the Rx ring lasts.
 *
 * Source: grout, gr_datapath_loop() in modules/infra/datapath/main_loop.c and
 * the cap it takes from the ports. A period is 256 iterations: without a packet the
 * sleep grows by 1 us and is slept, with one it is 0 again.
 * What differs is the cap, the time in which the arrival limit fills a ring:
 * theirs divides the link rate down to whole packets per us (a few per cent
 * too long at 10G, no sleep at all at 100M) and forgets both the descriptors a
 * driver keeps for rearming and that a sleep ends late. Ours is
 * lull_bound_ring_ns(), less the overshoot p99.99 of this host, and never more
 * than rest_ns_max. When that leaves nothing the loop polls; a host whose
 * wake-ups come later than a ring takes to fill gets no sleep again, for only
 * sleeps could show that it has improved. A lowered cap holds from the next
 * sleep on.
 */
#include "bound.h"
#include "governor.h"

#define DRAIN_STEP_NS LULL_NS_PER_US
#define DRAIN_PERIOD_ITERATIONS 256

struct drain {
	const struct lull_idle_view *view;
	uint64_t rest_ns;
	uint32_t iteration_count; /* of this period */
	bool traffic;             /* in this period */
};
_Static_assert(sizeof(struct drain) <= LULL_GOVERNOR_STATE_SIZE, "state of drain");

static void
drain_init(void *state, const struct lull_idle_view *view)
{
	struct drain *drain = state;

	drain->view = view;
}

static uint64_t
drain_ring_ns(const struct lull_idle_view *view)
{
	uint64_t late_ns = view->calibration[LULL_IDLE_SLEEP].p9999_ns;

	if (view->limits->envelope == LULL_ENVELOPE_LEARNED)
		return lull_bound_learned_ns(view->limits, view->pace, view->curve, late_ns,
					     late_ns);
	return lull_bound_ring_ns(view->limits, view->pace, view->limits->pps_max, late_ns);
}

static struct lull_rest
drain_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct drain *drain = state;
	const struct lull_idle_view *view = drain->view;
	bool traffic;
	uint64_t cap_ns;

	drain->traffic |= iteration->pkt_count > 0;
	if (++drain->iteration_count < DRAIN_PERIOD_ITERATIONS)
		return lull_rest_none();
	traffic = drain->traffic;
	drain->iteration_count = 0;
	drain->traffic = false;
	if (traffic) {
		drain->rest_ns = 0;
		return lull_rest_none();
	}
	cap_ns = LULL_MIN(drain_ring_ns(view), view->limits->rest_ns_max);
	drain->rest_ns = LULL_MIN(drain->rest_ns + DRAIN_STEP_NS, cap_ns);
	return lull_rest_sleep(drain->rest_ns);
}

static void
drain_verdict(const void *state, struct lull_verdict *verdict)
{
	const struct drain *drain = state;
	uint64_t ring_ns = drain_ring_ns(drain->view);
	uint64_t rest_ns_max = drain->view->limits->rest_ns_max;

	verdict->state = LULL_VERDICT_NONE;
	verdict->binding = ring_ns < rest_ns_max ? LULL_BOUND_RING : LULL_BOUND_CAP;
	verdict->ring_bound_ns = ring_ns;
}

const struct lull_idle_governor lull_idle_drain = {
	.name = "drain",
	.summary = "as grout: sleep 1 us longer per 256 empty polls, within the room of the ring",
	.state_size = sizeof(struct drain),
	.init = drain_init,
	.plan = drain_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = drain_verdict,
};
