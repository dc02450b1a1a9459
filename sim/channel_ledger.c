/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_world.h"

#define PATTERN_STARTS (1u << 20)

/* Every message is a part of these random bytes, so none has to be written before it is sent. */
static uint8_t pattern[PATTERN_STARTS + LULL_SIM_CHANNEL_MESSAGE_MAX];

void
channel_fail(struct lull_sim_channel *world, uint32_t node, const char *format, ...)
{
	va_list arguments;
	int written = 0;

	if (channel_failed(world))
		return;
	if (node != LULL_SIM_CHANNEL_ANY)
		written = snprintf(world->failure, sizeof(world->failure),
				   "node %" PRIu32 " at %.6f ms: ", node,
				   (double)lull_sim_net_now(world->net) / LULL_NS_PER_MS);
	va_start(arguments, format);
	vsnprintf(world->failure + written, sizeof(world->failure) - (size_t)written, format,
		  arguments);
	va_end(arguments);
}

uint64_t
channel_mix(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;

	mixed ^= mixed >> 29;
	mixed *= 0x94d049bb133111ebULL;
	return mixed ^ mixed >> 32;
}

void
channel_digest(struct lull_sim_channel *world, uint64_t a, uint64_t b)
{
	world->digest = channel_mix(world->digest + a, b);
}

static void
pattern_fill(void)
{
	struct lull_prng prng;
	uint64_t random;

	if (pattern[0] != 0)
		return;
	lull_prng_init(&prng, 1, 0x62797465);
	for (size_t i = 0; i < sizeof(pattern); i += sizeof(random)) {
		random = lull_prng_u64(&prng);
		memcpy(pattern + i, &random, sizeof(random));
	}
	pattern[0] |= 1;
}

uint64_t
channel_ledger_tag(const struct lull_sim_channel *world, uint32_t node, uint32_t serial)
{
	return channel_mix(world->config.seed, (uint64_t)node << 32 | serial);
}

const uint8_t *
channel_ledger_bytes(const struct lull_sim_channel *world, uint32_t node, uint32_t serial)
{
	pattern_fill();
	return pattern + channel_ledger_tag(world, node, serial) % PATTERN_STARTS;
}

struct channel_message *
channel_ledger_add(struct channel_node *node, uint32_t peer, uint64_t len_bytes)
{
	struct channel_message *message;

	if (node->message_count == node->message_room) {
		uint32_t room = LULL_MAX(64, 2 * node->message_room);
		void *grown = realloc(node->messages, room * sizeof(*node->messages));

		if (grown == NULL) {
			channel_fail(node->world, node->number, "no memory for messages");
			return NULL;
		}
		node->messages = grown;
		node->message_room = room;
	}
	message = &node->messages[node->message_count++];
	*message = (struct channel_message){
		.len_bytes = len_bytes,
		.sent_ns = lull_sim_net_now(node->world->net),
		.to = node->peers[peer].node,
		.life = node->life,
		.to_life = node->peers[peer].life,
		.session = node->peers[peer].session,
	};
	message->falls =
		node->falls[message->to] + node->world->nodes[message->to].falls[node->number];
	return message;
}

/* ---- what the sender hears ---- */

static void
ledger_sent_error(struct channel_node *node, struct channel_peer *peer,
		  const struct channel_message *message, uint32_t serial, int error)
{
	struct lull_sim_channel *world = node->world;

	if (error == -ECANCELED) {
		world->result.cancelled++;
		if (!message->cancelled)
			channel_fail(world, node->number,
				     "message %" PRIu32 " is cancelled, nobody asked for that",
				     serial);
	} else if (error == -ECONNREFUSED) {
		if (!message->refused)
			channel_fail(world, node->number,
				     "message %" PRIu32 " is refused, node %" PRIu32 " did not",
				     serial, message->to);
	} else if (error == -ECONNRESET) {
		world->result.failed++;
		peer->reset = true;
	} else {
		channel_fail(world, node->number, "message %" PRIu32 " ends with %d", serial,
			     error);
	}
}

void
channel_ledger_sent(struct channel_node *node, const struct lull_bundle_event *event)
{
	struct lull_sim_channel *world = node->world;
	uint32_t serial = (uint32_t)(uintptr_t)event->context - 1;
	struct channel_peer *peer = &node->peers[event->peer];
	struct channel_message *message;

	if (serial >= node->message_count || event->peer >= CHANNEL_PEERS_MAX) {
		channel_fail(world, node->number, "SENT of message %" PRIu32 ", there is none",
			     serial);
		return;
	}
	message = &node->messages[serial];
	if (message->ended || message->life != node->life || peer->session != message->session) {
		channel_fail(world, node->number,
			     "SENT of message %" PRIu32 " a second time or of another connection",
			     serial);
		return;
	}
	message->ended = true;
	message->error = event->error;
	peer->sending--;
	if (event->error != 0) {
		ledger_sent_error(node, peer, message, serial, event->error);
		return;
	}
	if (message->cancelled)
		channel_fail(world, node->number,
			     "message %" PRIu32 " was cancelled, and is sent none the less",
			     serial);
	if (message->matched && !message->accepted)
		channel_fail(world, node->number,
			     "message %" PRIu32 " is matched, node %" PRIu32 " did not accept it",
			     serial, message->to);
}

/* ---- what the receiver sees ---- */

