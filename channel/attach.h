/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Attach: how a process gets a rail of lull-channel-node.
 *
 * The process connects to a Unix socket and asks for one rail; the answer tells what the rail is
 * and brings the memory of two rings and a descriptor to ring each side. The connection stays: who
 * hangs up, or dies, detaches. Both sides look at whose process the other is.
 *
 * The memory begins with struct channel_attach_facts; the ring to the node's program follows at
 * channel_attach_ring_at(0), the one to the process at channel_attach_ring_at(1).
 *
 * Threads: none of its own. Nothing here waits.
 */
#ifndef LULL_CHANNEL_ATTACH_H
#define LULL_CHANNEL_ATTACH_H

#include <stdatomic.h>
#include <sys/un.h>

#include <lull/bundle.h>

#include "host/error.h"

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

enum channel_attach_fd {
	CHANNEL_ATTACH_MEMORY,
	CHANNEL_ATTACH_TO_NODE,
	CHANNEL_ATTACH_TO_PROCESS,
	CHANNEL_ATTACH_FDS
};

/** What the node's program says of a rail while it runs. */
struct channel_attach_facts {
	atomic_uint mtu_bytes, mbps, up;
	atomic_uint missed_pkts; /* the ring to the process was full */
};

/** Memory of an attachment, and where its rings are. */
size_t channel_attach_bytes(uint32_t packet_bytes);
size_t channel_attach_ring_at(uint32_t ring, uint32_t packet_bytes);

/** @p words, or the usual place where they are empty; makes the folder of that if @p make. */
int channel_attach_path(const char *words, bool make, char path[CHANNEL_ATTACH_PATH_SIZE],
			struct lull_error *error);
/** May this process be talked to: ours, or root's? -EPERM: no. */
int channel_attach_allowed(int fd);

/** A connection that does not wait; -ENOENT, -ECONNREFUSED, -EPERM ... */
int channel_attach_connect(const char *path);
/** Ask for a rail. 0 or a negative errno. */
int channel_attach_ask(int fd, uint32_t rail, uint32_t port);
/**
 * Read the answer. 0; -EAGAIN: it has not come; -ECONNRESET: the other side hung up; -EPROTO: it is
 * none. @p fds are -1 unless it has an attachment.
 */
int channel_attach_read(int fd, struct channel_attach_answer *answer, int fds[CHANNEL_ATTACH_FDS]);

/** Read a request; as channel_attach_read(). */
int channel_attach_request_read(int fd, struct channel_attach_request *request);
/** Answer it; @p fds may be NULL. 0 or a negative errno. */
int channel_attach_reply(int fd, struct channel_attach_answer *answer, const int *fds);

/** Memory of @p size bytes, zeros, that nobody can make shorter; its descriptor. */
int channel_attach_memory(size_t size);
/** Map it; @p size is checked, and that it cannot shrink. NULL: it is not what it should be. */
void *channel_attach_map(int fd, size_t size);

#endif
