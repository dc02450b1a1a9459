/* SPDX-License-Identifier: BSD-3-Clause */
/* The wheel beside an array that is looked through from end to end. */
#include "case.h"
#include "flow/wheel.h"

#include <stdio.h>
#include <string.h>

#include "base/prng.h"

#define NODES 200
#define STRIDE 48 /* nodes are the first bytes of something larger */
#define LIST LULL_WHEEL_OWN
#define SEED 3
#define STEPS 20000

struct stand {
	struct lull_wheel wheel;
	_Alignas(8) uint8_t nodes[NODES * STRIDE];
	uint64_t deadline_ns[NODES]; /* UINT64_MAX: it has none */
	struct lull_prng prng;
};
static struct stand stand;

static void
stand_start(void)
{
	memset(&stand, 0, sizeof(stand));
	lull_wheel_init(&stand.wheel, stand.nodes, STRIDE);
	for (uint32_t i = 0; i < NODES; i++) {
		stand.deadline_ns[i] = UINT64_MAX;
		lull_wheel_node(&stand.wheel, i)->list = LULL_WHEEL_NONE;
		lull_wheel_put(&stand.wheel, i, LIST);
	}
}

static void
stand_arm(uint32_t index, uint64_t deadline_ns)
{
	lull_wheel_arm(&stand.wheel, index, deadline_ns);
	stand.deadline_ns[index] = deadline_ns;
}

static void
stand_put(uint32_t index)
{
	lull_wheel_put(&stand.wheel, index, LIST);
	stand.deadline_ns[index] = UINT64_MAX;
}

static uint64_t
stand_first_ns(void)
{
	uint64_t first_ns = UINT64_MAX;

	for (uint32_t i = 0; i < NODES; i++)
		first_ns = LULL_MIN(first_ns, stand.deadline_ns[i]);
	return first_ns;
}

static uint32_t
due(uint64_t clock_ns)
{
	uint32_t steps = UINT32_MAX;

	return lull_wheel_due(&stand.wheel, clock_ns, &steps);
}

/* All that are due by then, and no other. */
static void
stand_take_due(uint64_t clock_ns)
{
	uint32_t index;

	while ((index = due(clock_ns)) != LULL_WHEEL_NONE) {
		assert_in_range(index, 0, NODES - 1);
		assert_true(stand.deadline_ns[index] <= clock_ns);
		stand_put(index);
	}
	assert_true(stand_first_ns() > clock_ns);
	assert_true(lull_wheel_floor_ns(&stand.wheel) <= stand_first_ns());
}

TEST(wheel_due__is_exact_to_the_nanosecond)
{
	static const uint64_t deadlines_ns[] = { 1,    63,   64,         65,
						 4095, 4096, 1ULL << 40, (1ULL << 62) + 1 };

	for (uint32_t i = 0; i < sizeof(deadlines_ns) / sizeof(deadlines_ns[0]); i++) {
		stand_start();
		stand_arm(i, deadlines_ns[i]);
		assert_int_equal(due(deadlines_ns[i] - 1), LULL_WHEEL_NONE);
		assert_int_equal(due(deadlines_ns[i]), i);
		assert_int_equal(due(deadlines_ns[i]), i); /* still in its list */
		stand_put(i);
		assert_int_equal(due(UINT64_MAX), LULL_WHEEL_NONE);
	}
}

TEST(wheel_arm__takes_a_past_deadline_as_due)
{
	stand_start();
	assert_int_equal(due(1000), LULL_WHEEL_NONE);
	stand_arm(5, 10);
	assert_int_equal(due(1000), 5);
}

TEST(wheel_due__stops_when_steps_are_used_up)
{
	uint32_t steps, taken = 0;

	stand_start();
	for (uint32_t i = 0; i < 100; i++)
		stand_arm(i, (1ULL << 36) + i * 1000);
	/* One step at a time; every entry falls at most once per level. */
	for (uint32_t round = 0; taken < 100; round++) {
		uint32_t index;

		assert_true(round < 100 * (LULL_WHEEL_LEVELS + 2));
		steps = 1;
		index = lull_wheel_due(&stand.wheel, UINT64_MAX >> 1, &steps);
		if (index == LULL_WHEEL_NONE)
			continue;
		stand_put(index);
		taken++;
	}
	steps = 0;
	stand_arm(3, 0);
	assert_int_equal(lull_wheel_due(&stand.wheel, UINT64_MAX >> 1, &steps), LULL_WHEEL_NONE);
}

TEST(wheel_oldest__is_none_without_deadlines)
{
	stand_start();
	assert_int_equal(lull_wheel_oldest(&stand.wheel), LULL_WHEEL_NONE);
	assert_true(lull_wheel_floor_ns(&stand.wheel) == UINT64_MAX);
	stand_arm(7, 1000000);
	stand_arm(8, 5000000000);
	assert_int_equal(lull_wheel_oldest(&stand.wheel), 7);
	lull_wheel_take(&stand.wheel, 7);
	assert_int_equal(lull_wheel_oldest(&stand.wheel), 8);
}

TEST(wheel__agrees_with_an_array)
{
	uint64_t clock_ns = 0;

	printf("seed %d\n", SEED);
	stand_start();
	lull_prng_init(&stand.prng, SEED, 0);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t index = (uint32_t)lull_prng_below(&stand.prng, NODES);
		/* near and far alike */
		uint64_t ahead_ns =
			lull_prng_below(&stand.prng, 1ULL << lull_prng_below(&stand.prng, 46));

		if (step % 7 == 6)
			stand_put(index);
		else
			stand_arm(index, clock_ns + ahead_ns);
		if (step % 5 != 4)
			continue;
		clock_ns += lull_prng_below(&stand.prng, 1ULL << lull_prng_below(&stand.prng, 44));
		stand_take_due(clock_ns);
	}
	stand_take_due(UINT64_MAX - 1);
	assert_int_equal(lull_wheel_oldest(&stand.wheel), LULL_WHEEL_NONE);
}
