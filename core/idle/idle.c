/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "blame.h"
#include "bound.h"
#include "event_rest.h"
#include "governor.h"
#include "limits.h"
#include "remedy.h"
#include "verdict.h"
#include "waits.h"

/* The word of a packet that did not come within the limit of a watched rest. */
#define WORD_LATE_NS LULL_EVENT_NS
#define RARE_PPM 100

struct lull_idle {
	const struct lull_idle_governor *governor;
	struct lull_idle_view view;
	uint64_t settled_ns;     /* time is accounted up to here */
	uint64_t iteration_pkts; /* of the iteration not yet settled */
	bool iteration_full;     /* a queue gave a whole burst in it */
	uint64_t
		/* length of an empty iteration, where iterations are not timed one by one */
		empty_iteration_ns;
	bool iteration_open;
	bool rested;            /* the next iteration to settle is the first after a rest */
	uint64_t rest_begin_ns; /* of the last rest */
	uint64_t rest_len_ns;   /* its length while its backlog is being drained, else 0 */
	uint64_t drain_pkts;
	uint64_t planned_ns;
	enum lull_idle_state planned_idle_state;
	uint64_t miss_ns; /* of the last call of lull_idle_miss() */
	struct lull_blame blame;
	struct lull_idle_limits limits;
	uint32_t emptied_pkts; /* a receive of fewer emptied its queue */
	struct lull_load load;
	struct lull_pace pace;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT];
	struct lull_calibration events[LULL_IDLE_STATE_COUNT];
	alignas(LULL_CACHE_LINE) struct lull_idle_counters counters;
	struct lull_histogram rest_histogram;
	struct lull_waits waits;
	/* Last: what a governor does not use of it is never touched. */
	alignas(LULL_CACHE_LINE) uint8_t governor_state[LULL_GOVERNOR_STATE_SIZE];
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_idle_counters, member, unit_text, help_text)
#define ROW_REST(idle_state, idle_state_text)                                                      \
	{                                                                                          \
		.name = "rests_" idle_state_text, .unit = "1",                                     \
		.help = "rests in idle state " idle_state_text,                                    \
		.offset = offsetof(struct lull_idle_counters, rests) +                             \
			  (idle_state) * sizeof(uint64_t)                                          \
	}
