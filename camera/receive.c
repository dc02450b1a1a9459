/* SPDX-License-Identifier: BSD-3-Clause */
/* An iteration of the receiving thread: packets to streams, and what is due. */
#include <string.h>

#include "control.h"
#include "packets.h"
#include "receiver.h"

/*
 * An iteration that begins so long after the one before may find a queue of what came in meanwhile.
 */
#define AWAY_NS LULL_NS_PER_MS
#define BEHIND_PKTS_MIN 65536u /* sockets tell bytes, not packets */
#define GAP_LATE_NS (100 * LULL_NS_PER_US)

/* ---- packets ---- */

static bool
receive_is_from(const struct camera_stream *stream, const struct lull_net_packet *packet)
{
	const struct lull_net_source *source = &stream->claim.source;
	uint32_t port = atomic_load_explicit(&stream->source_port, memory_order_relaxed);

	if (port != 0 && packet->source_port != port)
		return false;
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
receive_search(struct camera_iteration *iteration, const struct lull_net_packet *packet, bool any,
	       struct receive_search *search)
{
	for (uint32_t at = packet->first; at != 0;
	     at = iteration->receiver->streams[at - 1]->next) {
		struct camera_stream *stream = iteration->receiver->streams[at - 1];
		const struct lull_net_claim *claim = &stream->claim;

		if (lull_net_ip_is_any(&claim->address) != any ||
		    (!any && !lull_net_ip_same(&claim->address, &packet->destination)))
			continue;
		if (!receive_is_from(stream, packet))
			search->strange = stream;
		else if (camera_fragments_offer(iteration, stream, packet))
			return true;
		else
			search->foreign = stream;
	}
	return false;
}

static void
receive_packet(struct camera_iteration *iteration, const struct lull_net_packet *packet)
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
		camera_fragments_verdict(search.foreign, LULL_FRAME_FOREIGN);
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
receive_settle(struct camera_iteration *iteration, struct camera_stream *stream)
{
	uint64_t bytes = lull_assembler_counters(stream->assembler)->bytes;

	stream->busy = false;
	if (stream->config.rows != NULL)
		receive_rows(stream);
	lull_phase_news(&stream->phase, iteration->time_ns, bytes - stream->seen_bytes);
	stream->seen_bytes = bytes;
}

/*
 * What is missing is asked for when no more packets wait: the answer may be among them. Packets of
 * other streams only do not tell whether this one's are fetched.
 */
static uint64_t
receive_ask(struct camera_iteration *iteration, struct camera_stream *stream, bool busy)
{
	if (iteration->count == 0 || (busy && iteration->count < CAMERA_BURST))
		return camera_control_iterate(stream->control, stream, iteration->now_ns);
	return iteration->now_ns; /* look again at once */
}

static uint64_t
receive_streams(struct camera_iteration *iteration)
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
			camera_fragments_give(iteration, stream);
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

/*
 * When the packets fetched in this iteration may have come at the earliest: not before the queue
 * was last seen to be empty, by an iteration that fetched less than a burst. Returns it.
 */
static uint64_t
receive_since(struct lull_receiver *receiver, uint64_t now_ns, uint32_t count)
{
	const struct lull_net_backend *backend = receiver->backend;
	uint64_t since_ns = receiver->empty_ns != 0 ? receiver->empty_ns : now_ns;
	uint64_t unclaimed = 0;

	if (receiver->origin != LULL_CAMERA_ORIGIN_BOUND)
		return now_ns;
	if (backend->unclaimed != NULL)
		unclaimed = backend->unclaimed(receiver->backend_state);
	if (count + (unclaimed - receiver->unclaimed_seen) < LULL_NET_BURST)
		receiver->empty_ns = now_ns;
	receiver->unclaimed_seen = unclaimed;
	return since_ns;
}

uint32_t
camera_receive(struct lull_receiver *receiver, uint64_t now_ns, uint64_t *due_ns)
{
	struct camera_iteration iteration = { .receiver = receiver,
					      .now_ns = now_ns,
					      .time_ns = now_ns };
	struct lull_net_packet packets[CAMERA_BURST];
	uint32_t count = 0;

	receiver->iterating = true;
	receive_gap(receiver, now_ns);
	if (!receive_must_wait(receiver))
		count = receiver->backend->receive(receiver->backend_state, packets);
	receive_behind(receiver, now_ns, count);
	iteration.since_ns = receive_since(receiver, now_ns, count);
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
	receiver->iterating = false;
	return count;
}

void
camera_receive_end(struct lull_receiver *receiver)
{
	struct camera_iteration iteration = { .receiver = receiver, .now_ns = lull_clock_ns() };

	iteration.time_ns = receiver->backend->file ? receiver->file_ns : iteration.now_ns;
	receiver->iterating = true;
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];

		if (stream->assembler == NULL)
			continue;
		camera_images_take_back(receiver, stream);
		lull_assembler_flush(stream->assembler, iteration.time_ns);
		camera_fragments_give(&iteration, stream);
	}
	receiver->iterating = false;
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
