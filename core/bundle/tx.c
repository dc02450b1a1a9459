/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

#define GENERATION_BITS 24 /* a key is used for 2^24 packets */

uint32_t
bundle_tx_seal(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	       struct bundle_header *header, uint8_t *packet, uint32_t body_bytes)
{
	const struct lull_bundle_security *security = bundle->config.security;
	struct lull_bundle_nonce nonce = {
		.psn = path->psn_next,
		.generation = (uint32_t)(slot->tx_pkts++ >> GENERATION_BITS),
		.path = (uint8_t)(path->local << 4 | path->remote),
	};

	header->version = BUNDLE_VERSION;
	header->flags |= nonce.generation & 1 ? BUNDLE_FLAG_PHASE : 0;
	header->path = nonce.path;
	header->rest = bundle_rest_encode(bundle->rest_ns);
	header->to = slot->remote_index;
	header->psn = (uint32_t)nonce.psn;
	header->sent = (uint32_t)(bundle->now_ns / 64);
	header->grant = bundle_in_grant(bundle, slot->store);
	slot->rest_said = header->rest;
	slot->rest_wanted = false;
	bundle_header_write(header, packet);
	security->seal(slot->keys, &nonce, packet, BUNDLE_HEADER_BYTES,
		       BUNDLE_HEADER_BYTES + body_bytes);
	return BUNDLE_HEADER_BYTES + body_bytes + security->tag_bytes;
}

/* ---- data ---- */

static void
tx_view(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_spread_view *view)
{
	struct bundle_store *store = slot->store;

	view->path_count = store->path_count;
	for (uint32_t i = 0; i < store->path_count; i++) {
		const struct bundle_path *path = &store->paths[i];
		view->paths[i] = (struct bundle_spread_path){
			.up = bundle_path_carries(path) && bundle->rails[path->local].used,
			.window_pkts = bundle_path_window(bundle, path),
			.under_way_pkts = path->under_way,
			.arrival_ns = bundle_meter_arrival_ns(&path->meter, path->under_way),
			.packet_ns = path->meter.packet_ns,
			.srtt_ns = path->meter.srtt_ns,
			.declared_bps = bundle->rails[path->local].config.rate_bps,
		};
	}
}

/* May this path take a packet? Asked for each quantum. */
static bool
tx_may(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
       struct bundle_spread_view *view)
{
	uint32_t window = bundle_path_window(bundle, path);

	if (path->under_way >= window) {
		/* A window that only the other side's ring holds back is not too small. */
		path->limited |= path->under_way >= bundle->config.control->window(path->control);
		return false;
	}
	if (path->quota > 0)
		return true;
	if (!bundle_out_view(slot, path, view))
		return false;
	tx_view(bundle, slot, view);
	path->quota = bundle->config.spread->take(&slot->store->spread, view,
						  bundle_path_index(slot, path));
	if (path->quota == 0)
		return false;
	bundle->config.spread->sent(&slot->store->spread, view, bundle_path_index(slot, path),
				    path->quota);
	return true;
}

static uint32_t
tx_data(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	struct lull_bundle_packet *packet)
{
	uint32_t tag_bytes = bundle->config.security->tag_bytes, bytes, len, window;
	struct bundle_header header = { .type = BUNDLE_DATA };
	uint8_t *body = packet->bytes + BUNDLE_HEADER_BYTES;
	uint32_t room =
		LULL_MIN(packet->room_bytes, path->packet_bytes) - BUNDLE_HEADER_BYTES - tag_bytes;
	struct bundle_spread_view view;
	struct bundle_flight *flight;

	if (!bundle_out_wants(slot->store))
		path->quota = 0; /* of what was sent then, not of what comes next */
	if (!bundle_path_carries(path) || !bundle_out_wants(slot->store) ||
	    !tx_may(bundle, slot, path, &view))
		return 0;
	flight = bundle_flight_new(bundle, slot, path, true);
	if (flight == NULL) {
		path->limited = true;
		return 0;
	}
	bytes = bundle_out_tx(bundle, slot, path, &header, body, room, flight);
	if (bytes == 0 && flight->pieces == 0)
		return 0;
	path->quota--;
	/* An answer acknowledges its question, where there is room. */
	if (room - bytes >= BUNDLE_BLOCK_BYTES && bundle_ack_block(bundle, slot, body + bytes)) {
		header.flags |= BUNDLE_FLAG_BLOCK;
		bytes += BUNDLE_BLOCK_BYTES;
	}
	window = bundle_path_window(bundle, path);
	if (path->under_way + 1 >= window && path->psn_next - path->psn_now >= window / 2) {
		header.flags |= BUNDLE_FLAG_NOW; /* nothing leaves until one is acknowledged */
		path->psn_now = path->psn_next;
	}
	len = bundle_tx_seal(bundle, slot, path, &header, packet->bytes, bytes);
	packet->to = path->address;
	flight->bytes = (uint16_t)len;
	bundle_flight_sent(bundle, slot, path, flight);
	return len;
}

/* ---- all else ---- */

