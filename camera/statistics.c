/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "control.h"
#include "receiver.h"

#define ROW(type, member, member_unit, text)                                                       \
	LULL_COUNTER_ROW(struct type, member, member_unit, text)
#define STREAM_ROW(member, unit, text) ROW(lull_camera_counters, member, unit, text)
#define TOTAL_ROW(member, unit, text) ROW(lull_camera_totals, member, unit, text)

const struct lull_counter_info lull_camera_counter_table[] = {
	STREAM_ROW(pkts, "packets", "received for the stream"),
	STREAM_ROW(bytes, "bytes", "of their payload"),
	STREAM_ROW(malformed, "packets", "that contradict themselves"),
	STREAM_ROW(foreign, "packets", "of another protocol or stream"),
	STREAM_ROW(other, "packets", "of the protocol, in a form that is not read"),
	STREAM_ROW(nothing, "packets", "that carry nothing for a frame"),
	STREAM_ROW(source_mismatch, "packets", "from a source that is not configured"),
	STREAM_ROW(given, "images", "given to the application"),
	STREAM_ROW(fetched, "images", "fetched by it"),
	STREAM_ROW(put, "images", "put back by it"),
	STREAM_ROW(refused, "images", "put back although they were not out"),
	STREAM_ROW(rows_late, "1", "row callbacks that took over 100 us"),
	STREAM_ROW(requests, "1", "resend requests sent"),
	STREAM_ROW(requested, "packets", "asked for again"),
	STREAM_ROW(repaired, "frames", "that resent packets made complete"),
	STREAM_ROW(gone, "packets", "that the camera does not have any more"),
	STREAM_ROW(control_lost, "1", "times the camera did not answer the heartbeat"),
	{ .name = NULL },
};
const struct lull_counter_info lull_camera_totals_table[] = {
	TOTAL_ROW(pkts, "packets", "received"),
	TOTAL_ROW(bytes, "bytes", "of their payload"),
	TOTAL_ROW(unclaimed, "packets", "for no stream"),
	TOTAL_ROW(missed, "packets", "lost by port or sockets, where they tell"),
	TOTAL_ROW(errors, "1", "foreign images put, buffers refused"),
	TOTAL_ROW(gaps_late, "1", "turns over 100 us after the last, rests left out"),
	TOTAL_ROW(to_kernel, "packets", "for no stream, passed on through the TAP"),
	TOTAL_ROW(from_kernel, "packets", "sent on the port for the kernel"),
	TOTAL_ROW(kernel_lost, "packets", "on these two ways, for want of room"),
	TOTAL_ROW(cpu_ns, "ns", "CPU time of the receiving thread"),
	TOTAL_ROW(steal_ns, "ns", "that the hypervisor kept from its CPU"),
	TOTAL_ROW(wall_ns, "ns", "since the start"),
	{ .name = NULL },
};

const char *
lull_camera_clock_name(enum lull_camera_clock clock)
{
	static const char *const names[] = { "none", "nic", "kernel", "poll", "file", "device" };
	uint32_t index = (uint32_t)clock;

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : "unknown";
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

int
lull_camera_counters(struct lull_camera *camera, uint32_t index,
		     struct lull_camera_counters *counters,
		     struct lull_assembler_counters *assembler)
{
	struct lull_assembler *assembling;
	struct camera_stream *stream;

	if (index >= camera->stream_count)
		return -EINVAL;
	stream = camera->streams[index];
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
		return 0;
	memset(assembler, 0, sizeof(*assembler));
	if (assembling != NULL)
		statistics_copy(assembler, lull_assembler_counters(assembling), sizeof(*assembler));
	assembler->frames_replaced += LULL_COUNTER_READ(stream->replaced);
	assembler->unsized += LULL_COUNTER_READ(stream->unsized);
	assembler->pieces += LULL_COUNTER_READ(stream->unsized);
	return 0;
}

int
lull_camera_histogram(struct lull_camera *camera, uint32_t stream, enum lull_camera_figure figure,
		      struct lull_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	if (figure == LULL_CAMERA_GAP) {
		lull_histogram_merge(histogram, &camera->gaps);
		return 0;
	}
	if (stream >= camera->stream_count || (uint32_t)figure >= LULL_CAMERA_FIGURE_COUNT)
		return -EINVAL;
	lull_histogram_merge(histogram, &camera->streams[stream]->figures[figure]);
	return 0;
}
