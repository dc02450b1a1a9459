/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <inttypes.h>
#include <stdio.h>

#include "source.h"

static struct camera_counters
result_totals(const struct source *source)
{
	const struct lull_counter_info *row;
	struct camera_counters totals = { .packets = 0 };

	for (row = camera_counter_table; row->name != NULL; row++)
		for (uint32_t i = 0; i < source->settings.cameras; i++) {
			const char *from = (const char *)&source->cameras[i].counters;
			uint64_t *sum = (uint64_t *)(void *)((char *)&totals + row->offset);

			*sum += *(const uint64_t *)(const void *)(from + row->offset);
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
	struct camera_counters totals = result_totals(source);
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
result_put_rates(json_t *object, const struct camera_counters *counters, uint64_t begin_ns,
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
result_control(const struct gvcp_server *server)
{
	json_t *object = json_object();

	lull_result_put_count(object, "discoveries", server->discoveries);
	lull_result_put_count(object, "commands", server->commands);
	lull_result_put_count(object, "refusals", server->refusals);
	lull_result_put_count(object, "timeouts", server->timeouts);
	return object;
}

static json_t *
result_camera(const struct source *source, const struct camera *camera)
{
	json_t *object = json_object();

	lull_result_put_table(object, camera_counter_table, &camera->counters);
	lull_result_put_count(object, "sessions", camera->session);
	lull_result_put_count(object, "packets_per_frame", camera->plan.count);
	lull_result_put_count(object, "behind_ns_max", camera->behind_ns_max);
	result_put_rates(object, &camera->counters, camera->start_ns, camera->end_ns);
	if (source->settings.protocol == SOURCE_GVSP)
		json_object_set_new(object, "control",
				    result_control(&source->servers[camera->number]));
	return object;
}

void
source_result(void *state, json_t *result)
{
	const struct source *source = state;
	struct camera_counters totals = result_totals(source);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	json_t *list = json_array();

	lull_result_put_table(result, camera_counter_table, &totals);
	for (uint32_t i = 0; i < source->settings.cameras; i++) {
		const struct camera *camera = &source->cameras[i];

		if (camera->start_ns > 0) {
			begin_ns = LULL_MIN(begin_ns, camera->start_ns);
			end_ns = LULL_MAX(end_ns, camera->end_ns);
		}
		json_array_append_new(list, result_camera(source, camera));
	}
	result_put_rates(result, &totals, begin_ns, end_ns);
	json_object_set_new(result, "cameras", list);
}
