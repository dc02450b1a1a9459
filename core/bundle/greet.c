/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement on keys: who asks, who answers, and who has to come again with a cookie. */
#include <errno.h>

#include "siphash.h"
#include "state.h"

#define HELLO_GAP_NS (10 * LULL_NS_PER_MS)
#define HELLO_GAP_NS_MAX LULL_NS_PER_S
#define HALF_NS (2 * LULL_NS_PER_S)
#define HELLOS_FREE 64 /* a second without a cookie */
#define RESETS 10      /* a second */
#define COOKIE_NS (16 * LULL_NS_PER_S)
#define PROLOGUE_BYTES 16

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

static void
greet_say(const struct lull_bundle *bundle, const struct bundle_slot *slot, const char *target,
	  struct bundle_greeting *greeting)
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
static void
greet_prologue(uint32_t key_id, uint64_t node_id, uint8_t *prologue)
{
	memcpy(prologue, "lull", 4);
	for (uint32_t i = 0; i < 4; i++)
		prologue[4 + i] = (uint8_t)(key_id >> 8 * i);
	for (uint32_t i = 0; i < 8; i++)
		prologue[8 + i] = (uint8_t)(node_id >> 8 * i);
}

/* ---- notes: packets without an epoch ---- */

struct bundle_note *
bundle_note_new(struct lull_bundle *bundle, uint32_t rail, const struct lull_bundle_address *to)
{
	struct bundle_note *note;

	if (bundle->note_count == BUNDLE_NOTES)
		return NULL;
	note = &bundle->notes[(bundle->note_first + bundle->note_count++) % BUNDLE_NOTES];
	note->rail = (uint8_t)rail;
	note->to = *to;
	return note;
}

static void
greet_second(struct lull_bundle *bundle)
{
	if (bundle->now_ns - bundle->reset_ns < LULL_NS_PER_S)
		return;
	bundle->reset_ns = bundle->now_ns;
	bundle->reset_count = bundle->hello_count = 0;
}

void
bundle_greet_unknown(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		     const struct lull_bundle_address *from)
{
	struct bundle_note *note;

	LULL_COUNTER_ADD(bundle->counters.strangers, 1);
	greet_second(bundle);
	if (bundle->reset_count >= RESETS)
		return;
	note = bundle_note_new(bundle, rail, from);
	if (note == NULL)
		return;
	bundle->reset_count++;
	LULL_COUNTER_ADD(bundle->counters.resets_tx, 1);
	note->len_bytes = (uint8_t)bundle_reset_write(header->to, header->psn, note->bytes);
}

/* ---- cookies ---- */

static void
cookie_make(const struct lull_bundle *bundle, uint32_t rail, const struct lull_bundle_address *from,
	    uint64_t node_id, uint64_t time, uint8_t *cookie)
{
	uint8_t bytes[32 + sizeof(*from)] = { 0 };

	memcpy(bytes, &node_id, 8);
	memcpy(bytes + 8, &time, 8);
	bytes[16] = (uint8_t)rail;
	bytes[17] = from->len_bytes;
	memcpy(bytes + 18, from->bytes, from->len_bytes);
	for (uint32_t half = 0; half < 2; half++) {
		uint64_t value = bundle_siphash(bundle->secret + 16 * half, bytes, sizeof(bytes));

		memcpy(cookie + 8 * half, &value, 8);
	}
}

static bool
cookie_holds(const struct lull_bundle *bundle, uint32_t rail,
	     const struct lull_bundle_address *from, const struct bundle_hello *hello)
{
	uint64_t time = bundle->now_ns / COOKIE_NS;
	uint8_t cookie[BUNDLE_COOKIE_BYTES];

	for (uint64_t back = 0; back <= LULL_MIN(time, 1); back++) {
		cookie_make(bundle, rail, from, hello->node_id, time - back, cookie);
		if (memcmp(cookie, hello->cookie, sizeof(cookie)) == 0)
			return true;
	}
	return false;
}

