/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "control.h"
#include "receiver.h"

#define ROW(type, member, member_unit, text)                                                       \
	LULL_COUNTER_ROW(struct type, member, member_unit, text)
#define STREAM_ROW(member, unit, text) ROW(lull_camera_counters, member, unit, text)
#define TOTAL_ROW(member, unit, text) ROW(lull_receiver_totals, member, unit, text)

const struct lull_counter_info lull_camera_counter_table[] = {
	STREAM_ROW(pkts, "packets", "packets received for the stream"),
	STREAM_ROW(bytes, "bytes", "payload bytes received for the stream"),
	STREAM_ROW(malformed, "packets", "packets with contradictory headers"),
	STREAM_ROW(foreign, "packets", "packets of another protocol or stream"),
	STREAM_ROW(other, "packets", "packets of a form of the protocol that lull does not read"),
	STREAM_ROW(nothing, "packets", "packets without data of a frame"),
	STREAM_ROW(source_mismatch, "packets",
		   "packets from a source other than the configured one"),
	STREAM_ROW(given, "images", "images delivered to the application"),
	STREAM_ROW(fetched, "images", "images fetched by the application"),
	STREAM_ROW(put, "images", "images put back by the application"),
	STREAM_ROW(refused, "images", "images put back that the application did not have"),
	STREAM_ROW(rows_late, "1", "row callbacks that took over 100 us"),
	STREAM_ROW(requests, "1", "resend requests sent"),
	STREAM_ROW(requested, "packets", "packets requested again"),
	STREAM_ROW(repaired, "frames", "frames completed by resent packets"),
	STREAM_ROW(gone, "packets", "requested packets that the camera no longer had"),
	STREAM_ROW(control_lost, "1", "heartbeats that the camera did not answer"),
	STREAM_ROW(grown, "1", "times that the image buffers became larger, for larger images"),
	STREAM_ROW(unnamed, "packets",
		   "packets of pixels that the protocol does not describe, to be named by pixel"),
	{ .name = NULL },
};
const struct lull_counter_info lull_receiver_totals_table[] = {
	TOTAL_ROW(pkts, "packets", "packets received"),
	TOTAL_ROW(bytes, "bytes", "payload bytes received"),
	TOTAL_ROW(unclaimed, "packets", "packets received for no stream"),
	TOTAL_ROW(missed, "packets",
		  "packets lost by the port or the sockets, where they report it"),
	TOTAL_ROW(errors, "1", "wrong calls: images that were not out, refused buffers"),
	TOTAL_ROW(gaps_late, "1",
		  "poll iterations more than 100 us after the last one, without rests"),
	TOTAL_ROW(to_kernel, "packets", "packets for no stream that the TAP passed to the kernel"),
	TOTAL_ROW(from_kernel, "packets", "packets of the kernel sent on the port"),
	TOTAL_ROW(kernel_lost, "packets",
		  "packets that the TAP dropped in either direction because it was full"),
	TOTAL_ROW(wrong_sum, "packets",
		  "packets with a wrong checksum, where no kernel has looked at it"),
	TOTAL_ROW(cut, "packets",
		  "packets without their end: cut in the capture, or longer than the port's MTU"),
	TOTAL_ROW(cpu_ns, "ns", "CPU time of the receiving thread"),
	TOTAL_ROW(steal_ns, "ns", "time that the hypervisor took from the receiving thread's CPU"),
	TOTAL_ROW(wall_ns, "ns", "time since the start"),
	{ .name = NULL },
};

const char *
lull_camera_clock_name(enum lull_camera_clock clock)
{
	static const char *const names[] = { "none", "nic", "kernel", "poll", "file", "device" };
	uint32_t index = (uint32_t)clock;

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : "unknown";
}

const char *
lull_camera_origin_name(enum lull_camera_origin origin)
{
	static const char *const names[] = { "nic", "kernel", "bound", "read" };
	uint32_t index = (uint32_t)origin;

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : "unknown";
}

enum lull_camera_origin
lull_receiver_origin(const struct lull_receiver *receiver)
{
	return receiver->origin;
}

void
camera_read_begin(struct lull_receiver *receiver)
{
	atomic_fetch_add(&receiver->readers, 1);
	pthread_mutex_lock(&receiver->state_lock);
}

void
camera_read_end(struct lull_receiver *receiver)
{
	pthread_mutex_unlock(&receiver->state_lock);
	atomic_fetch_sub(&receiver->readers, 1);
}

/* Counters are uint64_t and nothing else. */
static void
statistics_copy(void *to, const void *from, size_t size)
{
	const uint64_t *values = from;
	uint64_t *copies = to;

	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		copies[i] = LULL_COUNTER_READ(values[i]);
}

/* With the lock: a control that ends is counted once. */
static void
statistics_stream(struct camera_stream *stream, struct lull_camera_counters *counters,
		  struct lull_assembler_counters *assembler)
{
	struct lull_assembler *assembling;

	statistics_copy(counters, &stream->counters, sizeof(*counters));
	counters->fetched = atomic_load(&stream->fetched);
	counters->put = atomic_load(&stream->put);
	counters->refused = atomic_load(&stream->refused);
	if (stream->control != NULL)
		camera_control_count(stream->control, counters);
	assembling = __atomic_load_n(&stream->assembler, __ATOMIC_ACQUIRE);
	if (assembling != NULL)
		counters->gone = LULL_COUNTER_READ(lull_assembler_counters(assembling)->gone);
	if (assembler == NULL)
		return;
	memset(assembler, 0, sizeof(*assembler));
	if (assembling != NULL)
		statistics_copy(assembler, lull_assembler_counters(assembling), sizeof(*assembler));
	assembler->frames_replaced += LULL_COUNTER_READ(stream->replaced);
	assembler->unsized += LULL_COUNTER_READ(stream->unsized);
	assembler->oversize += LULL_COUNTER_READ(stream->oversize);
	assembler->fragments +=
		LULL_COUNTER_READ(stream->unsized) + LULL_COUNTER_READ(stream->oversize);
}

int
lull_receiver_counters(struct lull_receiver *receiver, uint32_t index,
		       struct lull_camera_counters *counters,
		       struct lull_assembler_counters *assembler)
{
	bool there;

	camera_read_begin(receiver);
	there = index < receiver->stream_count;
	if (there)
		statistics_stream(receiver->streams[index], counters, assembler);
	camera_read_end(receiver);
	return there ? 0 : -EINVAL;
}

int
lull_receiver_histogram(struct lull_receiver *receiver, uint32_t stream,
			enum lull_camera_figure figure, struct lull_histogram *histogram)
{
	const struct lull_histogram *from = NULL;

	memset(histogram, 0, sizeof(*histogram));
	atomic_fetch_add(&receiver->readers, 1);
	if (figure == LULL_CAMERA_GAP)
		from = &receiver->gaps;
	else if (stream < camera_stream_count(receiver) &&
		 (uint32_t)figure < LULL_CAMERA_FIGURE_COUNT)
		from = &receiver->streams[stream]->figures[figure];
	if (from != NULL)
		lull_histogram_merge(histogram, from);
	atomic_fetch_sub(&receiver->readers, 1);
	return from != NULL ? 0 : -EINVAL;
}
