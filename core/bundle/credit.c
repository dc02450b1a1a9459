/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rail credit: what all peers together may have under way towards a rail fits into its ring, so a
 * rest of any length overflows none. A larger share is given only from what no other share holds.
 *
 * When several send towards a rail, their windows add up before the last switch, where none of them
 * sees what the others do. The receiver does: together they get what the rail carries in a
 * round trip, and 64 packets, in equal shares. So the queue stays short, and nobody gets more than
 * the others.
 */
#include "protocol.h"

#define CREDIT_NS LULL_NS_PER_MS
#define ACTIVE_NS (10 * LULL_NS_PER_MS)
#define RATE_NS (4 * LULL_NS_PER_MS)
#define CROWD_PKTS 64
#define CROWD_RTT_NS (10 * LULL_NS_PER_MS) /* of paths that are not measured */

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
	uint64_t rtt_ns; /* least of the active */
};

static bool
credit_active(const struct lull_bundle *bundle, const struct bundle_path *path)
{
	return path->active_ns > 0 && bundle->now_ns - path->active_ns < ACTIVE_NS;
}

static void
credit_count(const struct lull_bundle *bundle, uint32_t rail, struct credit_sum *sum)
{
	*sum = (struct credit_sum){ .rtt_ns = CROWD_RTT_NS };
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		const struct bundle_slot *slot = &bundle->slots[i];

		for (uint32_t k = 0; bundle_peer_has_keys(slot) && k < slot->store->path_count;
		     k++) {
			const struct bundle_path *path = &slot->store->paths[k];

			if (path->state == LULL_BUNDLE_PATH_NONE || path->local != rail)
				continue;
			sum->count++;
			sum->held += LULL_MAX(path->credit_held, path->credit_given);
			if (!credit_active(bundle, path))
				continue;
			sum->active++;
			if (path->meter.base_rtt_ns > 0)
				sum->rtt_ns = LULL_MIN(sum->rtt_ns, path->meter.base_rtt_ns);
		}
	}
}

/* What several senders may have under way together. */
static uint32_t
credit_crowd(const struct bundle_rail *rail, const struct credit_sum *sum)
{
	uint64_t pkts = rail->rate_pps * (sum->rtt_ns + rail->absent_ns_max) / LULL_NS_PER_S;

	return (uint32_t)LULL_MIN(CROWD_PKTS + pkts, UINT32_MAX);
}

static uint32_t
credit_share(const struct lull_bundle *bundle, uint32_t number, const struct credit_sum *sum)
{
	const struct bundle_rail *rail = &bundle->rails[number];
	uint32_t first = bundle_credit_first(bundle, rail->config.ring_pkts);
	uint32_t pool = credit_pool(rail), others, share;

	others = (bundle->config.peers_max -
		  LULL_MIN(bundle->peer_count, bundle->config.peers_max)) *
			 first +
		 (sum->count - sum->active) * first;
	if (sum->active == 0 || pool <= others)
		return first;
	share = LULL_CLAMP((pool - others) / sum->active, first, bundle->config.window_pkts_max);
	if (sum->active == 1)
		return share;
	return LULL_MIN(share, LULL_MAX(credit_crowd(rail, sum) / sum->active, 1));
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
	path->credit_most = LULL_MAX(path->credit_most, path->credit_given);
	sum->held += path->credit_held;
	slot->dirty = true;
}

static void
credit_rate(const struct lull_bundle *bundle, struct bundle_rail *rail)
{
	uint64_t span_ns = bundle->now_ns - rail->rate_since_ns;

	if (span_ns < RATE_NS)
		return;
	rail->rate_pps =
		LULL_MAX(rail->rate_pkts * LULL_NS_PER_S / span_ns, rail->rate_pps / 8 * 7);
	rail->absent_ns_max -= rail->absent_ns_max / 8;
	rail->rate_pkts = 0;
	rail->rate_since_ns = bundle->now_ns;
}

static void
credit_rail(struct lull_bundle *bundle, uint32_t number)
{
	struct bundle_rail *rail = &bundle->rails[number];
	uint32_t first = bundle_credit_first(bundle, rail->config.ring_pkts), share;
	struct credit_sum sum;

	credit_rate(bundle, rail);
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
