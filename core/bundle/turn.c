/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Turn: the paths take a quantum each in turn, to compare with.
 *
 * As balance-rr of the bonding driver of Linux, which does so packet by packet. All paths go as
 * fast as the slowest. A path that is not up, or of which nothing will be heard, loses its turn.
 */
#include "spread.h"

/* 0: it has not begun. */
static uint32_t
turn_left(const struct bundle_spread_state *state)
{
	return state->left_pkts > 0 ? state->left_pkts : LULL_BUNDLE_QUANTUM_PKTS;
}

static void
turn_next(struct bundle_spread_state *state, const struct bundle_spread_view *view)
{
	state->turn = state->turn + 1 < view->path_count ? state->turn + 1 : 0;
	state->left_pkts = 0;
}

static uint32_t
turn_take(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path)
{
	if (view->resend)
		return bundle_spread_resend(view, path);
	for (uint32_t i = 0; i < view->path_count; i++) {
		if (state->turn < view->path_count &&
		    bundle_spread_moves(&view->paths[state->turn]))
			break;
		turn_next(state, view);
	}
	if (state->turn != path)
		return 0;
	return LULL_MIN(bundle_spread_most(view, path), turn_left(state));
}

static void
turn_sent(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path,
	  uint32_t pkts)
{
	if (view->resend || path != state->turn)
		return;
	if (pkts < turn_left(state))
		state->left_pkts = turn_left(state) - pkts;
	else
		turn_next(state, view);
}

const struct lull_bundle_spread bundle_spread_turn = {
	.name = "turn",
	.summary = "8 packets on each path in turn, as bonding does; to compare with",
	.take = turn_take,
	.sent = turn_sent,
};
