/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: one governor alone, with a view that the test writes as it likes.
 */
#ifndef LULL_TEST_GOVERNOR_STAND_H
#define LULL_TEST_GOVERNOR_STAND_H

#include <stdalign.h>
#include <string.h>

#include "idle/governor.h"

struct governor_stand {
	alignas(LULL_CACHE_LINE) unsigned char state[LULL_GOVERNOR_STATE_SIZE];
	struct lull_idle_limits limits;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT], events[LULL_IDLE_STATE_COUNT];
	struct lull_load load;
	struct lull_pace pace;
	struct lull_arrival_curve curve;
	struct lull_stall_watch stalls;
	struct lull_idle_view view;
	const struct lull_idle_governor *governor;
	uint64_t now_ns;
};

/* Limits that bind nothing: 1 ms at most, 50 us where one length is asked for, 1024 descriptors. */
static inline void
stand_init(struct governor_stand *stand, const struct lull_idle_governor *governor)
{
	memset(stand, 0, sizeof(*stand));
	stand->limits = (struct lull_idle_limits){
		.latency_ns = 200 * LULL_NS_PER_US,
		.percentile_ppm = 990000,
		.loss = LULL_LOSS_ZERO,
		.rest_ns_max = LULL_NS_PER_MS,
		.rest_ns = 50 * LULL_NS_PER_US,
		.ring_pkts = 1024,
		.envelope = LULL_ENVELOPE_STATED,
		.pps_max = 1000,
		.burst_pkts = 32,
		.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP),
	};
	stand->view = (struct lull_idle_view){
		.limits = &stand->limits,
		.calibration = stand->calibration,
		.events = stand->events,
		.load = &stand->load,
		.pace = &stand->pace,
		.curve = &stand->curve,
		.stalls = &stand->stalls,
	};
	stand->governor = governor;
	stand->now_ns = LULL_NS_PER_S;
	lull_arrival_curve_init(&stand->curve, stand->now_ns);
	lull_stall_watch_init(&stand->stalls, stand->now_ns);
	governor->init(stand->state, &stand->view);
}

/*
 * An iteration of @p length_ns in which one queue returned @p pkts; returns the rest planned, 0:
 * none.
 */
static inline uint64_t
stand_iteration_of(struct governor_stand *stand, uint32_t pkts, uint64_t length_ns)
{
	struct lull_idle_iteration iteration = {
		.now_ns = stand->now_ns,
		.pkt_count = pkts,
		.queue_pkts_max = pkts,
		.drained = pkts < stand->limits.burst_pkts,
	};
	struct lull_rest rest = stand->governor->plan(stand->state, &iteration);

	stand->now_ns += length_ns;
	return rest.idle_state == LULL_IDLE_NONE ? 0 : rest.limit_ns;
}

/* The rest was carried out and took @p real_ns. */
static inline void
stand_rest(struct governor_stand *stand, uint64_t limit_ns, uint64_t real_ns)
{
	struct lull_wake wake = {
		.rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = limit_ns },
		.begin_ns = stand->now_ns,
		.end_ns = stand->now_ns + real_ns,
		.reason = LULL_WAKE_TIMER,
	};

	stand->now_ns = wake.end_ns;
	stand->governor->wake(stand->state, &wake);
}

/* An iteration and its rest, both exactly as long as asked for; returns the rest in ns. */
static inline uint64_t
stand_iterate(struct governor_stand *stand, uint32_t pkts)
{
	uint64_t rest_ns = stand_iteration_of(stand, pkts, 100 + 50 * (uint64_t)pkts);

	if (rest_ns > 0)
		stand_rest(stand, rest_ns, rest_ns);
	return rest_ns;
}

#endif
