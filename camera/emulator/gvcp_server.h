/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gvcp server: the camera's end of the GigE Vision control protocol.
 *
 * Answers discovery and reads of anybody; one client at a time has control: it alone writes, starts
 * and stops the stream and asks for packets again, and it loses control when it is silent for the
 * time in the heartbeat register. With a fixed destination (--to) the camera streams without a
 * client, and anybody may ask for packets again.
 * Threads: one. Memory: the caller's struct.
 */
#ifndef LULL_EMULATOR_GVCP_SERVER_H
#define LULL_EMULATOR_GVCP_SERVER_H

#include "camera.h"
#include "registers.h"

#define GVCP_SERVER_FDS 2

struct gvcp_server {
	struct emulator_camera *camera;
	int fds[GVCP_SERVER_FDS]; /* control, broadcasts; the last may be -1 */
	struct registers registers;
	bool controlled;
	struct sockaddr_in client;
	uint64_t heard_ns; /* from the client */
	uint64_t discoveries, commands, refusals, timeouts;
};

/** 0 or -errno and the sentence; close in any case. */
int gvcp_server_open(struct gvcp_server *server, struct emulator_camera *camera,
		     struct lull_error *error);
void gvcp_server_close(struct gvcp_server *server);
/** Take what has come; never waits. */
void gvcp_server_iterate(struct gvcp_server *server, uint64_t now_ns);
/** When the client has been silent for too long; UINT64_MAX: never. */
uint64_t gvcp_server_deadline_ns(const struct gvcp_server *server);

#endif
