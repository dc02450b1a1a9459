/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

#define OLD_KEY_PTOS 3 /* how long the key of before is taken, in times of a tail */

/* A packet of an epoch, while it is looked at. */
struct rx_packet {
	struct bundle_header header;
	uint8_t *bytes;
	uint32_t len_bytes; /* without the tag */
	uint32_t rail;
	uint64_t psn;
	const struct lull_bundle_address *from;
};

static struct bundle_slot *
rx_slot(struct lull_bundle *bundle, uint32_t index)
{
	uint32_t place = index & ((1u << BUNDLE_PLACE_BITS) - 1);
	struct bundle_slot *slot;

	if (place >= bundle->slot_count)
		return NULL;
	slot = &bundle->slots[bundle->place_slots[place]];
	if (slot->index != index || (slot->state != PEER_HALF && !bundle_peer_has_keys(slot)))
		return NULL;
	return slot;
}

/* Generation of the key: the present one, or the one its flag tells: behind or before it. */
static uint32_t
rx_generation(const struct lull_bundle *bundle, const struct bundle_slot *slot,
	      const struct bundle_path *path, uint8_t flags)
{
	uint64_t old_ns = OLD_KEY_PTOS * (path == NULL ? 10 * LULL_NS_PER_MS :
							 bundle_meter_tail_ns(&path->meter)) +
			  slot->rest_ns;

	if ((slot->rx_generation & 1) == (flags & BUNDLE_FLAG_PHASE))
		return slot->rx_generation;
	if (slot->rx_generation > 0 && bundle->now_ns - slot->rx_generation_ns < old_ns)
		return slot->rx_generation - 1;
	return slot->rx_generation + 1;
}

static bool
rx_open(struct lull_bundle *bundle, struct bundle_slot *slot, const struct bundle_path *path,
	struct rx_packet *packet)
{
	struct lull_bundle_nonce nonce = {
		.psn = packet->psn,
		.generation = rx_generation(bundle, slot, path, packet->header.flags),
		.path = packet->header.path,
	};

	if (!bundle->config.security->open(slot->keys, &nonce, packet->bytes, BUNDLE_HEADER_BYTES,
					   packet->len_bytes)) {
		LULL_COUNTER_ADD(bundle->counters.forged, 1);
		return false;
	}
	if (nonce.generation > slot->rx_generation) {
		slot->rx_generation = nonce.generation;
		slot->rx_generation_ns = bundle->now_ns;
	}
	return true;
}

/* ---- what is in it ---- */

static void
rx_data(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	const struct rx_packet *packet)
{
	const uint8_t *body = packet->bytes + BUNDLE_HEADER_BYTES;
	uint32_t bytes = packet->len_bytes - BUNDLE_HEADER_BYTES;
	struct bundle_block block;

	path->active_ns = bundle->now_ns;
	if ((packet->header.flags & BUNDLE_FLAG_BLOCK) != 0) {
		if (bytes < BUNDLE_BLOCK_BYTES ||
		    !bundle_block_read(&block, body + bytes - BUNDLE_BLOCK_BYTES,
				       BUNDLE_BLOCK_BYTES)) {
			LULL_COUNTER_ADD(bundle->counters.bad_ack, 1);
			return;
		}
		bytes -= BUNDLE_BLOCK_BYTES;
		(void)bundle_ack_block_rx(bundle, slot, &block, packet->rail);
	}
	if (bundle_in_rx(bundle, slot, path, &packet->header, body, bytes))
		bundle_ack_note(bundle, slot, path, &packet->header, packet->psn, true);
}

static void
rx_control(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	   const struct rx_packet *packet)
{
	const uint8_t *body = packet->bytes + BUNDLE_HEADER_BYTES;
	uint32_t bytes = packet->len_bytes - BUNDLE_HEADER_BYTES;
	struct bundle_probe probe;
	struct bundle_close close;

	bundle_ack_note(bundle, slot, path, &packet->header, packet->psn,
			packet->header.type == BUNDLE_PROBE);
	switch (packet->header.type) {
	case BUNDLE_ACK:
		if (bundle_ack_read(&bundle->ack, body, bytes))
			bundle_ack_rx(bundle, slot, &bundle->ack, packet->rail);
		else
			LULL_COUNTER_ADD(bundle->counters.bad_ack, 1);
		break;
	case BUNDLE_PROBE:
		if (bundle_probe_read(&probe, body, bytes))
			bundle_probe_rx(bundle, slot, path, &probe, bytes, packet->from);
		else
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		break;
	case BUNDLE_CLOSE:
		if (bundle_close_read(&close, body, bytes))
			bundle_peer_closed(bundle, slot, &close);
		else
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
		break;
	default: /* REST: the header said it */
		break;
	}
}

/* ---- opening it ---- */

static bool
rx_is_new(const struct bundle_path *path, uint64_t psn)
{
	return psn > path->seen_floor && bundle_seen_is_new(&path->seen, psn);
}

/* A packet that was long on its way says what was so before. */
static void
rx_rest(const struct lull_bundle *bundle, struct bundle_slot *slot,
	const struct bundle_header *header)
{
	if (slot->rest_told && bundle_before(header->sent, slot->rest_sent) &&
	    bundle->now_ns - slot->heard_ns < LULL_NS_PER_S)
		return;
	slot->rest_told = true;
	slot->rest_ns = bundle_rest_decode(header->rest);
	slot->rest_sent = header->sent;
}