/* Too many ask: only who gets packets at his address is answered. */
static bool
cookie_wanted(struct lull_bundle *bundle, uint32_t rail, const struct lull_bundle_address *from,
	      const struct bundle_hello *hello)
{
	struct bundle_retry retry = { .key_id = hello->key_id, .node_id = hello->node_id };
	struct bundle_note *note;

	greet_second(bundle);
	if (bundle->hello_count < HELLOS_FREE) {
		bundle->hello_count++;
		return false;
	}
	if (cookie_holds(bundle, rail, from, hello))
		return false;
	note = bundle_note_new(bundle, rail, from);
	if (note != NULL) {
		cookie_make(bundle, rail, from, hello->node_id, bundle->now_ns / COOKIE_NS,
			    retry.cookie);
		note->len_bytes = (uint8_t)bundle_retry_write(&retry, note->bytes);
		LULL_COUNTER_ADD(bundle->counters.retries, 1);
	}
	return true;
}

/* ---- the answering side ---- */

static bool
greet_fits(const struct bundle_greeting *greeting)
{
	return greeting->version_min <= BUNDLE_VERSION && greeting->version_max >= BUNDLE_VERSION;
}

/* Both asked at once: the larger node id goes on asking. */
static bool
greet_we_ask(const struct lull_bundle *bundle, const struct bundle_greeting *greeting,
	     const struct lull_bundle_address *from)
{
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
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
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
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

	greet_say(bundle, half, "", &greeting);
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

static void
half_begin(struct lull_bundle *bundle, struct bundle_slot *half,
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
	half->limit_ns = bundle->now_ns + HALF_NS;
}

static void
greet_hello(struct lull_bundle *bundle, uint32_t rail, const struct bundle_hello *hello,
	    uint32_t len_bytes, const struct lull_bundle_address *from)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint32_t seen = (uint32_t)bundle_siphash(bundle->secret, hello->body, hello->body_bytes);
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX], prologue[PROLOGUE_BYTES];
	struct bundle_slot *half = half_find(bundle, hello->node_id, seen);
	struct bundle_greeting greeting;
	int bytes;

	if (half == NULL) {
		if (bundle->half_count == BUNDLE_HALVES ||
		    (half = bundle_slot_take(bundle)) == NULL) {
			LULL_COUNTER_ADD(bundle->counters.halves_full, 1);
			return;
		}
		half->state = PEER_HALF;
		bundle->half_count++;
		half->hello_seen = seen;
		half->answer_rail = (uint8_t)rail;
		greet_prologue(hello->key_id, hello->node_id, prologue);
		bytes = config->security->hello_read(
			config->security_arg, half->handshake, hello->key_id, prologue,
			sizeof(prologue), hello->body, hello->body_bytes, payload, sizeof(payload));
		if (bytes < 0 || !bundle_greeting_read(&greeting, payload, (uint32_t)bytes) ||
		    greeting.node_id != hello->node_id || !greet_fits(&greeting)) {
			LULL_COUNTER_ADD(bundle->counters.hellos_refused, 1);
			bundle_slot_free(bundle, half);
			return;
		}
		half_begin(bundle, half, &greeting);
		if ((greeting.target[0] != '\0' && strcmp(greeting.target, config->name) != 0) ||
		    greeting.node_id == config->node_id || greet_we_ask(bundle, &greeting, from) ||
		    !half_answer(bundle, half, len_bytes)) {
			bundle_slot_free(bundle, half);
			return;
		}
	}
	half->answer_rail = (uint8_t)rail;
	half->answer_to = *from;
	half->answer_wanted = true;
}

/* ---- the asking side ---- */

static bool
ask_write(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX], prologue[PROLOGUE_BYTES];
	struct bundle_greeting greeting;
	uint32_t bytes;
	int written;

	greet_say(bundle, slot, slot->target.name, &greeting);
	bytes = bundle_greeting_write(&greeting, payload);
	while (greeting.rails.count > 1 &&
	       bytes + config->security->hello_bytes + BUNDLE_HEADER_BYTES + BUNDLE_COOKIE_BYTES >
		       LULL_BUNDLE_PACKET_BYTES_MIN) {
		greeting.rails.count--;
		bytes = bundle_greeting_write(&greeting, payload);
	}
	greet_prologue(config->security->key_id(config->security_arg), config->node_id, prologue);
	written = config->security->hello_write(config->security_arg, slot->handshake, prologue,
						sizeof(prologue), payload, bytes, slot->answer,
						BUNDLE_ANSWER_BYTES);
	slot->answer_bytes = written < 0 ? 0 : (uint16_t)written;
	return written > 0;
}

