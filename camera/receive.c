/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An iteration of the receiving thread: packets to streams, fragments to assemblers, frames to
 * images.
 */
#include <string.h>

#include "control.h"
#include "packets.h"
#include "receiver.h"

/* Fragments of one packet at most: a protocol that asks for more is not believed. */
#define FRAGMENTS_MAX 256
/*
 * An iteration that begins so long after the one before may find a queue of what came in meanwhile.
 */
#define AWAY_NS LULL_NS_PER_MS
#define BEHIND_PKTS_MIN 65536u /* sockets tell bytes, not packets */
#define GAP_LATE_NS (100 * LULL_NS_PER_US)
/* The default patience: see lull_camera_stream.deadline_ns. */
#define PATIENCE_NS_MIN (5 * LULL_NS_PER_MS)
#define PATIENCE_NS_MAX LULL_NS_PER_S

/* Silence after which nothing is late any more: see receive_quiet(). */
#define QUIET_NS_MIN (100 * LULL_NS_PER_MS)
#define QUIET_NS_MAX LULL_NS_PER_S

struct receive_iteration {
	struct lull_receiver *receiver;
	uint64_t now_ns;  /* CLOCK_MONOTONIC */
	uint64_t time_ns; /* of the assemblers: now_ns, or the time of a capture */
	uint32_t count;   /* packets fetched */
};

/* ---- arrival stamps ---- */

static struct camera_arrival *
receive_arrival(struct camera_stream *stream, uint64_t key, bool former)
{
	for (uint32_t i = 1; i <= CAMERA_FOLLOWED; i++) {
		struct camera_arrival *arrival =
			&stream->arrivals[(stream->arrival_next - i) % CAMERA_FOLLOWED];

		if (arrival->fetched_ns == 0)
			return NULL;
		if (arrival->key == key && arrival->former == former)
			return arrival;
	}
	return NULL;
}

/* Of a frame that is given: what ended by a restart is from before it. */
static const struct camera_arrival *
receive_arrival_given(struct camera_stream *stream, const struct lull_frame *frame)
{
	bool former = frame->reason == LULL_FRAME_RESTART;
	const struct camera_arrival *arrival = receive_arrival(stream, frame->key, former);

	return arrival != NULL ? arrival : receive_arrival(stream, frame->key, !former);
}

static void
receive_stamp(struct camera_stream *stream, uint64_t key, uint64_t stamp_ns, uint64_t now_ns)
{
	struct camera_arrival *arrival = receive_arrival(stream, key, false);

	if (arrival == NULL) {
		arrival = &stream->arrivals[stream->arrival_next++ % CAMERA_FOLLOWED];
		*arrival = (struct camera_arrival){ .key = key, .first_ns = stamp_ns };
	}
	arrival->last_ns = stamp_ns;
	arrival->fetched_ns = now_ns;
}

/* ---- frames ---- */

