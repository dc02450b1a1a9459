/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets: what the receiving thread got, into a pcapng file: all of it, or the last of it when
 * asked.
 *
 * Memory in segments lies between the receiving thread, which fills them one after the other and
 * never waits, and a thread that writes. All: what does not fit is left out. On demand: the oldest
 * is given up for the newest, but not while it is being written.
 * Threads: take belongs to the receiving thread, all else to one other.
 * Memory:  what open is told.
 */
#ifndef LULL_CAM_PACKETS_H
#define LULL_CAM_PACKETS_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include <lull/camera.h>

#include "host/error.h"

#define CAM_PACKETS_SEGMENTS 8
#define CAM_PACKETS_ROOM_MIN (1U << 20)

enum cam_packets_when { CAM_PACKETS_ALL, CAM_PACKETS_PARTIAL, CAM_PACKETS_SIGNAL };

struct cam_packets {
	const char *path; /* NULL: not asked for */
	bool all;
	int fd, kick_fd;
	uint8_t *memory;
	uint32_t segment_bytes;
	pthread_t thread;
	bool runs;
	atomic_bool asked, stop;
	/* the writing thread's, until it has ended */
	uint64_t written; /* packets */
	int failed;       /* errno of the file; 0: none */

	/* the receiving thread's */
	alignas(LULL_CACHE_LINE) uint64_t left_out; /* packets */

	/* both: under the lock all but used, which is added to by the one and read by the other */
	alignas(LULL_CACHE_LINE) pthread_mutex_t lock;
	uint32_t current;
	struct packets_segment {
		_Atomic uint32_t used; /* bytes of whole blocks */
		uint32_t written;      /* of them in the file */
		bool kept;             /* is about to be written */
	} segments[CAM_PACKETS_SEGMENTS];
};

/**
 * Create the file. @p path is borrowed until close, @p backend not.
 *
 * @param room  bytes of memory, at least CAM_PACKETS_ROOM_MIN
 */
int cam_packets_open(struct cam_packets *packets, const char *path, enum cam_packets_when when,
		     uint64_t room, const char *backend, struct lull_error *error);
/** A lull_camera_packets; @p arg is the struct. */
void cam_packets_take(void *arg, const struct lull_camera_packet *packets, uint32_t count);
/** Let what is there be written soon. */
void cam_packets_ask(struct cam_packets *packets);
/**
 * Write what is asked for, or all, and close the file; take may still be called. 0, or -errno and
 * the sentence: not all reached the disk.
 */
int cam_packets_end(struct cam_packets *packets, struct lull_error *error);
/** The receiving thread is gone. */
void cam_packets_close(struct cam_packets *packets);

#endif