/* Rails on which somebody may be asked for it. */
static uint32_t
ask_rails(const struct lull_bundle *bundle, const struct lull_bundle_target *target)
{
	uint32_t rails = 0;

	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		bool fits = target->address_count == 0;

		for (uint32_t k = 0; k < target->address_count; k++)
			fits = fits || target->addresses[k].kind == bundle->rails[i].config.kind;
		if (bundle->rails[i].used && fits)
			rails |= 1u << i;
	}
	return rails;
}

static bool
target_good(const struct lull_bundle_target *target)
{
	if (memchr(target->name, '\0', sizeof(target->name)) == NULL ||
	    target->address_count > LULL_BUNDLE_TARGETS_MAX)
		return false;
	for (uint32_t i = 0; i < target->address_count; i++) {
		if (target->addresses[i].address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE)
			return false;
	}
	return target->name[0] != '\0' || target->address_count > 0;
}

static struct bundle_slot *
ask_begin(struct lull_bundle *bundle, const struct lull_bundle_target *target, uint64_t limit_ns)
{
	struct bundle_slot *slot;

	if (bundle->peer_count == bundle->config.peers_max)
		return NULL;
	slot = bundle_slot_take(bundle);
	if (slot == NULL)
		return NULL;
	slot->state = PEER_HELLO;
	bundle->peer_count++;
	slot->target = *target;
	memcpy(slot->name, target->name, sizeof(slot->name));
	slot->hello_ns = bundle->now_ns;
	slot->hello_gap_ns = HELLO_GAP_NS;
	if (limit_ns < LULL_BUNDLE_NEVER - bundle->now_ns)
		slot->limit_ns = bundle->now_ns + limit_ns;
	return slot;
}

int
lull_bundle_connect(struct lull_bundle *bundle, uint64_t now_ns,
		    const struct lull_bundle_target *target, uint64_t limit_ns)
{
	struct bundle_slot *slot;

	bundle->now_ns = now_ns;
	if (!target_good(target) || strcmp(target->name, bundle->config.name) == 0)
		return -EINVAL;
	for (uint32_t i = 0; i < bundle->slot_count && target->name[0] != '\0'; i++) {
		slot = &bundle->slots[i];
		if ((slot->state == PEER_HELLO || slot->state == PEER_JOIN ||
		     slot->state == PEER_UP) &&
		    strcmp(slot->name, target->name) == 0) {
			slot->asked = true;
			return (int)i;
		}
	}
	if (ask_rails(bundle, target) == 0)
		return -ENODEV;
	slot = ask_begin(bundle, target, limit_ns);
	if (slot == NULL)
		return -ENOBUFS;
	slot->asked = true;
	return (int)(slot - bundle->slots);
}

static void
greet_answer(struct lull_bundle *bundle, const struct bundle_hello *answer)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint32_t place = answer->to & ((1u << BUNDLE_PLACE_BITS) - 1);
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX];
	struct bundle_greeting greeting;
	struct bundle_slot *slot;
	int bytes;

	if (place >= bundle->slot_count)
		return;
	slot = &bundle->slots[bundle->place_slots[place]];
	if (slot->state != PEER_HELLO || slot->index != answer->to || slot->answer_bytes == 0)
		return;
	bytes = config->security->answer_read(config->security_arg, slot->handshake, slot->keys,
					      answer->body, answer->body_bytes, payload,
					      sizeof(payload));
	if (bytes < 0 || !bundle_greeting_read(&greeting, payload, (uint32_t)bytes) ||
	    greeting.node_id != answer->node_id) {
		LULL_COUNTER_ADD(bundle->counters.forged, 1);
		return;
	}
	if (!greet_fits(&greeting))
		bundle_peer_end(bundle, slot, -EPROTO);
	else if (slot->target.name[0] == '\0' || strcmp(slot->target.name, greeting.name) == 0) {
		half_begin(bundle, slot, &greeting);
		if (!bundle_peer_join(bundle, slot, &greeting))
			bundle_peer_end(bundle, slot, -ENOBUFS);
	}
}

/* The other side does not know us any more: ask it anew. What was stays until it answers. */
static void
greet_reset(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
	    const struct lull_bundle_address *from)
{
	LULL_COUNTER_ADD(bundle->counters.resets_rx, 1);
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		struct bundle_slot *slot = &bundle->slots[i];
		struct lull_bundle_target target = { .address_count = 1 };

		if ((slot->state != PEER_UP && slot->state != PEER_JOIN) ||
		    slot->remote_index != header->msg)
			continue;
		for (uint32_t k = 0; k < bundle->slot_count; k++) {
			if (bundle->slots[k].state == PEER_HELLO &&
			    strcmp(bundle->slots[k].name, slot->name) == 0)
				return;
		}
		memcpy(target.name, slot->name, sizeof(target.name));
		target.addresses[0].kind = bundle->rails[rail].config.kind;
		target.addresses[0].address = *from;
		(void)ask_begin(bundle, &target, HALF_NS);
		return;
	}
}

