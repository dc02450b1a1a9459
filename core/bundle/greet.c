/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that answers who asks for a connection, and what both sides say. */
#include <errno.h>

#include "siphash.h"
#include "protocol.h"

#define HALF_NS (2 * LULL_NS_PER_S)

/* ---- what we say ---- */

static uint32_t
greet_piece_bytes(const struct lull_bundle *bundle)
{
	uint32_t overhead = BUNDLE_HEADER_BYTES + bundle->config.security->tag_bytes;
	uint32_t piece = bundle->config.piece_bytes_max;

	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		const struct bundle_rail *rail = &bundle->rails[i];

		if (rail->used)
			piece = LULL_MIN(piece, (rail->config.packet_bytes - overhead) / 8 * 8);
	}
	return piece;
}

void
bundle_greet_rails(const struct lull_bundle *bundle, struct bundle_rail_table *table)
{
	table->count = 0;
	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		const struct bundle_rail *rail = &bundle->rails[i];

		if (rail->used)
			table->rails[table->count++] = (struct bundle_rail_info){
				.number = (uint8_t)i,
				.kind = rail->config.kind,
				.address = rail->config.address,
				.packet_bytes = rail->config.packet_bytes,
				.ring_pkts = rail->config.ring_pkts,
			};
	}
}

void
bundle_greet_say(const struct lull_bundle *bundle, const struct bundle_slot *slot,
		 const char *target, struct bundle_greeting *greeting)
{
	uint32_t ring = UINT32_MAX;

	*greeting = (struct bundle_greeting){
		.version_min = BUNDLE_VERSION,
		.version_max = BUNDLE_VERSION,
		.node_id = bundle->config.node_id,
		.index = slot->index,
		.piece_bytes = greet_piece_bytes(bundle),
		.piece_room = bundle->config.piece_bytes_max,
		.messages_max = bundle->config.messages_max,
		.grant_pieces = bundle->config.unexpected_pieces,
	};
	memcpy(greeting->name, bundle->config.name, sizeof(greeting->name));
	memcpy(greeting->target, target, strlen(target) + 1);
	bundle_greet_rails(bundle, &greeting->rails);
	for (uint32_t i = 0; i < greeting->rails.count; i++)
		ring = LULL_MIN(ring, greeting->rails.rails[i].ring_pkts);
	greeting->credit_pkts = bundle_credit_first(bundle, ring);
}

/* What both sides bind the handshake to. */
void
bundle_greet_prologue(uint32_t key_id, uint64_t node_id, uint8_t *prologue)
{
	memcpy(prologue, "lull", 4);
	for (uint32_t i = 0; i < 4; i++)
		prologue[4 + i] = (uint8_t)(key_id >> 8 * i);
	for (uint32_t i = 0; i < 8; i++)
		prologue[8 + i] = (uint8_t)(node_id >> 8 * i);
}

/* ---- the answering side ---- */

bool
bundle_greet_fits(const struct bundle_greeting *greeting)
{
	return greeting->version_min <= BUNDLE_VERSION && greeting->version_max >= BUNDLE_VERSION;
}

/* Both asked at once: the larger node id goes on asking. */
static bool
greet_we_ask(const struct lull_bundle *bundle, const struct bundle_greeting *greeting,
	     const struct lull_bundle_address *from)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];
		const struct lull_bundle_target *target = &slot->target;

		if (slot->state != PEER_HELLO || bundle->config.node_id < greeting->node_id)
			continue;
		if (strcmp(target->name, greeting->name) == 0)
			return true;
		for (uint32_t k = 0; target->name[0] == '\0' && k < target->address_count; k++) {
			if (memcmp(&target->addresses[k].address, from, sizeof(*from)) == 0)
				return true;
		}
	}
	return false;
}

static struct bundle_slot *
half_find(struct lull_bundle *bundle, uint64_t node_id, uint32_t seen)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_HALF && slot->node_id == node_id &&
		    slot->hello_seen == seen)
			return slot;
	}
	return NULL;
}

