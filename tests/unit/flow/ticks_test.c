/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "flow/ticks.h"

#define BEGIN_NS (5 * LULL_NS_PER_S)
#define BEGIN_TICKS UINT64_C(0xfffffffffffff000) /* it comes round soon */

static struct lull_ticks ticks;

/* A device of @p hz, a bit off. */
static uint64_t
device_at(uint64_t clock_ns, double hz)
{
	return BEGIN_TICKS + (uint64_t)((double)(clock_ns - BEGIN_NS) * hz / 1e9);
}

static void
about(int64_t age_ns, int64_t expected_ns, int64_t off_ns)
{
	if (age_ns < expected_ns - off_ns || age_ns > expected_ns + off_ns)
		fail_msg("%lld is not %lld", (long long)age_ns, (long long)expected_ns);
}

TEST(age__of_any_unit)
{
	static const double rates[] = { 1e9, 1e9 * 1.0001, 156.25e6, 78.125e6, 33e6 };

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t now_ns = BEGIN_NS + 30 * LULL_NS_PER_MS;
		int64_t age_ns;

		ticks = (struct lull_ticks){ .begun = false };
		lull_ticks_look(&ticks, device_at(BEGIN_NS, rates[i]), BEGIN_NS);
		assert_false(lull_ticks_age(&ticks, BEGIN_TICKS, BEGIN_NS, &age_ns));
		/* Too near. */
		lull_ticks_look(&ticks, BEGIN_TICKS + 1, BEGIN_NS + LULL_TICKS_APART_NS - 1);
		assert_false(lull_ticks_age(&ticks, BEGIN_TICKS, BEGIN_NS, &age_ns));
		lull_ticks_look(&ticks, device_at(BEGIN_NS + LULL_TICKS_APART_NS, rates[i]),
				BEGIN_NS + LULL_TICKS_APART_NS);
		assert_true(lull_ticks_age(&ticks, device_at(now_ns - 7000, rates[i]), now_ns,
					   &age_ns));
		about(age_ns, 7000, 200);
		assert_true(lull_ticks_age(&ticks, device_at(now_ns + 5000, rates[i]), now_ns,
					   &age_ns));
		about(age_ns, -5000, 200);
		/* From before it was known. */
		assert_true(lull_ticks_age(&ticks, device_at(BEGIN_NS, rates[i]), now_ns, &age_ns));
		about(age_ns, 30000000, 200);
	}
}

/* A rate that changes is followed from look to look, with no error that adds up. */
TEST(age__drift_is_measured_anew)
{
	double device = 0, rate = 1.0;
	uint64_t clock_ns = BEGIN_NS;
	int64_t age_ns;

	ticks = (struct lull_ticks){ .begun = false };
	for (uint32_t i = 0; i < 1000; i++) {
		lull_ticks_look(&ticks, (uint64_t)device, clock_ns);
		rate += i % 20 < 10 ? 1e-6 : -1e-6;
		clock_ns += 100 * LULL_NS_PER_MS;
		device += 1e8 * rate;
		if (i < 2)
			continue;
		assert_true(lull_ticks_age(&ticks, (uint64_t)device, clock_ns, &age_ns));
		about(age_ns, 0, 200);
	}
}

TEST(age__what_fits_no_clock)
{
	int64_t age_ns;

	ticks = (struct lull_ticks){ .begun = false };
	lull_ticks_look(&ticks, 0, BEGIN_NS);
	lull_ticks_look(&ticks, LULL_NS_PER_S, BEGIN_NS + LULL_NS_PER_S);
	assert_false(lull_ticks_age(&ticks, 0, BEGIN_NS + LULL_TICKS_AGE_MAX_NS + 10, &age_ns));
	assert_true(lull_ticks_age(&ticks, 100, BEGIN_NS + LULL_TICKS_AGE_MAX_NS, &age_ns));
	assert_false(lull_ticks_age(&ticks, LULL_NS_PER_S + LULL_TICKS_AHEAD_MAX_NS + 10,
				    BEGIN_NS + LULL_NS_PER_S, &age_ns));
	assert_false(lull_ticks_age(&ticks, UINT64_C(1) << 62, BEGIN_NS + LULL_NS_PER_S, &age_ns));
	/* It began anew: nothing is known until the next look. */
	lull_ticks_look(&ticks, 5, BEGIN_NS + 2 * LULL_NS_PER_S);
	assert_false(lull_ticks_age(&ticks, 5, BEGIN_NS + 2 * LULL_NS_PER_S, &age_ns));
	lull_ticks_look(&ticks, 5 + LULL_NS_PER_S, BEGIN_NS + 3 * LULL_NS_PER_S);
	assert_true(lull_ticks_age(&ticks, 5, BEGIN_NS + 3 * LULL_NS_PER_S, &age_ns));
	about(age_ns, (int64_t)LULL_NS_PER_S, 1);
}

/* The time of day is set back by 10 s: times stand still until it is there again, in order. */
TEST(tell__in_the_order_of_the_card)
{
	uint64_t before_ns = 0;

	ticks = (struct lull_ticks){ .begun = false };
	lull_ticks_look(&ticks, 0, BEGIN_NS);
	lull_ticks_look(&ticks, LULL_NS_PER_S, BEGIN_NS + LULL_NS_PER_S);
	for (uint64_t second = 1; second < 40; second++) {
		uint64_t day_ns =
			(1000 + second - (second >= 5 && second < 30 ? 10 : 0)) * LULL_NS_PER_S;
		uint64_t told_ns = lull_ticks_tell(&ticks, second * LULL_NS_PER_S, day_ns);

		assert_true(told_ns >= before_ns);
		if (second < 5 || second >= 15)
			assert_int_equal(told_ns, day_ns);
		/* Another queue's, older: as it is, but not behind the latest one. */
		assert_int_equal(lull_ticks_tell(&ticks, second * LULL_NS_PER_S - 5, day_ns - 5),
				 LULL_MIN(day_ns - 5, told_ns));
		before_ns = told_ns;
	}
}
