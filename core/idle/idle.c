/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "bound.h"
#include "governor.h"
#include "limits.h"
#include "verdict.h"
#include "waits.h"

/* A packet ends these rests, so their limit does not bound the wait; it bounds a lost wake-up. */
#define EVENT_REST_NS_MAX (10 * LULL_NS_PER_MS)

struct lull_idle {
	const struct lull_idle_governor *governor;
	struct lull_idle_view view;
	uint64_t settled_ns;    /* time is accounted up to here */
	uint64_t turn_pkts;     /* of the turn not yet settled */
	uint64_t empty_turn_ns; /* length of an empty turn, where turns are not timed one by one */
	bool turn_open;
	uint64_t rest_begin_ns; /* of the last rest */
	uint64_t rest_len_ns;   /* its length while its backlog is being drained, else 0 */
	uint64_t drain_pkts;
	uint64_t planned_ns;
	enum lull_rest_depth planned_depth;
	bool rested; /* since the last call of lull_idle_miss() */
	struct lull_idle_limits limits;
	struct lull_load load;
	struct lull_calibration calibration[LULL_REST_DEPTH_COUNT];
	alignas(LULL_CACHE_LINE) struct lull_idle_counters counters;
	struct lull_histogram rest_histogram;
	struct lull_waits waits;
	/* Last: what a governor does not use of it is never touched. */
	alignas(LULL_CACHE_LINE) uint8_t governor_state[LULL_GOVERNOR_STATE_SIZE];
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_idle_counters, member, unit_text, help_text)
#define ROW_REST(depth, depth_text)                                                                \
	{                                                                                          \
		.name = "rests_" depth_text, .unit = "1", .help = "rests of depth " depth_text,    \
		.offset = offsetof(struct lull_idle_counters, rests) + (depth) * sizeof(uint64_t)  \
	}
const struct lull_counter_info lull_idle_counter_table[] = {
	ROW(turns, "1", "poll iterations"),
	ROW(turns_empty, "1", "poll iterations that received nothing"),
	ROW(pkts, "packets", "packets received"),
	ROW(busy_ns, "ns", "time of poll iterations with packets (T_io + T_proc)"),
	ROW(empty_ns, "ns", "time of poll iterations that received nothing (T_empty)"),
	ROW(rest_ns, "ns", "time at rest, measured (T_sleep)"),
	ROW(rest_requested_ns, "ns", "time at rest, requested"),
	ROW(overshoot_ns, "ns", "time at rest beyond the requested time"),
	ROW_REST(LULL_REST_PAUSE, "pause"),
	ROW_REST(LULL_REST_MONITOR, "monitor"),
	ROW_REST(LULL_REST_SLEEP, "sleep"),
	ROW_REST(LULL_REST_INTERRUPT, "interrupt"),
	ROW(wakes_packet, "1", "rests ended by a packet"),
	ROW(wakes_late, "1", "wake-ups later than 4 x the usual overshoot + 50 us"),
	ROW(rests_cut, "1", "rests that a limit shortened"),
	ROW(misses, "packets", "packets lost in an Rx ring after a rest"),
	ROW(misses_other, "packets", "packets lost in an Rx ring, but not after a rest"),
	ROW(backoffs, "1", "times that a late wake-up or a loss shortened the rest"),
	{ .name = NULL },
};

size_t
lull_idle_size(void)
{
	return sizeof(struct lull_idle);
}

static void
idle_governor_start(struct lull_idle *idle)
{
	LULL_ASSERT(idle->governor->state_size <= LULL_GOVERNOR_STATE_SIZE);
	memset(idle->governor_state, 0, idle->governor->state_size);
	idle->governor->init(idle->governor_state, &idle->view);
}

int
lull_idle_init(void *memory, const struct lull_idle_governor *governor,
	       const struct lull_idle_limits *limits, uint64_t now_ns, struct lull_idle **out)
{
	struct lull_idle *idle = memory;
	uint32_t i;

	if (memory == NULL || governor == NULL || (uintptr_t)memory % LULL_CACHE_LINE != 0 ||
	    lull_idle_config_check(limits, NULL) != 0)
		return -EINVAL;
	memset(idle, 0, offsetof(struct lull_idle, governor_state));
	idle->governor = governor;
	idle->limits = *limits;
	lull_limits_default(&idle->limits);
	idle->settled_ns = now_ns;
	lull_waits_init(&idle->waits, now_ns);
	for (i = 0; i < LULL_REST_DEPTH_COUNT; i++)
		lull_calibration_init(&idle->calibration[i]);
	lull_load_init(&idle->load, now_ns);
	idle->view = (struct lull_idle_view){
		.limits = &idle->limits,
		.calibration = idle->calibration,
		.load = &idle->load,
		.curve = &idle->waits.curve,
		.stalls = &idle->waits.watch,
		.counters = &idle->counters,
	};
	idle_governor_start(idle);
	*out = idle;
	return 0;
}

