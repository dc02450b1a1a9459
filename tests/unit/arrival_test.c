/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "case.h"
#include "base/prng.h"
#include "traffic/arrival.h"

static struct lull_arrival_config
usual(enum lull_arrival_kind kind, double pps)
{
	return (struct lull_arrival_config){
		.kind = kind,
		.pps = pps,
		.on_ns = 5 * LULL_NS_PER_MS,
		.off_ns = 20 * LULL_NS_PER_MS,
		.period_ns = 10 * LULL_NS_PER_S,
		.hurst = 0.8,
		.source_count = 16,
		.sender_count = 32,
		.sender_pkts = 8,
		.jitter_ns = LULL_NS_PER_US,
		.size_count = 1,
		.size_bytes = { 60 },
		.size_weight = { 1 },
		.seed = 1,
	};
}

/* Take everything due up to @p end_ns; returns how much that was. */
static uint64_t
take_until(struct lull_arrival *arrival, uint64_t end_ns)
{
	uint64_t count = 0;
	uint64_t last_ns = 0;

	while (lull_arrival_next_ns(arrival) <= end_ns) {
		assert_true(lull_arrival_next_ns(arrival) >= last_ns);
		last_ns = lull_arrival_next_ns(arrival);
		assert_int_equal(lull_arrival_take(arrival), arrival->config.size_bytes[0]);
		count++;
	}
	return count;
}

static void
assert_near(uint64_t value, double expected, double off)
{
	assert_true(fabs((double)value - expected) <= off);
}

/* ---- even kinds ---- */

TEST(constant__exact_over_ten_seconds)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 300000);
	struct lull_arrival arrival;
	uint64_t start_ns = 123456789;

	lull_arrival_init(&arrival, &config, start_ns);
	assert_int_equal(lull_arrival_next_ns(&arrival), start_ns + 3333);
	assert_near(take_until(&arrival, start_ns + 10 * LULL_NS_PER_S), 3000000, 1);
}

/* A prime rate has a gap no binary number holds: every departure must still be the nearest ns. */
TEST(constant__no_departure_drifts)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 999983);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 0);
	for (uint64_t n = 1; n <= 2000000; n++) {
		uint64_t due_ns = (n * 2 * LULL_NS_PER_S + 999983) / (2 * 999983);

		assert_near(lull_arrival_next_ns(&arrival), (double)due_ns, 1);
		lull_arrival_take(&arrival);
	}
}

/* Where one cycle of the profile goes over into the next nothing is lost or doubled. */
TEST(constant__cycles_join)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 1.5);
	struct lull_arrival arrival;
	uint64_t end_ns = 1000000 * LULL_NS_PER_S;

	lull_arrival_init(&arrival, &config, 0);
	assert_near(take_until(&arrival, end_ns), 1500000, 1);
	assert_near(lull_arrival_next_ns(&arrival), 1e15 + 1e9 / 1.5, 2);
}

TEST(constant__very_slow)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 1e-6);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 7);
	for (uint64_t n = 1; n <= 1000; n++) {
		assert_near(lull_arrival_next_ns(&arrival), (double)n * 1e15, (double)n * 2 + 128);
		lull_arrival_take(&arrival);
	}
}

TEST(constant__clock_at_its_end)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 1);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, UINT64_MAX - 10);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}

TEST(off__never)
{
	struct lull_arrival_config config = { .kind = LULL_ARRIVAL_OFF };
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 5);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}

TEST(onoff__bursts_are_whole_and_silence_is_silent)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_ONOFF, 1e6);
	struct lull_arrival arrival;
	uint64_t cycle_ns = config.on_ns + config.off_ns;

	lull_arrival_init(&arrival, &config, 1000);
	for (uint64_t cycle = 0; cycle < 40; cycle++) {
		uint64_t begin_ns = 1000 + cycle * cycle_ns;

		assert_int_equal(lull_arrival_next_ns(&arrival), begin_ns + 1000);
		assert_int_equal(take_until(&arrival, begin_ns + config.on_ns), 5000);
		assert_int_equal(take_until(&arrival, begin_ns + cycle_ns), 0);
	}
}

/* Less than a packet per burst: bursts add up to packets. */
TEST(onoff__sparse)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_ONOFF, 3);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 0);
	assert_near(take_until(&arrival, 1000 * LULL_NS_PER_S), 600, 1);
	config.on_ns = LULL_NS_PER_US;
	config.off_ns = 3600 * LULL_NS_PER_S;
	config.pps = 1e-6;
	lull_arrival_init(&arrival, &config, 0); /* 10^12 hours away */
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}

