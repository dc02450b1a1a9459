/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that asks for a connection. */
#include <errno.h>

#include "protocol.h"

#define HELLO_GAP_NS (10 * LULL_NS_PER_MS)
#define HELLO_GAP_NS_MAX LULL_NS_PER_S
#define ASK_AGAIN_NS (2 * LULL_NS_PER_S)

static bool
ask_write(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	const struct lull_bundle_config *config = &bundle->config;
	uint8_t payload[BUNDLE_PAYLOAD_BYTES_MAX], prologue[BUNDLE_PROLOGUE_BYTES];
	struct bundle_greeting greeting;
	uint32_t bytes;
	int written;

	bundle_greet_say(bundle, slot, slot->target.name, &greeting);
	bytes = bundle_greeting_write(&greeting, payload);
	while (greeting.rails.count > 1 &&
	       bytes + config->security->hello_bytes + BUNDLE_HEADER_BYTES + BUNDLE_COOKIE_BYTES >
		       LULL_BUNDLE_PACKET_BYTES_MIN) {
		greeting.rails.count--;
		bytes = bundle_greeting_write(&greeting, payload);
	}
	bundle_greet_prologue(config->security->key_id(config->security_arg), config->node_id,
			      prologue);
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

	bundle_time(bundle, now_ns);
	if (!target_good(target) || strcmp(target->name, bundle->config.name) == 0)
		return -EINVAL;
	for (uint32_t i = 0; i < bundle->slot_high && target->name[0] != '\0'; i++) {
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

/*
 * Is there a connection already? One that we asked for by address may be to a node that we know,
 * and what a RESET said may be a lie.
 */
static bool
ask_needless(const struct lull_bundle *bundle, const struct bundle_slot *slot,
	     const struct bundle_greeting *greeting)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *other = &bundle->slots[i];

		if (other == slot || (other->state != PEER_JOIN && other->state != PEER_UP) ||
		    other->node_id != greeting->node_id)
			continue;
		if (other->state == PEER_JOIN || other->heard_ns > slot->since_ns ||
		    (slot->asked && other->doubt_ns == 0))
			return true;
	}
	return false;
}

void
bundle_ask_answer(struct lull_bundle *bundle, uint32_t rail, const struct bundle_hello *answer)
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
	if (!bundle_greet_fits(&greeting) || greeting.piece_bytes > config->piece_bytes_max)
		bundle_peer_end(bundle, slot, -EPROTO);
	else if (slot->target.name[0] == '\0' || strcmp(slot->target.name, greeting.name) == 0) {
		if (ask_needless(bundle, slot, &greeting)) {
			bundle_peer_end(bundle, slot, -EISCONN);
			return;
		}
		bundle_greet_take(bundle, slot, &greeting);
		slot->piece_bytes = greeting.piece_bytes; /* agreed, whatever rails came since */
		slot->asker = true;
		slot->met[rail] |= (uint16_t)(1u << answer->rail);
		if (!bundle_peer_join(bundle, slot, &greeting))
			bundle_peer_end(bundle, slot, -ENOBUFS);
	}
}

/* Its answer came, and the half that gave it is gone: the question begins anew. */
static void
ask_over(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	bundle->stores[bundle->store_free++] = slot->store;
	slot->store = NULL;
	slot->state = PEER_HELLO;
	slot->asker = slot->met_used = slot->table_told = slot->rest_told = false;
	slot->answer_bytes = 0; /* until it is written anew, there is none to be sent */
	slot->hello_rails = 0;
	slot->retry_wanted = false;
	slot->hello_ns = bundle->now_ns;
	slot->hello_gap_ns = HELLO_GAP_NS;
	memset(slot->met, 0, sizeof(slot->met));
	bundle_slot_touch(slot);
}

/* Nothing was heard since somebody said that the other side does not know us: ask it anew. */
void
bundle_ask_anew(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	struct lull_bundle_target target = { .address_count = 1 };

	slot->doubt_ns = 0;
	if (slot->state == PEER_JOIN && slot->asker) {
		ask_over(bundle, slot);
		return;
	}
	for (uint32_t k = 0; k < bundle->slot_high; k++) {
		if (bundle->slots[k].state == PEER_HELLO &&
		    strcmp(bundle->slots[k].name, slot->name) == 0)
			return;
	}
	memcpy(target.name, slot->name, sizeof(target.name));
	target.addresses[0].kind = slot->doubt_kind;
	target.addresses[0].address = slot->doubt_from;
	(void)ask_begin(bundle, &target, ASK_AGAIN_NS);
}

/* Anybody can say so: the other side is asked whether it is true, and has some time to answer. */
void
bundle_ask_reset(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		 const struct lull_bundle_address *from)
{
	LULL_COUNTER_ADD(bundle->counters.resets_rx, 1);
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if ((slot->state != PEER_UP && slot->state != PEER_JOIN) ||
		    slot->remote_index != header->msg || slot->doubt_ns > 0)
			continue;
		slot->doubt_ns = bundle->now_ns;
		slot->doubt_kind = bundle->rails[rail].config.kind;
		slot->doubt_from = *from;
		bundle_path_doubt(bundle, slot);
		bundle_slot_touch(slot);
		return;
	}
}

/*
 * It goes to the one who wants the cookie alone, one for one. Those who are asked by name on all
 * rails may all want another one.
 */
void
bundle_ask_retry(struct lull_bundle *bundle, uint32_t rail, const struct bundle_retry *retry,
		 const struct lull_bundle_address *from)
{
	if (retry->node_id != bundle->config.node_id)
		return;
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state != PEER_HELLO || slot->retry_wanted || slot->answer_bytes == 0 ||
		    memcmp(slot->cookie, retry->cookie, sizeof(slot->cookie)) == 0)
			continue;
		memcpy(slot->cookie, retry->cookie, sizeof(slot->cookie));
		slot->retry_wanted = true;
		slot->retry_rail = (uint8_t)rail;
		slot->retry_to = *from;
	}
}

bool
bundle_ask_wants(const struct bundle_slot *slot, uint32_t rail)
{
	return slot->state == PEER_HELLO && ((slot->hello_rails >> rail & 1) != 0 ||
					     (slot->retry_wanted && slot->retry_rail == rail));
}

/* ---- time and packets ---- */

void
bundle_ask_run(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (slot->answer_bytes == 0 && !ask_write(bundle, slot)) {
		bundle_peer_end(bundle, slot, -EPROTO);
		return;
	}
	slot->hello_rails = ask_rails(bundle, &slot->target);
	slot->hello_turn++;
	slot->hello_ns = bundle->now_ns + slot->hello_gap_ns;
	slot->hello_gap_ns = LULL_MIN(2 * slot->hello_gap_ns, HELLO_GAP_NS_MAX);
}

uint32_t
bundle_ask_tx(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t rail,
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

	memset(&packet->to, 0, sizeof(packet->to));
	if (slot->retry_wanted && slot->retry_rail == rail) {
		slot->retry_wanted = false;
		packet->to = slot->retry_to;
		memcpy(hello.cookie, slot->cookie, sizeof(hello.cookie));
		return bundle_hello_write(&hello, BUNDLE_HELLO, packet->bytes, room);
	}
	slot->hello_rails &= ~(1u << rail);
	for (uint32_t i = 0; i < target->address_count; i++) {
		uint32_t turn = (slot->hello_turn + i) % target->address_count;

		if (target->addresses[turn].kind != bundle->rails[rail].config.kind)
			continue;
		packet->to = target->addresses[turn].address;
		break;
	}
	return bundle_hello_write(&hello, BUNDLE_HELLO, packet->bytes, room);
}
