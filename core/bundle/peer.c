/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "peer.h"
#include "protocol.h"

#define CLOSE_NS (100 * LULL_NS_PER_MS)    /* for an answer to CLOSE, behind the time to linger */
#define DOUBT_NS (50 * LULL_NS_PER_MS)     /* for a sign of life after a RESET */
#define CROSSING_NS (100 * LULL_NS_PER_MS) /* so long packets of a question may be under way */
#define MEET_NS (200 * LULL_NS_PER_MS)
#define CLOSE_GAP_NS (5 * LULL_NS_PER_MS)

/* ---- beginning ---- */

static void
peer_end_older(struct lull_bundle *bundle, const struct bundle_slot *slot)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *other = &bundle->slots[i];

		if (other != slot && bundle_peer_has_keys(other) &&
		    strcmp(other->name, slot->name) == 0) {
			LULL_COUNTER_ADD(bundle->counters.peers_reset, 1);
			bundle_peer_end(bundle, other, -ECONNRESET);
		}
	}
}

bool
bundle_peer_join(struct lull_bundle *bundle, struct bundle_slot *slot,
		 const struct bundle_greeting *greeting)
{
	const struct lull_bundle_config *config = &bundle->config;

	if (greeting != NULL)
		memcpy(slot->name, greeting->name, sizeof(slot->name));
	peer_end_older(bundle, slot);
	if (bundle->store_free == 0)
		return false;
	slot->store = bundle->stores[--bundle->store_free];
	bundle_store_init(bundle, slot->store);
	slot->store->grant = slot->first_grant;
	slot->store->out_limit = LULL_MIN(slot->messages_max, config->messages_max);
	slot->state = PEER_JOIN;
	slot->heard_ns = slot->since_ns = bundle->now_ns;
	slot->absent_ns = 0;
	slot->limit_ns = LULL_MIN(slot->limit_ns, bundle->now_ns + bundle->config.peer_timeout_ns);
	if (!slot->asked)
		slot->limit_ns = bundle->now_ns + bundle->config.peer_timeout_ns;
	config->security->forget(config->security_arg, slot->handshake, NULL);
	bundle_slot_touch(slot);
	bundle_peer_plan(bundle, slot);
	return true;
}

/* We asked it, and it asked us: its question was answered. The number we told stays. */
static struct bundle_slot *
promote_into(struct lull_bundle *bundle, struct bundle_slot *half)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *asking = &bundle->slots[i], old;

		if (asking->state != PEER_HELLO || strcmp(asking->name, half->name) != 0)
			continue;
		old = *asking;
		*asking = *half;
		asking->asked = old.asked;
		asking->kept = old.kept;
		asking->limit_ns = old.limit_ns;
		half->place = old.place;
		half->handshake = old.handshake;
		half->keys = old.keys;
		half->answer = old.answer;
		bundle->place_slots[asking->place] = (uint32_t)(asking - bundle->slots);
		bundle->place_slots[half->place] = (uint32_t)(half - bundle->slots);
		bundle_slot_free(bundle, half);
		return asking;
	}
	return NULL;
}

/*
 * Both asked each other, and both were answered: the connection of the larger node id stays, and
 * one that is up. False: ours does.
 */
static bool
promote_crossing(struct lull_bundle *bundle, const struct bundle_slot *half)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *other = &bundle->slots[i];

		if (other->node_id != half->node_id)
			continue;
		/* It goes on with what is up: this packet was long on its way. */
		if (other->state == PEER_UP && other->heard_ns > half->since_ns &&
		    bundle->now_ns - other->heard_ns < CROSSING_NS + other->rest_ns)
			return false;
		if (other->state != PEER_JOIN)
			continue;
		/* Unless ours leads nowhere, and the other side gave it up. */
		if (other->asker && bundle->config.node_id > half->node_id &&
		    bundle->now_ns - other->heard_ns < MEET_NS + CROSSING_NS + other->rest_ns)
			return false;
		bundle->stores[bundle->store_free++] = other->store;
		other->store = NULL;
		other->state = PEER_HELLO;
	}
	return true;
}

struct bundle_slot *
bundle_peer_promote(struct lull_bundle *bundle, struct bundle_slot *half)
{
	struct bundle_slot *slot;

	if (!promote_crossing(bundle, half))
		return NULL;
	peer_end_older(bundle, half);
	if (bundle->store_free == 0)
		return NULL;
	slot = promote_into(bundle, half);
	if (slot == NULL) {
		if (bundle->peer_count == bundle->config.peers_max)
			return NULL;
		slot = half;
		bundle->half_count--;
		bundle->peer_count++;
	}
	(void)bundle_peer_join(bundle, slot, NULL); /* a store is free */
	return slot;
}

void
bundle_peer_path_up(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (slot->state != PEER_JOIN)
		return;
	slot->state = PEER_UP;
	LULL_COUNTER_ADD(bundle->counters.peers_up, 1);
}

/* ---- ending ---- */

