/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipe: messages to and from one peer, in order, several under way in both directions.
 *
 * Buffers lie in two rings. What is to be sent is written where copy_pipe_room() says and leaves in
 * that order; what came is taken in the order in which it was sent, whichever was whole first.
 * Threads: one. Memory: the buffers, from open until nothing is under way any more.
 */
#ifndef LULL_CHANNEL_COPY_PIPE_H
#define LULL_CHANNEL_COPY_PIPE_H

#include <lull/channel.h>

#include "message.h"

struct copy_slot {
	struct copy_pipe *pipe;
	uint8_t *bytes;
	uint64_t len;
	uint8_t kind; /* enum copy_kind */
	bool under_way;
	bool ready; /* to be sent; or here */
};
struct copy_ring {
	struct copy_slot *slots;
	uint8_t *memory;
	uint32_t count;
	uint64_t slot_bytes;
	uint64_t head; /* next one to fill, or to take */
	uint64_t tail; /* next one to send, or to post */
};
struct copy_pipe {
	struct lull_channel *channel;
	uint32_t peer;
	uint16_t endpoint;
	struct copy_ring out, in;
	uint32_t under_way;   /* operations */
	int error;            /* negative errno: no more is sent or received */
	uint64_t moved_bytes; /* received there, or here */
};

/** Rings of so many buffers of so many bytes; receives are posted. 0, -ENOMEM. */
int copy_pipe_open(struct copy_pipe *pipe, struct lull_channel *channel, uint32_t peer,
		   uint16_t endpoint, uint32_t out_count, uint64_t out_bytes, uint32_t in_count,
		   uint64_t in_bytes);
/** Only when nothing is under way, or the channel has closed. */
void copy_pipe_close(struct copy_pipe *pipe);
/** No more: cancel what waits. */
void copy_pipe_fail(struct copy_pipe *pipe, int rc);

/** Where the next message may be written; NULL: all buffers are under way. */
uint8_t *copy_pipe_room(const struct copy_pipe *pipe);
/** How many messages have room. */
uint32_t copy_pipe_rooms(const struct copy_pipe *pipe);
/** Send what was written there. */
void copy_pipe_send(struct copy_pipe *pipe, enum copy_kind kind, uint64_t len);
/** The next message that came, NULL: not here yet. */
const struct copy_slot *copy_pipe_next(const struct copy_pipe *pipe);
/** It has been read: its buffer takes another one. */
void copy_pipe_took(struct copy_pipe *pipe);

/** What found no room in the channel is tried again; after every batch of completions. */
void copy_pipe_turn(struct copy_pipe *pipe);
/** An operation on a slot has ended. */
void copy_pipe_done(struct copy_slot *slot, const struct lull_channel_completion *completion);
/** Has all that was given been received there? */
bool copy_pipe_empty(const struct copy_pipe *pipe);
/** Does something wait for room in the channel? */
bool copy_pipe_waits(const struct copy_pipe *pipe);

#endif