/* The body of what is to be said on this path besides data, by urgency; type 0: nothing. */
static uint32_t
tx_body(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	struct bundle_header *header, uint8_t *body, uint32_t room, struct lull_bundle_address *to)
{
	struct bundle_close close = { 0 };
	uint32_t bytes;

	*to = path->address;
	header->type = BUNDLE_PROBE;
	if (path->reply_wanted || path->ask_wanted || path->move_wanted)
		return bundle_path_probe_tx(bundle, slot, path, body, room, to);
	header->type = BUNDLE_ACK;
	bytes = bundle_ack_tx(bundle, slot, path, body, room);
	if (bytes > 0)
		return bytes;
	if (slot->close_wanted && path == bundle_ack_path(slot)) {
		header->type = BUNDLE_CLOSE;
		slot->close_wanted = false;
		close.reason = slot->store->out_count > 0;
		return bundle_close_write(&close, body);
	}
	header->type = slot->rest_wanted && path == bundle_ack_path(slot) ? BUNDLE_REST : 0;
	return 0;
}

static uint32_t
tx_control(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	   struct lull_bundle_packet *packet)
{
	uint32_t room = LULL_MIN(packet->room_bytes, path->packet_bytes) - BUNDLE_HEADER_BYTES -
			bundle->config.security->tag_bytes;
	struct bundle_header header = { 0 };
	struct bundle_flight *flight;
	uint32_t bytes, len;

	bytes = tx_body(bundle, slot, path, &header, packet->bytes + BUNDLE_HEADER_BYTES, room,
			&packet->to);
	if (header.type == 0 || (bytes == 0 && header.type != BUNDLE_REST))
		return 0;
	flight = bundle_flight_new(bundle, slot, path, false);
	len = bundle_tx_seal(bundle, slot, path, &header, packet->bytes, bytes);
	flight->bytes = (uint16_t)len;
	bundle_flight_sent(bundle, slot, path, flight);
	slot->dirty = true;
	return len;
}

static bool
tx_is_on(const struct bundle_path *path, uint32_t rail)
{
	return path->state != LULL_BUNDLE_PATH_NONE && path->local == rail;
}

/* What is to be said goes before all data, and paths that share a rail take turns. */
static uint32_t
tx_path(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t rail,
	struct lull_bundle_packet *packet, struct bundle_path **by)
{
	struct bundle_store *store = slot->store;
	uint32_t len;

	for (uint32_t i = 0; i < store->path_count; i++) {
		*by = &store->paths[i];
		len = tx_is_on(*by, rail) ? tx_control(bundle, slot, *by, packet) : 0;
		if (len > 0)
			return len;
	}
	for (uint32_t i = 0; i < store->path_count; i++) {
		uint32_t at = (store->tx_turns[rail] + i) % store->path_count;

		*by = &store->paths[at];
		len = tx_is_on(*by, rail) ? tx_data(bundle, slot, *by, packet) : 0;
		if (len == 0)
			continue;
		store->tx_turns[rail] = (uint8_t)(at + 1);
		slot->idle_rails = 0; /* another path may be the better one from here on */
		return len;
	}
	return 0;
}

static uint32_t
tx_slot(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t rail,
	struct lull_bundle_packet *packet)
{
	struct bundle_path *path;
	uint32_t len = tx_path(bundle, slot, rail, packet, &path);

	if (len == 0) {
		slot->idle_rails |= 1u << rail;
		slot->dirty = true;
		return 0;
	}
	LULL_COUNTER_ADD(path->counters.tx_pkts, 1);
	LULL_COUNTER_ADD(path->counters.tx_bytes, len);
	return len;
}

static uint32_t
tx_one(struct lull_bundle *bundle, uint32_t rail, struct lull_bundle_packet *packet)
{
	struct bundle_rail *from = &bundle->rails[rail];
	uint32_t len = bundle_greet_tx(bundle, rail, packet);

	for (uint32_t i = 0; i < bundle->slot_high && len == 0; i++) {
		uint32_t at = (from->turn + i) % bundle->slot_high;
		struct bundle_slot *slot = &bundle->slots[at];

		if (!bundle_peer_has_keys(slot) || (slot->idle_rails >> rail & 1) != 0)
			continue;
		len = tx_slot(bundle, slot, rail, packet);
		if (len > 0)
			from->turn = at + 1;
	}
	return len;
}

uint32_t
lull_bundle_tx(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail,
	       struct lull_bundle_packet *packets, uint32_t count)
{
	uint32_t done = 0;

	LULL_ASSERT_HOT(rail < LULL_BUNDLE_RAILS_MAX);
	if (!bundle->rails[rail].used)
		return 0;
	bundle_time(bundle, now_ns);
	/* What nothing was known of before, may be due by time now. */
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (bundle_peer_has_keys(slot) && bundle_peer_due(bundle, slot) <= bundle->now_ns)
			slot->idle_rails &= ~(1u << rail);
	}
	while (done < count) {
		packets[done].len_bytes = tx_one(bundle, rail, &packets[done]);
		if (packets[done].len_bytes == 0)
			break;
		LULL_COUNTER_ADD(bundle->counters.tx_pkts, 1);
		LULL_COUNTER_ADD(bundle->counters.tx_bytes, packets[done].len_bytes);
		done++;
	}
	return done;
}
