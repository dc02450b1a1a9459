/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pull: a path takes the next quantum when its window has room.
 *
 * Shares follow from delivery, and nothing is declared. At the end of what waits a slow path must
 * not take what a fast one would deliver sooner, though it has to wait for room: a path leaves
 * packets alone when another path alone would deliver all that waits before this one delivers a
 * quantum. That is the idea of ECF (Lim, Nahum, Towsley, Gibbens: ECF: An MPTCP Path Scheduler to
 * Manage Heterogeneous Paths, CoNEXT 2017). A single message of a quantum or less goes where it is
 * there first by the same rule. Where more waits than the fast path delivers in the meantime, every
 * path is of use.
 *
 * A path is measured while it is full. Those that are not measured share by round trip and by what
 * is under way on them: one that has a quantum under way counts as twice as far. Nobody waits for
 * such a path, but it waits for others: half its round trip is the least that it can take.
 *
 * No deadlock: the path that would deliver a quantum first never leaves it to another.
 */
#include "spread.h"

/* When the last of @p pkts packets is there. */
static uint64_t
pull_done_ns(const struct bundle_spread_path *path, uint32_t pkts)
{
	return path->arrival_ns + (pkts - 1ULL) * path->packet_ns;
}

static bool
pull_measured(const struct bundle_spread_path *path)
{
	return path->packet_ns > 0 && path->srtt_ns > 0;
}

/* How far a path is that is not measured yet. */
static uint64_t
pull_far(const struct bundle_spread_path *path)
{
	return path->arrival_ns * (LULL_BUNDLE_QUANTUM_PKTS + path->under_way_pkts);
}

/* Another that is not measured either has room and is nearer. */
static bool
pull_nearer(const struct bundle_spread_view *view, uint32_t path)
{
	for (uint32_t i = 0; i < view->path_count; i++) {
		const struct bundle_spread_path *other = &view->paths[i];

		if (i != path && !pull_measured(other) && bundle_spread_most(view, i) > 0 &&
		    pull_far(other) < pull_far(&view->paths[path]))
			return true;
	}
	return false;
}

static uint32_t
pull_take(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path)
{
	uint32_t most = bundle_spread_most(view, path);
	uint64_t done_ns;

	(void)state;
	if (view->resend)
		return bundle_spread_resend(view, path);
	if (most == 0 || (!pull_measured(&view->paths[path]) && pull_nearer(view, path)))
		return 0;
	done_ns = pull_done_ns(&view->paths[path], most);
	for (uint32_t i = 0; i < view->path_count; i++) {
		const struct bundle_spread_path *other = &view->paths[i];

		if (i != path && bundle_spread_moves(other) && pull_measured(other) &&
		    pull_done_ns(other, view->waiting_pkts) < done_ns)
			return 0;
	}
	return most;
}

static void
pull_sent(struct bundle_spread_state *state, const struct bundle_spread_view *view, uint32_t path,
	  uint32_t pkts)
{
	(void)state;
	(void)view;
	(void)path;
	(void)pkts;
}

const struct lull_bundle_spread bundle_spread_pull = {
	.name = "pull",
	.summary = "each path takes packets as fast as it delivers them",
	.take = pull_take,
	.sent = pull_sent,
};
