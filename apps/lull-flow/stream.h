/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stream: bytes that cannot be mapped, because they come from a pipe or are compressed.
 *
 * It holds a window of them, which the caller moves on: up to 33 MB, so that the longest block of
 * a capture fits. What is compressed by gzip or zstd is seen by its first bytes; several parts
 * behind each other are one stream.
 *
 * Threads: one at a time.
 * Memory:  of the heap; the window moves when it is filled.
 */
#ifndef LULL_FLOW_STREAM_H
#define LULL_FLOW_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_STREAM_FIRST_BYTES 4 /* tell whether a file is compressed */

enum flow_stream_result {
	FLOW_STREAM_MORE, /* the window has bytes that it had not before */
	FLOW_STREAM_WAIT, /* none now, perhaps later: the pipe is empty */
	FLOW_STREAM_END,
	FLOW_STREAM_BROKEN, /* reason tells how */
};

struct flow_stream {
	uint8_t *data; /* the window */
	size_t len;
	const char *reason; /* NULL while nothing is wrong; static */
	bool cut;           /* what is wrong: it ends too early */
	/* the rest is private */
	int fd;
	bool regular; /* a file: there is never anything to wait for */
	bool decided; /* whether it is compressed, and by what */
	bool ended;   /* nothing more comes from fd */
	size_t room;
	struct flow_unpacker *unpacker; /* NULL: not compressed */
	uint8_t *packed;                /* read and not yet unpacked */
	size_t packed_at, packed_len;
};

/** Is a file that begins like this compressed by what is read here? */
bool flow_stream_is_packed(const uint8_t first[FLOW_STREAM_FIRST_BYTES]);
/** Begin to read @p fd, which must stay open. 0 or -ENOMEM; close it in any case. */
int flow_stream_open(struct flow_stream *stream, int fd, bool regular);
/** Forget the first @p used bytes of the window, and add to it what there is. */
enum flow_stream_result flow_stream_fill(struct flow_stream *stream, size_t used);
void flow_stream_close(struct flow_stream *stream);

#endif
