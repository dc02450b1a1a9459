/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <inttypes.h>
#include <stdio.h>

#include "source.h"

static struct lull_emulator_counters
result_totals(const struct source *source)
{
	struct lull_emulator_counters totals = { .packets = 0 };

	for (uint32_t i = 0; i < source->settings.emulator.cameras; i++) {
		struct lull_emulator_info info = lull_emulator_info(source->emulator, i);
		const struct lull_counter_info *row;

		for (row = lull_emulator_counter_table; row->name != NULL; row++) {
			const char *from = (const char *)&info.counters + row->offset;
			char *sum = (char *)&totals + row->offset;

			*(uint64_t *)(void *)sum += *(const uint64_t *)(const void *)from;
		}
	}
	return totals;
}

static double
result_rate(uint64_t count, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ? (double)count * 1e9 / (double)(end_ns - begin_ns) : 0;
}

void
source_progress_print(struct source *source, uint64_t now_ns)
{
	struct lull_emulator_counters totals = result_totals(source);
	struct source_progress *shown = &source->shown;

	fprintf(stderr, "%6.1f s  %.1f frames/s  %.0f packets/s  %.1f MB/s  faults %" PRIu64 "\n",
		(double)(now_ns - source->run.begin_ns) / 1e9,
		result_rate(totals.frames - shown->frames, shown->now_ns, now_ns),
		result_rate(totals.packets - shown->packets, shown->now_ns, now_ns),
		result_rate(totals.bytes - shown->bytes, shown->now_ns, now_ns) / 1e6,
		totals.lost + totals.duplicated + totals.reordered + totals.late + totals.refused);
	*shown = (struct source_progress){ now_ns, totals.frames, totals.packets, totals.bytes };
}

static void
result_put_rates(json_t *object, const struct lull_emulator_counters *counters, uint64_t begin_ns,
		 uint64_t end_ns)
{
	/* n frames have n - 1 pauses between them, but the last packets take time as well */
	json_object_set_new(
		object, "sending_s",
		lull_result_real(end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0));
	lull_result_put_real(object, "frames_per_s",
			     result_rate(counters->frames, begin_ns, end_ns));
	lull_result_put_real(object, "packets_per_s",
			     result_rate(counters->packets, begin_ns, end_ns));
	lull_result_put_real(object, "bytes_per_s", result_rate(counters->bytes, begin_ns, end_ns));
}

static json_t *
result_control(const struct lull_emulator_info *info)
{
	json_t *object = json_object();

	lull_result_put_count(object, "discoveries", info->discoveries);
	lull_result_put_count(object, "commands", info->commands);
	lull_result_put_count(object, "refusals", info->refusals);
	lull_result_put_count(object, "timeouts", info->timeouts);
	return object;
}

static json_t *
result_camera(const struct lull_emulator_info *info)
{
	json_t *object = json_object();

	lull_result_put_table(object, lull_emulator_counter_table, &info->counters);
	lull_result_put_count(object, "sessions", info->sessions);
	lull_result_put_count(object, "packets_per_frame", info->packets_per_frame);
	lull_result_put_count(object, "behind_ns_max", info->behind_ns_max);
	result_put_rates(object, &info->counters, info->start_ns, info->end_ns);
	if (info->control)
		json_object_set_new(object, "control", result_control(info));
	return object;
}

void
source_result(void *state, json_t *result)
{
	const struct source *source = state;
	struct lull_emulator_counters totals = result_totals(source);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	json_t *list = json_array();

	lull_result_put_table(result, lull_emulator_counter_table, &totals);
	for (uint32_t i = 0; i < source->settings.emulator.cameras; i++) {
		struct lull_emulator_info info = lull_emulator_info(source->emulator, i);

		if (info.start_ns > 0) {
			begin_ns = LULL_MIN(begin_ns, info.start_ns);
			end_ns = LULL_MAX(end_ns, info.end_ns);
		}
		json_array_append_new(list, result_camera(&info));
	}
	result_put_rates(result, &totals, begin_ns, end_ns);
	json_object_set_new(result, "cameras", list);
}