const struct lull_counter_info lull_idle_counter_table[] = {
	ROW(iterations, "1", "poll iterations"),
	ROW(iterations_empty, "1", "poll iterations that received nothing"),
	ROW(pkts, "packets", "packets received"),
	ROW(busy_ns, "ns", "time of poll iterations with packets (T_io + T_proc)"),
	ROW(empty_ns, "ns", "time of poll iterations that received nothing (T_empty)"),
	ROW(rest_ns, "ns", "time at rest, measured (T_sleep)"),
	ROW(rest_requested_ns, "ns", "time at rest, requested"),
	ROW(overshoot_ns, "ns", "time at rest beyond the requested time"),
	ROW_REST(LULL_IDLE_PAUSE, "pause"),
	ROW_REST(LULL_IDLE_MONITOR, "monitor"),
	ROW_REST(LULL_IDLE_SLEEP, "sleep"),
	ROW_REST(LULL_IDLE_INTERRUPT, "interrupt"),
	ROW(wakes_packet, "1", "rests ended by a packet"),
	ROW(wakes_late, "1", "wake-ups later than 4 x the usual overshoot + 50 us"),
	ROW(rests_cut, "1", "rests that a limit shortened"),
	ROW(misses, "packets", "packets lost in an Rx ring that a rest may have filled"),
	ROW(misses_other, "packets", "packets lost in an Rx ring that no rest had filled"),
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

static void
idle_limit(struct lull_idle *idle, const struct lull_idle_limits *limits)
{
	idle->limits = *limits;
	lull_limits_default(&idle->limits);
	lull_blame_size(&idle->blame, limits->ring_pkts, &idle->limits);
	idle->emptied_pkts = limits->short_leaves ? 1 : idle->limits.burst_pkts;
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
	idle_limit(idle, limits);
	idle->settled_ns = now_ns;
	lull_waits_init(&idle->waits, now_ns);
	for (i = 0; i < LULL_IDLE_STATE_COUNT; i++) {
		lull_calibration_init(&idle->calibration[i]);
		lull_calibration_init(&idle->events[i]);
	}
	lull_load_init(&idle->load, now_ns);
	idle->view = (struct lull_idle_view){
		.limits = &idle->limits,
		.calibration = idle->calibration,
		.events = idle->events,
		.load = &idle->load,
		.pace = &idle->pace,
		.curve = &idle->waits.curve,
		.stalls = &idle->waits.watch,
		.counters = &idle->counters,
	};
	idle_governor_start(idle);
	*out = idle;
	return 0;
}

void
lull_idle_join(struct lull_idle *idle, struct lull_share_member *member)
{
	LULL_ASSERT(idle->governor->shares_queues);
	idle->view.share = member;
}

int
lull_idle_change(struct lull_idle *idle, const struct lull_idle_governor *governor,
		 const struct lull_idle_limits *limits)
{
	if (lull_idle_config_check(limits, NULL) != 0)
		return -EINVAL;
	/* Nobody else could ever have the queue again. */
	if (idle->view.share != NULL && governor != NULL && !governor->shares_queues)
		return -EINVAL;
	/* How late one came that polls says nothing about one that rests. */
	if (governor != NULL && governor != idle->governor)
		lull_waits_forget(&idle->waits, idle->settled_ns);
	if (governor != NULL)
		idle->governor = governor;
	/* What an iteration takes may depend on what has changed. */
	lull_pace_forget(&idle->pace);
	idle_limit(idle, limits);
	lull_stall_watch_turn_to(&idle->waits.watch, false, idle->settled_ns);
	idle_governor_start(idle);
	return 0;
}

void
lull_idle_forget(struct lull_idle *idle)
{
	for (uint32_t i = 0; i < LULL_IDLE_STATE_COUNT; i++) {
		struct lull_calibration *calibration = &idle->calibration[i];
		uint64_t cost_ns = calibration->cost_ns;
		bool cost_measured = calibration->cost_measured;

		lull_calibration_init(calibration);
		lull_calibration_init(&idle->events[i]);
		calibration->cost_ns = cost_ns;
		calibration->cost_measured = cost_measured;
	}
	lull_waits_forget(&idle->waits, idle->settled_ns);
	lull_pace_forget(&idle->pace);
}

/* The open iteration ended at end_ns: account its time and what its packets waited at most. */
static void
idle_settle(struct lull_idle *idle, uint64_t end_ns)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t span_ns = end_ns > idle->settled_ns ? end_ns - idle->settled_ns : 0;
	bool rested = idle->rested;

	if (!idle->iteration_open)
		return;
	idle->iteration_open = false;
	idle->rested = false;
	idle->settled_ns += span_ns;
	if (idle->iteration_pkts == 0) {
		LULL_COUNTER_ADD(counters->empty_ns, span_ns);
		lull_pace_empty(&idle->pace, span_ns);
		lull_load_iteration(&idle->load, idle->settled_ns, 0, 0);
		return;
	}
	LULL_COUNTER_ADD(counters->busy_ns, span_ns);
	if (rested)
		lull_pace_after_rest(&idle->pace, span_ns, idle->iteration_pkts);
	else
		lull_pace_busy(&idle->pace, span_ns, idle->iteration_pkts, idle->iteration_full);
	lull_pace_fade(&idle->pace, idle->settled_ns);
	lull_load_iteration(&idle->load, idle->settled_ns, idle->iteration_pkts, span_ns);
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

bool
lull_idle_take(struct lull_idle *idle, uint64_t now_ns, uint32_t *queue)
{
	struct lull_share_member *member = idle->view.share;
	bool held = member->held;

	if (!lull_share_take(member, now_ns))
		return false;
	if (!held)
		lull_waits_found_empty(&idle->waits, 0, member->empty_ns);
	*queue = member->queue;
	return true;
}

/* Another thread holds the queue: it is the one that knows what the last rest did to packets. */
static void
idle_pass(struct lull_idle *idle)
{
	idle->rest_len_ns = 0;
	idle->drain_pkts = 0;
	lull_blame_pass(&idle->blame);
}

static bool
idle_is_due(const struct lull_idle *idle, const struct lull_iteration *iteration)
{
	return iteration->deadline_ns != 0 &&
	       iteration->deadline_ns <=
		       iteration->now_ns + idle->calibration[LULL_IDLE_SLEEP].p99_ns;
}

static struct lull_idle_iteration
idle_read_iterate(struct lull_idle *idle, const struct lull_iteration *iteration)
{
	struct lull_idle_iteration seen = {
		.now_ns = iteration->now_ns,
		.quiet_until_ns = iteration->quiet_until_ns,
		.drained = true,
		.due = idle_is_due(idle, iteration),
		.size_pkts = iteration->size_pkts,
		.bytes = iteration->bytes,
		.bytes_squared = iteration->bytes_squared,
	};
	uint32_t i;

	if (idle->view.share != NULL && !idle->view.share->held) {
		idle_pass(idle);
		seen.drained = false;
		return seen;
	}
	lull_waits_poll(&idle->waits, iteration->now_ns, iteration->queue_count);
	lull_pace_polls(&idle->pace, iteration->queue_count);
	for (i = 0; i < iteration->queue_count; i++) {
		uint32_t pkts = iteration->queue_pkts[i];

		seen.pkt_count += pkts;
		seen.queue_pkts_max = LULL_MAX(seen.queue_pkts_max, pkts);
		if (!lull_waits_queue(&idle->waits, i, pkts,
				      (iteration->emptied >> i & 1) != 0 ? UINT32_MAX :
									   idle->emptied_pkts))
			seen.drained = false;
	}
	return seen;
}

/* Cut what the governor proposes to the limits. */
static struct lull_rest
idle_cut(const struct lull_idle *idle, struct lull_rest rest,
	 const struct lull_iteration *iteration)
{
	const struct lull_idle_limits *limits = &idle->limits;
	uint64_t limit_ns_max = limits->rest_ns_max;
	uint64_t left_ns, late_ns;

	if (rest.idle_state == LULL_IDLE_NONE || rest.limit_ns == 0)
		return lull_rest_none();
	if ((limits->idle_states & LULL_IDLE_STATE_BIT(rest.idle_state)) == 0) {
		if ((limits->idle_states & LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE)) == 0)
			return lull_rest_none();
		rest.idle_state = LULL_IDLE_PAUSE;
	}
	if (rest.idle_state == LULL_IDLE_MONITOR || rest.idle_state == LULL_IDLE_INTERRUPT)
		limit_ns_max = LULL_MAX(limit_ns_max, LULL_EVENT_NS);
	rest.limit_ns = LULL_MIN(rest.limit_ns, limit_ns_max);
	if (iteration->deadline_ns != 0) {
		late_ns = rest.idle_state >= LULL_IDLE_SLEEP ?
				  idle->calibration[rest.idle_state].p99_ns :
				  0;
		left_ns = iteration->deadline_ns > iteration->now_ns ?
				  iteration->deadline_ns - iteration->now_ns :
				  0;
		if (left_ns <= late_ns)
			return lull_rest_none();
		rest.limit_ns = LULL_MIN(rest.limit_ns, left_ns - late_ns);
	}
	return rest;
}

