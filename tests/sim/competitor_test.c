/* SPDX-License-Identifier: BSD-3-Clause */
/* Other programs on the core of a thread: what they get, and what they cost it. */
#include <errno.h>

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* Costs that are easy to reckon with, and nobody late but for the scheduler. */
static struct lull_sim_config
config_beside(const char *governor, double pps, uint32_t share_pct, bool fifo)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, pps);
	struct lull_sim_config config = stand_config(governor, &arrival);

	config.machine = stand_machine();
	config.competitor_ppm = share_pct * 10000;
	config.competitor_run_ns = 3 * MS;
	config.fifo = fifo;
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 100 * US;
	config.warmup_ns = 200 * MS;
	config.duration_ns = 4 * LULL_NS_PER_S;
	config.seed = 5;
	return config;
}

static double
got_pct(const struct lull_sim_result *result)
{
	return (double)result->competitor_ns * 100 / (double)result->competitor_time_ns;
}

static void
about(double value, double low, double high, const char *what)
{
	print_message("%s: %.3f (%.3f to %.3f)\n", what, value, low, high);
	if (value < low || value > high)
		fail_msg("%s: %.3f is not in %.3f..%.3f, seed 5", what, value, low, high);
}

/*
 * Measured: sleeps of 100 us beside a busy loop on one CPU, overshoot in us. Machine `shared` has
 * to give the same within a quarter.
 */
TEST(sleep__is_as_late_as_measured)
{
	static const struct {
		bool fifo;
		double p50_us, p99_us, p999_us;
	} measured[] = { { false, 13.8, 61, 5202 }, { true, 13.6, 23, 124 } };

	for (size_t i = 0; i < COUNT(measured); i++) {
		const double wanted[] = { measured[i].p50_us, measured[i].p99_us,
					  measured[i].p999_us };
		const uint32_t ppm[] = { 500000, 990000, 999000 };
		struct lull_sim_config config = config_beside("fixed", 10, 100, measured[i].fifo);
		struct lull_sim_result result;

		config.machine = *lull_sim_machine_find("shared");
		assert_int_equal(config.machine.competitor_ppm, LULL_PPM);
		config.duration_ns = 60 * LULL_NS_PER_S;
		stand_run(&config, &result);
		assert_true(result.rest.count > 300000);
		for (size_t k = 0; k < COUNT(wanted); k++)
			about((double)lull_histogram_quantile(&result.rest, ppm[k]) / 1000 - 100,
			      wanted[k] * 0.75, wanted[k] * 1.25,
			      measured[i].fifo ? "fifo, us late" : "ordinary, us late");
	}
}

/* Polling, it shares the core evenly, a slice and a bit at a time. */
TEST(poller__has_half_beside_a_busy_loop)
{
	struct lull_sim_config config = config_beside("spin", 1e4, 100, false);
	struct lull_sim_result result;

	stand_run(&config, &result);
	about((double)result.cpu_ns * 100 / (double)result.time_ns, 48.5, 51.5, "spin, CPU %");
	about(got_pct(&result), 48.5, 51.5, "other, CPU %");
	assert_in_range(result.latency.max, 3 * MS, 4 * MS + 10 * US);
	/* every other slice of 3 to 4 ms is the other's */
	about((double)lull_histogram_quantile(&result.latency, 750000) / 1e6, 1.4, 2.2,
	      "latency p75, ms");
	about((double)result.waited_ns * 100 / (double)result.time_ns, 48.5, 51.5, "waited %");
	assert_int_equal(result.realtime_ns, 0);
}

/* In the class it asked for it stays for 8 ms at most. */
TEST(poller__is_taken_out_of_its_class)
{
	struct lull_sim_config config = config_beside("spin", 1e4, 100, true);
	struct lull_sim_result result;

	config.warmup_ns = 0;
	stand_run(&config, &result);
	assert_int_equal(result.leaves, 1);
	assert_in_range(result.realtime_ns, 3 * MS, 10 * MS);
	about(got_pct(&result), 48, 51.5, "other, CPU %");
}

TEST(resting__leaves_a_busy_loop_the_rest)
{
	struct lull_sim_config config = config_beside("fixed", 1e4, 100, true);
	struct lull_sim_result result;
	double lost_pct, cpu_pct;

	stand_run(&config, &result);
	/* a wake-up every 100.3 us: 2 us of CPU, and twice 0.5 us for nobody */
	cpu_pct = (double)result.cpu_ns * 100 / (double)result.time_ns;
	lost_pct = 100 - cpu_pct - got_pct(&result);
	about(cpu_pct, 2.1, 2.5, "fixed, CPU %");
	about(lost_pct, 0.9, 1.1, "nobody's %");
	assert_int_equal(result.realtime_ns, result.time_ns);
	assert_int_equal(result.leaves, 0);
	assert_true(result.latency.max < 102 * US); /* curves of the stand are empty */
}