/* Half a period of silence ends a frame, unless the user said something else. */
static void
receive_timeouts(struct camera_stream *stream)
{
	uint64_t wanted_ns =
		LULL_CLAMP(stream->phase.period_ns / 2, PATIENCE_NS_MIN, PATIENCE_NS_MAX);
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
receive_whole_rows(const struct lull_frame *frame)
{
	uint64_t row_bytes =
		frame->geometry.height == 0 ? 0 : frame->bytes / frame->geometry.height;

	if (frame->missing_count == 0 || row_bytes == 0)
		return frame->geometry.height;
	return (uint32_t)(frame->missing[0].offset / row_bytes);
}

static void
receive_give(struct receive_iteration *iteration, struct camera_stream *stream)
{
	struct lull_frame frame;

	while (lull_assembler_next(stream->assembler, iteration->time_ns, &frame)) {
		const struct camera_arrival *known = receive_arrival_given(stream, &frame);
		struct camera_arrival arrival = { .fetched_ns = iteration->now_ns };
		bool complete = frame.reason == LULL_FRAME_COMPLETE;

		if (known != NULL)
			arrival = *known;
		if (complete && frame.counts.resent > 0)
			LULL_COUNTER_ADD(stream->counters.repaired, 1);
		if (frame.key == stream->phase_key) {
			lull_phase_end(&stream->phase, iteration->now_ns, frame.bytes, complete);
			receive_timeouts(stream);
		}
		if (stream->config.rows != NULL)
			camera_rows_report(stream, frame.key, frame.data,
					   receive_whole_rows(&frame), true);
		camera_images_give(iteration->receiver, stream, &frame, &arrival);
	}
}

/* ---- fragments ---- */

/* A frame that was not seen before begins. */
static void
receive_begin(struct receive_iteration *iteration, struct camera_stream *stream, uint64_t key)
{
	stream->phase_key = key;
	lull_phase_begin(&stream->phase, iteration->now_ns);
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
receive_anew(struct receive_iteration *iteration, struct camera_stream *stream, uint64_t key)
{
	for (uint32_t i = 0; i < CAMERA_FOLLOWED; i++)
		stream->arrivals[i].former = true;
	if (stream->control != NULL)
		camera_control_anew(stream->control);
	if (key == stream->phase_key)
		receive_begin(iteration, stream, key);
}

/* Is it, for what is open, a frame that begins? It may also be one of these, told once more. */
static bool
receive_may_begin(struct camera_stream *stream, const struct lull_frame_fragment *fragment)
{
	return fragment->key != stream->phase_key &&
	       receive_arrival(stream, fragment->key, false) == NULL;
}

/* The first picture tells how large buffers must be. */
static bool
receive_size(struct camera_stream *stream, const struct lull_frame_fragment *fragment)
{
	uint64_t bytes = 0;

	if (stream->assembler != NULL)
		return true;
	if (fragment->flags & LULL_FRAME_GEOMETRY)
		bytes = lull_frame_bytes(&fragment->geometry);
	if (bytes > 0 && bytes <= CAMERA_LEARNED_BYTES_MAX &&
	    camera_stream_size(stream, bytes, NULL) == 0)
		return true;
	LULL_COUNTER_ADD(stream->unsized, 1);
	return false;
}

static void
receive_fragment(struct receive_iteration *iteration, struct camera_stream *stream,
		 const struct lull_net_packet *packet, const struct lull_frame_fragment *fragment)
{
	const struct lull_assembler_counters *counters;
	uint64_t used, restarts;

	if (!receive_size(stream, fragment))
		return;
	counters = lull_assembler_counters(stream->assembler);
	used = counters->used;
	restarts = counters->restarts;
	if (receive_may_begin(stream, fragment))
		receive_begin(iteration, stream, fragment->key);
	lull_assembler_add(stream->assembler, iteration->time_ns, fragment);
	stream->busy = true;
	if (counters->restarts != restarts)
		receive_anew(iteration, stream, fragment->key);
	if (counters->used != used)
		receive_stamp(stream, fragment->key, packet->stamp_ns, iteration->now_ns);
	if (stream->control != NULL)
		camera_control_fragment(stream->control, iteration->now_ns, fragment);
	receive_give(iteration, stream);
}

static void
receive_verdict(struct camera_stream *stream, enum lull_frame_verdict verdict)
{
	struct lull_camera_counters *counters = &stream->counters;

	if (verdict == LULL_FRAME_NOTHING)
		LULL_COUNTER_ADD(counters->nothing, 1);
	else if (verdict == LULL_FRAME_MALFORMED)
		LULL_COUNTER_ADD(counters->malformed, 1);
	else if (verdict == LULL_FRAME_OTHER)
		LULL_COUNTER_ADD(counters->other, 1);
	else if (verdict == LULL_FRAME_FOREIGN)
		LULL_COUNTER_ADD(counters->foreign, 1);
}

/*
 * Was the sender silent before this packet? For longer than packets are under way, and than from
 * frame to frame: then what begins again is new.
 */
static void
receive_quiet(struct camera_stream *stream, uint64_t stamp_ns)
{
	uint64_t period_ns = stream->phase.period_ns;
	uint64_t quiet_ns = LULL_CLAMP(period_ns + period_ns / 2, QUIET_NS_MIN, QUIET_NS_MAX);

	if (stream->heard_ns == 0 || stamp_ns < stream->heard_ns + quiet_ns)
		return;
	if (stream->protocol->quiet != NULL)
		stream->protocol->quiet(stream->protocol_state);
	if (stream->assembler != NULL)
		lull_assembler_quiet(stream->assembler);
}

/* Is it for this stream? False: ask the next one on its port. */
static bool
receive_offer(struct receive_iteration *iteration, struct camera_stream *stream,
	      const struct lull_net_packet *packet)
{
	enum lull_frame_verdict verdict;
	uint64_t stamp_ns = packet->stamp_ns != 0 ? packet->stamp_ns : iteration->time_ns;
	struct lull_frame_fragment fragment;
	uint32_t fragments = 0;

	receive_quiet(stream, stamp_ns);
	do {
		verdict = stream->protocol->parse(stream->protocol_state, packet->data,
						  packet->len_bytes, &fragment);
		if (verdict == LULL_FRAME_FOREIGN && fragments == 0)
			return false;
		if (verdict == LULL_FRAME_FRAGMENT)
			receive_fragment(iteration, stream, packet, &fragment);
		else
			receive_verdict(stream, verdict);
	} while (verdict == LULL_FRAME_FRAGMENT && (fragment.flags & LULL_FRAME_MORE) &&
		 ++fragments < FRAGMENTS_MAX);
	if (verdict == LULL_FRAME_FRAGMENT)
		stream->heard_ns = stamp_ns;
	LULL_COUNTER_ADD(stream->counters.pkts, 1);
	LULL_COUNTER_ADD(stream->counters.bytes, packet->len_bytes);
	return true;
}

/* ---- packets ---- */

static bool
receive_is_from(const struct lull_net_source *source, const struct lull_net_packet *packet)
{
	if (source->kind == LULL_NET_SOURCE_ANY)
		return true;
	if (source->kind == LULL_NET_SOURCE_IP)
		return lull_net_ip_same(&source->ip, &packet->source);
	return packet->mac != NULL && memcmp(source->mac, packet->mac, LULL_NET_MAC_SIZE) == 0;
}

struct receive_search {
	struct camera_stream *foreign, *strange;
};

/* Ask the streams with this address, or those that take any. */
static bool
receive_search(struct receive_iteration *iteration, const struct lull_net_packet *packet, bool any,
	       struct receive_search *search)
{
	for (uint32_t at = packet->first; at != 0;
	     at = iteration->receiver->streams[at - 1]->next) {
		struct camera_stream *stream = iteration->receiver->streams[at - 1];
		const struct lull_net_claim *claim = &stream->claim;

		if (lull_net_ip_is_any(&claim->address) != any ||
		    (!any && !lull_net_ip_same(&claim->address, &packet->destination)))
			continue;
		if (!receive_is_from(&claim->source, packet))
			search->strange = stream;
		else if (receive_offer(iteration, stream, packet))
			return true;
		else
			search->foreign = stream;
	}
	return false;
}

static void
receive_packet(struct receive_iteration *iteration, const struct lull_net_packet *packet)
{
	struct receive_search search = { .foreign = NULL };
	struct lull_receiver *receiver = iteration->receiver;

	LULL_COUNTER_ADD(receiver->pkts, 1);
	LULL_COUNTER_ADD(receiver->bytes, packet->len_bytes);
	if (receive_search(iteration, packet, false, &search) ||
	    receive_search(iteration, packet, true, &search))
		return;
	if (search.foreign != NULL) {
		LULL_COUNTER_ADD(search.foreign->counters.pkts, 1);
		LULL_COUNTER_ADD(search.foreign->counters.bytes, packet->len_bytes);
		receive_verdict(search.foreign, LULL_FRAME_FOREIGN);
	} else if (search.strange != NULL) {
		LULL_COUNTER_ADD(search.strange->counters.source_mismatch, 1);
	} else {
		LULL_COUNTER_ADD(receiver->unclaimed, 1);
	}
}

/* ---- iterations ---- */

static void
receive_rows(struct camera_stream *stream)
{
	uint64_t key = 0;
	uint32_t rows = lull_assembler_rows(stream->assembler, &key);
	const uint8_t *data = lull_assembler_picture(stream->assembler, key);

	if (rows > 0 && data != NULL)
		camera_rows_report(stream, key, data, rows, false);
}

/* What was received in this iteration is in: rows and phase. */
static void
receive_settle(struct receive_iteration *iteration, struct camera_stream *stream)
{
	uint64_t bytes = lull_assembler_counters(stream->assembler)->bytes;

	stream->busy = false;
	if (stream->config.rows != NULL)
		receive_rows(stream);
	lull_phase_news(&stream->phase, iteration->now_ns, bytes - stream->seen_bytes);
	stream->seen_bytes = bytes;
}

/*
 * What is missing is asked for when no more packets wait: the answer may be among them. Packets of
 * other streams only do not tell whether this one's are fetched.
 */
static uint64_t
receive_ask(struct receive_iteration *iteration, struct camera_stream *stream, bool busy)
{
	if (iteration->count == 0 || (busy && iteration->count < CAMERA_BURST))
		return camera_control_iterate(stream->control, stream, iteration->now_ns);
	return iteration->now_ns; /* look again at once */
}

static uint64_t
receive_streams(struct receive_iteration *iteration)
{
	struct lull_receiver *receiver = iteration->receiver;
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];
		bool busy = stream->busy;
		uint64_t stream_ns;

		if (stream->assembler == NULL)
			continue;
		camera_images_take_back(receiver, stream);
		if (busy)
			receive_settle(iteration, stream);
		stream_ns = lull_assembler_deadline_ns(stream->assembler);
		if (stream_ns <= iteration->time_ns) {
			lull_assembler_expire(stream->assembler, iteration->time_ns);
			receive_give(iteration, stream);
			stream_ns = lull_assembler_deadline_ns(stream->assembler);
		}
		due_ns = LULL_MIN(due_ns, stream_ns);
		if (stream->control != NULL) {
			stream_ns = receive_ask(iteration, stream, busy);
			due_ns = LULL_MIN(due_ns, stream_ns);
		}
	}
	return due_ns;
}

