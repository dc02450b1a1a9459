/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "base/prng.h"
#include "governor_stand.h"
#include "idle/metronome.h"

#include <stdlib.h>

#define V (50 * LULL_NS_PER_US)

/* TS = N V (1 - rho) / (1 - rho^N), by hand. */
TEST(metronome_rest_ns__formula)
{
	/* one thread: V at any load */
	for (uint32_t rho_ppm = 0; rho_ppm <= LULL_PPM; rho_ppm += 12500)
		assert_int_equal(lull_metronome_rest_ns(1, V, rho_ppm), V);
	/* no load: each of N threads takes its turn once in N V */
	assert_int_equal(lull_metronome_rest_ns(3, V, 0), 3 * V);
	/* full load, where the fraction is 0 / 0 and its limit V */
	assert_int_equal(lull_metronome_rest_ns(3, V, LULL_PPM), V);
	/* 3 V 0.5 / 0.875 and 2 V 0.2 / 0.36 */
	assert_int_equal(lull_metronome_rest_ns(3, V, 500000), 85714);
	assert_int_equal(lull_metronome_rest_ns(2, V, 800000), 55555);
	/* the largest of everything does not overflow */
	assert_int_equal(lull_metronome_rest_ns(64, 100 * LULL_NS_PER_S, 0), 6400 * LULL_NS_PER_S);
}

TEST(metronome_plan__target_at_any_load)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_metronome);
	for (int load = 0; load < 4; load++)
		for (int i = 0; i < 100; i++) {
			assert_int_equal(stand_iterate(&stand, 0), V);
			for (int busy = 0; busy < load * 100; busy++)
				assert_int_equal(stand_iterate(&stand, 32), 0);
		}
}

TEST(metronome_plan__asks_for_less_by_the_usual_overshoot)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_metronome);
	stand.calibration[LULL_IDLE_SLEEP].p50_ns = 20000;
	assert_int_equal(stand_iterate(&stand, 0), 30000);
	/* a target below the shortest sleep: that one */
	stand.calibration[LULL_IDLE_SLEEP].p50_ns = V;
	assert_int_equal(stand_iterate(&stand, 0), 1);
	stand.calibration[LULL_IDLE_SLEEP].p50_ns = V + 1;
	assert_int_equal(stand_iterate(&stand, 0), 1);
}

/*
 * Real vacations against the target, the calibration learning along: sleeps end
 * floor_ns late, up to a quarter more by chance, and late_ns in one of 200.
 */
static double
metronome_mean_vacation(uint64_t target_ns, uint64_t floor_ns, uint64_t late_ns)
{
	struct governor_stand stand;
	struct lull_prng prng;
	uint64_t sum_ns = 0, count = 0;

	lull_prng_init(&prng, 1, 0);
	stand_init(&stand, &lull_idle_metronome);
	stand.limits.rest_ns = target_ns;
	lull_calibration_init(&stand.calibration[LULL_IDLE_SLEEP]);
	for (int i = 0; i < 20000; i++) {
		uint64_t rest_ns = stand_iteration_of(&stand, lull_prng_below(&prng, 3) == 0, 200);
		uint64_t over_ns = floor_ns + lull_prng_below(&prng, floor_ns / 4);

		if (rest_ns == 0)
			continue;
		if (lull_prng_below(&prng, 200) == 0)
			over_ns += late_ns;
		stand_rest(&stand, rest_ns, rest_ns + over_ns);
		lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP], over_ns, 0);
		if (i < 1000)
			continue;
		sum_ns += rest_ns + over_ns;
		count++;
	}
	return (double)sum_ns / (double)count;
}

TEST(metronome_plan__real_vacation_within_a_fifth)
{
	static const uint64_t floors[] = { 1000, 4096, 5000, 17000, 20480, 32768, 60000 };
	uint64_t target_ns;
	double share;

	for (size_t f = 0; f < sizeof(floors) / sizeof(floors[0]); f++)
		for (uint64_t times = 2; times <= 32; times *= 2) {
			/* the floor is what the shortest sleep really takes, on average */
			target_ns = times * floors[f] * 9 / 8;
			share = metronome_mean_vacation(target_ns, floors[f], 0) /
				(double)target_ns;
			assert_true(share > 0.8 && share < 1.2);
			/* late wake-ups of a busy host: 0.5 % by 8 floors */
			share = metronome_mean_vacation(target_ns, floors[f], 8 * floors[f]) /
				(double)target_ns;
			assert_true(share > 0.8 && share < 1.2);
		}
}

