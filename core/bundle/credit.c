/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rail credit: what all peers together may have under way towards a rail fits into its ring, so a
 * rest of any length overflows none. A larger share is given only from what no other share holds.
 */
#include "protocol.h"

#define CREDIT_NS LULL_NS_PER_MS
#define ACTIVE_NS (10 * LULL_NS_PER_MS)

uint32_t
bundle_credit_first(const struct lull_bundle *bundle, uint32_t ring_pkts)
{
	return LULL_CLAMP(ring_pkts / (2 * bundle->config.peers_max), 1, 1024);
}

/* The ring, less what acknowledgements and probes need. */
static uint32_t
credit_pool(const struct bundle_rail *rail)
{
	return rail->config.ring_pkts / 8 * 7;
}

struct credit_sum {
	uint32_t active, count, held;
};

static bool
credit_active(const struct lull_bundle *bundle, const struct bundle_path *path)
{
	return path->active_ns > 0 && bundle->now_ns - path->active_ns < ACTIVE_NS;
}

static void
credit_count(const struct lull_bundle *bundle, uint32_t rail, struct credit_sum *sum)
{
	*sum = (struct credit_sum){ 0 };
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];

		for (uint32_t k = 0; bundle_peer_has_keys(slot) && k < slot->store->path_count;
		     k++) {
			const struct bundle_path *path = &slot->store->paths[k];

			if (path->state == LULL_BUNDLE_PATH_NONE || path->local != rail)
				continue;
			sum->count++;
			sum->active += credit_active(bundle, path);
			sum->held += LULL_MAX(path->credit_held, path->credit_given);
		}
	}
}

static uint32_t
credit_share(const struct lull_bundle *bundle, uint32_t number, const struct credit_sum *sum)
{
	const struct bundle_rail *rail = &bundle->rails[number];
	uint32_t first = bundle_credit_first(bundle, rail->config.ring_pkts);
	uint32_t pool = credit_pool(rail), others;

	others = (bundle->config.peers_max -
		  LULL_MIN(bundle->peer_count, bundle->config.peers_max)) *
			 first +
		 (sum->count - sum->active) * first;
	if (sum->active == 0 || pool <= others)
		return first;
	return LULL_CLAMP((pool - others) / sum->active, first, bundle->config.window_pkts_max);
}

static void
credit_give(struct bundle_slot *slot, struct bundle_path *path, uint32_t wanted, uint32_t pool,
	    struct credit_sum *sum)
{
	uint32_t more;

	if (wanted <= path->credit_given) {
		path->credit_given = wanted; /* held until the other side goes by it */
		return;
	}
	more = LULL_MIN(wanted - path->credit_given, pool > sum->held ? pool - sum->held : 0);
	if (more == 0)
		return;
	sum->held -= LULL_MAX(path->credit_held, path->credit_given);
	path->credit_given += more;
	path->credit_held = LULL_MAX(path->credit_held, path->credit_given);
	sum->held += path->credit_held;
	slot->dirty = true;
}

static void
credit_rail(struct lull_bundle *bundle, uint32_t number)
{
	const struct bundle_rail *rail = &bundle->rails[number];
	uint32_t first = bundle_credit_first(bundle, rail->config.ring_pkts), share;
	struct credit_sum sum;

	credit_count(bundle, number, &sum);
	share = credit_share(bundle, number, &sum);
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		for (uint32_t k = 0; bundle_peer_has_keys(slot) && k < slot->store->path_count;
		     k++) {
			struct bundle_path *path = &slot->store->paths[k];

			if (path->state != LULL_BUNDLE_PATH_NONE && path->local == number)
				credit_give(slot, path, credit_active(bundle, path) ? share : first,
					    credit_pool(rail), &sum);
		}
	}
}

void
bundle_credit_run(struct lull_bundle *bundle)
{
	if (bundle->now_ns < bundle->credit_ns)
		return;
	bundle->credit_ns = bundle->now_ns + CREDIT_NS;
	for (uint32_t i = 0; i < LULL_BUNDLE_RAILS_MAX; i++) {
		if (bundle->rails[i].used)
			credit_rail(bundle, i);
	}
}
