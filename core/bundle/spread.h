/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spread: which path takes what is to be sent next. One file each, listed in spreads.c.
 *
 * A path that has room asks whether it may take packets. A spread owns no memory but `turn`.
 */
#ifndef LULL_BUNDLE_SPREAD_H
#define LULL_BUNDLE_SPREAD_H

#include <lull/bundle.h>

/* A path as a spread sees it. */
struct bundle_spread_path {
	bool up;              /* may carry data */
	uint32_t window_pkts; /* the least of control and credit */
	uint32_t under_way_pkts;
	uint64_t
		arrival_ns; /* from now until one more packet is there; bundle_meter_arrival_ns() */
	uint64_t packet_ns; /* at its measured rate; 0: unknown */
	uint64_t srtt_ns;   /* 0: unknown */
	uint64_t declared_bps; /* 0: unknown */
};
struct bundle_spread_view {
	uint32_t path_count;
	struct bundle_spread_path paths[LULL_BUNDLE_PATHS_MAX];
	uint32_t waiting_pkts; /* all that may be sent to this peer now, the message included */
	uint32_t message_pkts; /* length of the message that is next, in packets */
	bool resend;       /* it was lost, or is probed for: the first path with room takes it */
	uint32_t not_path; /* ... but this one, while another is up; LULL_BUNDLE_ANY: none */
};
struct bundle_spread_state {
	uint32_t turn;      /* path whose turn it is */
	uint32_t left_pkts; /* of its turn */
	uint32_t shares[LULL_BUNDLE_PATHS_MAX];
};

struct lull_bundle_spread {
	const char *name, *summary;
	/**
	 * How many packets @p path may take now, 0..LULL_BUNDLE_QUANTUM_PKTS. Never more than its
	 * window has room for. A spread that gives all paths nothing waits for a packet that is
	 * under way on one of them.
	 */
	uint32_t (*take)(struct bundle_spread_state *state, const struct bundle_spread_view *view,
			 uint32_t path);
	/** Packets were sent on @p path. */
	void (*sent)(struct bundle_spread_state *state, const struct bundle_spread_view *view,
		     uint32_t path, uint32_t pkts);
};

extern const struct lull_bundle_spread bundle_spread_pull, bundle_spread_turn, bundle_spread_weigh;

/* ---- what every spread asks ---- */

/** Packets that the window of a path has room for; 0 for one that is not up. */
static inline uint32_t
bundle_spread_room(const struct bundle_spread_path *path)
{
	return path->up && path->window_pkts > path->under_way_pkts ?
		       path->window_pkts - path->under_way_pkts :
		       0;
}

/**
 * Others may wait for this path: it has room, or will have it when a packet that is under way is
 * acknowledged. Nobody ever waits for a path of which nothing will be heard.
 */
static inline bool
bundle_spread_moves(const struct bundle_spread_path *path)
{
	return path->up && path->window_pkts > 0 &&
	       (path->under_way_pkts > 0 || path->window_pkts > path->under_way_pkts);
}

/** The most that @p path may take at once. */
static inline uint32_t
bundle_spread_most(const struct bundle_spread_view *view, uint32_t path)
{
	uint32_t most = LULL_MIN(view->waiting_pkts, (uint32_t)LULL_BUNDLE_QUANTUM_PKTS);

	return LULL_MIN(most, bundle_spread_room(&view->paths[path]));
}

/**
 * What was lost goes to the first path with room, but not to the one that lost it while another is
 * up that moves.
 */
static inline uint32_t
bundle_spread_resend(const struct bundle_spread_view *view, uint32_t path)
{
	for (uint32_t i = 0; i < view->path_count && path == view->not_path; i++) {
		if (i != path && bundle_spread_moves(&view->paths[i]))
			return 0;
	}
	return bundle_spread_most(view, path);
}

#endif
