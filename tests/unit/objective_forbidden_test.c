/* SPDX-License-Identifier: BSD-3-Clause */
/* The objective governor where a ring forbids to rest: when polling is no better, and what then. */
#include "case.h"
#include "governor_stand.h"
#include "idle/bound.h"
#include "idle/event_rest.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define OFFER(state) LULL_IDLE_STATE_BIT(LULL_IDLE_##state)

static struct governor_stand stand;
static struct lull_idle_counters counters;

static void
learn(struct lull_calibration *calibration, uint32_t count, uint64_t late_ns)
{
	lull_calibration_init(calibration);
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(calibration, late_ns, 5 * US);
}

static struct lull_verdict
plan(uint64_t later_ns, bool silent)
{
	struct lull_idle_iteration iteration = { .drained = true, .pkt_count = silent ? 0 : 1 };
	struct lull_verdict verdict = { 0 };

	stand.now_ns += later_ns;
	iteration.now_ns = stand.now_ns;
	if (!silent)
		stand.load.packet_ns = stand.now_ns;
	stand.governor->plan(stand.state, &iteration);
	stand.governor->verdict(stand.state, &verdict);
	return verdict;
}

/* 992 packets of room at 1 Mpps, and wake-ups that may be 2 ms late: no rest fits the ring. */
static void
begin(enum lull_envelope envelope)
{
	stand_init(&stand, &lull_idle_objective);
	counters = (struct lull_idle_counters){ 0 };
	stand.view.counters = &counters;
	stand.limits.idle_states = OFFER(SLEEP) | OFFER(PAUSE);
	stand.limits.pps_max = 1000000;
	stand.limits.envelope = envelope;
	stand.pace.queue_count = 1;
	stand.load.resting_ppm = 1000000;
	stand.load.arrival_pps = 100000;
	for (int i = 0; i < LULL_IDLE_STATE_COUNT; i++)
		lull_calibration_init(&stand.events[i]);
	learn(&stand.calibration[LULL_IDLE_SLEEP], 1000, 6 * US);
	stand.calibration[LULL_IDLE_SLEEP].p9999_ns = 2 * MS;
	stand.calibration[LULL_IDLE_SLEEP].usual_p99_ns = 2 * MS;
	plan(LULL_NS_PER_S, false);
}

/* Polling was stalled so often in 100 s, for so long. */
static void
stall(uint64_t count, uint64_t len_ns)
{
	lull_stalls_init(&stand.stalls.poll, LULL_STALL_MEMORY_NS, stand.now_ns);
	stand.stalls.poll.time_ns = 100 * LULL_NS_PER_S;
	stand.stalls.poll.bins[1].count_x256 = count * 256;
	stand.stalls.poll.bins[1].len_ns = count * len_ns;
}

/* What the objective leaves for a rest that only latency bounds. */
static uint64_t
latency_rest_ns(void)
{
	struct lull_idle_limits limits = stand.limits;

	limits.latency_ns -= limits.latency_ns / 11;
	return lull_bound_request_ns(&limits, &stand.calibration[LULL_IDLE_SLEEP], NULL, 0, 1000000,
				     limits.rest_ns_max);
}

/* A stall in which the ring does not overflow is none; two in which it does are too many. */
TEST(polling__fails_by_stalls_longer_than_the_ring)
{
	static const enum lull_envelope envelopes[] = { LULL_ENVELOPE_STATED, LULL_ENVELOPE_LINK,
							LULL_ENVELOPE_LEARNED };

	for (size_t i = 0; i < COUNT(envelopes); i++) {
		struct lull_verdict verdict;

		begin(envelopes[i]);
		assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_PAUSE);
		stall(20, 990 * US);
		verdict = plan(2 * MS, false);
		assert_int_equal(verdict.idle_state, LULL_IDLE_PAUSE);
		assert_int_equal(verdict.state, LULL_VERDICT_INFEASIBLE);
		assert_int_equal(verdict.binding, LULL_BOUND_RING);
		assert_int_equal(verdict.rest_ns, 0);
		stall(1, 5 * MS);
		assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_PAUSE);
		/* no packet may be lost: one and a half of a million are too many */
		stall(2, (992 + 75) * US);
		verdict = plan(2 * MS, false);
		assert_int_equal(verdict.idle_state, LULL_IDLE_SLEEP);
		assert_int_equal(verdict.state, LULL_VERDICT_INFEASIBLE);
		assert_int_equal(verdict.binding, LULL_BOUND_RING);
		assert_int_equal(verdict.rest_ns, latency_rest_ns());
	}
}

/* Then it rests for as long as the ring lasts when wake-ups are as usual. */
TEST(anyway__is_bound_by_the_ring_as_well)
{
	const struct lull_calibration *calibration = &stand.calibration[LULL_IDLE_SLEEP];

	begin(LULL_ENVELOPE_LEARNED);
	stand.limits.ring_pkts = 132;
	stall(20, 600 * US);
	plan(2 * MS, false);
	assert_int_equal(plan(2 * MS, false).rest_ns, 100 * US - calibration->p50_ns);
	stand.limits.rest_ns_max = 40 * US;
	assert_int_equal(plan(2 * MS, false).rest_ns, 40 * US);
	/* one that is just worth it, and one that is not */
	stand.limits.rest_ns_max = lull_bound_break_even_ns(calibration);
	assert_int_equal(plan(2 * MS, false).rest_ns, stand.limits.rest_ns_max);
	stand.limits.rest_ns_max--;
	assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_PAUSE);
}

/* In silence a promised ring may overflow all the same; one that was learned may be risked. */
TEST(silence__is_used_where_nothing_is_promised)
{
	begin(LULL_ENVELOPE_STATED);
	assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(2 * LULL_NS_PER_S, true).idle_state, LULL_IDLE_PAUSE);
	begin(LULL_ENVELOPE_LEARNED);
	assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(LULL_NS_PER_S - 1, true).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(2 * MS, true).idle_state, LULL_IDLE_SLEEP);
}

/* Interrupts in time are no use to a ring without room for any wake-up. */
TEST(fall_back__no_interrupt_where_the_ring_has_no_room)
{
	begin(LULL_ENVELOPE_STATED);
	stand.limits.idle_states = OFFER(SLEEP) | OFFER(INTERRUPT);
	learn(&stand.calibration[LULL_IDLE_INTERRUPT], 64, 5 * US);
	learn(&stand.events[LULL_IDLE_INTERRUPT], LULL_EVENT_READY, 10 * US);
	assert_true(lull_event_fits(&stand.view, LULL_IDLE_INTERRUPT));
	assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_NONE);
	/* room for a nanosecond is some */
	stand.calibration[LULL_IDLE_SLEEP].p9999_ns = 992 * US - 1;
	assert_int_equal(plan(2 * MS, false).idle_state, LULL_IDLE_INTERRUPT);
}