TEST(ramp__follows_the_parabola)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_RAMP, 1000);
	struct lull_arrival arrival;

	config.pps_high = 101000;
	lull_arrival_init(&arrival, &config, 0);
	/* After t s: 1000 t + 10000 t^2 / 2. */
	assert_near(take_until(&arrival, 1 * LULL_NS_PER_S), 6000, 1);
	assert_near(take_until(&arrival, 5 * LULL_NS_PER_S), 130000 - 6000, 1);
	assert_near(take_until(&arrival, 10 * LULL_NS_PER_S), 510000 - 130000, 1);
	assert_near(take_until(&arrival, 20 * LULL_NS_PER_S), 1010000, 1);
}

TEST(ramp__down_to_nothing_ends)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_RAMP, 1000);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 0);
	assert_near(take_until(&arrival, 5 * LULL_NS_PER_S), 3750, 1);
	assert_near(take_until(&arrival, 100 * LULL_NS_PER_S), 1250, 1);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}

TEST(ramp__up_from_nothing)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_RAMP, 0);
	struct lull_arrival arrival;

	config.pps_high = 100000;
	lull_arrival_init(&arrival, &config, 0);
	/* n = 5000 t^2 */
	assert_near(lull_arrival_next_ns(&arrival), sqrt(1.0 / 5000) * 1e9, 1);
	assert_near(take_until(&arrival, 10 * LULL_NS_PER_S), 500000, 1);
}

TEST(step__changes_at_the_period)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_STEP, 1000);
	struct lull_arrival arrival;

	config.pps_high = 1e6;
	lull_arrival_init(&arrival, &config, 0);
	assert_near(take_until(&arrival, 10 * LULL_NS_PER_S), 10000, 1);
	assert_near(take_until(&arrival, 12 * LULL_NS_PER_S), 2000000, 1);
	config.pps = 0;
	lull_arrival_init(&arrival, &config, 0);
	assert_int_equal(lull_arrival_next_ns(&arrival), 10 * LULL_NS_PER_S + 1000);
}

/* ---- random kinds ---- */

/* Counts in slices of a Poisson process have the mean as their variance. */
TEST(poisson__mean_and_variance)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_POISSON, 1e6);
	struct lull_arrival arrival;
	double squares = 0;
	uint64_t sum = 0;

	lull_arrival_init(&arrival, &config, 0);
	for (uint64_t slice = 1; slice <= 10000; slice++) {
		uint64_t count = take_until(&arrival, slice * 100 * LULL_NS_PER_US);

		sum += count;
		squares += ((double)count - 100) * ((double)count - 100);
	}
	assert_near(sum, 1e6, 5000);
	assert_true(squares / 10000 > 93 && squares / 10000 < 107);
}

TEST(tidal__swings_as_a_cosine)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_TIDAL, 0);
	struct lull_arrival arrival;
	const double pi = 3.14159265358979323846;

	config.pps_high = 1e6;
	config.period_ns = LULL_NS_PER_S;
	lull_arrival_init(&arrival, &config, 0);
	for (uint32_t tenth = 0; tenth < 20; tenth++) {
		double from = tenth / 10.0, to = (tenth + 1) / 10.0;
		double due = 5e5 * (0.1 - (sin(2 * pi * to) - sin(2 * pi * from)) / (2 * pi));
		uint64_t end_ns = (tenth + 1) * LULL_NS_PER_S / 10;

		assert_near(take_until(&arrival, end_ns), due, 5 * sqrt(due));
	}
}

TEST(tidal__high_to_low_works_too)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_TIDAL, 1e5);
	struct lull_arrival arrival;
	uint64_t first, second;

	config.pps_high = 0;
	lull_arrival_init(&arrival, &config, 0);
	first = take_until(&arrival, 2500 * LULL_NS_PER_MS);
	second = take_until(&arrival, 7500 * LULL_NS_PER_MS);
	assert_near(first + second + take_until(&arrival, 10 * LULL_NS_PER_S), 5e5, 3500);
	assert_true(first > 200000 && second < 100000);
}

/* Far fewer packets than periods: whole periods are passed over, and the mean holds. */
TEST(tidal__sparse)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_TIDAL, 0.05);
	struct lull_arrival arrival;

	config.pps_high = 0.15;
	config.period_ns = LULL_NS_PER_MS;
	lull_arrival_init(&arrival, &config, 0);
	assert_near(take_until(&arrival, 100000 * LULL_NS_PER_S), 10000, 500);
}

/* ---- all kinds ---- */

