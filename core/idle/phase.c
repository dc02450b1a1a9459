/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Phase: sleep until just before what the loop waits for, then poll.
 *
 * Ours, for periodic traffic such as images: what matters is the last packet of a frame, and when
 * it comes can be told from the frames before. The loop says so in quiet_until_ns; packets that
 * come before may wait as long as the ring holds them. What has come must be worked off by then, so
 * the loop wakes earlier by the share of a rest that this took lately. A loop that cannot tell
 * (quiet_until_ns 0) rests an eighth of the silence so far, and never longer than its objective: it
 * wakes often after traffic and seldom when there is none.
 */
#include "governor.h"
#include "ring_guard.h"

#define SILENCE_SHARE 8
/* A shorter sleep costs more than it saves. */
#define REST_NS_MIN (5 * LULL_NS_PER_US)
/* One rest decides what a frame waits: were one in a hundred too late, so were a frame. To poll for
 * longer than this would cost more than a rare frame is worth. */
#define LATE_NS_MAX (500 * LULL_NS_PER_US)
/* Of shorter rests nothing is learned; what was learned fades by a 64th per rest. */
#define LEARN_NS_MIN (50 * LULL_NS_PER_US)
#define FADE_BITS 6
#define WHOLE_16 (1u << 16)

struct phase {
	const struct lull_idle_view *view;
	struct lull_ring_guard guard;
	uint64_t busy_ns; /* last iteration that carried packets; 0: none yet */
	uint64_t woke_ns; /* end of a rest whose backlog is being worked off; 0: none is */
	uint64_t rest_len_ns;
	uint32_t drain_16; /* time that a backlog takes, per time of rest, times 2^16 */
	uint32_t part_16;  /* of the quiet time that may be rested, times 2^16 */
};
_Static_assert(sizeof(struct phase) <= LULL_GOVERNOR_STATE_SIZE, "state of phase");

static void
phase_init(void *state, const struct lull_idle_view *view)
{
	struct phase *phase = state;

	phase->view = view;
	phase->part_16 = WHOLE_16;
	lull_ring_guard_init(&phase->guard);
}

/* How long nothing is urgent, by the loop or else by the silence. */
static uint64_t
phase_quiet_ns(const struct phase *phase, const struct lull_idle_iteration *iteration)
{
	uint64_t late_ns = LULL_MIN(phase->view->calibration[LULL_IDLE_SLEEP].p999_ns, LATE_NS_MAX);
	uint64_t left_ns;

	if (iteration->quiet_until_ns == 0) {
		if (iteration->pkt_count > 0)
			return 0;
		return LULL_MIN((iteration->now_ns - phase->busy_ns) / SILENCE_SHARE,
				phase->view->limits->latency_ns);
	}
	left_ns = iteration->quiet_until_ns > iteration->now_ns ?
			  iteration->quiet_until_ns - iteration->now_ns :
			  0;
	left_ns = LULL_MIN(left_ns, LULL_NS_PER_S) * phase->part_16 >> 16;
	return left_ns > late_ns ? left_ns - late_ns : 0;
}

/* The queue has run short: so long did the backlog of a rest take. */
static void
phase_learn(struct phase *phase, uint64_t now_ns)
{
	uint64_t drain_ns = now_ns > phase->woke_ns ? now_ns - phase->woke_ns : 0;
	uint32_t drain_16, rested;

	rested = (uint32_t)LULL_MIN(phase->rest_len_ns, (uint64_t)UINT32_MAX);
	drain_16 = (uint32_t)LULL_MIN((drain_ns << 16) / rested, (uint64_t)WHOLE_16);
	phase->woke_ns = 0;
	phase->drain_16 -= phase->drain_16 >> FADE_BITS;
	phase->drain_16 = LULL_MAX(phase->drain_16, drain_16);
	phase->part_16 = (uint32_t)(((uint64_t)WHOLE_16 << 16) / (WHOLE_16 + phase->drain_16));
}

static struct lull_rest
phase_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct phase *phase = state;
	uint64_t rest_ns;

	lull_ring_guard_release(&phase->guard, iteration->now_ns);
	if (iteration->pkt_count > 0 || phase->busy_ns == 0)
		phase->busy_ns = iteration->now_ns;
	/* A queue that is not empty comes first. */
	if (!iteration->drained)
		return lull_rest_none();
	if (phase->woke_ns != 0 && iteration->pkt_count == 0)
		phase_learn(phase, iteration->now_ns);
	rest_ns = phase_quiet_ns(phase, iteration);
	if (rest_ns < REST_NS_MIN)
		return lull_rest_none();
	return lull_rest_sleep(LULL_MIN(rest_ns, lull_ring_guard_ns(&phase->guard, phase->view)));
}

static void
phase_wake(void *state, const struct lull_wake *wake)
{
	struct phase *phase = state;

	phase->rest_len_ns = wake->end_ns - wake->begin_ns;
	phase->woke_ns = phase->rest_len_ns >= LEARN_NS_MIN ? wake->end_ns : 0;
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
	.wake = phase_wake,
	.miss = phase_miss,
	.verdict = lull_governor_verdict_none,
};
