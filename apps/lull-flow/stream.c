/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unpack.h"

#define PACKED_BYTES 65536u
#define WINDOW_BYTES (256u << 10)
#define WINDOW_BYTES_MAX (33u << 20)

bool
flow_stream_is_packed(const uint8_t first[FLOW_STREAM_FIRST_BYTES])
{
	return flow_unpack_method(first, FLOW_STREAM_FIRST_BYTES) != FLOW_UNPACK_NONE;
}

int
flow_stream_open(struct flow_stream *stream, int fd, bool regular)
{
	*stream = (struct flow_stream){ .fd = fd, .regular = regular, .room = WINDOW_BYTES };
	stream->data = malloc(stream->room);
	stream->packed = malloc(PACKED_BYTES);
	return stream->data != NULL && stream->packed != NULL ? 0 : -ENOMEM;
}

void
flow_stream_close(struct flow_stream *stream)
{
	flow_unpack_close(stream->unpacker);
	free(stream->data);
	free(stream->packed);
	*stream = (struct flow_stream){ .fd = -1 };
}

static enum flow_stream_result
stream_broken(struct flow_stream *stream, bool cut, const char *reason)
{
	stream->reason = reason;
	stream->cut = cut;
	return FLOW_STREAM_BROKEN;
}

/* Read once, and only what is there. */
static enum flow_stream_result
stream_read(struct flow_stream *stream, uint8_t *bytes, size_t room, size_t *got)
{
	struct pollfd wait = { .fd = stream->fd, .events = POLLIN };
	ssize_t count;

	if (!stream->regular && poll(&wait, 1, 0) == 0)
		return FLOW_STREAM_WAIT;
	count = read(stream->fd, bytes, room);
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ?
			       FLOW_STREAM_WAIT :
			       stream_broken(stream, true, "it cannot be read any more");
	*got += (size_t)count;
	stream->ended = count == 0;
	return stream->ended ? FLOW_STREAM_END : FLOW_STREAM_MORE;
}

/* The first bytes tell whether all is compressed; if not, they are the first of the window. */
static enum flow_stream_result
stream_decide(struct flow_stream *stream)
{
	enum flow_unpack_method method;

	while (stream->packed_len < FLOW_STREAM_FIRST_BYTES && !stream->ended) {
		enum flow_stream_result result =
			stream_read(stream, stream->packed + stream->packed_len,
				    PACKED_BYTES - stream->packed_len, &stream->packed_len);

		if (result == FLOW_STREAM_WAIT || result == FLOW_STREAM_BROKEN)
			return result;
	}
	stream->decided = true;
	method = flow_unpack_method(stream->packed, stream->packed_len);
	if (method == FLOW_UNPACK_NONE) {
		memcpy(stream->data, stream->packed, stream->packed_len);
		stream->len = stream->packed_len;
		return stream->len > 0 ? FLOW_STREAM_MORE : FLOW_STREAM_END;
	}
	stream->unpacker = flow_unpack_open(method, &stream->reason);
	return stream->unpacker != NULL ? FLOW_STREAM_WAIT : FLOW_STREAM_BROKEN;
}

/* What the library holds back comes first; then more is read. */
static enum flow_stream_result
stream_unpack(struct flow_stream *stream)
{
	size_t before = stream->len;

	for (;;) {
		enum flow_stream_result result;

		stream->reason =
			flow_unpack(stream->unpacker, stream->packed, stream->packed_len,
				    &stream->packed_at, stream->data, stream->room, &stream->len);
		if (stream->reason != NULL)
			return FLOW_STREAM_BROKEN;
		if (stream->len > before)
			return FLOW_STREAM_MORE;
		if (stream->packed_at < stream->packed_len)
			continue;
		if (stream->ended)
			return flow_unpack_whole(stream->unpacker) ?
				       FLOW_STREAM_END :
				       stream_broken(stream, true, "compressed data end too early");
		stream->packed_at = stream->packed_len = 0;
		result = stream_read(stream, stream->packed, PACKED_BYTES, &stream->packed_len);
		if (result == FLOW_STREAM_WAIT || result == FLOW_STREAM_BROKEN)
			return result;
	}
}

/* Room for more behind the window. */
static bool
stream_make_room(struct flow_stream *stream)
{
	size_t room = stream->room;
	uint8_t *data;

	if (stream->len < room)
		return true;
	room = room * 2 < WINDOW_BYTES_MAX ? room * 2 : WINDOW_BYTES_MAX;
	data = room > stream->room ? realloc(stream->data, room) : NULL;
	if (data == NULL)
		return false;
	stream->data = data;
	stream->room = room;
	return true;
}

enum flow_stream_result
flow_stream_fill(struct flow_stream *stream, size_t used)
{
	if (used > 0) {
		memmove(stream->data, stream->data + used, stream->len - used);
		stream->len -= used;
	}
	if (stream->reason != NULL)
		return FLOW_STREAM_BROKEN;
	if (!stream_make_room(stream))
		return stream_broken(stream, false, "no room for a block of it");
	if (!stream->decided) {
		enum flow_stream_result result = stream_decide(stream);

		if (!stream->decided || stream->unpacker == NULL)
			return result;
	}
	if (stream->unpacker != NULL)
		return stream_unpack(stream);
	if (stream->ended)
		return FLOW_STREAM_END;
	return stream_read(stream, stream->data + stream->len, stream->room - stream->len,
			   &stream->len);
}