/* A file can wait: no frame is dropped while the application has others to fetch. */
static bool
receive_must_wait(struct lull_receiver *receiver)
{
	for (uint32_t i = 0; receiver->backend->file && i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];

		if (stream->assembler == NULL || stream->config.policy != LULL_FRAME_DROP_NEWEST)
			continue;
		camera_images_take_back(receiver, stream);
		if (lull_assembler_buffers(stream->assembler) == 0 &&
		    camera_images_waiting(receiver, stream))
			return true;
	}
	return false;
}

static void
receive_gap(struct lull_receiver *receiver, uint64_t now_ns)
{
	uint64_t gap_ns;

	if (receiver->iteration_ended_ns == 0 || now_ns < receiver->iteration_ended_ns)
		return;
	gap_ns = now_ns - receiver->iteration_ended_ns;
	lull_histogram_add(&receiver->gaps, gap_ns, 1);
	if (gap_ns > GAP_LATE_NS)
		LULL_COUNTER_ADD(receiver->gaps_late, 1);
}

/* What looks like silence is none while packets may wait that came in meanwhile. A deadline that
 * the user set stands. */
static void
receive_silence(struct lull_receiver *receiver, bool counts)
{
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];

		if (stream->assembler != NULL && stream->config.deadline_ns == 0)
			lull_assembler_timeouts(stream->assembler, 0,
						counts ? stream->assembly.silence_ns : 0);
	}
}