/* Those between the last head and this one were cancelled, or belong to others. */
static void
ledger_order(struct channel_node *node, const struct channel_node *sender, uint32_t serial)
{
	uint32_t heard = node->heard_serial[sender->number];

	if (serial + 1 <= heard) {
		channel_fail(node->world, node->number,
			     "head of message %" PRIu32 " of node %" PRIu32
			     " behind that of %" PRIu32,
			     serial, sender->number, heard - 1);
		return;
	}
	for (uint32_t i = heard; i < serial; i++) {
		const struct channel_message *left = &sender->messages[i];

		if (left->to == node->number && !left->cancelled &&
		    left->session == sender->messages[serial].session)
			channel_fail(node->world, node->number,
				     "head of message %" PRIu32 " of node %" PRIu32
				     ", but none of %" PRIu32,
				     serial, sender->number, i);
	}
	node->heard_serial[sender->number] = serial + 1;
}

struct channel_message *
channel_ledger_head(struct channel_node *node, const struct lull_bundle_event *event,
		    uint32_t *from, uint32_t *serial)
{
	struct lull_sim_channel *world = node->world;
	struct channel_node *sender;
	struct channel_message *message;

	*from = (uint32_t)(event->user >> 32);
	*serial = (uint32_t)event->user;
	if (event->peer >= CHANNEL_PEERS_MAX || !node->peers[event->peer].up ||
	    node->peers[event->peer].node != *from ||
	    *serial >= world->nodes[*from].message_count ||
	    event->tag != channel_ledger_tag(world, *from, *serial)) {
		channel_fail(world, node->number,
			     "head from peer %" PRIu32
			     " of a message that nobody sent (user %" PRIx64 ")",
			     event->peer, event->user);
		return NULL;
	}
	sender = &world->nodes[*from];
	message = &sender->messages[*serial];
	if (message->to != node->number || message->headed || message->cancelled ||
	    message->len_bytes != event->len_bytes || message->to_life != node->life ||
	    message->life != node->peers[event->peer].life || event->from != (uint16_t)*serial ||
	    event->to != (uint16_t)(*serial * 3)) {
		channel_fail(world, node->number,
			     "head of message %" PRIu32 " of node %" PRIu32
			     ": again, cancelled, of an older life, for another, or %" PRIu64
			     " bytes instead of %" PRIu64,
			     *serial, *from, event->len_bytes, message->len_bytes);
		return NULL;
	}
	message->headed = true;
	ledger_order(node, sender, *serial);
	return message;
}

void
channel_ledger_received(struct channel_node *node, const struct lull_bundle_event *event,
			const struct channel_receive *receive)
{
	struct lull_sim_channel *world = node->world;
	struct channel_message *message = &world->nodes[receive->from].messages[receive->serial];
	uint64_t fits = LULL_MIN(message->len_bytes, receive->size_bytes);
	static const uint8_t guard[8] = { 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a };

	if (memcmp(receive->bytes + receive->size_bytes, guard, sizeof(guard)) != 0)
		channel_fail(world, node->number,
			     "bytes behind the buffer of message %" PRIu32 " were written",
			     receive->serial);
	if (event->error == -ECONNRESET) {
		node->peers[event->peer].reset = true;
		return;
	}
	if (event->error != (fits < message->len_bytes ? -EMSGSIZE : 0) || message->received ||
	    event->len_bytes != message->len_bytes) {
		channel_fail(world, node->number,
			     "message %" PRIu32 " of node %" PRIu32 " received: error %d, %" PRIu64
			     " bytes of %" PRIu64 ", %s",
			     receive->serial, receive->from, event->error, event->len_bytes,
			     message->len_bytes, message->received ? "again" : "once");
		return;
	}
	message->received = true;
	if (memcmp(receive->bytes, channel_ledger_bytes(world, receive->from, receive->serial),
		   fits) != 0)
		channel_fail(world, node->number,
			     "message %" PRIu32 " of node %" PRIu32 " has other bytes",
			     receive->serial, receive->from);
}

/* ---- the end ---- */

static void
ledger_end_one(struct lull_sim_channel *world, const struct channel_node *node, uint32_t serial)
{
	const struct channel_message *message = &node->messages[serial];
	const struct channel_node *to = &world->nodes[message->to];
	uint32_t falls = node->falls[message->to] + to->falls[node->number];

	if (message->life == node->life && node->alive && !message->ended)
		channel_fail(world, node->number, "message %" PRIu32 " never ended", serial);
	/* of a sender that died, the receiver may never have heard */
	if (message->life == node->life && message->ended && message->error == 0 &&
	    message->to_life == to->life && to->alive && falls == message->falls &&
	    !message->received && !message->refused)
		channel_fail(world, node->number,
			     "message %" PRIu32 " was sent, but node %" PRIu32 " has not got it",
			     serial, message->to);
	if (message->cancelled && message->headed)
		channel_fail(world, node->number,
			     "message %" PRIu32 " was cancelled, but node %" PRIu32 " saw it",
			     serial, message->to);
}

void
channel_ledger_end(struct lull_sim_channel *world)
{
	for (uint32_t i = 0; i < world->config.node_count; i++)
		for (uint32_t m = 0; m < world->nodes[i].message_count; m++)
			ledger_end_one(world, &world->nodes[i], m);
}

static bool
ledger_over(const struct channel_node *node, uint32_t serial)
{
	return node->messages[serial].ended || node->messages[serial].life != node->life;
}

void
channel_ledger_age(struct lull_sim_channel *world, uint64_t now_ns)
{
	for (uint32_t i = 0; i < world->config.node_count; i++) {
		struct channel_node *node = &world->nodes[i];
		uint64_t age_ns;

		while (node->first_pending < node->message_count &&
		       ledger_over(node, node->first_pending))
			node->first_pending++;
		if (!node->alive || node->first_pending == node->message_count)
			continue;
		age_ns = now_ns - node->messages[node->first_pending].sent_ns;
		if (age_ns > world->config.age_ns)
			channel_fail(world, node->number,
				     "message %" PRIu32 " has been under way for %.3f ms",
				     node->first_pending, (double)age_ns / LULL_NS_PER_MS);
	}
}
