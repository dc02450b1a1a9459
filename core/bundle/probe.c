/* SPDX-License-Identifier: BSD-3-Clause */
/* What probes and the addresses of packets say of paths. */
#include "protocol.h"

/* It may be elsewhere now: that address is asked, and taken when it answers. */
static void
path_moved(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	   const struct lull_bundle_address *address)
{
	if (memcmp(address, &path->address, sizeof(*address)) == 0 || path->move_wanted)
		return;
	if (path->move_ns > 0 && bundle->now_ns - path->move_ns < LULL_NS_PER_S)
		return;
	path->move_wanted = true;
	path->move_address = *address;
	path->move_challenge = bundle_random(bundle);
	bundle_slot_touch(slot);
}

/* What leads to rails that have another address now. */
static void
probe_addresses(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];

		for (uint32_t k = 0; k < slot->rails.count; k++)
			if (path->state != LULL_BUNDLE_PATH_NONE &&
			    slot->rails.rails[k].number == path->remote)
				path_moved(bundle, slot, path, &slot->rails.rails[k].address);
	}
}

/* The other side may have other rails than before. The table of a late probe does not count. */
static void
probe_rails(struct lull_bundle *bundle, struct bundle_slot *slot, const struct bundle_probe *probe)
{
	const struct bundle_rail_table *rails = &probe->rails;
	bool same = rails->count == slot->rails.count;

	if (slot->table_told && (int16_t)(probe->table - slot->table) <= 0)
		return;
	slot->table_told = true;
	slot->table = probe->table;
	for (uint32_t i = 0; same && i < rails->count; i++)
		same = rails->rails[i].number == slot->rails.rails[i].number &&
		       rails->rails[i].kind == slot->rails.rails[i].kind &&
		       rails->rails[i].packet_bytes == slot->rails.rails[i].packet_bytes;
	if (rails->count == 0)
		return;
	slot->rails = *rails;
	if (!same)
		bundle_peer_plan(bundle, slot);
	probe_addresses(bundle, slot);
}

void
bundle_probe_elsewhere(struct lull_bundle *bundle, struct bundle_slot *slot,
		       const struct bundle_probe *probe)
{
	probe_rails(bundle, slot, probe);
}

/* Until packets say more, the answer to a probe tells how far it is. */
static void
probe_measure(struct lull_bundle *bundle, struct bundle_path *path)
{
	const struct bundle_sample sample = {
		.now_ns = bundle->now_ns,
		.rtt_ns = LULL_MAX(bundle->now_ns - path->challenge_ns, 1),
		.absent_ns = bundle->rails[path->local].absent_ns,
		.psn_next = path->psn_next,
	};
	struct bundle_round round;

	if (path->meter.srtt_ns == 0 && !path->asked_again)
		(void)bundle_meter_add(&path->meter, &sample, &round);
}

/* Pieces are as long as all rails had room for when keys were agreed; one may have come later. */
static bool
path_fits(const struct lull_bundle *bundle, const struct bundle_slot *slot,
	  const struct bundle_path *path)
{
	return path->packet_bytes >=
	       BUNDLE_HEADER_BYTES + slot->piece_bytes + bundle->config.security->tag_bytes;
}

static void
probe_answered(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	path->asked = path->ask_wanted = false;
	probe_measure(bundle, path);
	switch (path->state) {
	case LULL_BUNDLE_PATH_JOIN:
		if (path->challenge_full) {
			bundle_path_state(bundle, slot, path,
					  path_fits(bundle, slot, path) ? LULL_BUNDLE_PATH_UP :
									  LULL_BUNDLE_PATH_SMALL);
		} else {
			path->small_passed = true;
			path->probe_gap_ns = BUNDLE_PROBE_GAP_NS;
			path->probe_ns = bundle->now_ns;
		}
		break;
	case LULL_BUNDLE_PATH_SMALL:
		if (path_fits(bundle, slot, path))
			bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_UP);
		break;
	case LULL_BUNDLE_PATH_SUSPECT:
		bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_UP);
		break;
	case LULL_BUNDLE_PATH_DOWN:
		path->answers++;
		path->probe_gap_ns = BUNDLE_PROBE_GAP_NS;
		path->probe_ns = bundle->now_ns + BUNDLE_PROBE_GAP_NS;
		if (path->answers >= BUNDLE_ANSWERS_NEEDED && bundle->now_ns >= path->held_until_ns)
			bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_UP);
		break;
	default:
		break;
	}
}

void
bundle_probe_rx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		const struct bundle_probe *probe, uint32_t len_bytes,
		const struct lull_bundle_address *from)
{
	bundle_slot_touch(slot);
	if (probe->kind == BUNDLE_PROBE_ASK) {
		path->reply_wanted = true;
		path->reply_challenge = probe->challenge;
		path->reply_bytes = len_bytes;
		path->reply_address = *from;
	} else if (path->move_ns > 0 && probe->challenge == path->move_challenge) {
		path->address = path->move_address;
		path->move_ns = 0;
	} else if (path->asked && path->challenge_ns > 0 && probe->challenge == path->challenge) {
		probe_answered(bundle, slot, path);
	}
	probe_rails(bundle, slot, probe);
}

void
bundle_probe_heard(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		   const struct lull_bundle_address *from)
{
	path->rx_ns = bundle->now_ns;
	path_moved(bundle, slot, path, from);
}
