/* SPDX-License-Identifier: BSD-3-Clause */
/* What others may see, from any thread: relaxed reads of what the bundle's thread writes. */
#include <errno.h>

#include "peer.h"
#include "protocol.h"

#define ROW(member, unit, help) LULL_COUNTER_ROW(struct lull_bundle_counters, member, unit, help)
#define PATH_ROW(member, unit, help)                                                               \
	LULL_COUNTER_ROW(struct lull_bundle_path_counters, member, unit, help)

const struct lull_counter_info lull_bundle_counter_table[] = {
	ROW(rx_pkts, "packets", "came"),
	ROW(rx_bytes, "bytes", "came"),
	ROW(tx_pkts, "packets", "handed out to be sent"),
	ROW(tx_bytes, "bytes", "handed out to be sent"),
	ROW(short_pkts, "packets", "shorter than a header and its tag"),
	ROW(bad_version, "packets", "of another version"),
	ROW(bad_type, "packets", "of no type or with flags that are not known"),
	ROW(bad_path, "packets", "on a rail or path that they do not name"),
	ROW(bad_range, "packets", "whose numbers are out of range"),
	ROW(bad_head, "packets", "whose head contradicts itself"),
	ROW(bad_ack, "packets", "that acknowledge what was never sent, or are cut"),
	ROW(bad_grant, "packets", "that grant more than anybody keeps"),
	ROW(forged, "packets", "whose tag does not hold"),
	ROW(replayed, "packets", "that came before, or are older than what is remembered"),
	ROW(strangers, "packets", "for an index that is not known"),
	ROW(hellos, "packets", "that ask for a connection"),
	ROW(hellos_refused, "packets", "the same, made without our key or not understood"),
	ROW(retries, "packets", "sent: come again with this cookie"),
	ROW(resets_tx, "packets", "sent: this index is not known"),
	ROW(resets_rx, "packets", "that say so of an index of ours"),
	ROW(halves_full, "packets", "hellos that came while all places for them were taken"),
	ROW(peers_up, "1", "connections that began"),
	ROW(peers_down, "1", "connections that ended"),
	ROW(peers_reset, "1", "connections that a newer one of the same node ended"),
	{ 0 },
};

const struct lull_counter_info lull_bundle_path_counter_table[] = {
	PATH_ROW(tx_pkts, "packets", "sent"),
	PATH_ROW(tx_bytes, "bytes", "sent, with headers and tags"),
	PATH_ROW(rx_pkts, "packets", "received"),
	PATH_ROW(rx_bytes, "bytes", "received"),
	PATH_ROW(offered_bytes, "bytes", "of messages sent, repeated ones too"),
	PATH_ROW(delivered_bytes, "bytes", "of messages acknowledged, each once"),
	PATH_ROW(acked_pkts, "packets", "sent and acknowledged"),
	PATH_ROW(lost_pkts, "packets", "sent and taken for lost"),
	PATH_ROW(late_pkts, "packets", "of these: acknowledged later"),
	PATH_ROW(resent_pkts, "packets", "that repeat what another packet carried"),
	PATH_ROW(duplicate_pkts, "packets", "received of which all was here already"),
	PATH_ROW(timeouts, "1", "tails that were sent again for want of an answer"),
	PATH_ROW(suspects, "1", "times that it was suspected"),
	PATH_ROW(downs, "1", "times that it went down"),
	PATH_ROW(ups, "1", "times that it came up"),
	{ 0 },
};

const struct lull_bundle_counters *
lull_bundle_counters(const struct lull_bundle *bundle)
{
	return &bundle->counters;
}

bool
lull_bundle_busy(const struct lull_bundle *bundle)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		if (bundle->slots[i].state != PEER_FREE && bundle_peer_busy(&bundle->slots[i]))
			return true;
	}
	return false;
}

bool
lull_bundle_partly(const struct lull_bundle *bundle)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state != PEER_FREE && slot->store != NULL && bundle_peer_has_keys(slot) &&
		    slot->store->in_partly > 0)
			return true;
	}
	return false;
}

