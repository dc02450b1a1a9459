/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Attach: how a process gets a rail of lull-channel-node.
 *
 * The process connects to a Unix socket and asks for one rail; the answer tells what the rail is
 * and brings its side of a lane (lane.h) to the node's program. The connection stays: who hangs up,
 * or dies, detaches. Both sides look at whose process the other is.
 *
 * When two processes talk to each other on a rail, the program tells each of the other's port, a
 * *meeting*, with a side of a lane between the two. It has no part in what goes there.
 *
 * Threads: none of its own. Nothing here waits.
 */
#ifndef LULL_CHANNEL_ATTACH_H
#define LULL_CHANNEL_ATTACH_H

#include <sys/un.h>

#include <lull/bundle.h>

#include "host/error.h"
#include "lane.h"

#define CHANNEL_ATTACH_PATH_SIZE sizeof(((struct sockaddr_un *)0)->sun_path)
#define CHANNEL_ATTACH_COUNT UINT32_MAX /* as a rail: only tell how many there are */

struct channel_attach_request {
	uint32_t magic, version; /* filled in by channel_attach_ask() */
	uint32_t rail;           /* from 0, or CHANNEL_ATTACH_COUNT */
	uint32_t port;           /* as it was before; 0: any */
};

struct channel_attach_answer {
	uint32_t magic, version; /* filled in by channel_attach_reply() */
	int32_t error;           /* 0, or a negative errno: no descriptors come with it */
	uint32_t rail_count;
	uint32_t port;
	/** As the process shall tell its bundle: the address of the node's rail and the port. */
	struct lull_bundle_rail rail;
};

/** Another process of this node that has the same rail. */
struct channel_attach_meeting {
	uint32_t magic, version; /* filled in by channel_attach_meet() */
	uint32_t port;           /* the other's */
	uint32_t side;           /* of the lane: ours */
};

/** Sides of the lane between the node's program and a process. */
enum channel_attach_side { CHANNEL_ATTACH_PROCESS, CHANNEL_ATTACH_NODE };

/** @p words, or the usual place where they are empty; makes the folder of that if @p make. */
int channel_attach_path(const char *words, bool make, char path[CHANNEL_ATTACH_PATH_SIZE],
			struct lull_error *error);
/** May this process be talked to: ours, or root's? -EPERM: no. */
int channel_attach_allowed(int fd);

/** Whose process is at the other end? 0 or a negative errno. */
int channel_attach_uid(int fd, uint32_t *uid);

/** A connection that does not wait; -ENOENT, -ECONNREFUSED, -EPERM ... */
int channel_attach_connect(const char *path);
/** Ask for a rail. 0 or a negative errno. */
int channel_attach_ask(int fd, uint32_t rail, uint32_t port);
/**
 * Read the answer. 0; -EAGAIN: it has not come; -ECONNRESET: the other side hung up; -EPROTO: it is
 * none. @p fds are -1 unless it has an attachment, and the caller's then.
 */
int channel_attach_read(int fd, struct channel_attach_answer *answer, int fds[CHANNEL_LANE_FDS]);
/** Read a meeting; as channel_attach_read(). -EMFILE: this process may open no more files. */
int channel_attach_meeting_read(int fd, struct channel_attach_meeting *meeting,
				int fds[CHANNEL_LANE_FDS]);

/** Read a request; as channel_attach_read(). */
int channel_attach_request_read(int fd, struct channel_attach_request *request);
/** Answer it; @p fds may be NULL. 0 or a negative errno. */
int channel_attach_reply(int fd, struct channel_attach_answer *answer, const int *fds);

/** Tell of a meeting; as channel_attach_reply(). */
int channel_attach_meet(int fd, struct channel_attach_meeting *meeting, const int *fds);

#endif
