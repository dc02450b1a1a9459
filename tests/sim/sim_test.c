/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole runs against what can be reckoned by hand. */
#include <stdlib.h>

#include <errno.h>

#include "case.h"
#include "base/prng.h"
#include "stand.h"
#include "traffic/arrival.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* Packets of an arrival process up to a time. */
static uint64_t
arrivals(const struct lull_sim_config *config, uint64_t end_ns)
{
	struct lull_arrival *arrival = calloc(1, lull_arrival_size());
	struct lull_arrival_config copy = config->arrival;
	uint64_t count = 0;

	assert_non_null(arrival);
	copy.seed = config->seed;
	lull_arrival_init(arrival, &copy, 0);
	for (; lull_arrival_next_ns(arrival) <= end_ns; count++)
		lull_arrival_take(arrival);
	free(arrival);
	return count;
}

/* guest: a look every 60 + 40 ns, a burst of one takes 150. */
TEST(run__spin_at_a_low_rate_is_exact)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, 10007);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim_result result;

	config.duration_ns = 200 * MS;
	stand_run(&config, &result);
	assert_in_range(result.delivered, 2000, 2002);
	assert_int_equal(result.delivered, result.offered);
	assert_int_equal(result.lost, 0);
	assert_int_equal(result.cpu_ns, result.time_ns);
	assert_int_equal(result.active_ns, result.time_ns);
	assert_int_equal(result.rest.count, 0);
	assert_int_equal(lull_sim_wakes(&result), 0);
	assert_int_equal(result.bytes, 60 * result.delivered);
	assert_int_equal(result.latency.count, result.delivered);
	for (uint32_t bin = 0; bin < lull_histogram_bin(150); bin++)
		assert_int_equal(result.latency.bins[bin], 0);
	assert_true(result.latency.max <= 150 + 100);
	/* somewhere between two looks, all alike */
	stand_about((double)result.latency.sum / (double)result.latency.count, 200, 0.02, "mean");
}

TEST(run__time_and_cpu_add_up)
{
	static const double rates[] = { 1e3, 1e5, 3e6 };

	for (size_t i = 0; i < COUNT(rates); i++) {
		struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, rates[i]);
		struct lull_sim_config config = stand_config("fixed", &arrival);
		struct lull_sim_result result;
		const struct lull_idle_counters *counters = &result.counters;
		uint64_t most_ns = 60 + 960; /* an iteration may be open at either end */
		uint64_t slept = 0;

		config.warmup_ns = 10 * MS;
		config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 20 * US;
		stand_run(&config, &result);
		assert_true(counters->rests[LULL_IDLE_SLEEP] > 100);
		assert_int_equal(result.rest.count, counters->rests[LULL_IDLE_SLEEP]);
		assert_int_equal(lull_sim_wakes(&result), counters->rests[LULL_IDLE_SLEEP]);
		assert_in_range(counters->busy_ns + counters->empty_ns + counters->rest_ns,
				result.time_ns - most_ns, result.time_ns + most_ns);
		assert_in_range(counters->busy_ns + counters->empty_ns +
					counters->rests[LULL_IDLE_SLEEP] * config.machine.rest_ns,
				result.cpu_ns - most_ns, result.cpu_ns + most_ns);
		for (uint32_t s = 0; s < LULL_SIM_CSTATES_MAX; s++)
			slept += result.cstate_ns[s];
		assert_int_equal(result.active_ns + slept, result.time_ns);
		assert_int_equal(result.active_ns, result.cpu_ns);
	}
}

/* Each governor on each traffic: nothing is lost or made out of sight, counted apart. */
TEST(run__conserves_packets)
{
	for (uint32_t g = 0; lull_idle_governors[g] != NULL; g++)
		for (int kind = LULL_ARRIVAL_OFF; kind <= LULL_ARRIVAL_INCAST; kind++) {
			const char *name = lull_idle_governor_name(lull_idle_governors[g]);
			struct lull_arrival_config arrival =
				stand_arrival((enum lull_arrival_kind)kind, 4e5);
			struct lull_sim_config config = stand_config(name, &arrival);
			struct lull_sim_result result;
			uint64_t kept;

			config.seed = 100 + g;
			config.duration_ns = 20 * MS;
			config.ring_pkts = 256;
			config.held_pkts = 32;
			stand_run(&config, &result);
			kept = result.offered - result.delivered - result.lost;
			if (result.delivered + result.lost > result.offered || kept > 256 - 32 ||
			    result.offered > arrivals(&config, config.duration_ns + 10 * US) ||
			    result.offered < arrivals(&config, config.duration_ns - 2 * MS))
				fail_msg("%s, traffic %d, seed %llu: %llu offered, %llu delivered, "
					 "%llu lost",
					 name, kind, (unsigned long long)config.seed,
					 (unsigned long long)result.offered,
					 (unsigned long long)result.delivered,
					 (unsigned long long)result.lost);
			assert_int_equal(result.latency.count, result.delivered);
			assert_int_equal(result.added.count, result.delivered);
			assert_true(result.added.sum <= result.latency.sum);
		}
}

