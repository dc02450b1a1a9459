/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample_window.h"

#include <lull/base.h>

__extension__ typedef unsigned __int128 window_wide;

void
lull_sample_window_init(struct lull_sample_window *window, uint64_t span_ns)
{
	window->span_ns = span_ns;
	window->sum = 0;
	window->sum_squares = 0;
	window->head = 0;
	window->count = 0;
}

static void
window_drop(struct lull_sample_window *window)
{
	uint64_t value = window->values[window->head];

	window->sum -= value;
	window->sum_squares -= value * value;
	window->head = (window->head + 1) % LULL_SAMPLE_COUNT_MAX;
	window->count--;
}

void
lull_sample_window_add(struct lull_sample_window *window, uint64_t now_ns, uint64_t value)
{
	uint32_t place;

	while (window->count > 0 && window->times_ns[window->head] + window->span_ns < now_ns)
		window_drop(window);
	if (window->count == LULL_SAMPLE_COUNT_MAX)
		window_drop(window);
	value = LULL_MIN(value, (uint64_t)LULL_SAMPLE_MAX);
	place = (window->head + window->count) % LULL_SAMPLE_COUNT_MAX;
	window->times_ns[place] = now_ns;
	window->values[place] = (uint32_t)value;
	window->sum += value;
	window->sum_squares += value * value;
	window->count++;
}

double
lull_sample_window_mean(const struct lull_sample_window *window)
{
	return window->count == 0 ? 0.0 : (double)window->sum / window->count;
}

double
lull_sample_window_variance(const struct lull_sample_window *window)
{
	return lull_sample_variance(window->count, window->sum, window->sum_squares);
}

double
lull_sample_variance(uint64_t count, uint64_t sum, uint64_t sum_squares)
{
	window_wide scaled = (window_wide)count * sum_squares;
	window_wide square = (window_wide)sum * sum;

	if (count == 0 || scaled <= square) /* less: these were not the sums of any numbers */
		return 0.0;
	scaled -= square;
	return ((double)(uint64_t)(scaled >> 64) * 18446744073709551616.0 +
		(double)(uint64_t)scaled) /
	       ((double)count * (double)count);
}