struct lull_rest
lull_idle_plan(struct lull_idle *idle, const struct lull_iteration *iteration)
{
	struct lull_idle_counters *counters = &idle->counters;
	struct lull_idle_iteration seen;
	struct lull_rest proposed, rest;

	LULL_ASSERT_HOT(iteration->queue_count <= LULL_IDLE_QUEUES_MAX);
	idle_settle(idle, iteration->now_ns);
	seen = idle_read_iterate(idle, iteration);
	idle->iteration_open = true;
	idle->iteration_pkts = seen.pkt_count;
	idle->iteration_full = seen.queue_pkts_max >= idle->limits.burst_pkts;
	LULL_COUNTER_ADD(counters->iterations, 1);
	if (seen.pkt_count == 0)
		LULL_COUNTER_ADD(counters->iterations_empty, 1);
	else
		LULL_COUNTER_ADD(counters->pkts, seen.pkt_count);
	if (seen.pkt_count > 0 || idle->rest_len_ns > 0)
		idle_share(idle, iteration->now_ns, seen.pkt_count, seen.drained);
	lull_blame_iterate(&idle->blame, iteration->now_ns, seen.pkt_count, seen.drained);

	proposed = idle->governor->plan(idle->governor_state, &seen);
	rest = idle_cut(idle, proposed, iteration);
	if (proposed.idle_state != LULL_IDLE_NONE && rest.limit_ns < proposed.limit_ns)
		LULL_COUNTER_ADD(counters->rests_cut, 1);
	idle->planned_idle_state = rest.idle_state;
	idle->planned_ns = rest.limit_ns;
	return rest;
}

/*
 * A packet that ended the rest itself did not wait for the whole of it, only for its word to come
 * and wake the thread. Where that was not measured it may have come right after the last look.
 */