/* The answer is no longer than the question: rails that do not fit are told by probes. */
static bool
half_answer(struct lull_bundle *bundle, struct bundle_slot *half, uint32_t len_bytes)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX], body[BUNDLE_ANSWER_BYTES];
	struct bundle_greeting greeting;
	struct bundle_hello answer = {
		.to = half->remote_index,
		.key_id = config->security->key_id(config->security_arg),
		.node_id = config->node_id,
		.rail = half->answer_rail,
		.body = body,
	};
	uint32_t room = LULL_MIN(len_bytes, BUNDLE_ANSWER_BYTES), bytes;
	int written;

	bundle_greet_say(bundle, half, "", &greeting);
	greeting.piece_bytes = half->piece_bytes;
	bytes = bundle_greeting_write(&greeting, payload);
	while (greeting.rails.count > 1 &&
	       bytes + config->security->hello_bytes + BUNDLE_HEADER_BYTES > room) {
		greeting.rails.count--;
		bytes = bundle_greeting_write(&greeting, payload);
	}
	written = config->security->answer_write(config->security_arg, half->handshake, half->keys,
						 payload, bytes, body, sizeof(body));
	if (written < 0)
		return false;
	answer.body_bytes = (uint32_t)written;
	half->answer_bytes =
		(uint16_t)bundle_hello_write(&answer, BUNDLE_ANSWER, half->answer, room);
	return half->answer_bytes > 0;
}

void
bundle_greet_take(struct lull_bundle *bundle, struct bundle_slot *half,
		  const struct bundle_greeting *greeting)
{
	uint32_t piece = LULL_MIN(greet_piece_bytes(bundle), greeting->piece_bytes);

	half->piece_bytes = LULL_MIN(piece, greeting->piece_room);
	half->remote_index = greeting->index;
	half->node_id = greeting->node_id;
	memcpy(half->name, greeting->name, sizeof(half->name));
	half->rails = greeting->rails;
	half->messages_max = greeting->messages_max;
	half->first_grant = greeting->grant_pieces;
	half->first_credit = greeting->credit_pkts;
}

/*
 * The half that ends when there is one too many: the oldest of those who have no cookie. One with a
 * cookie also takes the place of the oldest from its own address, so that no address takes those of
 * all others, or else of the oldest of all. NULL: none of them.
 */
static struct bundle_slot *
half_oldest(struct lull_bundle *bundle, const struct lull_bundle_address *from, bool proven)
{
	struct bundle_slot *oldest = NULL;
	uint32_t least = 0;

	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];
		uint32_t claim;

		if (slot->state != PEER_HALF || (slot->proven && !proven))
			continue;
		claim = !slot->proven                                       ? 0 :
			memcmp(&slot->hello_from, from, sizeof(*from)) == 0 ? 1 :
									      2;
		if (oldest == NULL || claim < least ||
		    (claim == least && slot->since_ns < oldest->since_ns)) {
			oldest = slot;
			least = claim;
		}
	}
	return oldest;
}

/* What the hello says is understood, and meant for us. */
static bool
half_reads(struct lull_bundle *bundle, struct bundle_slot *half, const struct bundle_hello *hello,
	   const struct lull_bundle_address *from)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX], prologue[BUNDLE_PROLOGUE_BYTES];
	struct bundle_greeting greeting;
	int bytes;

	bundle_greet_prologue(hello->key_id, hello->node_id, prologue);
	bytes = config->security->hello_read(config->security_arg, half->handshake, hello->key_id,
					     prologue, sizeof(prologue), hello->body,
					     hello->body_bytes, payload, sizeof(payload));
	if (bytes < 0 || !bundle_greeting_read(&greeting, payload, (uint32_t)bytes) ||
	    greeting.node_id != hello->node_id || !bundle_greet_fits(&greeting)) {
		LULL_COUNTER_ADD(bundle->counters.hellos_refused, 1);
		return false;
	}
	bundle_greet_take(bundle, half, &greeting);
	return (greeting.target[0] == '\0' || strcmp(greeting.target, config->name) == 0) &&
	       greeting.node_id != config->node_id && !greet_we_ask(bundle, &greeting, from);
}

