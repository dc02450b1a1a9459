/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: send, receive, peek, claim, cancel, and what became of them. */
#include <errno.h>

#include "caller.h"
#include "event.h"
#include "turn.h"
#include "wait.h"

static bool
message_connected(const struct lull_channel *channel, uint32_t peer)
{
	return channel->started && peer < channel->config.peers_max && channel->peers[peer].up;
}

/* A receive may name it as its source. */
static bool
message_known(const struct lull_channel *channel, uint32_t source)
{
	return source == LULL_CHANNEL_ANY || source == LULL_CHANNEL_SELF ||
	       message_connected(channel, source) ||
	       (channel->started && source < channel->config.peers_max &&
		channel->peers[source].begun);
}

/* ---- send ---- */

/* To this channel itself: its receive takes it, or it waits for one. */
static int
send_own(struct lull_channel *channel, uint64_t now_ns, const struct lull_channel_message *message,
	 struct channel_operation *operation)
{
	const struct lull_match_message own = {
		.source = LULL_CHANNEL_SELF,
		.endpoint = channel->config.endpoint,
		.tag = message->tag,
		.len_bytes = message->len_bytes,
		.user = message->user,
		.handle = (uint32_t)(operation - channel->operations.all),
	};
	struct lull_match_receive receive;
	int rc;

	operation->data = message->data;
	if (message->endpoint != channel->config.endpoint) {
		channel_end(channel, operation, -ECONNREFUSED);
		return 0;
	}
	rc = lull_match_arrive(channel->match, &own, &receive);
	if (rc < 0)
		return -EAGAIN;
	if (rc == 1)
		channel_take(channel, now_ns, &own, receive.buffer, receive.size_bytes,
			     receive.context);
	else
		channel_changed(channel);
	return 0;
}

static int
message_send(struct lull_channel *channel, uint64_t now_ns, uint32_t peer,
	     const struct lull_channel_message *message, struct channel_operation *operation)
{
	const struct lull_bundle_message given = { .data = message->data,
						   .len_bytes = message->len_bytes,
						   .tag = message->tag,
						   .user = message->user,
						   .from = channel->config.endpoint,
						   .to = message->endpoint,
						   .matched = message->matched,
						   .context = operation };

	operation->begin_ns = now_ns;
	operation->done.sent = true;
	operation->done.peer = peer;
	operation->done.len_bytes = message->len_bytes;
	operation->done.tag = message->tag;
	operation->done.user = message->user;
	operation->done.endpoint = channel->config.endpoint;
	if (peer == LULL_CHANNEL_SELF)
		return send_own(channel, now_ns, message, operation);
	return lull_bundle_send(channel->bundle, now_ns, peer, &given);
}

static int
send_possible(const struct lull_channel *channel, uint32_t peer)
{
	if (message_connected(channel, peer) || (peer == LULL_CHANNEL_SELF && channel->started))
		return 0;
	return peer != LULL_CHANNEL_ANY && message_known(channel, peer) ? -EAGAIN : -ENOTCONN;
}

int
lull_channel_send(struct lull_channel *channel, uint32_t peer,
		  const struct lull_channel_message *message, void *context)
{
	struct channel_operation *operation = NULL;
	uint64_t now_ns = lull_clock_ns();
	int rc;

	if (message->endpoint == CHANNEL_STREAM_ENDPOINT)
		return -EINVAL;
	channel_lock(channel);
	rc = send_possible(channel, peer);
	if (rc == 0) {
		operation = channel_operation_new(&channel->operations, CHANNEL_OPERATION_SENDING);
		rc = operation == NULL ? -EAGAIN : 0;
	}
	if (rc == 0) {
		operation->done.context = context;
		rc = message_send(channel, now_ns, peer, message, operation);
		if (rc != 0)
			channel_operation_drop(&channel->operations, operation);
		else
			channel_act(channel, now_ns);
	}
	channel_unlock(channel);
	return rc;
}

/* ---- receive ---- */

static int
message_post(struct lull_channel *channel, uint64_t now_ns,
	     const struct lull_channel_receive *receive, struct channel_operation *operation)
{
	const struct lull_match_receive posted = { .source = receive->source,
						   .tag = receive->tag,
						   .ignore = receive->ignore,
						   .buffer = receive->buffer,
						   .size_bytes = receive->size_bytes,
						   .context = operation };
	struct lull_match_message message;
	int rc = lull_match_post(channel->match, &posted, &message);

	if (rc <= 0)
		return rc == 0 ? 0 : -EAGAIN;
	channel_take(channel, now_ns, &message, receive->buffer, receive->size_bytes, operation);
	channel_act(channel, now_ns);
	return 0;
}

int
lull_channel_recv(struct lull_channel *channel, const struct lull_channel_receive *receive,
		  void *context)
{
	struct channel_operation *operation;
	uint64_t now_ns = lull_clock_ns();
	int rc;

	channel_lock(channel);
	if (!message_known(channel, receive->source)) {
		channel_unlock(channel);
		return -ENOTCONN;
	}
	operation = channel_operation_new(&channel->operations, CHANNEL_OPERATION_POSTED);
	rc = operation == NULL ? -EAGAIN : 0;
	if (rc == 0) {
		operation->done.context = context;
		rc = message_post(channel, now_ns, receive, operation);
		if (rc != 0)
			channel_operation_drop(&channel->operations, operation);
	}
	channel_unlock(channel);
	return rc;
}

static void
message_found(const struct lull_match_message *message, struct lull_channel_completion *found)
{
	*found = (struct lull_channel_completion){ .peer = message->source,
						   .len_bytes = message->len_bytes,
						   .tag = message->tag,
						   .user = message->user,
						   .endpoint = message->endpoint };
}

