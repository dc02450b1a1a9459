/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Metronome: keep the queue's vacation, the time between being emptied and
 * being looked at again, at a target on average.
 *
 * Source: Faltelli et al., "Metronome: adaptive and precise intermittent packet
 * retrieval in DPDK" (CoNEXT 2020, ToN 2022). N threads share a queue; the one
 * that finds it free empties it, and at the end of this busy period learns the
 * load and sleeps:
 *   rho = 3/4 rho + 1/4 busy / (busy + vacation)
 *   TS  = N V (1 - rho) / (1 - rho^N), V = rest_ns
 * A thread that finds the queue with another one is a backup: it sleeps TL
 * (backup_ns), and then tries any of the queues. So a thread that does not come
 * is stood in for within TL, and under light load all threads take turns.
 *
 * Where a loop has its queues to itself N is 1, for which TS = V at any load;
 * there is no contention, hence no backup and no TL.
 *
 * Where several queues are shared the paper divides the threads by the queues.
 * Here N is the number of threads that try this queue next: the same on
 * average, never a fraction, and right for each queue also while threads are
 * unevenly spread. rho belongs to the queue, and whoever holds it writes it.
 *
 * What we add: the request is TS less the median overshoot that the loop has
 * learned. V is a target for the real vacation, and a sleep ends late by about
 * 20 us in a guest; without the correction V = 50 us comes out at 70 us (the
 * authors' own run: 8.5 us for V = 1.5 us). The median and not the mean: one
 * wake-up in a hundred that is 1 ms late must not shorten the ninety-nine that
 * are not. So the real mean stays within 20 % of V, from twice the shortest
 * sleep of the machine upwards, wherever few wake-ups are late; below that the
 * shortest sleep is asked for.
 */
#include "governor.h"
#include "metronome.h"

#define METRONOME_REST_NS_MIN 1
/* Longer periods count as this much: rho is then 0 or 1 anyway, and no product overflows. */
#define METRONOME_PERIOD_NS_MAX (1000 * LULL_NS_PER_S)

struct metronome {
	const struct lull_idle_view *view;
	enum lull_idle_state idle_state; /* how rests are carried out here */
};
_Static_assert(sizeof(struct metronome) <= LULL_GOVERNOR_STATE_SIZE, "state of metronome");

uint64_t
lull_metronome_rest_ns(uint32_t threads, uint64_t vacation_ns, uint32_t rho_ppm)
{
	uint64_t power_ppm = LULL_PPM, sum_ppm = 0;

	/* (1 - rho^N) / (1 - rho) = 1 + rho + ... + rho^(N-1), which is fine at rho = 1 too. */
	for (uint32_t n = 0; n < threads; n++) {
		sum_ppm += power_ppm;
		power_ppm = power_ppm * rho_ppm / LULL_PPM;
	}
	return threads * vacation_ns * LULL_PPM / sum_ppm;
}

static void
metronome_init(void *state, const struct lull_idle_view *view)
{
	struct metronome *metronome = state;

	metronome->view = view;
	metronome->idle_state = LULL_IDLE_SLEEP;
}

/* The queue is empty again: a vacation, more than 0, and a busy period are complete. */
static uint32_t
metronome_learn(uint32_t rho_ppm, uint64_t vacation_ns, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t busy_ns = LULL_MIN(end_ns - LULL_MIN(end_ns, begin_ns), METRONOME_PERIOD_NS_MAX);
	uint64_t busy_ppm;

	vacation_ns = LULL_MIN(vacation_ns, METRONOME_PERIOD_NS_MAX);
	busy_ppm = busy_ns * LULL_PPM / (busy_ns + vacation_ns);
	return (uint32_t)((3 * (uint64_t)rho_ppm + busy_ppm) / 4);
}

/* TS, less what a rest usually takes longer. */
static struct lull_rest
metronome_rest(const struct metronome *metronome, uint32_t threads, uint32_t rho_ppm)
{
	const struct lull_idle_view *view = metronome->view;
	uint64_t late_ns = view->calibration[metronome->idle_state].p50_ns;
	uint64_t rest_ns = lull_metronome_rest_ns(threads, view->limits->rest_ns, rho_ppm);

	return lull_rest_sleep(rest_ns > late_ns ? rest_ns - late_ns : METRONOME_REST_NS_MIN);
}

static struct lull_rest
metronome_plan_shared(struct metronome *metronome, const struct lull_idle_iteration *iteration)
{
	struct lull_share_member *member = metronome->view->share;
	struct lull_share_queue *queue = lull_share_queue(member);
	struct lull_rest rest;

	if (!member->held) {
		lull_share_turn(member);
		return lull_rest_sleep(metronome->view->limits->backup_ns);
	}
	/* What waits to be sent belongs to the queue: it is not given back before. */
	if (iteration->pkt_count > 0 || iteration->due)
		return lull_rest_none();
	if (member->vacation_ns > 0)
		queue->rho_ppm = metronome_learn(queue->rho_ppm, member->vacation_ns,
						 member->taken_ns, iteration->now_ns);
	rest = metronome_rest(metronome, lull_share_queue_threads(queue), queue->rho_ppm);
	lull_share_release(member, iteration->now_ns);
	return rest;
}

static struct lull_rest
metronome_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct metronome *metronome = state;

	if (metronome->view->share != NULL)
		return metronome_plan_shared(metronome, iteration);
	/* Of its own queues: one thread, for which the load does not matter. */
	return iteration->pkt_count > 0 ? lull_rest_none() : metronome_rest(metronome, 1, 0);
}

static void
metronome_wake(void *state, const struct lull_wake *wake)
{
	struct metronome *metronome = state;

	metronome->idle_state = wake->rest.idle_state;
}

const struct lull_idle_governor lull_idle_metronome = {
	.name = "metronome",
	.summary = "as Metronome: do not poll an emptied queue for the same time (rest) on "
		   "average",
	.state_size = sizeof(struct metronome),
	.init = metronome_init,
	.plan = metronome_plan,
	.wake = metronome_wake,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
	.shares_queues = true,
};