static void
idle_woken_by_packet(struct lull_idle *idle, const struct lull_wake *wake)
{
	uint64_t late_ns = lull_event_late_ns(&idle->view, wake->rest.idle_state, RARE_PPM);
	uint64_t since_ns = wake->end_ns > late_ns ? wake->end_ns - late_ns : 0;

	/* One that was watched was seen to come. */
	since_ns = LULL_MAX(since_ns, wake->packet_ns);
	/* Else at once: the packet may have come during the iteration before. */
	if (since_ns > wake->begin_ns)
		lull_waits_woken(&idle->waits, since_ns);
}

/* What ended the rest, and how late. */
static void
idle_calibrate(struct lull_idle *idle, const struct lull_wake *wake, uint64_t over_ns)
{
	struct lull_calibration *event = &idle->events[wake->rest.idle_state];

	if (wake->packet_ns != 0)
		lull_calibration_add(event,
				     wake->reason == LULL_WAKE_PACKET ?
					     wake->end_ns - wake->packet_ns :
					     WORD_LATE_NS,
				     0);
	else if (wake->reason == LULL_WAKE_TIMER && !wake->rest.watch &&
		 lull_calibration_add(&idle->calibration[wake->rest.idle_state], over_ns,
				      wake->cpu_ns))
		LULL_COUNTER_ADD(idle->counters.wakes_late, 1);
	if (wake->reason == LULL_WAKE_PACKET)
		LULL_COUNTER_ADD(idle->counters.wakes_packet, 1);
	if (wake->reason == LULL_WAKE_PACKET || wake->packet_ns != 0)
		idle_woken_by_packet(idle, wake);
}

void
lull_idle_wake(struct lull_idle *idle, const struct lull_wake *wake)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t real_ns = wake->end_ns > wake->begin_ns ? wake->end_ns - wake->begin_ns : 0;
	uint64_t asked_ns = wake->rest.limit_ns << wake->rest.watch; /* it holds a packet as long */
	uint64_t over_ns = real_ns > asked_ns ? real_ns - asked_ns : 0;

	LULL_ASSERT(wake->rest.idle_state < LULL_IDLE_STATE_COUNT);
	idle_settle(idle, wake->begin_ns);
	idle->settled_ns = LULL_MAX(idle->settled_ns, wake->end_ns);
	LULL_COUNTER_ADD(counters->rest_ns, real_ns);
	LULL_COUNTER_ADD(counters->rest_requested_ns, wake->rest.limit_ns);
	LULL_COUNTER_ADD(counters->overshoot_ns, over_ns);
	LULL_COUNTER_ADD(counters->rests[wake->rest.idle_state], 1);
	lull_histogram_add(&idle->rest_histogram, real_ns, 1);
	idle_calibrate(idle, wake, over_ns);

	if (idle->rest_len_ns == 0)
		idle->rest_begin_ns = wake->begin_ns;
	idle->rest_len_ns += real_ns;
	idle->rested = wake->rest.idle_state >= LULL_IDLE_MONITOR && !wake->rest.watch;
	lull_waits_rested(&idle->waits, wake);
	lull_blame_rested(&idle->blame, wake->begin_ns);
	idle->governor->wake(idle->governor_state, wake);
}

/* One that was held up must not look like the usual one. */
static void
idle_learn_empty(struct lull_idle *idle, uint64_t iteration_ns)
{
	if (idle->empty_iteration_ns == 0)
		idle->empty_iteration_ns = iteration_ns;
	iteration_ns = LULL_MIN(iteration_ns, 2 * idle->empty_iteration_ns + 1);
	idle->empty_iteration_ns = (7 * idle->empty_iteration_ns + iteration_ns) / 8;
}

