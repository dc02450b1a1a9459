/* SPDX-License-Identifier: BSD-3-Clause */

#include <lull/base.h>

#include "case.h"
#include "idle/speed_trial.h"

#define SPAN_NS (10 * LULL_NS_PER_MS)
#define STEP_NS LULL_NS_PER_MS
#define TOLERANCE_PPM 10000

/* Bytes per step as a function of the rest and of time. */
typedef uint64_t speed_law(bool is_short, uint64_t now_ns);

static uint64_t
law_free(bool is_short, uint64_t now_ns)
{
	(void)is_short;
	(void)now_ns;
	return 1000;
}

static uint64_t
law_costs(bool is_short, uint64_t now_ns)
{
	(void)now_ns;
	return is_short ? 1100 : 1000;
}

static uint64_t
law_within_tolerance(bool is_short, uint64_t now_ns)
{
	(void)now_ns;
	return is_short ? 1009 : 1000;
}

/* A load that falls or rises by itself, by 5 % per span. */
static uint64_t
law_falls(bool is_short, uint64_t now_ns)
{
	(void)is_short;
	return 100000000 - now_ns / 2;
}

static uint64_t
law_rises(bool is_short, uint64_t now_ns)
{
	(void)is_short;
	return 10000000 + now_ns / 2;
}

/* Returns how the trial ended and, in @p now_ns, when. */
static enum lull_trial_outcome
trial_run(struct lull_speed_trial *trial, speed_law *law, uint64_t *now_ns)
{
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t bytes = law(lull_speed_trial_is_short(trial), *now_ns);
		enum lull_trial_outcome outcome;

		*now_ns += STEP_NS;
		outcome = lull_speed_trial_add(trial, *now_ns, bytes, TOLERANCE_PPM);
		if (outcome != LULL_TRIAL_OPEN)
			return outcome;
	}
	return LULL_TRIAL_OPEN;
}

TEST(speed_trial_add__tells_cost_from_load)
{
	static speed_law *const laws[] = { law_free, law_within_tolerance, law_falls, law_rises };
	struct lull_speed_trial trial;
	uint64_t now_ns = 0;

	lull_speed_trial_init(&trial);
	assert_true(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
	assert_true(lull_speed_trial_is_short(&trial));
	assert_int_equal(trial_run(&trial, law_costs, &now_ns), LULL_TRIAL_COSTS);
	assert_int_equal(now_ns, 2 * LULL_SPEED_TRIAL_PAIRS * SPAN_NS);
	assert_false(trial.running);
	for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++) {
		now_ns = 0;
		lull_speed_trial_init(&trial);
		assert_true(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
		assert_int_equal(trial_run(&trial, laws[i], &now_ns), LULL_TRIAL_FREE);
		assert_true(now_ns <= 4 * SPAN_NS); /* soon */
	}
}

TEST(speed_trial_begin__waits_longer_after_each_in_vain)
{
	struct lull_speed_trial trial;
	uint64_t now_ns = 0, pause_ns = 500 * LULL_NS_PER_MS;

	lull_speed_trial_init(&trial);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
		assert_false(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
		assert_int_equal(trial_run(&trial, law_free, &now_ns), LULL_TRIAL_FREE);
		assert_false(lull_speed_trial_begin(&trial, now_ns + pause_ns - 1, SPAN_NS));
		now_ns += pause_ns;
		pause_ns = LULL_MIN(2 * pause_ns, 8 * LULL_NS_PER_S);
	}
	/* one that found something: the next may follow at once */
	assert_true(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
	assert_int_equal(trial_run(&trial, law_costs, &now_ns), LULL_TRIAL_COSTS);
	assert_true(lull_speed_trial_begin(&trial, now_ns, SPAN_NS));
	lull_speed_trial_stop(&trial);
	assert_int_equal(lull_speed_trial_add(&trial, now_ns + SPAN_NS, 1, 1), LULL_TRIAL_OPEN);
}

/* Short long, long short: five pairs of them, each span over when it is as long as asked for. */
TEST(speed_trial_add__by_hand)
{
	static const bool is_short[] = { true, false, false, true };
	struct lull_speed_trial trial;
	uint64_t now_ns = 1000;

	lull_speed_trial_init(&trial);
	trial.bytes = 7;
	assert_int_equal(lull_speed_trial_add(&trial, now_ns, 9, 10000), LULL_TRIAL_OPEN);
	assert_true(lull_speed_trial_begin(&trial, now_ns, 100));
	assert_false(lull_speed_trial_begin(&trial, now_ns, 100));
	assert_int_equal(trial.bytes, 0);
	for (uint32_t i = 0; i < 10; i++) {
		/* a hundredth more, and a little, is more than the tolerance */
		uint64_t bytes = is_short[i % 4] ? 10101 : 10000;

		assert_int_equal(lull_speed_trial_is_short(&trial), is_short[i % 4]);
		assert_int_equal(lull_speed_trial_add(&trial, now_ns + 99, bytes - 1, 10000),
				 LULL_TRIAL_OPEN);
		assert_int_equal(trial.spans, i);
		now_ns += 100;
		assert_int_equal(lull_speed_trial_add(&trial, now_ns, 1, 10000),
				 i < 9 ? LULL_TRIAL_OPEN : LULL_TRIAL_COSTS);
	}
	assert_false(trial.running);
	/* one that is no faster ends it at once, and half a second must pass */
	assert_true(lull_speed_trial_begin(&trial, now_ns, 100));
	lull_speed_trial_add(&trial, now_ns + 100, 10100, 10000);
	assert_int_equal(lull_speed_trial_add(&trial, now_ns + 200, 10000, 10000), LULL_TRIAL_FREE);
	assert_false(lull_speed_trial_begin(&trial, now_ns + 200 + 500 * LULL_NS_PER_MS - 1, 100));
	assert_true(lull_speed_trial_begin(&trial, now_ns + 200 + 500 * LULL_NS_PER_MS, 100));
	assert_int_equal(trial.spans, 0);
	assert_int_equal(trial.pause_ns, LULL_NS_PER_S);
	lull_speed_trial_stop(&trial);
	assert_false(trial.running);
}
