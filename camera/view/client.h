/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View client: one who looks on, its requests and what it has not taken yet.
 *
 * A message is two numbers of 32 bits, most significant byte first, the lengths of header and body,
 * then the header, a JSON object, and the body.
 * Threads: one. Memory: what a slow client leaves is bounded: it gets no previews meanwhile, and
 *          goes when it does not even take the rest.
 */
#ifndef LULL_CAMERA_VIEW_CLIENT_H
#define LULL_CAMERA_VIEW_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include <lull/camera.h>

#include "request.h"

#define VIEW_LINE_MAX 1024

struct view_client {
	int fd; /**< -1: nobody */
	struct view_request request;
	/** Per stream: when the next preview is due, of a whole and of a partial frame. */
	uint64_t due_ns[LULL_CAMERA_STREAMS_MAX], partial_due_ns[LULL_CAMERA_STREAMS_MAX];

	char line[VIEW_LINE_MAX];
	size_t line_bytes;
	bool line_lost; /* it was too long: up to its end nothing is read */
	uint8_t *out;
	size_t out_room, out_begin, out_end;
};

/** Takes @p fd. */
void view_client_open(struct view_client *client, int fd);
/** Forget it, if there is one. */
void view_client_close(struct view_client *client);

/** May it have another preview? */
bool view_client_ready(const struct view_client *client);
/** Queue a message; takes @p header. false: it cannot be kept. */
bool view_client_send(struct view_client *client, json_t *header, const uint8_t *body,
		      size_t body_bytes);
bool view_client_has_output(const struct view_client *client);
/** As far as it goes without waiting; false: the client is gone. */
bool view_client_flush(struct view_client *client);
/** Read its lines; what is wrong with one is its answer. false: the client is gone. */
bool view_client_read(struct view_client *client);

/** Is a preview of this stream due? */
bool view_client_wants(const struct view_client *client, uint32_t stream, bool partial,
		       uint64_t now_ns);
/** It got one: when the next is due. */
void view_client_served(struct view_client *client, uint32_t stream, bool partial, uint64_t now_ns);

#endif
