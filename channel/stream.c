/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream.h"

#include <errno.h>
#include <string.h>

void
channel_stream_begin(struct channel_stream *stream, uint8_t *memory)
{
	memset(stream, 0, sizeof(*stream));
	for (uint32_t i = 0; i < CHANNEL_STREAM_PIECES; i++) {
		stream->in[i].bytes = memory + 2 * i * CHANNEL_STREAM_PIECE_BYTES;
		stream->out[i].bytes = memory + (2 * i + 1) * CHANNEL_STREAM_PIECE_BYTES;
	}
}

void
channel_stream_end(struct channel_stream *stream, int error)
{
	stream->out_error = error;
}

/* ---- in ---- */

static struct channel_piece *
stream_in(struct channel_stream *stream, uint32_t number)
{
	return &stream->in[number % CHANNEL_STREAM_PIECES];
}

/* As many of the waiting heads as there is room for, in their order. */
static void
stream_accept(struct channel_stream *stream, struct lull_bundle *bundle, uint32_t peer,
	      uint64_t now_ns)
{
	while (stream->waiting_first != stream->waiting_end &&
	       stream->in_end - stream->in_first < CHANNEL_STREAM_PIECES) {
		uint32_t handle = stream->waiting[stream->waiting_first++ % CHANNEL_STREAM_WAITING];
		struct channel_piece *piece = stream_in(stream, stream->in_end);

		if (lull_bundle_accept(bundle, now_ns, peer, handle, piece->bytes,
				       CHANNEL_STREAM_PIECE_BYTES, piece) != 0)
			continue;
		piece->whole = false;
		piece->busy = true;
		stream->in_end++;
	}
}

void
channel_stream_head(struct channel_stream *stream, struct lull_bundle *bundle, uint64_t now_ns,
		    const struct lull_bundle_event *event)
{
	if (event->len_bytes > CHANNEL_STREAM_PIECE_BYTES ||
	    stream->waiting_end - stream->waiting_first == CHANNEL_STREAM_WAITING) {
		lull_bundle_refuse(bundle, now_ns, event->peer, event->handle);
		return;
	}
	stream->waiting[stream->waiting_end++ % CHANNEL_STREAM_WAITING] = event->handle;
	stream_accept(stream, bundle, event->peer, now_ns);
}

void
channel_stream_ended(struct channel_stream *stream, const struct lull_bundle_event *event)
{
	struct channel_piece *piece = event->context;

	piece->busy = false;
	if (event->type == LULL_BUNDLE_SENT) {
		if (event->error != 0)
			stream->out_error = event->error;
	} else if (event->error == 0) {
		piece->len_bytes = (uint32_t)event->len_bytes;
		piece->whole = true;
	}
}

/* The first piece was read. */
static void
stream_next(struct channel_stream *stream)
{
	stream_in(stream, stream->in_first)->whole = false;
	stream->in_first++;
	stream->in_read = 0;
}

uint32_t
channel_stream_read(struct channel_stream *stream, struct lull_bundle *bundle, uint32_t peer,
		    uint64_t now_ns, uint8_t *buffer, uint64_t size_bytes)
{
	uint32_t total = 0;

	while (!stream->in_shut && stream->in_first != stream->in_end && total < size_bytes) {
		struct channel_piece *piece = stream_in(stream, stream->in_first);
		uint32_t count;

		if (!piece->whole)
			break;
		count = (uint32_t)LULL_MIN(
			(uint64_t)(piece->len_bytes - stream->in_read),
			LULL_MIN(size_bytes - total, (uint64_t)(UINT32_MAX / 2 - total)));
		memcpy(buffer + total, piece->bytes + stream->in_read, count);
		total += count;
		stream->in_read += count;
		stream->in_shut = piece->len_bytes == 0;
		if (stream->in_read < piece->len_bytes)
			break;
		stream_next(stream);
	}
	stream_accept(stream, bundle, peer, now_ns);
	return total;
}

bool
channel_stream_read_all(const struct channel_stream *stream)
{
	return stream->in_shut;
}

/* ---- out ---- */

/* One that is not with the bundle; NULL: none. */
static struct channel_piece *
stream_out(struct channel_stream *stream)
{
	for (uint32_t i = 0; i < CHANNEL_STREAM_PIECES; i++)
		if (!stream->out[i].busy)
			return &stream->out[i];
	return NULL;
}

static int
stream_send(struct channel_piece *piece, struct lull_bundle *bundle, uint32_t peer, uint64_t now_ns,
	    uint16_t endpoint)
{
	const struct lull_bundle_message message = { .data = piece->bytes,
						     .len_bytes = piece->len_bytes,
						     .from = endpoint,
						     .to = CHANNEL_STREAM_ENDPOINT,
						     .matched = true,
						     .context = piece };
	int rc = lull_bundle_send(bundle, now_ns, peer, &message);

	piece->busy = rc == 0;
	return rc;
}

int64_t
channel_stream_write(struct channel_stream *stream, struct lull_bundle *bundle, uint32_t peer,
		     uint64_t now_ns, uint16_t endpoint, const uint8_t *data, uint64_t len_bytes)
{
	struct channel_piece *piece = stream_out(stream);
	int rc;

	if (stream->out_error != 0)
		return stream->out_error;
	if (stream->out_shut)
		return -EPIPE;
	if (piece == NULL)
		return 0;
	piece->len_bytes = (uint32_t)LULL_MIN(len_bytes, (uint64_t)CHANNEL_STREAM_PIECE_BYTES);
	memcpy(piece->bytes, data, piece->len_bytes);
	rc = stream_send(piece, bundle, peer, now_ns, endpoint);
	if (rc == -EAGAIN)
		return 0;
	return rc == 0 ? (int64_t)piece->len_bytes : rc;
}

int
channel_stream_shut(struct channel_stream *stream, struct lull_bundle *bundle, uint32_t peer,
		    uint64_t now_ns, uint16_t endpoint)
{
	struct channel_piece *piece = stream_out(stream);
	int rc;

	if (stream->out_error != 0)
		return stream->out_error;
	if (stream->out_shut)
		return 0;
	if (piece == NULL)
		return -EAGAIN;
	piece->len_bytes = 0;
	rc = stream_send(piece, bundle, peer, now_ns, endpoint);
	stream->out_shut = rc == 0;
	return rc;
}

bool
channel_stream_written(const struct channel_stream *stream)
{
	for (uint32_t i = 0; i < CHANNEL_STREAM_PIECES; i++)
		if (stream->out[i].busy)
			return false;
	return true;
}