void
bundle_peer_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error)
{
	if (slot->state == PEER_UP || slot->state == PEER_CLOSING)
		LULL_COUNTER_ADD(bundle->counters.peers_down, 1);
	if (slot->store != NULL) {
		bundle_out_end(bundle, slot, error == 0 ? -ECONNRESET : error);
		bundle_in_end(bundle, slot, error == 0 ? -ECONNRESET : error);
	}
	slot->state = PEER_ENDED;
	slot->error = error;
	slot->due_ns = LULL_BUNDLE_NEVER;
	slot->dirty = false;
}

int
lull_bundle_keep(struct lull_bundle *bundle, uint32_t number)
{
	struct bundle_slot *slot = bundle_peer_find(bundle, number);

	if (slot == NULL)
		return -ENOTCONN;
	slot->kept = true;
	return 0;
}

int
lull_bundle_disconnect(struct lull_bundle *bundle, uint64_t now_ns, uint32_t number,
		       uint64_t linger_ns)
{
	struct bundle_slot *slot = bundle_peer_find(bundle, number);

	if (number < bundle->slot_count && bundle->slots[number].told_down) {
		bundle_slot_free(bundle, &bundle->slots[number]);
		return 0;
	}
	if (slot == NULL || slot->state == PEER_CLOSING)
		return -ENOTCONN;
	bundle_time(bundle, now_ns);
	bundle_slot_touch(slot);
	slot->kept = false;
	if (slot->state == PEER_HELLO || slot->state == PEER_JOIN) {
		bundle_peer_end(bundle, slot, 0);
		return 0;
	}
	slot->state = PEER_CLOSING;
	slot->lingers = true;
	slot->end_ns = linger_ns < LULL_BUNDLE_NEVER - now_ns - CLOSE_NS ?
			       now_ns + linger_ns :
			       LULL_BUNDLE_NEVER - CLOSE_NS;
	slot->hello_ns = now_ns;
	return 0;
}

/* Sent at once: behind it there are no keys any more. */
static void
peer_close_answer(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	struct bundle_close close = { .reply = true };
	struct bundle_header header = { .type = BUNDLE_CLOSE };
	struct bundle_path *path = bundle_ack_path(slot);
	struct bundle_note *note;
	uint32_t bytes;

	if (path == NULL)
		return;
	note = bundle_note_new(bundle, path->local, &path->address);
	if (note == NULL)
		return;
	bytes = bundle_close_write(&close, note->bytes + BUNDLE_HEADER_BYTES);
	note->len_bytes = (uint8_t)bundle_tx_seal(bundle, slot, path, &header, note->bytes, bytes);
}

void
bundle_peer_closed(struct lull_bundle *bundle, struct bundle_slot *slot,
		   const struct bundle_close *close)
{
	if (close->reply) {
		if (slot->state == PEER_CLOSING && !slot->lingers)
			bundle_peer_end(bundle, slot, 0);
		return;
	}
	peer_close_answer(bundle, slot);
	bundle_peer_end(bundle, slot, slot->state == PEER_CLOSING ? 0 : -ECONNRESET);
}

static void
peer_closing(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (slot->lingers && (slot->store->out_count == 0 || bundle->now_ns >= slot->end_ns)) {
		slot->lingers = false;
		slot->end_ns = bundle->now_ns + CLOSE_NS + slot->rest_ns;
		slot->hello_ns = bundle->now_ns;
	}
	if (slot->lingers)
		return;
	if (bundle->now_ns >= slot->end_ns)
		bundle_peer_end(bundle, slot, 0);
	else if (bundle->now_ns >= slot->hello_ns) {
		slot->close_wanted = true;
		slot->hello_ns = bundle->now_ns + CLOSE_GAP_NS;
	}
}

/* ---- time ---- */

void
bundle_peer_heard(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (bundle->now_ns > slot->doubt_ns)
		slot->doubt_ns = 0;
	slot->heard_ns = bundle->now_ns;
	slot->absent_ns = 0;
}

void
bundle_peer_late(struct lull_bundle *bundle, struct bundle_slot *slot, uint64_t told_ns)
{
	uint64_t late_ns = bundle->now_ns - LULL_MAX(told_ns, slot->heard_ns);

	slot->absent_ns = LULL_MAX(slot->absent_ns, late_ns);
	if (slot->doubt_ns > 0)
		slot->doubt_ns += bundle->now_ns - LULL_MAX(told_ns, slot->doubt_ns);
}

static uint64_t
peer_silence_ns(const struct lull_bundle *bundle, const struct bundle_slot *slot)
{
	return slot->heard_ns + bundle->config.peer_timeout_ns + slot->rest_ns + slot->absent_ns;
}

static uint64_t
peer_doubt_ns(const struct bundle_slot *slot)
{
	uint64_t srtt_ns = 0;

	if (slot->doubt_ns == 0)
		return LULL_BUNDLE_NEVER;
	for (uint32_t i = 0; i < slot->store->path_count; i++)
		srtt_ns = LULL_MAX(srtt_ns, slot->store->paths[i].meter.srtt_ns);
	return slot->doubt_ns + DOUBT_NS + 4 * srtt_ns + slot->rest_ns;
}

