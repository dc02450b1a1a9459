/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a stream: fragments to its assembler, frames to images. */
#include "control.h"
#include "pixel/geometry.h"
#include "receiver.h"

/* Fragments of one packet at most: a protocol that asks for more is not believed. */
#define FRAGMENTS_MAX 256
/* The default patience: see lull_camera_stream.deadline_ns. */
#define PATIENCE_NS_MIN (5 * LULL_NS_PER_MS)
#define PATIENCE_NS_MAX LULL_NS_PER_S
/* Silence after which nothing is late any more; the longest period after which a sender is gone. */
#define QUIET_NS (100 * LULL_NS_PER_MS)
#define GONE_NS_MAX LULL_NS_PER_S

/* ---- arrival stamps ---- */

static struct camera_arrival *
fragments_arrival(struct camera_stream *stream, uint64_t key, bool former)
{
	for (uint32_t i = 1; i <= CAMERA_FOLLOWED; i++) {
		struct camera_arrival *arrival =
			&stream->arrivals[(stream->arrival_next - i) % CAMERA_FOLLOWED];

		if (arrival->since_ns == 0)
			return NULL;
		if (arrival->key == key && arrival->former == former)
			return arrival;
	}
	return NULL;
}

/* Of a frame that is given: what ended by a restart is from before it. */
static const struct camera_arrival *
fragments_arrival_given(struct camera_stream *stream, const struct lull_frame *frame)
{
	bool former = frame->reason == LULL_FRAME_RESTART;
	const struct camera_arrival *arrival = fragments_arrival(stream, frame->key, former);

	return arrival != NULL ? arrival : fragments_arrival(stream, frame->key, !former);
}

static void
fragments_stamp(struct camera_stream *stream, uint64_t key, uint64_t stamp_ns, uint64_t since_ns)
{
	struct camera_arrival *arrival = fragments_arrival(stream, key, false);

	if (arrival == NULL) {
		arrival = &stream->arrivals[stream->arrival_next++ % CAMERA_FOLLOWED];
		*arrival = (struct camera_arrival){ .key = key, .first_ns = stamp_ns };
	}
	arrival->last_ns = stamp_ns;
	arrival->since_ns = since_ns;
}

/* ---- frames ---- */

/* Half a period of silence ends a frame, unless the user said something else. */
static void
fragments_timeouts(struct camera_stream *stream)
{
	uint64_t wanted_ns =
		LULL_CLAMP(lull_phase_silence_ns(&stream->phase), PATIENCE_NS_MIN, PATIENCE_NS_MAX);
	uint64_t now_ns = stream->assembly.silence_ns;

	if (stream->config.deadline_ns != 0 || stream->phase.period_ns == 0)
		return;
	if (wanted_ns > now_ns - now_ns / 8 && wanted_ns < now_ns + now_ns / 8)
		return;
	stream->assembly.silence_ns = wanted_ns;
	if (stream->receiver->behind_pkts == 0)
		lull_assembler_timeouts(stream->assembler, 0, wanted_ns);
}

static uint32_t
fragments_whole_rows(const struct lull_frame *frame)
{
	uint64_t row_bytes =
		frame->geometry.height == 0 ? 0 : frame->bytes / frame->geometry.height;

	if (frame->missing_count == 0 || row_bytes == 0)
		return frame->geometry.height;
	return (uint32_t)(frame->missing[0].offset / row_bytes);
}

void
camera_fragments_give(struct camera_iteration *iteration, struct camera_stream *stream)
{
	struct lull_frame frame;

	while (lull_assembler_next(stream->assembler, iteration->time_ns, &frame)) {
		const struct camera_arrival *known = fragments_arrival_given(stream, &frame);
		struct camera_arrival arrival = { .since_ns = iteration->now_ns };
		bool complete = frame.reason == LULL_FRAME_COMPLETE;

		if (known != NULL)
			arrival = *known;
		if (complete && frame.counts.resent > 0)
			LULL_COUNTER_ADD(stream->counters.repaired, 1);
		if (frame.key == stream->phase_key) {
			lull_phase_end(&stream->phase, iteration->time_ns, frame.bytes, complete);
			fragments_timeouts(stream);
		}
		if (stream->config.rows != NULL)
			camera_rows_report(stream, frame.key, frame.data,
					   fragments_whole_rows(&frame), true);
		camera_images_give(iteration->receiver, stream, &frame, &arrival);
	}
	camera_buffers_renew(stream);
}

/* ---- fragments ---- */

/* A frame that was not seen before begins. */
static void
fragments_begin(struct camera_iteration *iteration, struct camera_stream *stream, uint64_t key)
{
	stream->phase_key = key;
	lull_phase_begin(&stream->phase, iteration->time_ns);
	stream->seen_bytes = lull_assembler_counters(stream->assembler)->bytes;
	if (stream->config.policy == LULL_FRAME_NEWEST_WINS &&
	    lull_assembler_buffers(stream->assembler) == 0)
		camera_images_replace(iteration->receiver, stream);
}

/*
 * The sender began anew with a fragment of frame @p key. Frames that came before keep their times,
 * while keys that come again are new.
 */
static void
fragments_anew(struct camera_iteration *iteration, struct camera_stream *stream, uint64_t key)
{
	for (uint32_t i = 0; i < CAMERA_FOLLOWED; i++)
		stream->arrivals[i].former = true;
	if (stream->control != NULL)
		camera_control_anew(stream->control);
	if (key == stream->phase_key)
		fragments_begin(iteration, stream, key);
}

