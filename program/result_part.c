/* SPDX-License-Identifier: BSD-3-Clause */
#include "resting.h"
#include "result.h"

void
lull_result_put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

void
lull_result_put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, lull_result_real(value));
}

void
lull_result_put_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, lull_result_text(text));
}

void
lull_result_put_share(json_t *object, const char *key, double part, double whole, double scale)
{
	lull_result_put_real(object, key, whole > 0 ? part / whole * scale : 0);
}

void
lull_result_put_table(json_t *object, const struct lull_counter_info *table, const void *counters)
{
	for (; table->name != NULL; table++) {
		const uint64_t *counter = (const void *)((const char *)counters + table->offset);

		lull_result_put_count(object, table->name, LULL_COUNTER_READ(*counter));
	}
}

static uint64_t
part_min(const struct lull_histogram *histogram)
{
	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++)
		if (histogram->bins[i] != 0)
			return lull_histogram_low(i);
	return 0;
}

static json_t *
part_bins(const struct lull_histogram *histogram)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++) {
		if (histogram->bins[i] == 0)
			continue;
		json_array_append_new(list, lull_result_count(lull_histogram_low(i)));
		json_array_append_new(list, lull_result_count(histogram->bins[i]));
	}
	return list;
}

json_t *
lull_result_histogram(const struct lull_histogram *histogram, bool bins)
{
	static const struct {
		const char *key;
		uint32_t ppm;
	} quantiles[] = {
		{ "p50", 500000 },  { "p90", 900000 },   { "p99", 990000 },    { "p995", 995000 },
		{ "p999", 999000 }, { "p9999", 999900 }, { "p99999", 999990 },
	};
	json_t *object = json_object();

	lull_result_put_count(object, "count", histogram->count);
	lull_result_put_count(object, "min", part_min(histogram));
	lull_result_put_share(object, "mean", (double)histogram->sum, (double)histogram->count, 1);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		lull_result_put_count(object, quantiles[i].key,
				      lull_histogram_quantile(histogram, quantiles[i].ppm));
	lull_result_put_count(object, "max", histogram->max);
	if (bins)
		json_object_set_new(object, "bins", part_bins(histogram));
	return object;
}

void
lull_result_put_class(json_t *object, const struct lull_rest_thread_info *info)
{
	lull_result_put_text(object, "sched_policy", lull_resting_policies[info->policy]);
	lull_result_put_text(object, "sched_class", info->class_name);
	lull_result_put_count(object, "sched_changes", info->changes);
	lull_result_put_count(object, "sched_forced", info->forced);
	lull_result_put_count(object, "run_wait_ns", info->run_wait_ns);
	lull_result_put_count(object, "cpu_latency_ns", info->cpu_latency_ns);
}

json_t *
lull_result_settings(const struct lull_program *program, const void *settings)
{
	char text[LULL_OPTION_VALUE_TEXT];
	json_t *object = json_object();

	for (const struct lull_option *option = program->options; option->key != NULL; option++)
		if (!option->action)
			lull_result_put_text(
				object, option->key,
				lull_option_is_set(option, settings) ?
					lull_option_print(option, settings, text, sizeof(text)) :
					"");
	return object;
}
