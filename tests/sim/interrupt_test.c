/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rests by interrupt on machines that do not keep still: what the governor learned must not be
 * trusted beyond what it saw.
 */
#include "case.h"

#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define OBJECTIVE_NS (200 * US)

/* Interrupts that are always so late, and packets that come evenly. */
static struct lull_sim_config
config_of(double pps, uint64_t late_ns)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, pps);
	struct lull_sim_config config = stand_config("objective", &arrival);
	struct lull_idle_limits *limits = &config.policy[LULL_SIM_SIDE_RECEIVE].limits;

	limits->latency_ns = OBJECTIVE_NS;
	limits->idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |
			      LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP) |
			      LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	config.machine.interrupt = (struct lull_sim_curve){ 1, { { 0, late_ns } } };
	config.ring_pkts = 4096;
	return config;
}

/* Packets that waited longer than the objective allows. */
static uint64_t
late_pkts(const struct lull_sim_result *result)
{
	uint64_t late = 0;

	for (uint32_t i = lull_histogram_bin(OBJECTIVE_NS) + 1; i < LULL_HISTOGRAM_BINS; i++)
		late += result->latency.bins[i];
	return late;
}

static void
print(const char *words, const struct lull_sim_result *result)
{
	print_message(
		"%s: %llu of %llu packets late, p99 %llu ns, upper bound %llu ns, feasible "
		"%llu of %llu looks, CPU %.2f %%\n",
		words, (unsigned long long)late_pkts(result), (unsigned long long)result->delivered,
		(unsigned long long)lull_histogram_quantile(&result->latency, 990000),
		(unsigned long long)lull_histogram_quantile(&result->wait, 990000),
		(unsigned long long)result->samples_feasible, (unsigned long long)result->samples,
		100.0 * (double)result->cpu_ns / (double)result->time_ns);
}

/* ---- seldom packets ---- */

/* Each comes after a silence, in which nobody can measure how late interrupts are. */
TEST(silence__is_not_paid_for_by_each_packet)
{
	struct lull_sim_config config = config_of(0.8, 2 * MS);
	static struct lull_sim_result result;

	config.duration_ns = 100 * LULL_NS_PER_S;
	stand_run(&config, &result);
	print("0.8 pps", &result);
	assert_true(late_pkts(&result) <= 2);
	/* and where nothing comes any more, next to nothing is spent */
	config.arrival.pps = 0.001;
	stand_run(&config, &result);
	print("0.001 pps", &result);
	assert_true(result.cpu_ns * 200 < result.time_ns);
}

/* Bursts of 20 packets 300 us apart, every two seconds. */
TEST(silence__ends_with_the_first_packet_of_a_burst)
{
	struct lull_sim_config config = config_of(1, 2 * MS);
	static struct lull_sim_result result;
	static uint64_t times_ns[50 * 20];
	static uint16_t bytes[50 * 20];

	for (uint32_t i = 0; i < COUNT(times_ns); i++) {
		times_ns[i] = (1 + i / 20) * 2 * LULL_NS_PER_S + i % 20 * 300 * US;
		bytes[i] = 60;
	}
	config.trace = (struct lull_sim_trace){ COUNT(times_ns), times_ns, bytes };
	config.duration_ns = 103 * LULL_NS_PER_S;
	stand_run(&config, &result);
	print("bursts of 20", &result);
	assert_int_equal(result.delivered, COUNT(times_ns));
	/* 1 % are 10; while one is late, those that come meanwhile wait with it */
	assert_true(late_pkts(&result) <= 20);
}

/* ---- machines that change ---- */

static bool
bound_holds(const struct lull_sim_result *result)
{
	static const uint32_t ppms[] = { 500000, 900000, 990000, 999000 };

	for (size_t i = 0; i < COUNT(ppms); i++)
		/* a bin of the histogram is up to 1.6 % wide */
		if ((double)lull_histogram_quantile(&result->latency, ppms[i]) >
		    1.017 * (double)lull_histogram_quantile(&result->wait, ppms[i]))
			return false;
	return true;
}

/* After a minute all is known, and rests by interrupt are what it does. */
static struct lull_sim_config
settled(double pps)
{
	struct lull_sim_config config = config_of(pps, 20 * US);

	config.warmup_ns = 120 * LULL_NS_PER_S;
	config.duration_ns = 60 * LULL_NS_PER_S;
	return config;
}

/*
 * Packets come evenly, so each ends a rest, and none of them tells that the thread was held up
 * after it: stalls that begin when all was learned are seen all the same.
 */
TEST(stalls__that_begin_later_are_seen_inside_rests)
{
	struct lull_sim_config config = settled(200);
	static struct lull_sim_result result;

	stand_run(&config, &result);
	print("without stalls", &result);
	assert_true(result.rest.max > 4 * MS);
	assert_true(result.samples_feasible * 10 > result.samples * 9);
	assert_true(result.cpu_ns * 50 < result.time_ns);

	config.stall_from_ns = config.warmup_ns;
	config.stall_every_ns = 100 * MS;
	config.stall_ns = 5 * MS;
	stand_run(&config, &result);
	print("5 ms each 100 ms", &result);
	assert_true(bound_holds(&result));
	/* 5 % of the packets are late, five times what the objective allows */
	assert_true(late_pkts(&result) * 100 > 3 * result.delivered);
	assert_true(result.samples_feasible * 4 < result.samples);
	assert_true(result.verdict.stall_ns > 2 * MS);
}

/* A core that has rested for a millisecond takes 300 us to wake, by an interrupt or a timer. */
TEST(exit_latency__of_long_rests_is_measured)
{
	static const double rates[] = { 200, 600 };

	for (size_t i = 0; i < COUNT(rates); i++) {
		struct lull_sim_config config = settled(rates[i]);
		static struct lull_sim_result result;

		config.quirks.exit =
			(struct lull_sim_curve){ 2, { { 400 * US, 0 }, { 500 * US, 300 * US } } };
		stand_run(&config, &result);
		print("300 us to wake", &result);
		assert_true(bound_holds(&result));
		assert_true(late_pkts(&result) * 100 <= result.delivered);
		assert_true(result.samples_feasible * 10 > result.samples * 9);
	}
}