static const struct bundle_slot *
look_slot(const struct lull_bundle *bundle, uint32_t peer)
{
	const struct bundle_slot *slot;

	if (peer >= bundle->slot_count)
		return NULL;
	slot = &bundle->slots[peer];
	return bundle_peer_has_keys(slot) && slot->store != NULL ? slot : NULL;
}

static enum lull_bundle_wait
look_waits(const struct lull_bundle *bundle, const struct bundle_store *store)
{
	bool up = false, room = false;

	if (store->out_count == 0)
		return LULL_BUNDLE_WAIT_NOTHING;
	for (uint32_t i = 0; i < store->path_count; i++) {
		const struct bundle_path *path = &store->paths[i];

		if (!bundle_path_carries(path))
			continue;
		up = true;
		room = room || path->under_way < bundle_path_window(bundle, path);
	}
	if (!up)
		return LULL_BUNDLE_WAIT_PATH;
	if (store->sendable > 0)
		return room ? LULL_BUNDLE_WAIT_NOTHING : LULL_BUNDLE_WAIT_WINDOW;
	return store->under_way > 0 ? LULL_BUNDLE_WAIT_NOTHING : LULL_BUNDLE_WAIT_CREDIT;
}

/* One that is kept: what it carried. */
static int
look_ended(const struct lull_bundle *bundle, uint32_t peer, struct lull_bundle_peer_look *look)
{
	const struct bundle_slot *slot = &bundle->slots[peer];

	if (peer >= bundle->slot_count || !slot->told_down)
		return -ENOENT;
	*look = (struct lull_bundle_peer_look){
		.node_id = slot->node_id,
		.since_ns = slot->since_ns,
		.heard_ns = slot->heard_ns,
		.sent_messages = slot->carried.sent_messages,
		.sent_bytes = slot->carried.sent_bytes,
		.received_messages = slot->carried.received_messages,
		.received_bytes = slot->carried.received_bytes,
	};
	memcpy(look->name, slot->name, sizeof(look->name));
	return 0;
}

int
lull_bundle_peer_look(const struct lull_bundle *bundle, uint32_t peer,
		      struct lull_bundle_peer_look *look)
{
	const struct bundle_slot *slot = look_slot(bundle, peer);
	const struct bundle_store *store;

	if (slot == NULL)
		return look_ended(bundle, peer, look);
	store = slot->store;
	*look = (struct lull_bundle_peer_look){
		.node_id = slot->node_id,
		.up = slot->state == PEER_UP,
		.since_ns = slot->since_ns,
		.heard_ns = slot->heard_ns,
		.piece_bytes = slot->piece_bytes,
		.path_count = store->path_count,
		.rest_ns_max = slot->rest_ns,
		.sent_messages = store->carried.sent_messages,
		.sent_bytes = store->carried.sent_bytes,
		.received_messages = store->carried.received_messages,
		.received_bytes = store->carried.received_bytes,
		.sending = store->out_count,
		.receiving = store->in_count,
		.unexpected_pieces = bundle->config.unexpected_pieces - store->chunk_count,
		.waits = look_waits(bundle, store),
	};
	memcpy(look->name, slot->name, sizeof(look->name));
	look->busy = look->up && look->waits == LULL_BUNDLE_WAIT_PATH;
	return 0;
}

int
lull_bundle_path_look(const struct lull_bundle *bundle, uint32_t peer, uint32_t index,
		      struct lull_bundle_path_look *look)
{
	const struct bundle_slot *slot = look_slot(bundle, peer);
	const struct bundle_path *path;

	if (slot == NULL || index >= slot->store->path_count)
		return -ENOENT;
	path = &slot->store->paths[index];
	*look = (struct lull_bundle_path_look){
		.rail = path->local,
		.remote_rail = path->remote,
		.state = path->state,
		.state_since_ns = path->state_ns,
		.base_rtt_ns = path->meter.base_rtt_ns,
		.srtt_ns = path->meter.srtt_ns,
		.rttvar_ns = path->meter.rttvar_ns,
		.rate_bps = path->meter.rate_bps,
		.window_pkts = bundle_path_window(bundle, path),
		.under_way_pkts = path->under_way,
		.credit_pkts = path->credit,
		.counters = path->counters,
	};
	return 0;
}