/* NULL: it is not answered. */
static struct bundle_slot *
half_new(struct lull_bundle *bundle, uint32_t rail, const struct bundle_hello *hello,
	 uint32_t len_bytes, const struct lull_bundle_address *from, bool proven)
{
	struct bundle_slot *oldest = NULL, *half;

	if (bundle->half_count >= BUNDLE_HALVES) {
		LULL_COUNTER_ADD(bundle->counters.halves_full, 1);
		oldest = half_oldest(bundle, from, proven);
		if (oldest == NULL) { /* all have a cookie: so must this one */
			bundle_cookie_send(bundle, rail, from, hello);
			return NULL;
		}
	}
	half = bundle_slot_take(bundle); /* there is always one more than halves and peers */
	half->state = PEER_HALF;
	bundle->half_count++;
	half->answer_rail = (uint8_t)rail;
	half->limit_ns = bundle->now_ns + HALF_NS;
	if (!half_reads(bundle, half, hello, from) || !half_answer(bundle, half, len_bytes)) {
		bundle_slot_free(bundle, half);
		return NULL;
	}
	if (oldest != NULL)
		bundle_slot_free(bundle, oldest);
	return half;
}

static void
greet_hello(struct lull_bundle *bundle, uint32_t rail, const struct bundle_hello *hello,
	    uint32_t len_bytes, const struct lull_bundle_address *from)
{
	uint32_t seen = (uint32_t)bundle_siphash(bundle->secret, hello->body, hello->body_bytes);
	struct bundle_slot *half = half_find(bundle, hello->node_id, seen);
	bool proven = bundle_cookie_holds(bundle, rail, from, hello);

	if (!proven && bundle_cookie_wanted(bundle)) {
		bundle_cookie_send(bundle, rail, from, hello);
		return;
	}
	if (half == NULL)
		half = half_new(bundle, rail, hello, len_bytes, from, proven);
	if (half == NULL)
		return;
	half->hello_seen = seen;
	if (proven && !half->proven) {
		half->proven = true;
		half->hello_from = *from;
	}
	half->met[rail] |= (uint16_t)(1u << hello->rail);
	half->answer_rail = (uint8_t)rail;
	half->answer_to = *from;
	half->answer_wanted = true;
}

void
bundle_greet_rx(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		const uint8_t *packet, uint32_t len_bytes, const struct lull_bundle_address *from)
{
	struct bundle_hello hello;
	struct bundle_retry retry;

	switch (header->type) {
	case BUNDLE_HELLO:
		LULL_COUNTER_ADD(bundle->counters.hellos, 1);
		if (!bundle_hello_read(&hello, header, packet, len_bytes))
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		else
			greet_hello(bundle, rail, &hello, len_bytes, from);
		break;
	case BUNDLE_ANSWER:
		if (!bundle_hello_read(&hello, header, packet, len_bytes))
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		else
			bundle_ask_answer(bundle, rail, &hello);
		break;
	case BUNDLE_RETRY:
		if (!bundle_retry_read(&retry, header, packet, len_bytes))
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		else
			bundle_ask_retry(bundle, rail, &retry, from);
		break;
	default:
		bundle_ask_reset(bundle, rail, header, from);
	}
}

/* ---- time and packets ---- */

void
bundle_greet_run(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (bundle->now_ns >= slot->limit_ns) {
		if (slot->state == PEER_HALF)
			bundle_slot_free(bundle, slot);
		else
			bundle_peer_end(bundle, slot, -ETIMEDOUT);
		return;
	}
	if (slot->state == PEER_HELLO && bundle->now_ns >= slot->hello_ns)
		bundle_ask_run(bundle, slot);
}

uint32_t
bundle_greet_tx(struct lull_bundle *bundle, uint32_t rail, struct lull_bundle_packet *packet)
{
	uint32_t bytes = bundle_note_tx(bundle, rail, packet);

	if (bytes > 0)
		return bytes;
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_HALF && slot->answer_wanted && slot->answer_rail == rail) {
			slot->answer_wanted = false;
			memcpy(packet->bytes, slot->answer, slot->answer_bytes);
			packet->to = slot->answer_to;
			return slot->answer_bytes;
		}
		if (bundle_ask_wants(slot, rail))
			return bundle_ask_tx(bundle, slot, rail, packet);
	}
	return 0;
}

bool
bundle_greet_wants(const struct lull_bundle *bundle)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_HALF && slot->answer_wanted &&
		    bundle->rails[slot->answer_rail].used)
			return true;
		for (uint32_t rail = 0; slot->state == PEER_HELLO && rail < LULL_BUNDLE_RAILS_MAX;
		     rail++) {
			if (bundle->rails[rail].used && bundle_ask_wants(slot, rail))
				return true;
		}
	}
	return bundle->note_count > 0;
}