TEST(take__sizes_follow_their_weights_and_leave_times_alone)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_POISSON, 1e6);
	struct lull_arrival arrival, plain;
	uint32_t small = 0, middle = 0, large = 0;

	lull_arrival_init(&plain, &config, 0);
	config.size_count = 3;
	config.size_bytes[1] = 590;
	config.size_bytes[2] = 1514;
	config.size_weight[0] = 7;
	config.size_weight[1] = 4;
	config.size_weight[2] = 1;
	lull_arrival_init(&arrival, &config, 0);
	for (uint32_t i = 0; i < 120000; i++) {
		uint16_t bytes;

		assert_int_equal(lull_arrival_next_ns(&arrival), lull_arrival_next_ns(&plain));
		lull_arrival_take(&plain);
		bytes = lull_arrival_take(&arrival);
		small += bytes == 60;
		middle += bytes == 590;
		large += bytes == 1514;
	}
	assert_int_equal(small + middle + large, 120000);
	assert_in_range(small, 69000, 71000);
	assert_in_range(middle, 39000, 41000);
	assert_in_range(large, 9500, 10500);
}

/*
 * Departures of a seed are part of the interface: this holds for every
 * compiler, optimisation and machine, or the same seed is not the same run.
 */
TEST(take__same_seed_same_departures_for_ever)
{
	static const uint64_t digests[] = {
		[LULL_ARRIVAL_CONSTANT] = 0xa354056749e91473,
		[LULL_ARRIVAL_POISSON] = 0xded7550ab65c4921,
		[LULL_ARRIVAL_ONOFF] = 0x88e6e45d851b1173,
		[LULL_ARRIVAL_TIDAL] = 0xf918c290c91574c2,
		[LULL_ARRIVAL_RAMP] = 0x4a254c1a1b9dee57,
		[LULL_ARRIVAL_STEP] = 0x67e885b1d1372df2,
		[LULL_ARRIVAL_SELFSIMILAR] = 0x7fe1cd3df0ff5233,
		[LULL_ARRIVAL_INCAST] = 0xcd3b2fe3cfcca180,
	};

	for (enum lull_arrival_kind kind = LULL_ARRIVAL_CONSTANT; kind <= LULL_ARRIVAL_INCAST;
	     kind++) {
		struct lull_arrival_config config = usual(kind, 123457);
		struct lull_arrival arrival;
		uint64_t digest = 0;

		config.pps_high = 765433;
		config.period_ns = 70 * LULL_NS_PER_MS;
		lull_arrival_init(&arrival, &config, 99);
		for (uint32_t i = 0; i < 100000; i++) {
			digest = digest * 31 + lull_arrival_next_ns(&arrival);
			lull_arrival_take(&arrival);
		}
		assert_int_equal(digest, digests[kind]);
	}
}

/* Any configuration that passes its check gives times that never go back, and ends in bounds. */
TEST(take__random_configurations)
{
	struct lull_prng prng;

	lull_prng_init(&prng, 11, 0);
	for (uint32_t round = 0; round < 20000; round++) {
		struct lull_arrival_config config = usual(
			(enum lull_arrival_kind)(1 + lull_prng_below(&prng, LULL_ARRIVAL_INCAST)),
			0);
		struct lull_arrival arrival;
		uint64_t last_ns = lull_prng_u64(&prng) >> lull_prng_below(&prng, 64);

		config.pps = pow(10, (double)lull_prng_below(&prng, 143) / 10 - 6);
		config.pps_high = pow(10, (double)lull_prng_below(&prng, 143) / 10 - 6);
		if (config.kind >= LULL_ARRIVAL_TIDAL && config.kind <= LULL_ARRIVAL_STEP &&
		    round % 3 == 0)
			*(round % 2 != 0 ? &config.pps : &config.pps_high) = 0;
		config.on_ns = (uint64_t)pow(10, 3 + (double)lull_prng_below(&prng, 90) / 10);
		config.off_ns = (uint64_t)pow(10, 3 + (double)lull_prng_below(&prng, 90) / 10);
		config.period_ns = (uint64_t)pow(10, 6 + (double)lull_prng_below(&prng, 70) / 10);
		config.hurst = (double)(501 + lull_prng_below(&prng, 499)) / 1000;
		config.source_count = 1 + (uint32_t)lull_prng_below(&prng, 64);
		config.sender_count = 1 + (uint32_t)lull_prng_below(&prng, 100);
		config.jitter_ns = lull_prng_below(&prng, config.period_ns + 1);
		config.seed = round;
		assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
		lull_arrival_init(&arrival, &config, last_ns);
		for (uint32_t i = 0; i < 100; i++) {
			assert_true(lull_arrival_next_ns(&arrival) >= last_ns);
			last_ns = lull_arrival_next_ns(&arrival);
			if (last_ns == UINT64_MAX)
				break;
			lull_arrival_take(&arrival);
		}
	}
}
