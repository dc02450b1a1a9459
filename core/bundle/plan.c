/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pairs of rails are paths. */
#include "protocol.h"

static const struct bundle_rail_info *
plan_remote(const struct bundle_slot *slot, uint32_t remote)
{
	for (uint32_t i = 0; i < slot->rails.count; i++) {
		if (slot->rails.rails[i].number == remote)
			return &slot->rails.rails[i];
	}
	return NULL;
}

/* ---- places ---- */

static struct bundle_pair *
plan_pair(struct bundle_store *store, uint32_t local, uint32_t remote)
{
	return &store->pairs[local << 4 | remote];
}

/*
 * A place for one more path: a new one, or that of a path that is not wanted any more. The numbers
 * of that one are kept: no nonce comes twice in an epoch, and nothing is taken twice.
 */
static struct bundle_path *
plan_place(struct lull_bundle *bundle, struct bundle_slot *slot, const uint16_t *wanted)
{
	struct bundle_store *store = slot->store;
	struct bundle_path *found = NULL;
	struct bundle_pair *pair;

	if (store->path_count < LULL_BUNDLE_PATHS_MAX)
		return &store->paths[store->path_count++];
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++) {
		struct bundle_path *path = &store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_NONE) {
			found = path;
			break;
		}
		if (wanted != NULL && (wanted[path->local] >> path->remote & 1) == 0)
			found = path;
	}
	if (found == NULL)
		return NULL;
	if (found->state != LULL_BUNDLE_PATH_NONE)
		bundle_path_fini(bundle, slot, found);
	pair = plan_pair(store, found->local, found->remote);
	pair->psn_next = found->psn_next;
	pair->seen_largest = found->seen.largest;
	*found = (struct bundle_path){ .flights = found->flights };
	return found;
}

/*
 * Numbers up to the largest are refused from here on. They are not told as received: nobody knows
 * any more which of them were.
 */
static void
plan_recall(struct bundle_store *store, struct bundle_path *path, uint32_t local, uint32_t remote)
{
	const struct bundle_pair *pair = plan_pair(store, local, remote);

	path->psn_next = pair->psn_next;
	path->seen = (struct bundle_seen){ .largest = pair->seen_largest };
	path->seen_floor = pair->seen_largest;
}

static struct bundle_path *
plan_find(struct bundle_store *store, uint32_t local, uint32_t remote)
{
	for (uint32_t i = 0; i < store->path_count; i++) {
		if (store->paths[i].local == local && store->paths[i].remote == remote)
			return &store->paths[i];
	}
	return NULL;
}

uint64_t
bundle_path_seen(struct bundle_slot *slot, uint32_t local, uint32_t remote)
{
	const struct bundle_path *path = plan_find(slot->store, local, remote);

	return path != NULL ? path->seen.largest :
			      plan_pair(slot->store, local, remote)->seen_largest;
}

static struct bundle_path *
plan_take(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t local, uint32_t remote,
	  const uint16_t *wanted)
{
	const struct bundle_rail_info *info = plan_remote(slot, remote);
	struct bundle_path *path = plan_find(slot->store, local, remote);

	if (info == NULL || !bundle->rails[local].used)
		return NULL;
	if (path != NULL && path->state != LULL_BUNDLE_PATH_NONE) {
		if (path->remote_bytes == info->packet_bytes)
			return path;
		bundle_path_fini(bundle, slot, path); /* it is another port now */
	}
	if (path == NULL) {
		path = plan_place(bundle, slot, wanted);
		if (path == NULL)
			return NULL;
		plan_recall(slot->store, path, local, remote);
	}
	bundle_path_begin(bundle, slot, path, info, local);
	return path;
}

struct bundle_path *
bundle_path_take(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t local,
		 uint32_t remote)
{
	return plan_take(bundle, slot, local, remote, NULL);
}

/* ---- the plan ---- */

/* Pair k is (k mod rails here, k mod rails there), of one kind. */
static void
plan_kind(const struct lull_bundle *bundle, const struct bundle_slot *slot, uint8_t kind,
	  uint16_t *wanted)
{
	uint32_t here[LULL_BUNDLE_RAILS_MAX], there[LULL_BUNDLE_RAILS_MAX];
	uint32_t here_count = 0, there_count = 0;

	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		if (bundle->rails[i].used && bundle->rails[i].config.kind == kind)
			here[here_count++] = i;
	}
	for (uint32_t number = 0; number < LULL_BUNDLE_RAILS_MAX; number++) {
		for (uint32_t i = 0; i < slot->rails.count; i++) {
			if (slot->rails.rails[i].number == number &&
			    slot->rails.rails[i].kind == kind)
				there[there_count++] = number;
		}
	}
	if (there_count == 0)
		return;
	for (uint32_t k = 0; k < LULL_MAX(here_count, there_count) && here_count > 0; k++)
		wanted[here[k % here_count]] |= (uint16_t)(1u << there[k % there_count]);
}

/*
 * The order of the rails is not that of the wires: one rail of the other side that was heard on
 * each of ours.
 */
static void
plan_met(const struct lull_bundle *bundle, const struct bundle_slot *slot, uint16_t *wanted)
{
	for (uint32_t local = 0; local < LULL_BUNDLE_RAILS_MAX; local++) {
		uint32_t remote = 0;

		if (!bundle->rails[local].used)
			continue;
		while (slot->met[local] >> remote != 0 &&
		       ((slot->met[local] >> remote & 1) == 0 || plan_remote(slot, remote) == NULL))
			remote++;
		if (slot->met[local] >> remote != 0)
			wanted[local] |= (uint16_t)(1u << remote);
	}
}

void
bundle_peer_plan(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	struct bundle_store *store = slot->store;
	uint32_t kinds_done[8] = { 0 };
	uint16_t wanted[LULL_BUNDLE_RAILS_MAX] = { 0 };

	for (uint32_t i = 0; i < store->path_count; i++) {
		struct bundle_path *path = &store->paths[i];

		if (path->state != LULL_BUNDLE_PATH_NONE &&
		    (!bundle->rails[path->local].used || plan_remote(slot, path->remote) == NULL))
			bundle_path_fini(bundle, slot, path);
	}
	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		uint8_t kind = bundle->rails[i].config.kind;

		if (!bundle->rails[i].used || (kinds_done[kind / 32] >> kind % 32 & 1) != 0)
			continue;
		kinds_done[kind / 32] |= 1u << kind % 32;
		plan_kind(bundle, slot, kind, wanted);
	}
	if (slot->met_used)
		plan_met(bundle, slot, wanted);
	for (uint32_t pair = 0; pair < LULL_BUNDLE_RAILS_MAX * LULL_BUNDLE_RAILS_MAX; pair++) {
		if ((wanted[pair / 16] >> pair % 16 & 1) != 0)
			(void)plan_take(bundle, slot, pair / 16, pair % 16, wanted);
	}
	/* The other side learns of our rails by a probe on a path that it knows. */
	for (uint32_t i = 0; i < store->path_count; i++) {
		if (store->paths[i].state != LULL_BUNDLE_PATH_NONE)
			store->paths[i].probe_ns = bundle->now_ns;
	}
	bundle_path_tell(bundle, slot);
	bundle_slot_touch(slot);
}
