/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <lull/base.h>

#include "case.h"
#include "base/prng.h"
#include "idle/sample_window.h"

#define SPAN_NS 10000
#define SEED 20260801

/* Everything ever added, for the naive way. */
struct history {
	uint32_t count;
	uint64_t times_ns[20000];
	uint64_t values[20000];
};
static struct history history;

/* Two passes over what lies in the window. */
static void
history_check(const struct lull_sample_window *window)
{
	uint64_t now_ns = history.times_ns[history.count - 1];
	double mean = 0.0, variance = 0.0;
	uint32_t first = history.count, i;

	while (first > 0 && history.count - first < LULL_SAMPLE_COUNT_MAX &&
	       history.times_ns[first - 1] + SPAN_NS >= now_ns)
		first--;
	assert_int_equal(window->count, history.count - first);
	for (i = first; i < history.count; i++)
		mean += (double)history.values[i] / window->count;
	for (i = first; i < history.count; i++)
		variance += ((double)history.values[i] - mean) *
			    ((double)history.values[i] - mean) / window->count;
	assert_true(lull_sample_window_mean(window) >= mean * (1 - 1e-9));
	assert_true(lull_sample_window_mean(window) <= mean * (1 + 1e-9));
	assert_true(lull_sample_window_variance(window) >= variance * (1 - 1e-6) - 1e-6);
	assert_true(lull_sample_window_variance(window) <= variance * (1 + 1e-6) + 1e-6);
}

TEST(sample_window_add__agrees_with_two_passes)
{
	static struct lull_sample_window window;
	uint64_t now_ns = 5, value;
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	lull_sample_window_init(&window, SPAN_NS);
	history.count = 0;
	for (uint32_t i = 0; i < COUNT(history.values); i++) {
		/* sparse, usual and more than there is room for, in turns */
		now_ns += lull_prng_u64(&prng) % (i / 1000 % 3 == 0 ? 3000 :
						  i / 1000 % 3 == 1 ? 100 :
								      10);
		value = lull_prng_u64(&prng) % (LULL_SAMPLE_MAX + 1ULL);
		lull_sample_window_add(&window, now_ns, value);
		history.times_ns[history.count] = now_ns;
		history.values[history.count++] = value;
		history_check(&window);
	}
}

TEST(sample_window_variance__equal_samples_have_none)
{
	static struct lull_sample_window window;

	lull_sample_window_init(&window, SPAN_NS);
	assert_true(lull_sample_window_mean(&window) <= 0.0);
	for (uint32_t i = 0; i < 2000; i++) {
		lull_sample_window_add(&window, i, LULL_SAMPLE_MAX - 3);
		assert_true(lull_sample_window_variance(&window) <= 0.0);
		assert_true(lull_sample_window_mean(&window) >= LULL_SAMPLE_MAX - 3);
	}
	lull_sample_window_add(&window, 2000, LULL_SAMPLE_MAX);
	assert_true(lull_sample_window_variance(&window) > 0.0);
}

/* The largest samples and the widest spread there can be: no sum runs over. */
TEST(sample_window_variance__holds_the_extremes)
{
	static struct lull_sample_window window;
	double half = LULL_SAMPLE_MAX / 2.0;

	lull_sample_window_init(&window, SPAN_NS);
	for (uint32_t i = 0; i < LULL_SAMPLE_COUNT_MAX; i++)
		lull_sample_window_add(&window, i, UINT64_MAX);
	assert_true(lull_sample_window_mean(&window) >= LULL_SAMPLE_MAX);
	assert_true(lull_sample_window_variance(&window) <= 0.0);
	for (uint32_t i = 0; i < LULL_SAMPLE_COUNT_MAX; i++)
		lull_sample_window_add(&window, 600 + i, i % 2 == 0 ? 0 : UINT64_MAX);
	assert_true(lull_sample_window_variance(&window) > half * half * 0.999999);
	assert_true(lull_sample_window_variance(&window) < half * half * 1.000001);
}

TEST(sample_window_add__old_samples_leave)
{
	static struct lull_sample_window window;

	lull_sample_window_init(&window, SPAN_NS);
	lull_sample_window_add(&window, 1000, 7);
	lull_sample_window_add(&window, 1000 + SPAN_NS, 9);
	assert_int_equal(window.count, 2);
	lull_sample_window_add(&window, 1001 + SPAN_NS, 9);
	assert_int_equal(window.count, 2);
	/* long after: the new one is alone */
	lull_sample_window_add(&window, UINT64_C(1) << 40, 5);
	assert_int_equal(window.count, 1);
	assert_true(lull_sample_window_mean(&window) >= 5.0);
}

/* Whatever lies in its memory. */
TEST(init__begins_with_nothing)
{
	static struct lull_sample_window window;

	memset(&window, 0xa5, sizeof(window));
	lull_sample_window_init(&window, 1000);
	assert_int_equal(window.count, 0);
	assert_true(lull_sample_window_mean(&window) == 0.0);
	assert_true(lull_sample_window_variance(&window) == 0.0);
	for (uint32_t i = 1; i <= 3; i++)
		lull_sample_window_add(&window, i, 2 * i);
	assert_int_equal(window.head, 0);
	assert_true(lull_sample_window_mean(&window) == 4.0);
	assert_true(lull_sample_window_variance(&window) * 3 == 8.0);
	/* at the end of its span a value is in it */
	lull_sample_window_add(&window, 1001, 4);
	assert_int_equal(window.count, 4);
	lull_sample_window_add(&window, 1002, 4);
	assert_int_equal(window.count, 4);
}