int
lull_idle_change(struct lull_idle *idle, const struct lull_idle_governor *governor,
		 const struct lull_idle_limits *limits)
{
	if (lull_idle_config_check(limits, NULL) != 0)
		return -EINVAL;
	/* How late one came that polls says nothing about one that rests. */
	if (governor != NULL && governor != idle->governor)
		lull_waits_forget(&idle->waits, idle->settled_ns);
	if (governor != NULL)
		idle->governor = governor;
	idle->limits = *limits;
	lull_limits_default(&idle->limits);
	lull_stall_watch_turn_to(&idle->waits.watch, false, idle->settled_ns);
	idle_governor_start(idle);
	return 0;
}

void
lull_idle_forget(struct lull_idle *idle)
{
	for (uint32_t i = 0; i < LULL_REST_DEPTH_COUNT; i++) {
		struct lull_calibration *calibration = &idle->calibration[i];
		uint64_t cost_ns = calibration->cost_ns;
		bool cost_measured = calibration->cost_measured;

		lull_calibration_init(calibration);
		calibration->cost_ns = cost_ns;
		calibration->cost_measured = cost_measured;
	}
	lull_waits_forget(&idle->waits, idle->settled_ns);
}

/* The open turn ended at end_ns: account its time and what its packets waited at most. */
static void
idle_settle(struct lull_idle *idle, uint64_t end_ns)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t span_ns = end_ns > idle->settled_ns ? end_ns - idle->settled_ns : 0;

	if (!idle->turn_open)
		return;
	idle->turn_open = false;
	idle->settled_ns += span_ns;
	if (idle->turn_pkts == 0) {
		LULL_COUNTER_ADD(counters->empty_ns, span_ns);
		lull_load_turn(&idle->load, idle->settled_ns, 0, 0);
		return;
	}
	LULL_COUNTER_ADD(counters->busy_ns, span_ns);
	lull_load_turn(&idle->load, idle->settled_ns, idle->turn_pkts, span_ns);
	lull_waits_settle(&idle->waits, end_ns, idle->limits.latency_ns);
}

/* Split what has been fetched into what met a resting loop and what met a polling one. */
static void
idle_share(struct lull_idle *idle, uint64_t now_ns, uint32_t pkts, bool drained)
{
	uint64_t span_ns;

	if (idle->rest_len_ns == 0) {
		lull_load_share(&idle->load, pkts, 0);
		return;
	}
	idle->drain_pkts += pkts;
	if (!drained)
		return;
	span_ns = LULL_MAX(now_ns - idle->rest_begin_ns, idle->rest_len_ns);
	lull_load_share(&idle->load, idle->drain_pkts,
			idle->drain_pkts * idle->rest_len_ns / span_ns);
	idle->rest_len_ns = 0;
	idle->drain_pkts = 0;
}

static struct lull_idle_turn
idle_read_turn(struct lull_idle *idle, const struct lull_turn *turn)
{
	struct lull_idle_turn seen = {
		.now_ns = turn->now_ns,
		.calm_ns = turn->calm_ns,
		.drained = true,
		.size_pkts = turn->size_pkts,
		.bytes = turn->bytes,
		.bytes_squared = turn->bytes_squared,
	};
	uint32_t i;

	lull_waits_look(&idle->waits, turn->now_ns, turn->queue_count);
	for (i = 0; i < turn->queue_count; i++) {
		uint32_t pkts = turn->queue_pkts[i];

		seen.pkt_count += pkts;
		seen.queue_pkts_max = LULL_MAX(seen.queue_pkts_max, pkts);
		if (!lull_waits_queue(&idle->waits, i, pkts, idle->limits.burst_pkts))
			seen.drained = false;
	}
	return seen;
}

/* Cut what the governor proposes to the limits. */
static struct lull_rest
idle_cut(const struct lull_idle *idle, struct lull_rest rest, const struct lull_turn *turn)
{
	const struct lull_idle_limits *limits = &idle->limits;
	uint64_t limit_ns_max = limits->rest_ns_max;
	uint64_t left_ns, late_ns;

	if (rest.depth == LULL_REST_NONE || rest.limit_ns == 0)
		return lull_rest_none();
	if ((limits->depths & LULL_REST_BIT(rest.depth)) == 0) {
		if ((limits->depths & LULL_REST_BIT(LULL_REST_PAUSE)) == 0)
			return lull_rest_none();
		rest.depth = LULL_REST_PAUSE;
	}
	if (rest.depth == LULL_REST_MONITOR || rest.depth == LULL_REST_INTERRUPT)
		limit_ns_max = LULL_MAX(limit_ns_max, EVENT_REST_NS_MAX);
	rest.limit_ns = LULL_MIN(rest.limit_ns, limit_ns_max);
	if (turn->deadline_ns != 0) {
		late_ns = rest.depth >= LULL_REST_SLEEP ? idle->calibration[rest.depth].p99_ns : 0;
		left_ns = turn->deadline_ns > turn->now_ns ? turn->deadline_ns - turn->now_ns : 0;
		if (left_ns <= late_ns)
			return lull_rest_none();
		rest.limit_ns = LULL_MIN(rest.limit_ns, left_ns - late_ns);
	}
	return rest;
}

