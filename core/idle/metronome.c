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
 * A lull loop owns its queues: N is 1, for which TS = V at any load. (Longer
 * sleeps under light load come from threads taking turns.) There is no
 * contention either, hence no backup thread and no long timeout.
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

#define METRONOME_THREADS 1
#define METRONOME_REST_NS_MIN 1
/* Longer periods count as this much: rho is then 0 or 1 anyway, and no product overflows. */
#define METRONOME_PERIOD_NS_MAX (1000 * LULL_NS_PER_S)

struct metronome {
	const struct lull_idle_view *view;
	uint64_t vacation_ns;   /* last rest as it really was; 0: none since rho was learned */
	uint64_t busy_begin_ns; /* its end */
	uint32_t rho_ppm;
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

/* The queues are empty again at @p now_ns: a vacation and a busy period are complete. */
static void
metronome_learn(struct metronome *metronome, uint64_t now_ns)
{
	uint64_t busy_ns = now_ns - LULL_MIN(now_ns, metronome->busy_begin_ns);
	uint64_t vacation_ns = LULL_MIN(metronome->vacation_ns, METRONOME_PERIOD_NS_MAX);
	uint64_t busy_ppm;

	busy_ns = LULL_MIN(busy_ns, METRONOME_PERIOD_NS_MAX);
	busy_ppm = busy_ns * LULL_PPM / (busy_ns + vacation_ns);
	metronome->rho_ppm = (3 * metronome->rho_ppm + busy_ppm) / 4;
	metronome->vacation_ns = 0;
}

static struct lull_rest
metronome_plan(void *state, const struct lull_idle_iteration *iteration)
{
	struct metronome *metronome = state;
	const struct lull_idle_view *view = metronome->view;
	uint64_t late_ns = view->calibration[metronome->idle_state].p50_ns;
	uint64_t rest_ns;

	if (iteration->pkt_count > 0)
		return lull_rest_none();
	if (metronome->vacation_ns > 0)
		metronome_learn(metronome, iteration->now_ns);
	rest_ns = lull_metronome_rest_ns(METRONOME_THREADS, view->limits->rest_ns,
					 metronome->rho_ppm);
	return lull_rest_sleep(rest_ns > late_ns ? rest_ns - late_ns : METRONOME_REST_NS_MIN);
}

static void
metronome_wake(void *state, const struct lull_wake *wake)
{
	struct metronome *metronome = state;

	metronome->vacation_ns = wake->end_ns - LULL_MIN(wake->begin_ns, wake->end_ns);
	metronome->busy_begin_ns = wake->end_ns;
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
};