/* No wake in between (the rest was cut away): nothing is learned, nothing breaks. */
TEST(metronome_plan__rests_not_carried_out)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_metronome);
	for (int i = 0; i < 10; i++)
		assert_int_equal(stand_iteration_of(&stand, 0, 100), V);
	stand_rest(&stand, V, 0);
	assert_int_equal(stand_iterate(&stand, 0), V);
}

/* ---- shared queues ---- */

struct company {
	struct lull_share *share;
	struct governor_stand stands[3];
};

static void
company_init(struct company *company, uint32_t queues, uint32_t threads)
{
	company->share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(threads));
	assert_non_null(company->share);
	lull_share_init(company->share, queues, threads, 1);
	for (uint32_t i = 0; i < threads; i++) {
		stand_init(&company->stands[i], &lull_idle_metronome);
		company->stands[i].limits.backup_ns = 500 * LULL_NS_PER_US;
		company->stands[i].view.share = &company->share->members[i];
		lull_share_join(&company->share->members[i]);
	}
}

/* It tries the queue, which gives @p pkts, if it has it. Returns the rest planned, 0: none. */
static uint64_t
company_iterate(struct company *company, uint32_t number, uint64_t now_ns, uint32_t pkts)
{
	struct governor_stand *stand = &company->stands[number];
	bool has = lull_share_take(stand->view.share, now_ns);

	stand->now_ns = now_ns;
	return stand_iteration_of(stand, has ? pkts : 0, 0);
}

/* By hand: N = 3, busy 30 us after a vacation of 90 us, so rho goes from 0 to 1/16. */
TEST(metronome_plan__shared_queue_by_hand)
{
	struct company company;
	const struct lull_share_queue *queue;

	company_init(&company, 1, 3);
	queue = &company.share->queues[0];
	/* nothing known of before: no load is learned */
	assert_int_equal(company_iterate(&company, 0, 10000, 0), 3 * V);
	assert_int_equal(queue->rho_ppm, 0);
	assert_int_equal(queue->empty_ns, 10000);
	/* the second one comes after 90 us, and is busy for 30 us, while the others come in vain */
	assert_int_equal(company_iterate(&company, 1, 100000, 32), 0);
	assert_int_equal(company_iterate(&company, 0, 110000, 9), 500 * LULL_NS_PER_US);
	assert_int_equal(company_iterate(&company, 2, 120000, 9), 500 * LULL_NS_PER_US);
	assert_int_equal(company_iterate(&company, 1, 130000, 0),
			 lull_metronome_rest_ns(3, V, 62500));
	assert_int_equal(queue->rho_ppm, 62500);
	assert_int_equal(queue->held, 0);
	/* the third goes on from what the second has learned: 10 us of 25 us */
	assert_int_equal(company_iterate(&company, 2, 145000, 1), 0);
	company_iterate(&company, 2, 155000, 0);
	assert_int_equal(queue->rho_ppm, (3 * 62500 + 400000) / 4);
	free(company.share);
}

/* What is to be sent belongs to the queue, so it is kept; a short burst does not end the work. */
TEST(metronome_plan__keeps_the_queue_until_all_is_done)
{
	struct lull_idle_iteration iteration = { .now_ns = 20000, .drained = true, .due = true };
	struct company company;

	company_init(&company, 1, 2);
	company_iterate(&company, 0, 10000, 1);
	assert_int_equal(company.share->queues[0].held, 1);
	assert_int_equal(lull_idle_metronome.plan(company.stands[0].state, &iteration).idle_state,
			 LULL_IDLE_NONE);
	assert_int_equal(company.share->queues[0].held, 1);
	iteration.due = false;
	assert_int_equal(lull_idle_metronome.plan(company.stands[0].state, &iteration).idle_state,
			 LULL_IDLE_SLEEP);
	assert_int_equal(company.share->queues[0].held, 0);
	free(company.share);
}