struct lull_rest
lull_idle_plan(struct lull_idle *idle, const struct lull_turn *turn)
{
	struct lull_idle_counters *counters = &idle->counters;
	struct lull_idle_turn seen;
	struct lull_rest proposed, rest;

	LULL_ASSERT_HOT(turn->queue_count <= LULL_IDLE_QUEUES_MAX);
	idle_settle(idle, turn->now_ns);
	seen = idle_read_turn(idle, turn);
	idle->turn_open = true;
	idle->turn_pkts = seen.pkt_count;
	LULL_COUNTER_ADD(counters->turns, 1);
	if (seen.pkt_count == 0)
		LULL_COUNTER_ADD(counters->turns_empty, 1);
	else
		LULL_COUNTER_ADD(counters->pkts, seen.pkt_count);
	if (seen.pkt_count > 0 || idle->rest_len_ns > 0)
		idle_share(idle, turn->now_ns, seen.pkt_count, seen.drained);

	proposed = idle->governor->plan(idle->governor_state, &seen);
	rest = idle_cut(idle, proposed, turn);
	if (proposed.depth != LULL_REST_NONE && rest.limit_ns < proposed.limit_ns)
		LULL_COUNTER_ADD(counters->rests_cut, 1);
	idle->planned_depth = rest.depth;
	idle->planned_ns = rest.limit_ns;
	return rest;
}

/*
 * A packet that ended the rest itself did not wait for the whole of it, only for the wake-up; that
 * takes what a timer's wake-up takes here.
 */
static void
idle_woken_by_packet(struct lull_idle *idle, const struct lull_wake *wake)
{
	uint64_t late_ns = wake->rest.depth == LULL_REST_MONITOR ?
				   LULL_NS_PER_US :
				   idle->calibration[LULL_REST_SLEEP].p9999_ns;
	uint64_t since_ns = wake->end_ns > late_ns ? wake->end_ns - late_ns : 0;

	LULL_COUNTER_ADD(idle->counters.wakes_packet, 1);
	/* Else at once: the packet may have come during the turn before. */
	if (since_ns > wake->begin_ns)
		lull_waits_woken(&idle->waits, since_ns);
}

void
lull_idle_wake(struct lull_idle *idle, const struct lull_wake *wake)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t real_ns = wake->end_ns > wake->begin_ns ? wake->end_ns - wake->begin_ns : 0;
	uint64_t over_ns = real_ns > wake->rest.limit_ns ? real_ns - wake->rest.limit_ns : 0;

	LULL_ASSERT(wake->rest.depth < LULL_REST_DEPTH_COUNT);
	idle_settle(idle, wake->begin_ns);
	idle->settled_ns = LULL_MAX(idle->settled_ns, wake->end_ns);
	LULL_COUNTER_ADD(counters->rest_ns, real_ns);
	LULL_COUNTER_ADD(counters->rest_requested_ns, wake->rest.limit_ns);
	LULL_COUNTER_ADD(counters->overshoot_ns, over_ns);
	LULL_COUNTER_ADD(counters->rests[wake->rest.depth], 1);
	lull_histogram_add(&idle->rest_histogram, real_ns, 1);
	if (wake->reason == LULL_WAKE_TIMER &&
	    lull_calibration_add(&idle->calibration[wake->rest.depth], over_ns, wake->cpu_ns))
		LULL_COUNTER_ADD(counters->wakes_late, 1);
	if (wake->reason == LULL_WAKE_PACKET)
		idle_woken_by_packet(idle, wake);

	if (idle->rest_len_ns == 0)
		idle->rest_begin_ns = wake->begin_ns;
	idle->rest_len_ns += real_ns;
	lull_waits_rested(&idle->waits, wake);
	idle->rested = true;
	idle->governor->wake(idle->governor_state, wake);
}

/* One that was held up must not look like the usual one. */
static void
idle_learn_empty(struct lull_idle *idle, uint64_t turn_ns)
{
	if (idle->empty_turn_ns == 0)
		idle->empty_turn_ns = turn_ns;
	turn_ns = LULL_MIN(turn_ns, 2 * idle->empty_turn_ns + 1);
	idle->empty_turn_ns = (7 * idle->empty_turn_ns + turn_ns) / 8;
}

