/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Weigh: shares by the declared speeds of the rails, to compare with.
 *
 * As btl/tcp of Open MPI, which weighs interfaces by the speed that they declare, and equally where
 * they declare none. Whose share is least used takes the next quantum, and the others wait for it.
 * A path whose speed is unknown counts as the slowest that is known.
 */
#include "spread.h"

#define WEIGH_SHARE 65536u /* what a packet costs the slowest path */

static uint64_t
weigh_slowest_bps(const struct bundle_spread_view *view)
{
	uint64_t slowest_bps = 0;

	for (uint32_t i = 0; i < view->path_count; i++) {
		uint64_t bps = view->paths[i].declared_bps;

		if (bps > 0 && (slowest_bps == 0 || bps < slowest_bps))
			slowest_bps = bps;
	}
	return slowest_bps;
}

/* Shares wrap around: a is less used than b. */
static bool
weigh_less(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* The least used of the paths that move; path_count: none does. */
static uint32_t
weigh_first(const struct bundle_spread_state *state, const struct bundle_spread_view *view)
{
	uint32_t first = view->path_count;

	for (uint32_t i = 0; i < view->path_count; i++) {
		if (bundle_spread_moves(&view->paths[i]) &&
		    (first == view->path_count ||
		     weigh_less(state->shares[i], state->shares[first])))
			first = i;
	}
	return first;
}

static uint32_t
weigh_take(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path)
{
	if (view->resend)
		return bundle_spread_resend(view, path);
	return weigh_first(state, view) == path ? bundle_spread_most(view, path) : 0;
}

/* A path that does not move saves nothing up for later. */
static void
weigh_sent(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path,
	   uint32_t pkts)
{
	uint64_t bps = view->paths[path].declared_bps;
	uint64_t slowest_bps = weigh_slowest_bps(view);
	uint32_t cost = bps == 0 ? WEIGH_SHARE : (uint32_t)(WEIGH_SHARE * slowest_bps / bps);
	uint32_t first;

	if (view->resend)
		return;
	state->shares[path] += pkts * LULL_MAX(cost, 1u);
	first = weigh_first(state, view);
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX && first < view->path_count; i++) {
		if (i >= view->path_count || !bundle_spread_moves(&view->paths[i]))
			state->shares[i] = state->shares[first];
	}
}

const struct lull_bundle_spread bundle_spread_weigh = {
	.name = "weigh",
	.summary = "shares by the declared speeds of the rails, as Open MPI does; to compare with",
	.take = weigh_take,
	.sent = weigh_sent,
};