/* N is the number of threads that try this queue: two try the first one, one the second. */
TEST(metronome_plan__counts_the_threads_of_each_queue)
{
	struct company company;

	company_init(&company, 2, 3);
	assert_int_equal(company_iterate(&company, 0, 1000, 0), 2 * V);
	assert_int_equal(company_iterate(&company, 1, 1000, 0), V);
	assert_int_equal(company_iterate(&company, 2, 1000, 0), 2 * V);
	/* a backup tries any of them next: sooner or later the other one */
	company_iterate(&company, 0, 60000, 32);
	for (int i = 0; company.share->members[2].queue == 0; i++) {
		assert_true(i < 100);
		assert_int_equal(company_iterate(&company, 2, 61000, 0), 500 * LULL_NS_PER_US);
	}
	assert_int_equal(company_iterate(&company, 1, 70000, 0), 2 * V);
	free(company.share);
}

TEST(metronome_plan__asks_for_less_by_the_usual_overshoot_of_shared_queues_too)
{
	struct company company;

	company_init(&company, 1, 2);
	company.stands[0].calibration[LULL_IDLE_SLEEP].p50_ns = 20000;
	company.stands[1].calibration[LULL_IDLE_SLEEP].p50_ns = 20000;
	assert_int_equal(company_iterate(&company, 0, 1000, 0), 2 * V - 20000);
	company_iterate(&company, 0, 2000, 1);
	assert_int_equal(company_iterate(&company, 1, 2000, 0), 500 * LULL_NS_PER_US);
	free(company.share);
}

/* Rests that are no sleeps are corrected by what rests of their own kind take longer. */
TEST(metronome_plan__asks_for_less_by_the_rest_that_was_made)
{
	struct governor_stand stand;
	struct lull_wake wake = { .rest = { .idle_state = LULL_IDLE_PAUSE } };

	stand_init(&stand, &lull_idle_metronome);
	stand.calibration[LULL_IDLE_SLEEP].p50_ns = 20000;
	stand.calibration[LULL_IDLE_PAUSE].p50_ns = 7000;
	assert_int_equal(stand_iteration_of(&stand, 0, 100), V - 20000);
	stand.governor->wake(stand.state, &wake);
	assert_int_equal(stand_iteration_of(&stand, 0, 100), V - 7000);
	stand.calibration[LULL_IDLE_PAUSE].p50_ns = V - 1;
	assert_int_equal(stand_iteration_of(&stand, 0, 100), 1);
	stand.calibration[LULL_IDLE_PAUSE].p50_ns = V - 2;
	assert_int_equal(stand_iteration_of(&stand, 0, 100), 2);
}

/* Periods of more than 1000 s count as that; time that went back is no busy period. */
TEST(metronome_plan__longest_periods)
{
	const uint64_t s = LULL_NS_PER_S;
	struct company company;
	const struct lull_share_queue *queue;

	company_init(&company, 1, 2);
	queue = &company.share->queues[0];
	company_iterate(&company, 0, 1000, 0);
	/* 3000 s of each */
	company_iterate(&company, 0, 3000 * s, 1);
	company_iterate(&company, 0, 6000 * s, 0);
	assert_int_equal(queue->rho_ppm, 125000);
	/* vacation of 500 s, busy for 3000 s */
	company_iterate(&company, 0, 6500 * s, 1);
	company_iterate(&company, 0, 9500 * s, 0);
	assert_int_equal(queue->rho_ppm, (375000 + 666666) / 4);
	/* vacation of 3000 s, busy for 500 s */
	company_iterate(&company, 0, 12500 * s, 1);
	company_iterate(&company, 0, 13000 * s, 0);
	assert_int_equal(queue->rho_ppm, (3 * 260416 + 333333) / 4);
	company_iterate(&company, 0, 13001 * s, 1);
	company_iterate(&company, 0, 13000 * s, 0);
	assert_int_equal(queue->rho_ppm, 3 * 278645 / 4);
	free(company.share);
}
