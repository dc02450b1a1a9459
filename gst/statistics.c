/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include <string.h>

#include "pixel/geometry.h"

static void
statistics_put(GstStructure *structure, const char *name, uint64_t value)
{
	gst_structure_set(structure, name, G_TYPE_UINT64, (guint64)value, NULL);
}

static void
statistics_put_text(GstStructure *structure, const char *name, const char *value)
{
	gst_structure_set(structure, name, G_TYPE_STRING, value, NULL);
}

/* All counters of a table as one structure within. */
static void
statistics_put_table(GstStructure *structure, const char *name,
		     const struct lull_counter_info *table, const void *counters)
{
	GstStructure *part = gst_structure_new_empty(name);

	for (; table->name != NULL; table++) {
		uint64_t value;

		memcpy(&value, (const char *)counters + table->offset, sizeof(value));
		statistics_put(part, table->name, value);
	}
	gst_structure_set(structure, name, GST_TYPE_STRUCTURE, part, NULL);
	gst_structure_free(part);
}

static void
statistics_put_latency(GstStructure *structure, struct lull_receiver *receiver)
{
	struct lull_histogram *latency = g_new0(struct lull_histogram, 1);

	lull_receiver_histogram(receiver, 0, LULL_CAMERA_LATENCY, latency);
	statistics_put_text(structure, "latency-from",
			    lull_camera_origin_name(lull_receiver_origin(receiver)));
	statistics_put(structure, "latency-p50", lull_histogram_quantile(latency, 500000));
	statistics_put(structure, "latency-p99", lull_histogram_quantile(latency, 990000));
	statistics_put(structure, "latency-max", latency->max);
	g_free(latency);
}

static double
statistics_percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

GstStructure *
lull_gst_statistics(struct lull_receiver *receiver)
{
	GstStructure *structure = gst_structure_new_empty(LULL_GST_STATISTICS);
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;
	struct lull_receiver_totals totals;
	uint64_t partial;

	lull_receiver_counters(receiver, 0, &counters, &assembler);
	lull_receiver_totals(receiver, &totals);
	statistics_put(structure, "frames", lull_assembler_frames(&assembler, &partial));
	statistics_put(structure, "partial", partial);
	statistics_put(structure, "lost", assembler.frames_dropped + assembler.frames_replaced);
	statistics_put(structure, "packets-missed", totals.missed);
	statistics_put_latency(structure, receiver);
	gst_structure_set(structure, "cpu-percent", G_TYPE_DOUBLE,
			  statistics_percent(totals.cpu_ns, totals.wall_ns), "steal-percent",
			  G_TYPE_DOUBLE, statistics_percent(totals.steal_ns, totals.wall_ns), NULL);
	statistics_put_table(structure, "stream", lull_camera_counter_table, &counters);
	statistics_put_table(structure, "assembler", lull_assembler_counter_table, &assembler);
	statistics_put_table(structure, "receiver", lull_receiver_totals_table, &totals);
	return structure;
}

/* ---- a frame ---- */

static void
statistics_put_missing(GstStructure *structure, const struct lull_frame *frame)
{
	GValue list = G_VALUE_INIT, number = G_VALUE_INIT;

	g_value_init(&list, GST_TYPE_ARRAY);
	g_value_init(&number, G_TYPE_UINT64);
	for (uint32_t i = 0; i < frame->missing_count; i++) {
		g_value_set_uint64(&number, frame->missing[i].offset);
		gst_value_array_append_value(&list, &number);
		g_value_set_uint64(&number, frame->missing[i].bytes);
		gst_value_array_append_value(&list, &number);
	}
	g_value_unset(&number);
	gst_structure_take_value(structure, "missing", &list);
	gst_structure_set(structure, "missing-more", G_TYPE_BOOLEAN, (gboolean)frame->missing_more,
			  NULL);
}

void
lull_gst_describe(const struct lull_camera_image *image, GstStructure *structure)
{
	const struct lull_frame *frame = &image->frame;
	struct lull_frame_layout layout = { .row_bytes = 0 };

	lull_frame_layout_init(&layout, &frame->geometry);
	statistics_put(structure, "number", frame->number);
	statistics_put(structure, "key", frame->key);
	statistics_put_text(structure, "reason", lull_frame_reason_name(frame->reason));
	gst_structure_set(structure, "damaged", G_TYPE_BOOLEAN, (gboolean)frame->damaged, "width",
			  G_TYPE_UINT, frame->geometry.width, "height", G_TYPE_UINT,
			  frame->geometry.height, "row-bytes", G_TYPE_UINT, layout.row_bytes, NULL);
	statistics_put_text(structure, "pixel", lull_pixel_name(frame->geometry.pixel));
	statistics_put(structure, "bytes", frame->bytes);
	statistics_put(structure, "bytes-there", frame->bytes_there);
	statistics_put(structure, "device-time", frame->stamps.device_time);
	statistics_put_text(structure, "packet-clock", lull_camera_clock_name(image->packet_clock));
	statistics_put(structure, "first-ns", frame->stamps.first_ns);
	statistics_put(structure, "last-ns", frame->stamps.last_ns);
	statistics_put(structure, "done-ns", frame->stamps.done_ns);
	statistics_put(structure, "latency-ns", image->latency_ns);
	statistics_put_text(structure, "latency-from",
			    lull_camera_origin_name(image->latency_from));
	statistics_put_missing(structure, frame);
}
