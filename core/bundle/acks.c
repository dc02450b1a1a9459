/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

#define UNIT_NS 1024 /* of wait and hold */
#define UNIT_MAX 65535u
#define OWN_NS LULL_NS_PER_MS /* between acknowledgements of a path on the path itself, at least */
#define REPEATS_LEFT 3
#define REPEAT_NS LULL_NS_PER_MS /* without a measured path */

/* ---- what is to be acknowledged ---- */

void
bundle_ack_note(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		const struct bundle_header *header, uint64_t psn, bool asks)
{
	bool next = psn == path->seen.largest + 1, news = psn > path->seen.largest;
	const struct bundle_rail *rail = &bundle->rails[path->local];

	bundle_seen_add(&path->seen, psn);
	path->rx_count++;
	if (news) {
		path->rx_sent = header->sent;
		path->rx_look_ns = rail->look_ns;
		path->rx_wait_ns = rail->absent_ns;
	}
	slot->dirty = true;
	if (!asks) {
		path->quiet_pkts++;
		return;
	}
	if (path->ack_pkts++ == 0)
		path->ack_since_ns = bundle->now_ns;
	if (!next || (header->flags & BUNDLE_FLAG_NOW) != 0)
		path->ack_now = true;
}

uint64_t
bundle_ack_due(const struct bundle_path *path)
{
	uint32_t enough = LULL_CLAMP(path->credit_given / 2, 1, BUNDLE_ACK_PKTS);
	uint64_t wait_ns = BUNDLE_ACK_NS;

	if (path->ack_now || path->ack_pkts >= enough || path->quiet_pkts >= BUNDLE_QUIET_ACK_PKTS)
		return 0;
	if (path->ack_pkts == 0)
		return LULL_BUNDLE_NEVER;
	if (path->meter.srtt_ns != 0)
		wait_ns = LULL_CLAMP(path->meter.srtt_ns / 4, BUNDLE_ACK_NS_MIN, BUNDLE_ACK_NS);
	return path->ack_since_ns + wait_ns;
}

static bool
ack_news(const struct bundle_path *path)
{
	return path->state != LULL_BUNDLE_PATH_NONE && path->seen.largest > path->seen_floor &&
	       (path->ack_pkts > 0 || path->quiet_pkts > 0 || path->ack_now);
}

/*
 * Whoever only receives has nothing under way on a path that would tell of its end: one on which
 * nothing came since others were heard is as good as down.
 */
static bool
ack_path_lives(const struct bundle_slot *slot, const struct bundle_path *path)
{
	return (path->state == LULL_BUNDLE_PATH_UP || path->state == LULL_BUNDLE_PATH_SMALL) &&
	       path->rx_ns + bundle_path_patience_ns(slot, path) >= slot->heard_ns;
}

struct bundle_path *
bundle_ack_path(struct bundle_slot *slot)
{
	struct bundle_path *best = NULL;
	bool best_up = false;

	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];
		bool up = ack_path_lives(slot, path), better;

		if (path->state == LULL_BUNDLE_PATH_NONE)
			continue;
		if (best == NULL || up != best_up)
			better = best == NULL || up;
		else if (up)
			better = path->meter.srtt_ns < best->meter.srtt_ns;
		else
			better = path->rx_ns > best->rx_ns;
		if (better) {
			best = path;
			best_up = up;
		}
	}
	return best;
}

/* ---- saying it ---- */

static uint16_t
ack_units(uint64_t ns)
{
	return (uint16_t)LULL_MIN(ns / UNIT_NS, UNIT_MAX);
}

static void
ack_fill(const struct lull_bundle *bundle, struct bundle_path *path, struct bundle_block *block)
{
	*block = (struct bundle_block){
		.path = (uint8_t)(path->remote << 4 | path->local),
		.state = path->state,
		.wait = ack_units(path->rx_wait_ns),
		.hold = ack_units(bundle->now_ns - path->rx_look_ns),
		.duplicates = (uint16_t)path->rx_duplicates,
		.psn = (uint32_t)path->seen.largest,
		.sent = path->rx_sent,
		.received = path->rx_count,
		.credit = (uint16_t)LULL_MIN(path->credit_given, UNIT_MAX),
		.credit_echo = (uint16_t)LULL_MIN(path->credit, UNIT_MAX),
	};
	bundle_seen_last(&path->seen, block->bits);
	path->ack_pkts = path->quiet_pkts = 0;
	path->ack_now = false;
}

bool
bundle_ack_block(struct lull_bundle *bundle, struct bundle_slot *slot, uint8_t *at)
{
	struct bundle_block block;

	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];

		if (!ack_news(path))
			continue;
		ack_fill(bundle, path, &block);
		bundle_block_write(&block, at);
		return true;
	}
	return false;
}

static void
ack_records(const struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_ack *ack,
	    uint32_t room_bytes)
{
	struct bundle_store *store = slot->store;
	uint32_t most = LULL_MIN(room_bytes / BUNDLE_RECORD_BYTES, BUNDLE_RECORDS_MAX);
	uint32_t passed = 0, active = store->repeat_count;

	for (uint32_t i = 0; i < BUNDLE_REPEATS && passed < active; i++) {
		struct bundle_repeat *repeat = &store->repeats[i];

		passed += repeat->left > 0;
		if (repeat->left == 0 || repeat->next_ns > bundle->now_ns ||
		    ack->record_count == most)
			continue;
		ack->records[ack->record_count++] = repeat->record;
		repeat->next_ns = bundle->now_ns + repeat->gap_ns;
		repeat->gap_ns *= 2;
		if (--repeat->left == 0)
			store->repeat_count--;
	}
}