/* With own_loop nothing else moves packets: who looks again and again has to see some. */
static void
message_look(struct lull_channel *channel)
{
	if (channel->config.own_loop && channel->started)
		channel_caller_turn(channel, lull_clock_ns());
}

int
lull_channel_peek(struct lull_channel *channel, const struct lull_channel_receive *wanted,
		  struct lull_channel_completion *found)
{
	struct lull_match_message message;
	bool there;

	channel_lock(channel);
	message_look(channel);
	there = lull_match_peek(channel->match, wanted->source, wanted->tag, wanted->ignore,
				&message);
	channel_unlock(channel);
	if (!there)
		return -ENOMSG;
	message_found(&message, found);
	return 0;
}

int
lull_channel_claim(struct lull_channel *channel, const struct lull_channel_receive *wanted,
		   struct lull_channel_completion *found, uint64_t *claim)
{
	struct channel_operation *operation;
	struct lull_match_message message;
	int rc = 0;

	channel_lock(channel);
	message_look(channel);
	operation = channel_operation_new(&channel->operations, CHANNEL_OPERATION_CLAIMED);
	if (operation == NULL) {
		rc = -EAGAIN;
	} else if (!lull_match_claim(channel->match, wanted->source, wanted->tag, wanted->ignore,
				     &message)) {
		channel_operation_drop(&channel->operations, operation);
		rc = -ENOMSG;
	} else {
		message_found(&message, found);
		operation->done = *found;
		operation->handle = message.handle;
		*claim = channel_operation_claim(&channel->operations, operation);
	}
	channel_unlock(channel);
	return rc;
}

int
lull_channel_claimed(struct lull_channel *channel, uint64_t claim, void *buffer,
		     uint64_t size_bytes, void *context)
{
	struct channel_operation *operation;
	struct lull_match_message message;
	uint64_t now_ns = lull_clock_ns();

	channel_lock(channel);
	operation = channel_operation_claimed(&channel->operations, claim);
	if (operation != NULL) {
		message = (struct lull_match_message){ .source = operation->done.peer,
						       .endpoint = operation->done.endpoint,
						       .tag = operation->done.tag,
						       .len_bytes = operation->done.len_bytes,
						       .user = operation->done.user,
						       .handle = operation->handle };
		operation->done.context = context;
		channel_take(channel, now_ns, &message, buffer, size_bytes, operation);
		channel_act(channel, now_ns);
	}
	channel_unlock(channel);
	return operation != NULL ? 0 : -ENOENT;
}

/* ---- ends ---- */

static int
message_cancel(struct lull_channel *channel, uint64_t now_ns, const void *context)
{
	struct channel_operations *operations = &channel->operations;
	struct channel_operation *operation =
		channel_operation_find(operations, CHANNEL_OPERATION_POSTED, context);
	struct lull_match_receive receive;
	int rc;

	if (operation != NULL && lull_match_cancel(channel->match, operation, &receive)) {
		channel_end(channel, operation, -ECANCELED);
		return 0;
	}
	operation = channel_operation_find(operations, CHANNEL_OPERATION_SENDING, context);
	if (operation == NULL || operation->done.peer == LULL_CHANNEL_SELF)
		return -ENOENT;
	rc = lull_bundle_cancel(channel->bundle, now_ns, operation->done.peer, operation);
	if (rc == 0)
		channel_act(channel, now_ns);
	return rc;
}

int
lull_channel_cancel(struct lull_channel *channel, const void *context)
{
	int rc;

	channel_lock(channel);
	rc = message_cancel(channel, lull_clock_ns(), context);
	channel_unlock(channel);
	return rc;
}

static uint32_t
message_take(struct lull_channel *channel, struct lull_channel_completion *completions,
	     uint32_t count)
{
	uint32_t taken = 0;
	uint64_t events;

	while (taken < count && channel_operation_take(&channel->operations, &completions[taken]))
		taken++;
	if (taken > 0 && channel->event_asked && channel->operations.ended == 0)
		(void)!read(channel->event_fd, &events, sizeof(events));
	return taken;
}

/* Until an operation has ended. */
static void
message_wait(struct lull_channel *channel, uint64_t limit_ns)
{
	const struct channel_wait wait = channel_wait_begin(channel, limit_ns);

	while (channel->operations.ended == 0)
		if (channel_wait(channel, &wait) != 0)
			break;
}

uint64_t
lull_channel_changes(struct lull_channel *channel)
{
	uint64_t changes;

	channel_lock(channel);
	changes = channel->changes;
	channel_unlock(channel);
	return changes;
}

int
lull_channel_rest(struct lull_channel *channel, uint64_t changes, uint64_t limit_ns)
{
	struct channel_wait wait;
	int rc = 0;

	channel_lock(channel);
	wait = channel_wait_begin(channel, limit_ns);
	while (rc == 0 && changes == channel->changes)
		rc = channel_wait(channel, &wait);
	channel_unlock(channel);
	return rc == -ETIMEDOUT ? rc : 0;
}

uint32_t
lull_channel_done(struct lull_channel *channel, struct lull_channel_completion *completions,
		  uint32_t count, uint64_t limit_ns)
{
	uint32_t taken;

	channel_lock(channel);
	if (channel->operations.ended == 0)
		message_look(channel);
	if (count > 0 && limit_ns > 0 && channel->operations.ended == 0)
		message_wait(channel, limit_ns);
	taken = message_take(channel, completions, count);
	channel_unlock(channel);
	return taken;
}
