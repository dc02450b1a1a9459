/* SPDX-License-Identifier: BSD-3-Clause */
#include "cam.h"
#include "program/result.h"

/* Stolen time beyond this share makes latencies those of the hypervisor. */
#define STEAL_MOST 0.01

#define FINDINGS_MAX 128

static double
result_share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- histograms ---- */

static json_t *
result_figure(struct cam *cam, uint32_t stream, enum lull_camera_figure figure)
{
	static struct lull_histogram histogram; /* 16 KiB; the main thread alone */

	lull_receiver_histogram(cam->receiver, stream, figure, &histogram);
	return lull_result_histogram(&histogram, true);
}

/* ---- streams ---- */

static json_t *
result_reasons(const struct lull_assembler_counters *assembler)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < LULL_FRAME_REASON_COUNT; i++)
		lull_result_put_count(object, lull_frame_reason_name((enum lull_frame_reason)i),
				      assembler->frames[i]);
	return object;
}

static json_t *
result_stream(struct cam *cam, uint32_t index)
{
	const struct cam_spec *spec = &cam->specs[index];
	json_t *object = json_object(), *part = json_object();
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;
	uint64_t partial;

	lull_receiver_counters(cam->receiver, index, &counters, &assembler);
	lull_result_put_text(object, "name", spec->name);
	lull_result_put_text(object, "protocol", spec->protocol);
	lull_result_put_count(object, "frames", lull_assembler_frames(&assembler, &partial));
	lull_result_put_count(object, "partial", partial);
	json_object_set_new(object, "reasons", result_reasons(&assembler));
	lull_result_put_table(part, lull_camera_counter_table, &counters);
	json_object_set_new(object, "counters", part);
	part = json_object();
	lull_result_put_table(part, lull_assembler_counter_table, &assembler);
	json_object_set_new(object, "assembler", part);
	json_object_set_new(object, "latency_ns", result_figure(cam, index, LULL_CAMERA_LATENCY));
	json_object_set_new(object, "fetched_ns", result_figure(cam, index, LULL_CAMERA_FETCHED));
	json_object_set_new(object, "assembly_ns", result_figure(cam, index, LULL_CAMERA_ASSEMBLY));
	json_object_set_new(object, "period_ns", result_figure(cam, index, LULL_CAMERA_PERIOD));
	if (cam->sent.streams != NULL) {
		const struct cam_sent_stream *sent = &cam->sent.streams[index];

		json_object_set_new(object, "sent_done_ns",
				    lull_result_histogram(&sent->done, true));
		json_object_set_new(object, "sent_fetched_ns",
				    lull_result_histogram(&sent->fetched, true));
	}
	return object;
}

/* ---- the whole ---- */

static json_t *
result_findings(struct cam *cam)
{
	static struct lull_finding findings[FINDINGS_MAX];
	uint32_t count = lull_receiver_check(cam->receiver, findings, FINDINGS_MAX);
	json_t *list = json_array();

	for (uint32_t i = 0; i < LULL_MIN(count, FINDINGS_MAX); i++) {
		json_t *object = json_object();

		lull_result_put_text(object, "subject", findings[i].subject);
		lull_result_put_count(object, "grade", (uint64_t)findings[i].grade);
		lull_result_put_text(object, "text", findings[i].text);
		lull_result_put_text(object, "remedy", findings[i].remedy);
		json_array_append_new(list, object);
	}
	return list;
}

static void
result_totals(struct cam *cam, json_t *result)
{
	struct lull_rest_thread_info class;
	char text[LULL_ERROR_SIZE];
	struct lull_receiver_totals totals;
	json_t *object = json_object();
	double steal;

	lull_receiver_totals(cam->receiver, &totals);
	steal = result_share(totals.steal_ns, totals.wall_ns);
	lull_result_put_table(object, lull_receiver_totals_table, &totals);
	json_object_set_new(result, "totals", object);
	json_object_set_new(result, "cpu_pct",
			    lull_result_real(100 * result_share(totals.cpu_ns, totals.wall_ns)));
	json_object_set_new(result, "steal_pct", lull_result_real(100 * steal));
	json_object_set_new(result, "valid", json_boolean(steal <= STEAL_MOST));
	if (lull_receiver_class(cam->receiver, &class, text, sizeof(text)) == 0)
		lull_result_put_class(result, &class);
	json_object_set_new(result, "gap_ns", result_figure(cam, 0, LULL_CAMERA_GAP));
}

static json_t *
result_packets(const struct cam_packets *packets)
{
	json_t *object = json_object();

	lull_result_put_count(object, "written", packets->written);
	lull_result_put_count(object, "left_out", LULL_COUNTER_READ(packets->left_out));
	return object;
}

void
cam_result(void *state, json_t *result)
{
	json_t *streams = json_array();
	struct cam *cam = state;

	result_totals(cam, result);
	lull_result_put_text(result, "latency_from",
			     lull_camera_origin_name(lull_receiver_origin(cam->receiver)));
	lull_result_put_count(result, "fetched", cam->fetched);
	lull_result_put_count(result, "fetched_partial", cam->partial);
	lull_result_put_count(result, "recorded", cam->record.files);
	if (cam->packets.path != NULL)
		json_object_set_new(result, "packets", result_packets(&cam->packets));
	for (uint32_t i = 0; i < cam->spec_count; i++)
		json_array_append_new(streams, result_stream(cam, i));
	json_object_set_new(result, "streams", streams);
	json_object_set_new(result, "findings", result_findings(cam));
}
