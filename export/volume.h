/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink volume: what is written to a file of the file system between two rotations.
 *
 * The instances of an exporter share one struct sink_file. Each writes whole units to the volume
 * that it holds, and moves to the newest one at a moment that suits its format. A volume that was
 * rotated away gets its final name when the last instance has left it, by one rename: under that
 * name it is whole.
 *
 * Threads: open, close, turn and reopen from the main thread; the rest from any loop.
 * Memory:  allocated; a volume is freed when nobody holds it.
 */
#ifndef LULL_FLOW_SINK_VOLUME_H
#define LULL_FLOW_SINK_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

struct sink_file;   /* opaque */
struct sink_volume; /* opaque */

struct sink_file_config {
	const char *path;      /**< borrowed; a link is resolved each time it is opened */
	bool append;           /**< keep what is there */
	uint64_t rotate_ns;    /**< a new volume at each multiple of this since 1970; 0: never */
	uint64_t rotate_bytes; /**< a new volume when one has so many; 0: never */
	/**
	 * Make what is there fit to be continued, such as behind a crash, @p size bytes in all.
	 * 0 or -errno and the sentence.
	 */
	int (*mend)(int fd, uint64_t size, struct lull_error *error);
};

/** Is there nothing at @p path, or a regular file? Anything else is written in place. */
bool sink_file_suits(const char *path);
/** 0 or -errno and the sentence. */
int sink_file_open(const struct sink_file_config *config, struct sink_file **file,
		   struct lull_error *error);
/** All instances have left. NULL is ignored. */
void sink_file_close(struct sink_file *file);
/**
 * Begin a new volume if it is time, by CLOCK_REALTIME. 1: begun, 0: none, or -errno and the
 * sentence: the old one goes on, and some seconds pass before the next try.
 */
int sink_file_turn(struct sink_file *file, uint64_t time_ns, struct lull_error *error);
/**
 * Somebody may have moved the file: open its path anew. 1: it was moved, 0: it was not, or -errno
 * and the sentence: the old one goes on.
 */
int sink_file_reopen(struct sink_file *file, struct lull_error *error);

/** Hold the newest volume. */
struct sink_volume *sink_volume_join(struct sink_file *file);
void sink_volume_leave(struct sink_file *file, struct sink_volume *volume);
/** Is there a newer one? */
bool sink_volume_is_old(const struct sink_file *file, const struct sink_volume *volume);
/** Write a whole unit. 0 or an errno: nothing of it is in the file then. */
int sink_volume_write(struct sink_volume *volume, const void *bytes, size_t len);

/** CLOCK_REALTIME. */
uint64_t sink_time_ns(void);

#endif