/*
 * One packet per look, looks 100 ns after an empty one and 210 after one that found something: a
 * queue with constant service whose server takes constant vacations. Pollaczek and Khinchine, and
 * half an empty look beside it; then the 150 ns of the burst itself.
 */
TEST(run__spin_waits_as_theory_says)
{
	static const double loads[] = { 0.5, 0.7 };
	const double service_ns = 210, vacation_ns = 100;

	for (size_t i = 0; i < COUNT(loads); i++) {
		double pps = loads[i] / service_ns * 1e9;
		double wait_ns = loads[i] * service_ns / (2 * (1 - loads[i])) + vacation_ns / 2;
		struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, pps);
		struct lull_sim_config config = stand_config("spin", &arrival);
		struct lull_sim_result result;

		config.burst_pkts = 1;
		config.ring_pkts = 65536;
		config.seed = 4;
		config.duration_ns = 200 * MS;
		stand_run(&config, &result);
		assert_int_equal(result.lost, 0);
		stand_about((double)result.latency.sum / (double)result.latency.count - 150,
			    wait_ns, 0.03, "mean wait, seed 4");
		stand_about((double)result.counters.busy_ns / (double)result.time_ns, loads[i],
			    0.01, "load, seed 4");
	}
}

/* A packet per us, rests of 500 us that end in time, room for 256: the rest is lost each time. */
TEST(run__ring_overflows_by_what_does_not_fit)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, 1e6);
	struct lull_sim_config config = stand_config("fixed", &arrival);
	struct lull_sim_result result;
	double missed, per_rest;

	config.machine = stand_machine();
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 500 * US;
	config.ring_pkts = 288;
	config.held_pkts = 32;
	config.duration_ns = 500 * MS;
	stand_run(&config, &result);
	assert_true(result.rest.count > 900);
	/* from the empty look to the first look after the rest: burst 0, the rest, an iteration */
	per_rest = (100 + 500000 + 100) / 1000.0 - 256;
	missed = (double)result.lost / (double)result.rest.count;
	if (missed < per_rest - 1 || missed > per_rest + 1)
		fail_msg("%f lost per rest, expected %f", missed, per_rest);
	assert_int_equal(result.counters.rest_ns, result.counters.rest_requested_ns);
	/* told to the governor every 10 ms */
	assert_in_range(result.counters.misses + result.counters.misses_other,
			result.lost - 21 * 245, result.lost);
	assert_int_equal(result.counters.misses_other, 0);
}

static bool
stop_sim(void *arg, uint64_t done_ns, uint64_t total_ns)
{
	uint32_t *calls = arg;

	assert_true(done_ns <= total_ns);
	return ++*calls < 3;
}

TEST(run__ends_when_progress_says_so)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e5);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim *sim;
	uint32_t calls = 0;

	/* a day of virtual time, and yet the question comes soon */
	config.duration_ns = 86400 * LULL_NS_PER_S;
	assert_int_equal(lull_sim_create(&config, &sim), 0);
	assert_int_equal(lull_sim_run(sim, stop_sim, &calls), -EINTR);
	assert_int_equal(calls, 3);
	assert_true(lull_sim_pkts(sim) < 1000000);
	lull_sim_free(sim);
}