/* After a rest, or when the thread was held up: as much may wait as the queue holds. */
static void
receive_behind(struct lull_receiver *receiver, uint64_t now_ns, uint32_t count)
{
	uint32_t before_pkts = receiver->behind_pkts;

	if (receiver->backend->file)
		return;
	if (now_ns - receiver->iteration_ns > AWAY_NS)
		receiver->behind_pkts = LULL_MAX(
			receiver->backend->ring_pkts(receiver->backend_state), BEHIND_PKTS_MIN);
	receiver->iteration_ns = now_ns;
	receiver->behind_pkts -=
		count > 0 ? LULL_MIN(count, receiver->behind_pkts) : receiver->behind_pkts;
	if ((before_pkts > 0) != (receiver->behind_pkts > 0))
		receive_silence(receiver, receiver->behind_pkts == 0);
}

uint32_t
camera_receive(struct lull_receiver *receiver, uint64_t now_ns, uint64_t *due_ns)
{
	struct receive_iteration iteration = { .receiver = receiver,
					       .now_ns = now_ns,
					       .time_ns = now_ns };
	struct lull_net_packet packets[CAMERA_BURST];
	uint32_t count = 0;

	receive_gap(receiver, now_ns);
	if (!receive_must_wait(receiver))
		count = receiver->backend->receive(receiver->backend_state, packets);
	receive_behind(receiver, now_ns, count);
	if (receiver->config.packets != NULL)
		camera_packets_report(receiver, packets, count);
	/* Fetching took its time: a frame that begins now has not begun before. */
	if (count > 0 && receiver->clock == LULL_CAMERA_CLOCK_POLL)
		iteration.now_ns = iteration.time_ns = LULL_MAX(now_ns, packets[0].stamp_ns);
	iteration.count = count;
	for (uint32_t i = 0; i < count; i++) {
		if (receiver->backend->file) {
			receiver->file_ns = LULL_MAX(receiver->file_ns, packets[i].stamp_ns);
			iteration.time_ns = receiver->file_ns;
			*due_ns = receive_streams(&iteration);
		}
		receive_packet(&iteration, &packets[i]);
	}
	if (count > 0)
		receiver->backend->release(receiver->backend_state);
	if (receiver->backend->file)
		iteration.time_ns = receiver->file_ns;
	*due_ns = receive_streams(&iteration);
	receiver->iteration_ended_ns = count > 0 ? lull_clock_ns() : now_ns;
	return count;
}

void
camera_receive_end(struct lull_receiver *receiver)
{
	struct receive_iteration iteration = { .receiver = receiver, .now_ns = lull_clock_ns() };

	iteration.time_ns = receiver->backend->file ? receiver->file_ns : iteration.now_ns;
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];

		if (stream->assembler == NULL)
			continue;
		camera_images_take_back(receiver, stream);
		lull_assembler_flush(stream->assembler, iteration.time_ns);
		receive_give(&iteration, stream);
	}
	camera_images_end(receiver);
}

uint64_t
camera_quiet_until_ns(const struct lull_receiver *receiver, uint64_t now_ns)
{
	uint64_t quiet_until_ns = UINT64_MAX;

	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		const struct camera_stream *stream = receiver->streams[i];
		uint64_t stream_ns = lull_phase_quiet_until_ns(&stream->phase, now_ns,
							       stream->claim.burst_bytes);

		/* A camera that is silent does not keep the thread awake for the others. */
		if (stream_ns != 0)
			quiet_until_ns = LULL_MIN(quiet_until_ns, stream_ns);
	}
	return quiet_until_ns == UINT64_MAX ? 0 : quiet_until_ns;
}