void
lull_idle_polled(struct lull_idle *idle, uint64_t now_ns, uint64_t turns, uint64_t turns_empty,
		 uint64_t pkts)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t span_ns, empty_ns, idle_ns = 0;

	if (turns == 0) {
		idle_settle(idle, now_ns);
		return;
	}
	/* What led up to these turns ended when they began, which nobody timed. */
	idle_settle(idle, idle->settled_ns);
	span_ns = now_ns > idle->settled_ns ? now_ns - idle->settled_ns : 0;
	if (turns == turns_empty) {
		empty_ns = span_ns;
		idle_ns = turns * idle->empty_turn_ns;
		idle_learn_empty(idle, span_ns / turns);
	} else {
		empty_ns = LULL_MIN(span_ns, turns_empty * idle->empty_turn_ns);
	}
	LULL_COUNTER_ADD(counters->turns, turns);
	LULL_COUNTER_ADD(counters->turns_empty, turns_empty);
	LULL_COUNTER_ADD(counters->pkts, pkts);
	LULL_COUNTER_ADD(counters->empty_ns, empty_ns);
	LULL_COUNTER_ADD(counters->busy_ns, span_ns - empty_ns);
	idle->settled_ns += span_ns;
	lull_load_turn(&idle->load, idle->settled_ns, pkts, span_ns - empty_ns);
	lull_load_share(&idle->load, pkts, 0);
	lull_waits_polled(&idle->waits, now_ns, pkts, idle_ns);
	if (idle->rest_len_ns > 0)
		idle_share(idle, now_ns, 0, true);
}

void
lull_idle_miss(struct lull_idle *idle, uint64_t now_ns, uint64_t pkts)
{
	bool rested = idle->rested;

	idle->rested = false;
	if (pkts == 0)
		return;
	if (!rested) {
		LULL_COUNTER_ADD(idle->counters.misses_other, pkts);
		return;
	}
	LULL_COUNTER_ADD(idle->counters.misses, pkts);
	idle->governor->miss(idle->governor_state, now_ns, pkts);
}

void
lull_idle_mark(struct lull_idle *idle)
{
	lull_histogram_clear(&idle->rest_histogram);
	lull_waits_mark(&idle->waits, idle->settled_ns);
}

bool
lull_idle_wants_sizes(const struct lull_idle *idle)
{
	return idle->governor->wants_sizes;
}

const struct lull_idle_governor *
lull_idle_governor(const struct lull_idle *idle)
{
	return idle->governor;
}

const struct lull_idle_limits *
lull_idle_limits(const struct lull_idle *idle)
{
	return &idle->limits;
}

const struct lull_idle_counters *
lull_idle_counters(const struct lull_idle *idle)
{
	return &idle->counters;
}

const struct lull_histogram *
lull_idle_rest_histogram(const struct lull_idle *idle)
{
	return &idle->rest_histogram;
}

const struct lull_histogram *
lull_idle_wait_histogram(const struct lull_idle *idle)
{
	return &idle->waits.histogram;
}

void
lull_idle_verdict(const struct lull_idle *idle, struct lull_verdict *verdict)
{
	const struct lull_idle_limits *limits = &idle->limits;
	const struct lull_load *load = &idle->load;
	const struct lull_calibration *calibration = &idle->calibration[LULL_REST_SLEEP];
	uint64_t pps = lull_bound_pps(limits, &idle->waits.curve);

	*verdict = (struct lull_verdict){
		.state = LULL_VERDICT_NONE,
		.depth = idle->planned_depth,
		.rest_ns = idle->planned_ns,
		.latency_bound_ns =
			lull_bound_latency_ns(limits, load->busy_ppm, load->resting_ppm),
		.ring_bound_ns = limits->loss == LULL_LOSS_ZERO ?
					 lull_bound_ring_ns(limits, pps, calibration->p9999_ns) :
					 UINT64_MAX,
		.break_even_ns = lull_bound_break_even_ns(calibration),
		.overshoot_p50_ns = calibration->p50_ns,
		.overshoot_p99_ns = calibration->p99_ns,
		.overshoot_p9999_ns = calibration->p9999_ns,
		.cost_ns = calibration->cost_ns,
		.load_ppm = load->busy_ppm,
		.resting_ppm = load->resting_ppm,
		.arrival_pps = load->arrival_pps,
		.envelope = limits->envelope,
		.pps_max = pps,
		.calibration_count = calibration->count,
	};
	idle->governor->verdict(idle->governor_state, verdict);
	lull_verdict_complete(verdict, &idle->view, &idle->waits, idle->settled_ns);
}
