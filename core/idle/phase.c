/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Phase: sleep until just before what the loop waits for, then poll.
 *
 * Ours, for periodic traffic such as images: what matters is the last packet of a frame, and when
 * it comes can be told from the frames before. The loop says so in calm_ns; packets that come
 * before may wait as long as the ring holds them. A loop that cannot tell (calm_ns 0) rests an
 * eighth of the silence so far, and never longer than its objective: it wakes often after traffic
 * and seldom when there is none.
 */
#include "governor.h"
#include "ring_guard.h"

#define SILENCE_SHARE 8
/* A shorter sleep costs more than it saves. */
#define REST_NS_MIN (5 * LULL_NS_PER_US)

struct phase {
	const struct lull_idle_view *view;
	struct lull_ring_guard guard;
	uint64_t busy_ns; /* last turn that carried packets; 0: none yet */
};
_Static_assert(sizeof(struct phase) <= LULL_GOVERNOR_STATE_SIZE, "state of phase");

static void
phase_init(void *state, const struct lull_idle_view *view)
{
	struct phase *phase = state;

	phase->view = view;
	lull_ring_guard_init(&phase->guard);
}

/* How long nothing is urgent, by the loop or else by the silence. */
static uint64_t
phase_calm_ns(const struct phase *phase, const struct lull_idle_turn *turn)
{
	uint64_t late_ns = phase->view->calibration[LULL_REST_SLEEP].p99_ns;
	uint64_t left_ns;

	if (turn->calm_ns == 0) {
		if (turn->pkt_count > 0)
			return 0;
		return LULL_MIN((turn->now_ns - phase->busy_ns) / SILENCE_SHARE,
				phase->view->limits->latency_ns);
	}
	left_ns = turn->calm_ns > turn->now_ns ? turn->calm_ns - turn->now_ns : 0;
	return left_ns > late_ns ? left_ns - late_ns : 0;
}

static struct lull_rest
phase_plan(void *state, const struct lull_idle_turn *turn)
{
	struct phase *phase = state;
	uint64_t rest_ns;

	lull_ring_guard_release(&phase->guard, turn->now_ns);
	if (turn->pkt_count > 0 || phase->busy_ns == 0)
		phase->busy_ns = turn->now_ns;
	/* A queue that is not empty comes first. */
	if (!turn->drained)
		return lull_rest_none();
	rest_ns = phase_calm_ns(phase, turn);
	if (rest_ns < REST_NS_MIN)
		return lull_rest_none();
	return lull_rest_sleep(LULL_MIN(rest_ns, lull_ring_guard_ns(&phase->guard, phase->view)));
}

static void
phase_miss(void *state, uint64_t now_ns, uint64_t pkts)
{
	struct phase *phase = state;

	(void)pkts;
	LULL_COUNTER_ADD(phase->view->counters->backoffs, 1);
	lull_ring_guard_miss(&phase->guard, now_ns);
}

const struct lull_idle_governor lull_idle_phase = {
	.name = "phase",
	.summary = "sleep until just before the last packets of a frame are due, then poll",
	.state_size = sizeof(struct phase),
	.init = phase_init,
	.plan = phase_plan,
	.wake = lull_governor_wake_none,
	.miss = phase_miss,
	.verdict = lull_governor_verdict_none,
};
