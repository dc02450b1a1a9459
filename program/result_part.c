/* SPDX-License-Identifier: BSD-3-Clause */
#include "resting.h"
#include "result.h"

static void
part_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

void
lull_result_put_table(json_t *object, const struct lull_counter_info *table, const void *counters)
{
	for (; table->name != NULL; table++) {
		const uint64_t *counter = (const void *)((const char *)counters + table->offset);

		part_count(object, table->name, LULL_COUNTER_READ(*counter));
	}
}

json_t *
lull_result_histogram(const struct lull_histogram *histogram)
{
	static const struct {
		const char *key;
		uint32_t ppm;
	} quantiles[] = {
		{ "p50", 500000 },  { "p90", 900000 },  { "p99", 990000 },
		{ "p995", 995000 }, { "p999", 999000 }, { "p9999", 999900 },
	};
	json_t *object = json_object();

	part_count(object, "count", histogram->count);
	json_object_set_new(
		object, "mean",
		lull_result_real(histogram->count > 0 ?
					 (double)histogram->sum / (double)histogram->count :
					 0));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		part_count(object, quantiles[i].key,
			   lull_histogram_quantile(histogram, quantiles[i].ppm));
	part_count(object, "max", histogram->max);
	return object;
}

void
lull_result_put_class(json_t *object, const struct lull_rest_thread_info *info)
{
	json_object_set_new(object, "sched_policy",
			    lull_result_text(lull_resting_policies[info->policy]));
	json_object_set_new(object, "sched_class", lull_result_text(info->class_name));
	part_count(object, "sched_changes", info->changes);
	part_count(object, "sched_forced", info->forced);
	part_count(object, "run_wait_ns", info->run_wait_ns);
}

json_t *
lull_result_settings(const struct lull_program *program, const void *settings)
{
	char text[LULL_OPTION_VALUE_TEXT];
	json_t *object = json_object();

	for (const struct lull_option *option = program->options; option->key != NULL; option++)
		json_object_set_new(
			object, option->key,
			lull_result_text(lull_option_print(option, settings, text, sizeof(text))));
	return object;
}
