/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include <errno.h>
#include <string.h>

#define EVENT_QUANTUM_BYTES (LULL_BUNDLE_QUANTUM_PKTS * 1400u)

void
channel_changed(struct lull_channel *channel)
{
	channel->changes++;
	if (channel->waiting > 0)
		pthread_cond_broadcast(&channel->changed);
	if (channel->stand_in_sleeps) /* callers may leave now */
		pthread_cond_signal(&channel->stand_in_wake);
	/* Another caller may turn the loop, and this one rest. */
	if (channel->config.own_loop && channel->resting > 0)
		channel_kick(channel);
}

bool
channel_changes_new(struct lull_channel *channel)
{
	bool is_new = channel->config.changed != NULL && channel->changes != channel->changes_told;

	channel->changes_told = channel->changes;
	return is_new;
}

void
channel_end(struct lull_channel *channel, struct channel_operation *operation, int error)
{
	const uint64_t one = 1;

	if (error != 0)
		LULL_COUNTER_ADD(channel->counters.failures, 1);
	channel_operation_end(&channel->operations, operation, error);
	if (channel->event_asked && channel->operations.ended == 1)
		(void)!write(channel->event_fd, &one, sizeof(one));
	channel_changed(channel);
}

/* ---- messages ---- */

/* A message to this channel itself: nothing of it was under way. */
static void
take_own(struct lull_channel *channel, const struct lull_match_message *message, void *buffer,
	 uint64_t size_bytes, struct channel_operation *operation)
{
	struct channel_operation *send = &channel->operations.all[message->handle];
	uint64_t len_bytes = LULL_MIN(message->len_bytes, size_bytes);
	struct channel_counters *counters = &channel->counters;

	if (len_bytes > 0)
		memcpy(buffer, send->data, len_bytes);
	LULL_COUNTER_ADD(counters->sends, 1);
	LULL_COUNTER_ADD(counters->send_bytes, message->len_bytes);
	LULL_COUNTER_ADD(counters->receives, 1);
	LULL_COUNTER_ADD(counters->receive_bytes, message->len_bytes);
	channel_end(channel, send, 0);
	channel_end(channel, operation, message->len_bytes > size_bytes ? -EMSGSIZE : 0);
}

void
channel_take(struct lull_channel *channel, uint64_t now_ns,
	     const struct lull_match_message *message, void *buffer, uint64_t size_bytes,
	     struct channel_operation *operation)
{
	int rc;

	operation->state = CHANNEL_OPERATION_RECEIVING;
	operation->done.peer = message->source;
	operation->done.len_bytes = message->len_bytes;
	operation->done.tag = message->tag;
	operation->done.user = message->user;
	operation->done.endpoint = message->endpoint;
	if (message->source == LULL_CHANNEL_SELF) {
		take_own(channel, message, buffer, size_bytes, operation);
		return;
	}
	rc = lull_bundle_accept(channel->bundle, now_ns, message->source, message->handle, buffer,
				size_bytes, operation);
	if (rc != 0)
		channel_end(channel, operation, -ECONNRESET);
}

static void
event_head(struct lull_channel *channel, uint64_t now_ns, const struct lull_bundle_event *event)
{
	const struct lull_match_message message = {
		.source = event->peer,
		.endpoint = event->from,
		.tag = event->tag,
		.len_bytes = event->len_bytes,
		.user = event->user,
		.handle = event->handle,
	};
	struct lull_match_receive receive;
	int rc;

	if (event->to == CHANNEL_STREAM_ENDPOINT) {
		channel_stream_head(&channel->peers[event->peer].stream, channel->bundle, now_ns,
				    event);
		return;
	}
	rc = event->to == channel->config.endpoint ?
		     lull_match_arrive(channel->match, &message, &receive) :
		     -ECONNREFUSED;
	if (rc == 1)
		channel_take(channel, now_ns, &message, receive.buffer, receive.size_bytes,
			     receive.context);
	else if (rc < 0)
		lull_bundle_refuse(channel->bundle, now_ns, event->peer, event->handle);
	else
		channel_changed(channel);
}

