/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct copy_slot *
pipe_slot(const struct copy_ring *ring, uint64_t number)
{
	return &ring->slots[number % ring->count];
}

/* ---- rings ---- */

static int
pipe_ring_open(struct copy_pipe *pipe, struct copy_ring *ring, uint32_t count, uint64_t slot_bytes)
{
	ring->slots = calloc(count, sizeof(ring->slots[0]));
	ring->memory = malloc(count * slot_bytes);
	if (ring->slots == NULL || ring->memory == NULL)
		return -ENOMEM;
	ring->count = count;
	ring->slot_bytes = slot_bytes;
	for (uint32_t i = 0; i < count; i++) {
		ring->slots[i].pipe = pipe;
		ring->slots[i].bytes = ring->memory + i * slot_bytes;
	}
	return 0;
}

int
copy_pipe_open(struct copy_pipe *pipe, struct lull_channel *channel, uint32_t peer,
	       uint16_t endpoint, uint32_t out_count, uint64_t out_bytes, uint32_t in_count,
	       uint64_t in_bytes)
{
	int rc;

	*pipe = (struct copy_pipe){ .channel = channel, .peer = peer, .endpoint = endpoint };
	rc = pipe_ring_open(pipe, &pipe->out, out_count, out_bytes);
	if (rc == 0)
		rc = pipe_ring_open(pipe, &pipe->in, in_count, in_bytes);
	if (rc == 0)
		copy_pipe_turn(pipe);
	else
		copy_pipe_close(pipe);
	return rc;
}

void
copy_pipe_close(struct copy_pipe *pipe)
{
	free(pipe->out.slots);
	free(pipe->out.memory);
	free(pipe->in.slots);
	free(pipe->in.memory);
	*pipe = (struct copy_pipe){ .error = -ENOTCONN };
}

void
copy_pipe_fail(struct copy_pipe *pipe, int rc)
{
	if (pipe->error != 0)
		return;
	pipe->error = rc;
	for (uint32_t i = 0; i < pipe->in.count; i++)
		if (pipe->in.slots[i].under_way)
			lull_channel_cancel(pipe->channel, &pipe->in.slots[i]);
}

/* ---- turns ---- */

static bool
pipe_post(struct copy_pipe *pipe, struct copy_slot *slot)
{
	const struct lull_channel_receive receive = {
		.source = pipe->peer,
		.tag = COPY_TAG,
		.ignore = COPY_TAG_KIND,
		.buffer = slot->bytes,
		.size_bytes = pipe->in.slot_bytes,
	};
	int rc = lull_channel_recv(pipe->channel, &receive, slot);

	if (rc != 0 && rc != -EAGAIN)
		copy_pipe_fail(pipe, rc);
	slot->under_way = rc == 0;
	pipe->under_way += rc == 0;
	return rc == 0;
}

static bool
pipe_send(struct copy_pipe *pipe, struct copy_slot *slot)
{
	const struct lull_channel_message message = {
		.data = slot->bytes,
		.len_bytes = slot->len,
		.tag = COPY_TAG | slot->kind,
		.endpoint = pipe->endpoint,
	};
	int rc = lull_channel_send(pipe->channel, pipe->peer, &message, slot);

	if (rc != 0 && rc != -EAGAIN)
		copy_pipe_fail(pipe, rc);
	slot->ready = rc != 0;
	slot->under_way = rc == 0;
	pipe->under_way += rc == 0;
	return rc == 0;
}

void
copy_pipe_turn(struct copy_pipe *pipe)
{
	struct copy_ring *in = &pipe->in, *out = &pipe->out;

	while (pipe->error == 0 && in->tail - in->head < in->count &&
	       pipe_post(pipe, pipe_slot(in, in->tail)))
		in->tail++;
	while (pipe->error == 0 && out->tail < out->head &&
	       pipe_send(pipe, pipe_slot(out, out->tail)))
		out->tail++;
}

void
copy_pipe_done(struct copy_slot *slot, const struct lull_channel_completion *completion)
{
	struct copy_pipe *pipe = slot->pipe;

	slot->under_way = false;
	pipe->under_way--;
	if (completion->error != 0) {
		if (completion->error != -ECANCELED)
			copy_pipe_fail(pipe, completion->error);
		return;
	}
	pipe->moved_bytes += completion->len_bytes;
	if (completion->sent)
		return;
	slot->kind = (uint8_t)(completion->tag & COPY_TAG_KIND);
	slot->len = completion->len_bytes;
	slot->ready = true;
}

/* ---- for the two sides ---- */

uint32_t
copy_pipe_rooms(const struct copy_pipe *pipe)
{
	uint32_t rooms = 0;

	while (rooms < pipe->out.count) {
		const struct copy_slot *slot = pipe_slot(&pipe->out, pipe->out.head + rooms);

		if (slot->ready || slot->under_way)
			break;
		rooms++;
	}
	return rooms;
}

uint8_t *
copy_pipe_room(const struct copy_pipe *pipe)
{
	struct copy_slot *slot = pipe_slot(&pipe->out, pipe->out.head);

	return slot->ready || slot->under_way ? NULL : slot->bytes;
}

void
copy_pipe_send(struct copy_pipe *pipe, enum copy_kind kind, uint64_t len)
{
	struct copy_slot *slot = pipe_slot(&pipe->out, pipe->out.head);

	slot->kind = (uint8_t)kind;
	slot->len = len;
	slot->ready = true;
	pipe->out.head++;
	copy_pipe_turn(pipe);
}

const struct copy_slot *
copy_pipe_next(const struct copy_pipe *pipe)
{
	const struct copy_slot *slot = pipe_slot(&pipe->in, pipe->in.head);

	return slot->ready ? slot : NULL;
}

void
copy_pipe_took(struct copy_pipe *pipe)
{
	pipe_slot(&pipe->in, pipe->in.head)->ready = false;
	pipe->in.head++;
	copy_pipe_turn(pipe);
}

bool
copy_pipe_empty(const struct copy_pipe *pipe)
{
	return copy_pipe_rooms(pipe) == pipe->out.count;
}

bool
copy_pipe_waits(const struct copy_pipe *pipe)
{
	return pipe->error == 0 &&
	       (pipe->out.tail < pipe->out.head || pipe->in.tail - pipe->in.head < pipe->in.count);
}