/* Several rings and threads: packets spread evenly, none lost between them. */
TEST(run__spreads_over_queues_and_threads)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 2e6);
	struct lull_sim_config config = stand_config("fixed", &arrival);
	struct lull_sim_result result;
	uint64_t sent;

	config.queue_count = 4;
	config.thread_count = 3;
	config.core_count = 3;
	config.seed = 9;
	stand_run(&config, &result);
	sent = arrivals(&config, config.duration_ns);
	assert_int_equal(result.thread_count, 3);
	assert_int_equal(result.lost, 0);
	assert_in_range(result.offered, sent - 300, sent + 20);
	assert_in_range(result.delivered, result.offered - 300, result.offered);
	assert_in_range(result.time_ns, 3 * config.duration_ns - MS, 3 * config.duration_ns + MS);
}

/* ---- producer -> public ring -> sender -> link -> receiver ---- */

static struct lull_sim_config
relay(const char *governor, double pps)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, pps);
	struct lull_sim_config config;

	arrival.size_bytes[0] = 508;
	config = stand_config(governor, &arrival);
	config.path = LULL_SIM_SEND_RECEIVE;
	config.link_bps = 1000000000;
	config.warmup_ns = 20 * MS;
	config.duration_ns = 80 * MS;
	for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++)
		config.policy[side].limits.rest_ns = 30 * US;
	return config;
}

/* The producer could do ten times what the link takes: that sets the speed, the sender polls. */
TEST(relay__fast_producer_fills_the_link)
{
	struct lull_sim_result *sides = calloc(LULL_SIM_SIDE_COUNT, sizeof(*sides));
	const struct lull_sim_result *receive = &sides[LULL_SIM_SIDE_RECEIVE];
	const struct lull_sim_result *send = &sides[LULL_SIM_SIDE_SEND];
	static const char *const governors[] = { "spin", "fixed" };
	const double line_pps = 1e9 / ((508 + 24) * 8);

	assert_non_null(sides);
	for (size_t i = 0; i < COUNT(governors); i++) {
		struct lull_sim_config config = relay(governors[i], 10 * line_pps);

		stand_run_sides(&config, sides);
		stand_about((double)receive->delivered * 1e9 / (double)receive->time_ns, line_pps,
			    0.005, "speed");
		stand_about((double)send->delivered * 1e9 / (double)send->time_ns, line_pps, 0.005,
			    "speed of the sender");
		assert_int_equal(send->lost, 0);
		assert_int_equal(receive->lost, 0);
		assert_int_equal(send->rest.count, 0);
		assert_true(i == 0 || receive->rest.count > 1000);
	}
	free(sides);
}

/* Slower than the link: the sender finds its ring empty now and then, and only then rests. */
TEST(relay__slow_producer_lets_both_rest)
{
	struct lull_sim_result *sides = calloc(LULL_SIM_SIDE_COUNT, sizeof(*sides));
	const struct lull_sim_result *receive = &sides[LULL_SIM_SIDE_RECEIVE];
	const struct lull_sim_result *send = &sides[LULL_SIM_SIDE_SEND];
	struct lull_sim_config config = relay("fixed", 1e5);

	assert_non_null(sides);
	stand_run_sides(&config, sides);
	assert_int_equal(send->lost, 0);
	assert_int_equal(receive->lost, 0);
	assert_true(send->rest.count > 1000 && receive->rest.count > 1000);
	assert_int_equal(send->rest.count, send->counters.iterations_empty);
	stand_about((double)receive->delivered, 1e5 * 0.08, 0.01, "delivered");
	stand_about((double)send->delivered, 1e5 * 0.08, 0.01, "sent");
	assert_int_equal(receive->bytes, receive->delivered * 508);
	free(sides);
}

/* A public ring of eight and a sender that rests for long: the producer waits, nothing is lost. */
TEST(relay__loses_nothing_before_the_link)
{
	struct lull_sim_result *sides = calloc(LULL_SIM_SIDE_COUNT, sizeof(*sides));
	const struct lull_sim_result *send = &sides[LULL_SIM_SIDE_SEND];

	assert_non_null(sides);
	for (uint32_t g = 0; lull_idle_governors[g] != NULL; g++) {
		struct lull_sim_config config =
			relay(lull_idle_governor_name(lull_idle_governors[g]), 2e5);

		config.public_pkts = 8;
		stand_run_sides(&config, sides);
		assert_int_equal(send->lost, 0);
		assert_in_range(send->offered, send->delivered - 8, send->delivered + 8);
		assert_in_range(sides[LULL_SIM_SIDE_RECEIVE].offered +
					1100, /* under way, at either end */
				send->delivered, send->delivered + 2200);
	}
	free(sides);
}