static void
event_ended(struct lull_channel *channel, uint64_t now_ns, const struct lull_bundle_event *event)
{
	struct channel_operation *operation = event->context;
	struct channel_counters *counters = &channel->counters;
	bool sent = event->type == LULL_BUNDLE_SENT;

	if (!channel_operation_ours(&channel->operations, event->context)) {
		channel_stream_ended(&channel->peers[event->peer].stream, event);
		channel_changed(channel);
		return;
	}
	if (event->error == 0 && sent) {
		LULL_COUNTER_ADD(counters->sends, 1);
		LULL_COUNTER_ADD(counters->send_bytes, operation->done.len_bytes);
		lull_histogram_add(
			&channel->latency[operation->done.len_bytes > EVENT_QUANTUM_BYTES],
			now_ns - operation->begin_ns, 1);
	} else if (event->error == 0) {
		LULL_COUNTER_ADD(counters->receives, 1);
		LULL_COUNTER_ADD(counters->receive_bytes, operation->done.len_bytes);
	}
	channel_end(channel, operation, event->error);
}

/* ---- peers ---- */

static void
event_up(struct lull_channel *channel, const struct lull_bundle_event *event)
{
	struct channel_peer *peer = &channel->peers[event->peer];
	uint32_t *last = &channel->accept_first;
	struct lull_bundle_peer_look look;

	if (lull_bundle_peer_look(channel->bundle, event->peer, &look) == 0)
		memcpy(peer->name, look.name, sizeof(peer->name));
	peer->up = true;
	peer->closing = false;
	channel_stream_begin(&peer->stream,
			     channel->stream_memory + event->peer * CHANNEL_STREAM_MEMORY);
	if (!event->asked) {
		while (*last != 0)
			last = &channel->peers[*last - 1].next;
		*last = event->peer + 1;
		peer->next = 0;
		peer->asked = true;
	}
	channel_changed(channel);
}

/* Messages that were not received, and receives from this peer alone. */
static void
event_drop(struct lull_channel *channel, uint32_t peer)
{
	struct channel_operations *operations = &channel->operations;
	struct lull_match_receive receive;
	struct lull_match_message message;

	while (lull_match_drop_receive(channel->match, peer, &receive)) {
		struct channel_operation *operation = receive.context;

		operation->done.peer = peer;
		channel_end(channel, operation, -ECONNRESET);
	}
	while (lull_match_drop_message(channel->match, peer, &message))
		;
	for (uint32_t i = 0; i < operations->count_max; i++)
		if (operations->all[i].state == CHANNEL_OPERATION_CLAIMED &&
		    operations->all[i].done.peer == peer)
			channel_operation_drop(operations, &operations->all[i]);
}

static void
event_down(struct lull_channel *channel, const struct lull_bundle_event *event)
{
	struct channel_peer *peer = &channel->peers[event->peer];
	uint32_t *at = &channel->accept_first;

	while (peer->asked && *at != event->peer + 1)
		at = &channel->peers[*at - 1].next;
	if (peer->asked)
		*at = peer->next;
	peer->asked = false;
	if (peer->up)
		channel_stream_end(&peer->stream, -ECONNRESET);
	peer->up = peer->begun = false;
	peer->error = event->error;
	peer->ends++;
	event_drop(channel, event->peer);
	channel_changed(channel);
}

void
channel_events(struct lull_channel *channel, uint64_t now_ns)
{
	struct lull_bundle_event event;

	while (lull_bundle_next(channel->bundle, &event)) {
		switch (event.type) {
		case LULL_BUNDLE_UP:
			event_up(channel, &event);
			break;
		case LULL_BUNDLE_DOWN:
			event_down(channel, &event);
			break;
		case LULL_BUNDLE_HEAD:
			event_head(channel, now_ns, &event);
			break;
		case LULL_BUNDLE_RECEIVED:
		case LULL_BUNDLE_SENT:
			event_ended(channel, now_ns, &event);
			break;
		}
	}
}