static void
rx_known(struct lull_bundle *bundle, struct bundle_slot *slot, struct rx_packet *packet)
{
	uint32_t local = packet->header.path & 15, remote = packet->header.path >> 4;
	struct bundle_path *path = NULL;
	uint64_t largest;

	if (slot->store != NULL)
		path = bundle_path_find(slot, local, remote);
	largest = slot->store == NULL ? 0 : bundle_path_seen(slot, local, remote);
	packet->psn = bundle_psn_expand(largest, packet->header.psn);
	if (path != NULL && !rx_is_new(path, packet->psn)) {
		path->rx_duplicates++;
		LULL_COUNTER_ADD(bundle->counters.replayed, 1);
		return;
	}
	/* Only a probe begins a path. */
	if (path == NULL && slot->state != PEER_HALF && packet->header.type != BUNDLE_PROBE) {
		LULL_COUNTER_ADD(bundle->counters.bad_path, 1);
		return;
	}
	if (!rx_open(bundle, slot, path, packet))
		return;
	if (slot->state == PEER_HALF) {
		slot = bundle_peer_promote(bundle, slot);
		if (slot == NULL)
			return;
	}
	if (path == NULL)
		path = bundle_path_take(bundle, slot, local, remote);
	if (path == NULL || !rx_is_new(path, packet->psn)) {
		LULL_COUNTER_ADD(bundle->counters.bad_path, 1);
		return;
	}
	LULL_COUNTER_ADD(path->counters.rx_pkts, 1);
	bundle->rails[packet->rail].rate_pkts++;
	LULL_COUNTER_ADD(path->counters.rx_bytes,
			 packet->len_bytes + bundle->config.security->tag_bytes);
	rx_rest(bundle, slot, &packet->header);
	bundle_peer_heard(bundle, slot);
	bundle_probe_heard(bundle, slot, path, packet->from);
	bundle_out_grant(bundle, slot, packet->header.grant);
	if (packet->header.type == BUNDLE_DATA)
		rx_data(bundle, slot, path, packet);
	else
		rx_control(bundle, slot, path, packet);
	if (bundle_peer_has_keys(slot))
		bundle_slot_touch(slot);
}

/* These two rails reach each other. Where no path does any more, they become one. */
static void
rx_met(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t local, uint32_t remote)
{
	slot->met[local] |= (uint16_t)(1u << remote);
	for (uint32_t i = 0; i < slot->store->path_count; i++)
		if (bundle_path_carries(&slot->store->paths[i]))
			return;
	if (bundle_path_find(slot, local, remote) != NULL)
		return;
	slot->met_used = true;
	bundle_peer_plan(bundle, slot);
}

/*
 * The other side has an address of ours that another rail of ours has now. Where both sides changed
 * their rails, each may be told of it in no other way than by probes that come here.
 */
static void
rx_elsewhere(struct lull_bundle *bundle, struct bundle_slot *slot, struct rx_packet *packet)
{
	uint32_t local = packet->header.path & 15, remote = packet->header.path >> 4;
	struct bundle_path *path = NULL;
	struct bundle_probe probe;

	LULL_COUNTER_ADD(bundle->counters.bad_path, 1);
	if (slot != NULL && packet->header.type == BUNDLE_PROBE && bundle_peer_has_keys(slot))
		path = bundle_path_find(slot, local, remote);
	if (path == NULL)
		return;
	packet->psn = bundle_psn_expand(path->seen.largest, packet->header.psn);
	if (!rx_is_new(path, packet->psn) || !rx_open(bundle, slot, path, packet))
		return;
	bundle_seen_add(&path->seen, packet->psn);
	bundle_peer_heard(bundle, slot);
	rx_met(bundle, slot, packet->rail, remote);
	if (bundle_probe_read(&probe, packet->bytes + BUNDLE_HEADER_BYTES,
			      packet->len_bytes - BUNDLE_HEADER_BYTES))
		bundle_probe_elsewhere(bundle, slot, &probe);
	bundle_slot_touch(slot);
}

static void
rx_bad(struct lull_bundle *bundle, const uint8_t *bytes, uint32_t len_bytes)
{
	if (len_bytes < BUNDLE_HEADER_BYTES)
		LULL_COUNTER_ADD(bundle->counters.short_pkts, 1);
	else if (bundle_header_foreign(bytes, len_bytes))
		LULL_COUNTER_ADD(bundle->counters.bad_version, 1);
	else
		LULL_COUNTER_ADD(bundle->counters.bad_type, 1);
}

void
lull_bundle_rx(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail, uint8_t *bytes,
	       uint32_t len_bytes, const struct lull_bundle_address *from)
{
	uint32_t tag_bytes = bundle->config.security->tag_bytes;
	struct rx_packet packet = { .bytes = bytes, .rail = rail, .from = from };
	struct bundle_slot *slot;

	LULL_ASSERT_HOT(rail < LULL_BUNDLE_RAILS_MAX);
	if (!bundle->rails[rail].used)
		return;
	bundle_time(bundle, now_ns);
	LULL_COUNTER_ADD(bundle->counters.rx_pkts, 1);
	LULL_COUNTER_ADD(bundle->counters.rx_bytes, len_bytes);
	if (!bundle_header_read(&packet.header, bytes, len_bytes)) {
		rx_bad(bundle, bytes, len_bytes);
		return;
	}
	if (packet.header.type <= BUNDLE_RESET) {
		bundle_greet_rx(bundle, rail, &packet.header, bytes, len_bytes, from);
		return;
	}
	if (len_bytes < BUNDLE_HEADER_BYTES + tag_bytes) {
		LULL_COUNTER_ADD(bundle->counters.short_pkts, 1);
		return;
	}
	packet.len_bytes = len_bytes - tag_bytes;
	slot = rx_slot(bundle, packet.header.to);
	if ((packet.header.path & 15) != rail)
		rx_elsewhere(bundle, slot, &packet);
	else if (slot == NULL)
		bundle_greet_unknown(bundle, rail, &packet.header, from);
	else
		rx_known(bundle, slot, &packet);
}
