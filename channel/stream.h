/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stream: bytes to and from a peer, as messages to an endpoint of their own.
 *
 * Each direction has a ring of pieces. A message that comes when all are full waits at its sender:
 * the bundle grants no more until it is accepted. An empty message says that the other side
 * writes no more. What has come stays readable when the peer is gone.
 *
 * Threads: under the lock of the channel. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_STREAM_H
#define LULL_CHANNEL_STREAM_H

#include <lull/bundle.h>
#include <lull/channel.h>

#define CHANNEL_STREAM_ENDPOINT UINT16_MAX
#define CHANNEL_STREAM_PIECES 8 /* a power of two */
#define CHANNEL_STREAM_PIECE_BYTES (64u << 10)
/** Of each peer. */
#define CHANNEL_STREAM_MEMORY (2ULL * CHANNEL_STREAM_PIECES * CHANNEL_STREAM_PIECE_BYTES)
#define CHANNEL_STREAM_WAITING 256u /* heads that wait for a piece, a power of two */

struct channel_piece {
	uint8_t *bytes;
	uint32_t len_bytes;
	bool busy;  /* with the bundle */
	bool whole; /* came, and can be read */
};
struct channel_stream {
	/* in: those of in_first up to in_end were accepted */
	struct channel_piece in[CHANNEL_STREAM_PIECES];
	uint32_t in_first, in_end;
	uint32_t in_read; /* bytes of the first that were read */
	bool in_shut;
	uint32_t waiting[CHANNEL_STREAM_WAITING]; /* handles */
	uint32_t waiting_first, waiting_end;

	/* out */
	struct channel_piece out[CHANNEL_STREAM_PIECES];
	bool out_shut;
	int out_error; /* a message was refused, or the peer is gone */
};

/** Begin anew with a peer; @p memory: CHANNEL_STREAM_MEMORY bytes. */
void channel_stream_begin(struct channel_stream *stream, uint8_t *memory);
/** The peer is gone: nothing more comes or goes. */
void channel_stream_end(struct channel_stream *stream, int error);
/** A message began: accept it now or later, or refuse it when it is no piece of a stream. */
void channel_stream_head(struct channel_stream *stream, struct lull_bundle *bundle, uint64_t now_ns,
			 const struct lull_bundle_event *event);
/** A message that was accepted or sent has ended: event->context is a piece. */
void channel_stream_ended(struct channel_stream *stream, const struct lull_bundle_event *event);

/** Copy out what is there: bytes, 0: nothing now. Accepts what waited for room. */
uint32_t channel_stream_read(struct channel_stream *stream, struct lull_bundle *bundle,
			     uint32_t peer, uint64_t now_ns, uint8_t *buffer, uint64_t size_bytes);
/** All was read, and no more will come. */
bool channel_stream_read_all(const struct channel_stream *stream);
/** Send a piece: bytes taken, 0: no room now; a negative errno. */
int64_t channel_stream_write(struct channel_stream *stream, struct lull_bundle *bundle,
			     uint32_t peer, uint64_t now_ns, uint16_t endpoint, const uint8_t *data,
			     uint64_t len_bytes);
/** Say that no more is written: 0, -EAGAIN: no room now; a negative errno. */
int channel_stream_shut(struct channel_stream *stream, struct lull_bundle *bundle, uint32_t peer,
			uint64_t now_ns, uint16_t endpoint);
/** Nothing that was written is under way. */
bool channel_stream_written(const struct channel_stream *stream);

#endif
