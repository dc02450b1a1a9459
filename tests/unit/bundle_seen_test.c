/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "bundle/seen.h"

#define TRIALS 60
#define STEPS 2000

/* All that came, as a list: slow and plain. */
struct model {
	uint64_t numbers[STEPS];
	uint32_t count;
	uint64_t largest;
};

static bool
model_has(const struct model *model, uint64_t psn)
{
	for (uint32_t i = 0; i < model->count; i++)
		if (model->numbers[i] == psn)
			return true;
	return false;
}

static bool
model_is_new(const struct model *model, uint64_t psn)
{
	if (psn == 0 || (psn < model->largest && model->largest - psn > 1023))
		return false;
	return !model_has(model, psn);
}

static void
model_add(struct model *model, uint64_t psn)
{
	model->numbers[model->count++] = psn;
	if (psn > model->largest)
		model->largest = psn;
}

static void
compare_last(const struct model *model, const struct bundle_seen *seen)
{
	uint64_t bits[2];

	bundle_seen_last(seen, bits);
	for (uint64_t i = 0; i < 128; i++) {
		bool came = i < model->largest && model_has(model, model->largest - i);

		assert_int_equal(bits[i / 64] >> i % 64 & 1, came);
	}
}

/* A number as a path would bring it: mostly the next, some late, far ahead, or long gone. */
static uint64_t
next_number(const struct model *model, struct lull_prng *prng, uint32_t trial)
{
	uint64_t kind = lull_prng_below(prng, 100), largest = model->largest;
	uint64_t back = lull_prng_below(prng, kind < 30 ? 8 : 1100);

	if (kind < 50 - trial % 40)
		return largest + 1;
	if (kind < 60)
		return largest + 1 + lull_prng_below(prng, 4);
	if (kind < 62)
		return largest + lull_prng_below(prng, 3000);
	if (kind == 62)
		return lull_prng_below(prng, 2) == 0 ? 0 : largest + (1ULL << 33);
	return largest > back ? largest - back : lull_prng_below(prng, 3);
}

static void
run_trial(uint64_t seed)
{
	static struct model model;
	struct bundle_seen seen = { 0 };
	struct lull_prng prng;
	uint64_t psn = seed % 3 == 0 ? UINT32_MAX - 500 : 0; /* the low half wraps early */

	memset(&model, 0, sizeof(model));
	lull_prng_init(&prng, seed, 0);
	for (uint32_t step = 0; step < STEPS; step++) {
		if (psn == 0 || step > 0)
			psn = next_number(&model, &prng, (uint32_t)seed);
		assert_int_equal(bundle_seen_is_new(&seen, psn), model_is_new(&model, psn));
		if (model_is_new(&model, psn)) {
			bundle_seen_add(&seen, psn);
			model_add(&model, psn);
			assert_false(bundle_seen_is_new(&seen, psn));
		}
		assert_true(seen.largest == model.largest);
		if (step % 8 == 0)
			compare_last(&model, &seen);
	}
}

TEST(seen__equals_a_plain_list_step_by_step)
{
	const char *one = getenv("LULL_SEED");
	uint64_t seed = one != NULL ? strtoull(one, NULL, 0) : 1;

	for (uint64_t last = one != NULL ? seed : TRIALS; seed <= last; seed++) {
		printf("LULL_SEED=%llu\n", (unsigned long long)seed);
		run_trial(seed);
	}
}

TEST(is_new__nothing_has_come_at_first)
{
	struct bundle_seen seen = { 0 };
	uint64_t bits[2] = { 1, 1 };

	assert_false(bundle_seen_is_new(&seen, 0));
	assert_true(bundle_seen_is_new(&seen, 1));
	assert_true(bundle_seen_is_new(&seen, UINT64_MAX));
	bundle_seen_last(&seen, bits);
	assert_true(bits[0] == 0 && bits[1] == 0);
}

TEST(is_new__the_window_has_1024_numbers)
{
	struct bundle_seen seen = { 0 };

	bundle_seen_add(&seen, 5000);
	assert_true(bundle_seen_is_new(&seen, 5000 - 1023));
	assert_false(bundle_seen_is_new(&seen, 5000 - 1024));
	bundle_seen_add(&seen, 5000 - 1023);
	assert_false(bundle_seen_is_new(&seen, 5000 - 1023));
	/* The next one takes the place of the oldest. */
	bundle_seen_add(&seen, 5001);
	assert_false(bundle_seen_is_new(&seen, 5000 - 1023));
	assert_false(bundle_seen_is_new(&seen, 5000));
	assert_true(bundle_seen_is_new(&seen, 4999));
}

TEST(add__jumps_forget_all_before)
{
	static const uint64_t jumps[] = { 1023, 1024, 1025, 4096, 1ULL << 32 };

	for (uint32_t i = 0; i < COUNT(jumps); i++) {
		struct bundle_seen seen = { 0 };
		uint64_t bits[2];

		for (uint64_t psn = 1; psn <= 2000; psn++)
			bundle_seen_add(&seen, psn);
		bundle_seen_add(&seen, 2000 + jumps[i]);
		bundle_seen_last(&seen, bits);
		assert_true(bits[0] == 1 && bits[1] == 0);
		for (uint64_t psn = 2001; psn < 2000 + jumps[i] && psn < 8000; psn++)
			assert_int_equal(bundle_seen_is_new(&seen, psn), seen.largest - psn < 1024);
		assert_false(bundle_seen_is_new(&seen, 2000));
	}
}

TEST(add__ends_at_the_largest_number)
{
	struct bundle_seen seen = { 0 };

	bundle_seen_add(&seen, UINT64_MAX);
	assert_true(seen.largest == UINT64_MAX);
	assert_false(bundle_seen_is_new(&seen, UINT64_MAX));
	assert_true(bundle_seen_is_new(&seen, UINT64_MAX - 1));
	bundle_seen_add(&seen, UINT64_MAX - 1);
}