void
lull_idle_polled(struct lull_idle *idle, uint64_t now_ns, uint64_t iterations,
		 uint64_t iterations_empty, uint64_t pkts)
{
	struct lull_idle_counters *counters = &idle->counters;
	uint64_t span_ns, empty_ns, idle_ns = 0;

	if (iterations == 0) {
		idle_settle(idle, now_ns);
		return;
	}
	/* What led up to these iterations ended when they began, which nobody timed. */
	idle_settle(idle, idle->settled_ns);
	span_ns = now_ns > idle->settled_ns ? now_ns - idle->settled_ns : 0;
	if (iterations == iterations_empty) {
		empty_ns = span_ns;
		idle_ns = iterations * idle->empty_iteration_ns;
		idle_learn_empty(idle, span_ns / iterations);
	} else {
		empty_ns = LULL_MIN(span_ns, iterations_empty * idle->empty_iteration_ns);
	}
	LULL_COUNTER_ADD(counters->iterations, iterations);
	LULL_COUNTER_ADD(counters->iterations_empty, iterations_empty);
	LULL_COUNTER_ADD(counters->pkts, pkts);
	LULL_COUNTER_ADD(counters->empty_ns, empty_ns);
	LULL_COUNTER_ADD(counters->busy_ns, span_ns - empty_ns);
	idle->settled_ns += span_ns;
	lull_load_iteration(&idle->load, idle->settled_ns, pkts, span_ns - empty_ns);
	lull_load_share(&idle->load, pkts, 0);
	lull_waits_polled(&idle->waits, now_ns, pkts, idle_ns);
	if (idle->rest_len_ns > 0)
		idle_share(idle, now_ns, 0, true);
	lull_blame_iterate(&idle->blame, now_ns, 0, true);
}

bool
lull_idle_undecided(const struct lull_idle *idle)
{
	return idle->blame.rest_ns != 0;
}

bool
lull_idle_suspects(const struct lull_idle *idle, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t lag_ns = LULL_MIN(idle->limits.loss_lag_ns, begin_ns);

	return lull_blame_suspects(&idle->blame, begin_ns - lag_ns, end_ns);
}

void
lull_idle_charge(struct lull_idle *idle, uint64_t now_ns, const struct lull_loss_charge *charge)
{
	if (charge->others > 0)
		LULL_COUNTER_ADD(idle->counters.misses_other, charge->others);
	if (charge->rests == 0)
		return;
	LULL_COUNTER_ADD(idle->counters.misses, charge->rests);
	idle->governor->miss(idle->governor_state, now_ns, charge->rests);
}

void
lull_idle_miss(struct lull_idle *idle, uint64_t now_ns, uint64_t pkts)
{
	struct lull_loss_charge charge = { .rests = pkts };

	if (!lull_idle_suspects(idle, idle->miss_ns, now_ns))
		charge = (struct lull_loss_charge){ .others = pkts };
	idle->miss_ns = now_ns;
	lull_idle_charge(idle, now_ns, &charge);
}

void
lull_idle_mark(struct lull_idle *idle)
{
	lull_histogram_clear(&idle->rest_histogram);
	lull_waits_mark(&idle->waits, idle->settled_ns);
	if (idle->view.share != NULL)
		lull_histogram_clear(&idle->view.share->vacations);
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
	const struct lull_calibration *calibration = &idle->calibration[LULL_IDLE_SLEEP];
	uint64_t pps = lull_bound_pps(limits, &idle->waits.curve);

	*verdict = (struct lull_verdict){
		.state = LULL_VERDICT_NONE,
		.idle_state = idle->planned_idle_state,
		.rest_ns = idle->planned_ns,
		.latency_bound_ns =
			lull_bound_latency_ns(limits, load->busy_ppm, load->resting_ppm),
		.ring_bound_ns = limits->loss == LULL_LOSS_ZERO ?
					 lull_bound_ring_ns(limits, &idle->pace, pps,
							    calibration->p9999_ns) :
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
		.iteration_ns = lull_pace_full_ns(&idle->pace, limits->burst_pkts),
		.calibration_count = calibration->count,
	};
	if (lull_event_known(&idle->view, LULL_IDLE_INTERRUPT))
		verdict->interrupt_late_ns =
			lull_event_late_ns(&idle->view, LULL_IDLE_INTERRUPT, RARE_PPM);
	idle->governor->verdict(idle->governor_state, verdict);
	lull_verdict_complete(verdict, &idle->view, &idle->waits, idle->settled_ns);
}

void
lull_idle_remedy_basis(const struct lull_idle *idle, struct lull_remedy_basis *basis)
{
	lull_remedy_basis_read(basis, &idle->view);
}

void
lull_idle_remedies(const struct lull_idle *idle, struct lull_verdict *verdict)
{
	struct lull_remedy_basis basis;

	verdict->remedy_count = 0;
	if (!lull_remedies_wanted(verdict))
		return;
	lull_remedy_basis_read(&basis, &idle->view);
	lull_remedies_find(verdict, &idle->limits, &basis);
}