static void
greet_retry(struct lull_bundle *bundle, const struct bundle_retry *retry)
{
	if (retry->node_id != bundle->config.node_id)
		return;
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_HELLO &&
		    memcmp(slot->cookie, retry->cookie, sizeof(slot->cookie)) != 0) {
			memcpy(slot->cookie, retry->cookie, sizeof(slot->cookie));
			slot->hello_ns = bundle->now_ns;
			slot->dirty = true;
		}
	}
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
		else if (!cookie_wanted(bundle, rail, from, &hello))
			greet_hello(bundle, rail, &hello, len_bytes, from);
		break;
	case BUNDLE_ANSWER:
		if (!bundle_hello_read(&hello, header, packet, len_bytes))
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		else
			greet_answer(bundle, &hello);
		break;
	case BUNDLE_RETRY:
		if (!bundle_retry_read(&retry, header, packet, len_bytes))
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		else
			greet_retry(bundle, &retry);
		break;
	default:
		greet_reset(bundle, rail, header, from);
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
	if (slot->state != PEER_HELLO || bundle->now_ns < slot->hello_ns)
		return;
	if (slot->answer_bytes == 0 && !ask_write(bundle, slot)) {
		bundle_peer_end(bundle, slot, -EPROTO);
		return;
	}
	slot->hello_rails = ask_rails(bundle, &slot->target);
	slot->hello_turn++;
	slot->hello_ns = bundle->now_ns + slot->hello_gap_ns;
	slot->hello_gap_ns = LULL_MIN(2 * slot->hello_gap_ns, HELLO_GAP_NS_MAX);
}

static uint32_t
ask_tx(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t rail,
       struct lull_bundle_packet *packet)
{
	const struct lull_bundle_config *config = &bundle->config;
	const struct lull_bundle_target *target = &slot->target;
	struct bundle_hello hello = {
		.rail = (uint8_t)rail,
		.key_id = config->security->key_id(config->security_arg),
		.node_id = config->node_id,
		.body = slot->answer,
		.body_bytes = slot->answer_bytes,
	};
	uint32_t room = LULL_MIN(packet->room_bytes, bundle->rails[rail].config.packet_bytes);

	slot->hello_rails &= ~(1u << rail);
	memset(&packet->to, 0, sizeof(packet->to));
	for (uint32_t i = 0; i < target->address_count; i++) {
		uint32_t turn = (slot->hello_turn + i) % target->address_count;

		if (target->addresses[turn].kind != bundle->rails[rail].config.kind)
			continue;
		packet->to = target->addresses[turn].address;
		break;
	}
	memcpy(hello.cookie, slot->cookie, sizeof(hello.cookie));
	return bundle_hello_write(&hello, BUNDLE_HELLO, packet->bytes, room);
}

uint32_t
bundle_greet_tx(struct lull_bundle *bundle, uint32_t rail, struct lull_bundle_packet *packet)
{
	struct bundle_note *note = &bundle->notes[bundle->note_first];

	if (bundle->note_count > 0 && (note->rail == rail || !bundle->rails[note->rail].used)) {
		memcpy(packet->bytes, note->bytes, note->len_bytes);
		packet->to = note->to;
		bundle->note_first = (bundle->note_first + 1) % BUNDLE_NOTES;
		bundle->note_count--;
		return note->len_bytes;
	}
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_HALF && slot->answer_wanted && slot->answer_rail == rail) {
			slot->answer_wanted = false;
			memcpy(packet->bytes, slot->answer, slot->answer_bytes);
			packet->to = slot->answer_to;
			return slot->answer_bytes;
		}
		if (slot->state == PEER_HELLO && (slot->hello_rails >> rail & 1) != 0)
			return ask_tx(bundle, slot, rail, packet);
	}
	return 0;
}

bool
bundle_greet_wants(const struct lull_bundle *bundle)
{
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];

		if ((slot->state == PEER_HALF && slot->answer_wanted) ||
		    (slot->state == PEER_HELLO && slot->hello_rails != 0))
			return true;
	}
	return bundle->note_count > 0;
}