/* Is it, for what is open, a frame that begins? It may also be one of these, told once more. */
static bool
fragments_may_begin(struct camera_stream *stream, const struct lull_frame_fragment *fragment)
{
	return fragment->key != stream->phase_key &&
	       fragments_arrival(stream, fragment->key, false) == NULL;
}

/* The first picture tells how large buffers must be, and each larger one; smaller ones fit. */
static bool
fragments_size(struct camera_stream *stream, const struct lull_frame_fragment *fragment)
{
	uint64_t bytes = 0;

	if ((fragment->flags & LULL_FRAME_GEOMETRY) &&
	    !lull_frame_geometry_equal(&stream->sized, &fragment->geometry)) {
		stream->sized = fragment->geometry;
		bytes = lull_frame_bytes(&fragment->geometry);
	}
	if (stream->assembler != NULL) {
		if (bytes > stream->assembly.buffer_bytes)
			camera_buffers_grow(stream, bytes);
		return true;
	}
	if (bytes > 0 && camera_stream_size(stream, bytes, NULL) == 0)
		return true;
	if (stream->oversize_bytes > 0)
		LULL_COUNTER_ADD(stream->oversize, 1);
	else
		LULL_COUNTER_ADD(stream->unsized, 1);
	return false;
}

static void
fragments_fragment(struct camera_iteration *iteration, struct camera_stream *stream,
		   const struct lull_net_packet *packet, const struct lull_frame_fragment *fragment)
{
	const struct lull_assembler_counters *counters;
	uint64_t used, restarts;

	if (!fragments_size(stream, fragment))
		return;
	counters = lull_assembler_counters(stream->assembler);
	used = counters->used;
	restarts = counters->restarts;
	if (fragments_may_begin(stream, fragment))
		fragments_begin(iteration, stream, fragment->key);
	if (lull_assembler_stopped(stream->assembler)) /* somebody may have said to go on */
		camera_images_take_back(iteration->receiver, stream);
	lull_assembler_add(stream->assembler, iteration->time_ns, fragment);
	stream->busy = true;
	if (counters->restarts != restarts)
		fragments_anew(iteration, stream, fragment->key);
	if (counters->used != used)
		fragments_stamp(stream, fragment->key, packet->stamp_ns, iteration->since_ns);
	if (lull_assembler_stopped(stream->assembler))
		camera_images_stop(iteration->receiver, stream);
	if (stream->control != NULL)
		camera_control_fragment(stream->control, iteration->now_ns, fragment);
	camera_fragments_give(iteration, stream);
}

void
camera_fragments_verdict(struct camera_stream *stream, enum lull_frame_verdict verdict)
{
	struct lull_camera_counters *counters = &stream->counters;

	if (verdict == LULL_FRAME_NOTHING)
		LULL_COUNTER_ADD(counters->nothing, 1);
	else if (verdict == LULL_FRAME_MALFORMED)
		LULL_COUNTER_ADD(counters->malformed, 1);
	else if (verdict == LULL_FRAME_OTHER)
		LULL_COUNTER_ADD(counters->other, 1);
	else if (verdict == LULL_FRAME_UNNAMED)
		LULL_COUNTER_ADD(counters->unnamed, 1);
	else if (verdict == LULL_FRAME_FOREIGN)
		LULL_COUNTER_ADD(counters->foreign, 1);
}

/*
 * Was the sender silent before this packet, for longer than packets are under way? Then what begins
 * again is new.
 */
static void
fragments_quiet(struct camera_stream *stream, uint64_t stamp_ns)
{
	uint64_t period_ns = LULL_MIN(stream->phase.period_ns, GONE_NS_MAX);
	uint64_t silence_ns = stamp_ns > stream->heard_ns ? stamp_ns - stream->heard_ns : 0;

	if (stream->heard_ns == 0 || silence_ns < QUIET_NS)
		return;
	if (stream->protocol->quiet != NULL)
		stream->protocol->quiet(stream->protocol_state,
					silence_ns > period_ns + period_ns / 2);
	if (stream->assembler != NULL)
		lull_assembler_quiet(stream->assembler);
}

bool
camera_fragments_offer(struct camera_iteration *iteration, struct camera_stream *stream,
		       const struct lull_net_packet *packet)
{
	enum lull_frame_verdict verdict;
	uint64_t stamp_ns = packet->stamp_ns != 0 ? packet->stamp_ns : iteration->time_ns;
	struct lull_frame_fragment fragment;
	uint32_t fragments = 0;

	fragments_quiet(stream, stamp_ns);
	do {
		verdict = stream->protocol->parse(stream->protocol_state, packet->data,
						  packet->len_bytes, &fragment);
		if (verdict == LULL_FRAME_FOREIGN && fragments == 0)
			return false;
		if (verdict == LULL_FRAME_FRAGMENT)
			fragments_fragment(iteration, stream, packet, &fragment);
		else
			camera_fragments_verdict(stream, verdict);
	} while (verdict == LULL_FRAME_FRAGMENT && (fragment.flags & LULL_FRAME_MORE) &&
		 ++fragments < FRAGMENTS_MAX);
	if (verdict == LULL_FRAME_FRAGMENT)
		stream->heard_ns = stamp_ns;
	LULL_COUNTER_ADD(stream->counters.pkts, 1);
	LULL_COUNTER_ADD(stream->counters.bytes, packet->len_bytes);
	return true;
}