/* When a plan that leads nowhere is given up for the pairs that were heard; NEVER: it was. */
static uint64_t
peer_meets_ns(const struct bundle_slot *slot)
{
	return slot->met_used ? LULL_BUNDLE_NEVER : slot->since_ns + MEET_NS + slot->rest_ns;
}

/* One that was up fell silent; of one that never was, was there a path that could come up? */
static int
peer_end_error(const struct bundle_slot *slot)
{
	if (slot->state != PEER_JOIN)
		return -ECONNRESET;
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		if (slot->store->paths[i].state != LULL_BUNDLE_PATH_NONE)
			return -ECONNRESET;
	}
	return -EHOSTUNREACH;
}

void
bundle_peer_run(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (bundle->now_ns >= peer_doubt_ns(slot))
		bundle_ask_anew(bundle, slot);
	if (!bundle_peer_has_keys(slot))
		return;
	if (bundle->now_ns >= peer_silence_ns(bundle, slot) ||
	    (slot->state == PEER_JOIN && bundle->now_ns >= slot->limit_ns)) {
		bundle_peer_end(bundle, slot, peer_end_error(slot));
		return;
	}
	if (slot->state == PEER_JOIN && bundle->now_ns >= peer_meets_ns(slot)) {
		slot->met_used = true;
		bundle_peer_plan(bundle, slot);
	}
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_NONE)
			continue;
		bundle_flight_run(bundle, slot, path);
		bundle_path_run(bundle, slot, path);
	}
	bundle_out_run(bundle, slot);
	if (slot->state == PEER_CLOSING)
		peer_closing(bundle, slot);
	bundle_slot_touch(slot);
}

/* Something can leave now, as far as is known. */
static bool
peer_wants(const struct bundle_slot *slot)
{
	const struct bundle_store *store = slot->store;

	for (uint32_t i = 0; i < store->path_count; i++) {
		const struct bundle_path *path = &store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_NONE ||
		    (slot->idle_rails >> path->local & 1) != 0)
			continue;
		if (path->ask_wanted || path->reply_wanted || path->move_wanted ||
		    slot->close_wanted || slot->rest_wanted)
			return true;
		if (bundle_path_carries(path) && bundle_out_wants(store))
			return true;
	}
	return false;
}

static uint64_t
peer_due_keys(const struct lull_bundle *bundle, struct bundle_slot *slot)
{
	const struct bundle_store *store = slot->store;
	uint64_t due_ns = peer_silence_ns(bundle, slot);

	if (peer_wants(slot))
		return 0;
	due_ns = LULL_MIN(due_ns, peer_doubt_ns(slot));
	if (slot->state == PEER_JOIN)
		due_ns = LULL_MIN(due_ns, LULL_MIN(slot->limit_ns, peer_meets_ns(slot)));
	if (slot->state == PEER_CLOSING)
		due_ns = LULL_MIN(due_ns, slot->lingers ?
						  (store->out_count == 0 ? 0 : slot->end_ns) :
						  LULL_MIN(slot->end_ns, slot->hello_ns));
	for (uint32_t i = 0; i < store->path_count; i++) {
		const struct bundle_path *path = &store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_NONE)
			continue;
		due_ns = LULL_MIN(due_ns, bundle_path_due(bundle, slot, path));
		due_ns = LULL_MIN(due_ns, bundle_flight_due(slot, path));
		due_ns = LULL_MIN(due_ns, bundle_ack_due(path));
	}
	if (bundle_ack_path(slot) != NULL)
		due_ns = LULL_MIN(due_ns, bundle_record_due(slot));
	return LULL_MIN(due_ns, bundle_out_due(store));
}

uint64_t
bundle_peer_due(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	if (!slot->dirty)
		return slot->due_ns;
	slot->dirty = false;
	if (bundle_peer_has_keys(slot))
		slot->due_ns = peer_due_keys(bundle, slot);
	else if (slot->state == PEER_HELLO)
		slot->due_ns = LULL_MIN(slot->hello_ns, slot->limit_ns);
	else
		slot->due_ns = slot->state == PEER_HALF ? slot->limit_ns : LULL_BUNDLE_NEVER;
	return slot->due_ns;
}

bool
bundle_peer_busy(const struct bundle_slot *slot)
{
	const struct bundle_store *store = slot->store;

	if (store == NULL || !bundle_peer_has_keys(slot))
		return false;
	return store->under_way > 0 || store->in_partly > 0 || bundle_out_wants(store);
}

struct bundle_slot *
bundle_peer_find(struct lull_bundle *bundle, uint32_t number)
{
	struct bundle_slot *slot;

	if (number >= bundle->slot_count)
		return NULL;
	slot = &bundle->slots[number];
	return slot->state == PEER_FREE || slot->state == PEER_HALF || slot->state == PEER_ENDED ?
		       NULL :
		       slot;
}
