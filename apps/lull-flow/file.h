/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * File: one capture, mapped or as a stream, and the times of its packets.
 *
 * A stamp that lies far off those before and behind it, as a broken clock or a
 * broken file gives it, would stop all clocks: such a packet gets the time of
 * the one before it.
 *
 * Threads: one at a time; counters by any.
 * Memory:  the caller's, and what its members point at.
 */
#ifndef LULL_FLOW_FILE_H
#define LULL_FLOW_FILE_H

#include <lull/capture.h>

#include "interfaces.h"
#include "stream.h"

struct flow_file {
	char *path;
	int fd;                     /* stays open: to see whether the file is still as long */
	struct flow_stream *stream; /* NULL: mapped */
	size_t base;                /* bytes of the stream that have left the window */
	bool opened;                /* its header has been read */
	struct flow_interfaces *interfaces; /* get names; NULL: nobody wants them */
	const uint8_t *data;                /* mapped */
	size_t size;
	size_t prefetched; /* up to here */
	size_t released;   /* mapped pages up to here were let go */
	bool torn;         /* some of its bytes were gone when they were read; set by any thread */
	uint64_t looked;   /* number of the call that did */
	struct lull_capture capture;       /* its result, offset and reason tell how it ended */
	struct lull_capture_packet packet; /* the next one */
	uint64_t time_ns;                  /* of that, or of the last one that had a time */
	bool begun;                        /* time_ns is set */
	bool undecided; /* packet has come, what decides about its time has not */
	bool finished;  /* nothing more comes into the window */
};

/** Of all files together, packets. */
struct flow_file_counters {
	uint64_t untimed; /* without a time: they get that of the one before */
	uint64_t back;    /* stamped earlier than one before them in their file */
	uint64_t wild;    /* stamped far off all around them: they got another time */
};

enum flow_file_next {
	FLOW_FILE_PACKET, /* file->packet and file->time_ns are those of the next */
	FLOW_FILE_NONE,   /* the capture has ended; its result tells how */
	FLOW_FILE_LATER,  /* ask flow_file_fill() */
};
/** Look at the next packet, in what is in memory. */
enum flow_file_next flow_file_next(struct flow_file_counters *counters, struct flow_file *file);
/**
 * The same of a stream, after filling its window; what was read from it before is not valid any
 * more. LATER: a pipe has nothing now.
 */
enum flow_file_next flow_file_fill(struct flow_file_counters *counters, struct flow_file *file);
/** The capture has been opened: ask it for names. */
void flow_file_describe(struct flow_file *file);
/** The window has changed: go on at the offset, or read the header. */
void flow_file_resume(struct flow_file *file);
/** Release what it holds. */
void flow_file_close(struct flow_file *file);

#endif
