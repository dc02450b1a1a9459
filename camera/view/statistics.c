/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include "program/result.h"

#define US(ns) ((double)(ns) / LULL_NS_PER_US)
/* A picture needs no finer bins: an eighth of an octave. */
#define BINS_JOINED 8

void
view_statistics_image(struct view_statistics *statistics, const struct lull_camera_image *image)
{
	const struct lull_frame *frame = &image->frame;

	if (frame->bytes > frame->bytes_there)
		atomic_fetch_add_explicit(&statistics->missing_bytes[image->stream],
					  frame->bytes - frame->bytes_there, memory_order_relaxed);
}

/* What went up between two samples, per second. */
static json_t *
statistics_rate(uint64_t now, uint64_t before, uint64_t ns, double factor)
{
	double rate = ns > 0 ? (double)(now - before) * factor * 1e9 / (double)ns : 0;

	return lull_result_real(rate);
}

static json_t *
statistics_bins(const struct lull_histogram *histogram)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i += BINS_JOINED) {
		uint64_t count = 0;
		json_t *bin;

		for (uint32_t j = i; j < i + BINS_JOINED; j++)
			count += histogram->bins[j];
		if (count == 0)
			continue;
		bin = json_array();
		json_array_append_new(bin, lull_result_real(US(lull_histogram_low(i))));
		json_array_append_new(bin, lull_result_count(count));
		json_array_append_new(list, bin);
	}
	return list;
}

static json_t *
statistics_latency(const struct lull_histogram *histogram)
{
	json_t *object = json_object();

	json_object_set_new(object, "p50",
			    lull_result_real(US(lull_histogram_quantile(histogram, 500000))));
	json_object_set_new(object, "p99",
			    lull_result_real(US(lull_histogram_quantile(histogram, 990000))));
	json_object_set_new(object, "max", lull_result_real(US(histogram->max)));
	return object;
}

static json_t *
statistics_stream(struct view_statistics *statistics, struct lull_receiver *receiver,
		  uint32_t index, struct view_sample *now, const struct view_sample *first)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;
	json_t *object = json_object();
	uint64_t partial, missing, ns = now->now_ns - first->now_ns;

	lull_receiver_counters(receiver, index, &counters, &assembler);
	lull_receiver_histogram(receiver, index, LULL_CAMERA_LATENCY, &statistics->latency);
	now->frames[index] = lull_assembler_frames(&assembler, &partial);
	now->bytes[index] = counters.bytes;
	missing = atomic_load_explicit(&statistics->missing_bytes[index], memory_order_relaxed);
	json_object_set_new(object, "index", lull_result_count(index));
	json_object_set_new(object, "frames", lull_result_count(now->frames[index]));
	json_object_set_new(object, "partial", lull_result_count(partial));
	json_object_set_new(object, "fps",
			    statistics_rate(now->frames[index], first->frames[index], ns, 1));
	json_object_set_new(object, "mbit_s",
			    statistics_rate(now->bytes[index], first->bytes[index], ns, 8e-6));
	json_object_set_new(object, "duplicates", lull_result_count(assembler.duplicates));
	json_object_set_new(object, "late", lull_result_count(assembler.late));
	json_object_set_new(object, "missing_bytes", lull_result_count(missing));
	json_object_set_new(object, "latency_us", statistics_latency(&statistics->latency));
	json_object_set_new(object, "latency_bins", statistics_bins(&statistics->latency));
	return object;
}

/* The oldest that is kept; the first time there is none but the new one. */
static const struct view_sample *
statistics_oldest(const struct view_statistics *statistics)
{
	uint32_t kept = LULL_MIN(statistics->taken, VIEW_SAMPLES - 1);

	return &statistics->samples[(statistics->taken - kept) % VIEW_SAMPLES];
}

json_t *
view_statistics_take(struct view_statistics *statistics, struct lull_receiver *receiver,
		     uint64_t now_ns)
{
	struct view_sample *now = &statistics->samples[statistics->taken % VIEW_SAMPLES];
	const struct view_sample *first = statistics_oldest(statistics);
	json_t *object = json_object(), *streams = json_array();
	struct lull_receiver_totals totals;
	uint64_t ns;

	lull_receiver_totals(receiver, &totals);
	now->now_ns = now_ns;
	now->pkts = totals.pkts;
	now->cpu_ns = totals.cpu_ns;
	now->steal_ns = totals.steal_ns;
	ns = now_ns - first->now_ns;
	for (uint32_t i = 0; i < lull_receiver_stream_count(receiver); i++)
		json_array_append_new(streams,
				      statistics_stream(statistics, receiver, i, now, first));
	json_object_set_new(object, "type", json_string("statistics"));
	json_object_set_new(object, "t", lull_result_real((double)now_ns / 1e9));
	json_object_set_new(
		object, "latency_from",
		lull_result_text(lull_camera_origin_name(lull_receiver_origin(receiver))));
	json_object_set_new(object, "streams", streams);
	json_object_set_new(object, "cpu_percent",
			    statistics_rate(now->cpu_ns, first->cpu_ns, ns, 1e-7));
	json_object_set_new(object, "steal_percent",
			    statistics_rate(now->steal_ns, first->steal_ns, ns, 1e-7));
	json_object_set_new(object, "pkts_s", statistics_rate(now->pkts, first->pkts, ns, 1));
	json_object_set_new(object, "missed", lull_result_count(totals.missed));
	statistics->taken++;
	return object;
}