/* Nobody gets more than there is, however short the rests are. */
TEST(short_rests__are_not_given_away_twice)
{
	static const uint64_t rests_ns[] = { 100, 1000, 3000, 20000 };

	for (size_t i = 0; i < COUNT(rests_ns); i++)
		for (int fifo = 0; fifo < 2; fifo++) {
			struct lull_sim_config config = config_beside("fixed", 1e4, 100, fifo == 1);
			struct lull_sim_result result;

			config.machine = *lull_sim_machine_find("shared");
			config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = rests_ns[i];
			stand_run(&config, &result);
			about((double)result.cpu_ns * 100 / (double)result.time_ns +
				      got_pct(&result),
			      75, 100.1, "both together, %");
		}
}

/* 30 % in runs of 3 ms: it gets them whatever the thread does, and not more. */
TEST(part_time__gets_its_share)
{
	static const char *const governors[] = { "spin", "fixed" };

	for (size_t i = 0; i < COUNT(governors); i++)
		for (int fifo = 0; fifo < 2; fifo++) {
			struct lull_sim_config config =
				config_beside(governors[i], 1e4, 30, fifo == 1);
			struct lull_sim_result result;

			config.duration_ns = 10 * LULL_NS_PER_S;
			stand_run(&config, &result);
			about(got_pct(&result), 28.5, 31.5, governors[i]);
			/* who polls waits for a whole run, who wakes does not */
			if (i == 0)
				assert_in_range(result.latency.max, 2900 * US, 3100 * US);
			else
				assert_true(result.latency.max < 102 * US);
		}
}

/* What the hypervisor has nobody gets. */
TEST(stolen__is_not_the_competitors)
{
	struct lull_sim_config config = config_beside("fixed", 1e3, 100, true);
	struct lull_sim_result result;

	config.stall_every_ns = MS;
	config.stall_ns = 500 * US;
	config.stall_ns_max = 1500 * US;
	config.duration_ns = 20 * LULL_NS_PER_S;
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 10 * MS; /* several in each */
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns_max = 10 * MS;
	stand_run(&config, &result);
	assert_in_range(result.rest.max, 10 * MS, 12 * MS);
	/* half of the time is stolen */
	about(got_pct(&result), 48, 51, "other, CPU %");
}

/* Nobody owes anything to one who did not want the core. */
TEST(competitor_charge__counts_while_it_wants_the_core)
{
	struct lull_sim_competitor competitor;

	lull_sim_competitor_init(&competitor, 300000, 3 * MS, 0, 5);
	assert_true(lull_sim_competitor_wants(&competitor, 0));
	lull_sim_competitor_run(&competitor, 3 * MS);
	assert_int_equal(competitor.got_ns, 3 * MS);
	assert_int_equal(competitor.lead_ns, -(int64_t)(3 * MS));
	assert_false(lull_sim_competitor_wants(&competitor, 6 * MS));
	lull_sim_competitor_charge(&competitor, 2 * MS);
	assert_int_equal(competitor.lead_ns, -(int64_t)(3 * MS));
	assert_int_equal(lull_sim_competitor_iterate(&competitor, 6 * MS), 0);
	/* it rested for 3.5 to 10.5 ms: what it had before is forgotten */
	lull_sim_competitor_skip(&competitor, 14 * MS);
	assert_int_equal(lull_sim_competitor_iterate(&competitor, 14 * MS), 3 * MS);
	lull_sim_competitor_charge(&competitor, MS);
	assert_int_equal(competitor.lead_ns, MS);
	assert_in_range(lull_sim_competitor_debt(&competitor), MS, 3 * MS);
}

/* One that rests too little has had more than its share, and waits for the other's slice. */
TEST(ordinary__waits_for_what_it_had_too_much)
{
	struct lull_sim_config config = config_beside("fixed", 1e4, 100, false);
	struct lull_sim_result result;

	stand_run(&config, &result);
	assert_true(result.latency.max < 102 * US); /* 2 % of the core: never in debt */
	config.machine.iteration_ns = 200 * US;     /* two thirds of the core */
	stand_run(&config, &result);
	about((double)result.cpu_ns * 100 / (double)result.time_ns, 46, 54, "CPU %");
	about(got_pct(&result), 46, 54, "other, CPU %");
	assert_in_range(result.rest.max, 2 * MS, 8 * MS);
}

TEST(config__refuses_threads_that_share)
{
	struct lull_sim_config config = config_beside("fixed", 1e4, 100, false);
	struct lull_range wrong;

	config.thread_count = 2;
	assert_int_equal(lull_sim_config_check(&config, &wrong), -EINVAL);
	assert_string_equal(wrong.field, "cores");
	config.core_count = 2;
	assert_int_equal(lull_sim_config_check(&config, &wrong), 0);
	config.competitor_run_ns = 0;
	assert_int_equal(lull_sim_config_check(&config, &wrong), -EINVAL);
	assert_string_equal(wrong.field, "competitor");
	config.competitor_run_ns = MS;
	config.competitor_ppm = LULL_PPM + 1;
	assert_int_equal(lull_sim_config_check(&config, &wrong), -EINVAL);
}
