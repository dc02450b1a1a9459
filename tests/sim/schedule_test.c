/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* A packet every 100 us. */
#define PACKETS 5000
#define GAP_NS (100 * US)

static uint64_t times_ns[PACKETS];
static uint16_t bytes[PACKETS];

static int
set_up(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PACKETS; i++) {
		times_ns[i] = i * GAP_NS;
		bytes[i] = 60;
	}
	return 0;
}

static void
run(struct stand_bench *bench, uint64_t end_ns)
{
	lull_sim_schedule_begin(&bench->schedule, bench->threads, bench->thread_count);
	assert_int_equal(lull_sim_schedule_run(&bench->schedule, end_ns), 0);
}

/* Go on after a run, measuring from here. */
static void
measure(struct stand_bench *bench, uint64_t end_ns)
{
	for (uint32_t i = 0; i < bench->thread_count; i++)
		lull_sim_thread_mark(&bench->threads[i]);
	assert_int_equal(lull_sim_schedule_run(&bench->schedule, end_ns), 0);
}

TEST(shared__two_that_spin_get_half_each)
{
	const struct lull_idle_limits limits = { 0 };
	const struct lull_sim_trace trace = { PACKETS, times_ns, bytes };
	struct stand_bench bench;
	uint64_t sum_ns = 0;

	stand_bench_init(&bench);
	for (uint32_t i = 0; i < 2; i++)
		stand_bench_add(&bench, "spin", &limits, &trace);
	run(&bench, 400 * MS);
	for (uint32_t i = 0; i < 2; i++) {
		assert_in_range(bench.threads[i].stats.cpu_ns, 196 * MS, 204 * MS);
		assert_in_range(bench.threads[i].stats.delivered, 3900, 4001);
		/* a slice without the core, and not much more */
		assert_in_range(bench.threads[i].stats.latency.max, LULL_SIM_SLICE_NS - GAP_NS,
				LULL_SIM_SLICE_NS + GAP_NS);
		sum_ns += bench.threads[i].stats.cpu_ns;
	}
	/* the core does one thing at a time; a switch takes 500 ns every 3 ms */
	assert_in_range(sum_ns, 399 * MS, 400 * MS);
	stand_bench_done(&bench);
}

TEST(shared__one_that_rests_is_woken_soon)
{
	const struct lull_idle_limits limits = { .rest_ns = 50 * US };
	const struct lull_sim_trace trace = { PACKETS, times_ns, bytes };
	struct stand_bench bench;
	const struct lull_sim_stats *spins, *rests;

	stand_bench_init(&bench);
	spins = &stand_bench_add(&bench, "spin", &limits, &trace)->stats;
	rests = &stand_bench_add(&bench, "fixed", &limits, &trace)->stats;
	run(&bench, 20 * MS); /* at first both have had nothing: that takes a slice */
	measure(&bench, 400 * MS);
	assert_in_range(rests->delivered, 3790, 3810);
	/* rest, two switches, an iteration of each */
	assert_true(rests->latency.max < 50 * US + 3 * US);
	assert_true(spins->latency.max < 10 * US);
	/* a twentieth at most: 2 us of each 50 */
	assert_in_range(rests->cpu_ns, 380 * MS / 30, 380 * MS / 20);
	assert_in_range(spins->cpu_ns, 380 * MS * 95 / 100, 380 * MS);
	stand_bench_done(&bench);
}

/* A real-time thread that rests takes over from an ordinary one that had nothing for long. */
TEST(shared__realtime_takes_over_at_once)
{
	const struct lull_idle_limits limits = { .rest_ns = 50 * US };
	const struct lull_sim_trace trace = { PACKETS, times_ns, bytes };
	struct stand_bench bench;
	struct lull_sim_thread *spins, *rests;

	stand_bench_init(&bench);
	spins = stand_bench_add(&bench, "spin", &limits, &trace);
	rests = stand_bench_add(&bench, "fixed", &limits, &trace);
	lull_sim_watch_init(&rests->watch, true, 0);
	rests->vruntime_ns = 100 * MS; /* by fairness it would have to wait for 100 ms */
	run(&bench, 90 * MS);
	assert_true(rests->stats.latency.max < 50 * US + 3 * US);
	assert_true(rests->watch.realtime);
	assert_in_range(spins->stats.cpu_ns, 90 * MS * 95 / 100, 90 * MS);
	stand_bench_done(&bench);
}

/* Two real-time threads: who spins keeps the core until the watch has seen it. */
TEST(shared__realtime_that_spins_is_stopped)
{
	const struct lull_idle_limits limits = { .rest_ns = 50 * US };
	const struct lull_sim_trace trace = { PACKETS, times_ns, bytes };
	struct stand_bench bench;
	struct lull_sim_thread *spins, *rests;

	stand_bench_init(&bench);
	spins = stand_bench_add(&bench, "spin", &limits, &trace);
	rests = stand_bench_add(&bench, "fixed", &limits, &trace);
	lull_sim_watch_init(&spins->watch, true, 0);
	lull_sim_watch_init(&rests->watch, true, 0);
	run(&bench, 30 * MS);
	assert_false(spins->watch.realtime);
	assert_in_range(rests->stats.latency.max, 3 * MS, 8 * MS); /* until then */
	measure(&bench, 400 * MS);
	assert_int_equal(spins->watch.leave_count, 1);
	assert_int_equal(rests->watch.leave_count, 0); /* it wanted little, it could only wait */
	assert_true(rests->stats.latency.max < 50 * US + 3 * US);
	stand_bench_done(&bench);
}

/* One alone pays no switch, however often it rests. */
TEST(alone__pays_no_switch)
{
	const struct lull_idle_limits limits = { .rest_ns = 50 * US };
	const struct lull_sim_trace trace = { PACKETS, times_ns, bytes };
	struct stand_bench bench;

	stand_bench_init(&bench);
	stand_bench_add(&bench, "fixed", &limits, &trace);
	run(&bench, 100 * MS);
	assert_true(bench.threads[0].stats.latency.max <= 50 * US + 100 + 100 + 150);
	stand_bench_done(&bench);
}

TEST_GROUP(set_up, NULL);