static bool
ack_wanted(const struct lull_bundle *bundle, const struct bundle_slot *slot,
	   const struct bundle_path *path, bool best)
{
	if (best && bundle_record_due(slot) <= bundle->now_ns)
		return true;
	if (best) {
		for (uint32_t i = 0; i < slot->store->path_count; i++) {
			const struct bundle_path *other = &slot->store->paths[i];

			if (ack_news(other) && bundle_ack_due(other) <= bundle->now_ns)
				return true;
		}
	}
	/* On the path itself now and then: this is what tells how far it is. */
	return ack_news(path) && path->ack_pkts > 0 &&
	       bundle->now_ns - path->block_ns >= LULL_MAX(path->meter.srtt_ns, OWN_NS);
}

uint32_t
bundle_ack_tx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	      uint8_t *body, uint32_t room_bytes)
{
	bool best = path == bundle_ack_path(slot);
	struct bundle_ack *ack = &bundle->ack;
	uint32_t bytes = BUNDLE_ACK_BYTES;

	if (!ack_wanted(bundle, slot, path, best))
		return 0;
	ack->block_count = ack->record_count = 0;
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *other = &slot->store->paths[i];

		/* What has no room waits for the next one. */
		if (ack_news(other) && room_bytes - bytes >= BUNDLE_BLOCK_BYTES) {
			ack_fill(bundle, other, &ack->blocks[ack->block_count++]);
			bytes += BUNDLE_BLOCK_BYTES;
		}
	}
	ack_records(bundle, slot, ack, room_bytes - bytes);
	path->block_ns = bundle->now_ns;
	slot->dirty = true;
	return bundle_ack_write(ack, body, room_bytes);
}

/* ---- records ---- */

void
bundle_record_say(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_record record)
{
	const struct bundle_path *path = bundle_ack_path(slot);
	struct bundle_store *store = slot->store;
	struct bundle_repeat *repeat = NULL;
	uint32_t passed = 0;

	for (uint32_t i = 0; i < BUNDLE_REPEATS && passed < store->repeat_count; i++) {
		struct bundle_repeat *said = &store->repeats[i];

		passed += said->left > 0;
		if (said->left > 0 && said->record.kind == record.kind &&
		    said->record.msg == record.msg)
			repeat = said;
	}
	for (uint32_t i = 0; i < BUNDLE_REPEATS && repeat == NULL; i++) {
		if (store->repeats[i].left == 0)
			repeat = &store->repeats[i];
	}
	if (repeat == NULL) /* one that its sender will ask for */
		repeat = &store->repeats[store->repeat_turn++ % BUNDLE_REPEATS];
	if (repeat->left == 0)
		store->repeat_count++;
	*repeat = (struct bundle_repeat){
		.record = record,
		.next_ns = bundle->now_ns,
		.gap_ns = path == NULL || path->meter.srtt_ns == 0 ?
				  REPEAT_NS :
				  bundle_meter_tail_ns(&path->meter),
		.left = REPEATS_LEFT,
	};
	bundle_slot_touch(slot);
}

uint64_t
bundle_record_due(const struct bundle_slot *slot)
{
	const struct bundle_store *store = slot->store;
	uint64_t due_ns = LULL_BUNDLE_NEVER;
	uint32_t passed = 0;

	for (uint32_t i = 0; i < BUNDLE_REPEATS && passed < store->repeat_count; i++) {
		if (store->repeats[i].left == 0)
			continue;
		due_ns = LULL_MIN(due_ns, store->repeats[i].next_ns);
		passed++;
	}
	return due_ns;
}

/* ---- hearing it ---- */

/* An older block, which came by a slower path, says nothing new. */
static bool
ack_is_older(const struct bundle_path *path, uint64_t psn, uint32_t received)
{
	return psn < path->credit_psn ||
	       (psn == path->credit_psn && bundle_before(received, path->credit_received));
}

static void
ack_credit(struct bundle_path *path, const struct bundle_block *block, uint64_t psn)
{
	if (ack_is_older(path, psn, block->received))
		return;
	path->credit_psn = psn;
	path->credit_received = block->received;
	path->credit = LULL_MAX(block->credit, 1);
	/* A share that was taken back is free once the other side goes by the smaller one. */
	if (block->credit_echo == path->credit_given)
		path->credit_held = path->credit_given;
	else if (block->credit_echo > path->credit_held) /* not more than it was ever given */
		path->credit_held = LULL_MIN(block->credit_echo, path->credit_most);
}

bool
bundle_ack_block_rx(struct lull_bundle *bundle, struct bundle_slot *slot,
		    const struct bundle_block *block, uint32_t rail)
{
	struct bundle_path *path = bundle_path_find(slot, block->path >> 4, block->path & 15);
	uint64_t largest;

	if (path == NULL)
		return false;
	largest = bundle_psn_expand(path->psn_next - 1, block->psn);
	if (largest >= path->psn_next || bundle_block_reaches_below(block, largest)) {
		LULL_COUNTER_ADD(bundle->counters.bad_ack, 1);
		return false;
	}
	ack_credit(path, block, largest);
	bundle_flight_block(bundle, slot, path, block, bundle->rails[rail].absent_ns);
	bundle_slot_touch(slot);
	return true;
}

void
bundle_ack_rx(struct lull_bundle *bundle, struct bundle_slot *slot, const struct bundle_ack *ack,
	      uint32_t rail)
{
	/* First, for a message that was refused is not one whose pieces all came. */
	for (uint32_t i = 0; i < ack->record_count; i++)
		bundle_out_record(bundle, slot, &ack->records[i]);
	for (uint32_t i = 0; i < ack->block_count; i++)
		(void)bundle_ack_block_rx(bundle, slot, &ack->blocks[i], rail);
	bundle_slot_touch(slot);
}
