/* SPDX-License-Identifier: BSD-3-Clause */
/* The objective governor with a view that is written down here: each plan to the nanosecond. */
#include "case.h"
#include "governor_stand.h"
#include "idle/bound.h"
#include "idle/event_rest.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define STATES(a, b) (LULL_IDLE_STATE_BIT(LULL_IDLE_##a) | LULL_IDLE_STATE_BIT(LULL_IDLE_##b))

static struct governor_stand stand;
static struct lull_idle_counters counters;

static void
learn(struct lull_calibration *calibration, uint32_t count, uint64_t late_ns)
{
	lull_calibration_init(calibration);
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(calibration, late_ns, 5 * US);
}

/* Every packet meets a rest, packets came just now; @p count rests that ended 6 us late. */
static void
begin(uint32_t count)
{
	stand_init(&stand, &lull_idle_objective);
	counters = (struct lull_idle_counters){ 0 };
	stand.view.counters = &counters;
	stand.pace.queue_count = 1;
	stand.load.resting_ppm = 1000000;
	stand.load.packet_ns = stand.now_ns;
	for (int i = 0; i < LULL_IDLE_STATE_COUNT; i++)
		lull_calibration_init(&stand.events[i]);
	learn(&stand.calibration[LULL_IDLE_SLEEP], count, 6 * US);
	stand.load.arrival_pps = 100000;
}

/* What it does with an empty and drained iteration @p later_ns after the last. */
static struct lull_rest
plan(uint64_t later_ns)
{
	struct lull_idle_iteration iteration = { .drained = true };

	stand.now_ns += later_ns;
	iteration.now_ns = stand.now_ns;
	return stand.governor->plan(stand.state, &iteration);
}

static struct lull_verdict
verdict(void)
{
	struct lull_verdict verdict = { 0 };

	stand.governor->verdict(stand.state, &verdict);
	return verdict;
}

static uint64_t
settled_ns(void)
{
	for (int i = 0; i < 60; i++)
		plan(2 * MS);
	stand.load.packet_ns = stand.now_ns;
	return plan(0).limit_ns;
}

static uint64_t
request_ns(uint64_t latency_ns)
{
	struct lull_idle_limits limits = stand.limits;

	limits.latency_ns = latency_ns;
	return lull_bound_request_ns(&limits, &stand.calibration[LULL_IDLE_SLEEP],
				     &stand.stalls.rest, stand.load.busy_ppm,
				     stand.load.resting_ppm, limits.rest_ns_max);
}

/* An eleventh of the objective is kept back, and what serving a burst takes. */
TEST(plan__takes_the_margin_and_the_serving_off)
{
	begin(1000);
	assert_int_equal(settled_ns(), request_ns(200 * US - 200 * US / 11));
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_LATENCY);
	stand.load.serve_ns = 30 * US;
	plan(2 * MS);
	assert_int_equal(verdict().rest_ns, request_ns(170 * US - 200 * US / 11));
	stand.load.serve_ns = 200 * US;
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_OVERSHOOT);
}

TEST(plan__rises_by_an_eighth_and_falls_at_once)
{
	uint64_t goal_ns, rest_ns = 0;

	begin(1000);
	goal_ns = request_ns(200 * US - 200 * US / 11);
	for (int i = 0; i < 12; i++) {
		rest_ns += ((goal_ns - rest_ns) >> 3) + US;
		assert_true(rest_ns < goal_ns);
		assert_int_equal(plan(i == 0 ? 0 : 2 * MS).limit_ns, rest_ns);
		/* not before 2 ms are over */
		assert_int_equal(plan(2 * MS - 1).limit_ns, rest_ns);
		stand.now_ns -= 2 * MS - 1;
	}
	stand.limits.rest_ns_max = 20 * US;
	assert_int_equal(plan(2 * MS).limit_ns, 20 * US);
	assert_int_equal(verdict().binding, LULL_BOUND_CAP);
}

TEST(plan__rests_only_where_all_is_fetched)
{
	struct lull_idle_iteration iteration = { .drained = false };

	begin(1000);
	settled_ns();
	iteration.now_ns = stand.now_ns;
	assert_int_equal(stand.governor->plan(stand.state, &iteration).idle_state, LULL_IDLE_NONE);
	assert_int_equal(plan(0).idle_state, LULL_IDLE_SLEEP);
}

TEST(plan__calibrates_with_short_rests)
{
	begin(LULL_CALIBRATION_READY - 1);
	assert_int_equal(plan(0).limit_ns, (200 * US - 200 * US / 11) / 4);
	assert_int_equal(verdict().state, LULL_VERDICT_CALIBRATING);
	stand.limits.latency_ns = LULL_NS_PER_S;
	assert_int_equal(plan(2 * MS).limit_ns, 50 * US);
	stand.limits.rest_ns_max = 3 * US;
	assert_int_equal(plan(2 * MS).limit_ns, 3 * US);
	/* no room in the ring at all */
	stand.limits.held_pkts = 1023;
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_RING);
	assert_int_equal(verdict().idle_state, LULL_IDLE_NONE);
}

/* Rests cost 80 us: none below break-even is made, and after a refusal none below 5/4 of it. */
TEST(plan__refuses_what_does_not_pay)
{
	uint64_t least_ns;

	begin(1000);
	stand.limits.idle_states = STATES(SLEEP, PAUSE);
	stand.calibration[LULL_IDLE_SLEEP].cost_ns = 80 * US;
	least_ns = lull_bound_break_even_ns(&stand.calibration[LULL_IDLE_SLEEP]);
	stand.limits.rest_ns_max = least_ns;
	assert_int_equal(plan(0).limit_ns, least_ns);
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	stand.limits.rest_ns_max = least_ns - 1;
	stand.load.packet_ns = stand.now_ns;
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(verdict().idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(verdict().rest_ns, 0);
	stand.limits.rest_ns_max = least_ns + least_ns / 4 - 1;
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	stand.limits.rest_ns_max = least_ns + least_ns / 4;
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(verdict().rest_ns, least_ns);
}

/* The lightest that a packet ends, else an interrupt that is early enough, else the pause. */
TEST(plan__falls_back_to_the_best_on_offer)
{
	static const struct {
		uint32_t offered;
		enum lull_idle_state got;
	} table[] = {
		{ LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT), LULL_IDLE_INTERRUPT },
		{ STATES(PAUSE, INTERRUPT), LULL_IDLE_INTERRUPT },
		{ STATES(PAUSE, MONITOR), LULL_IDLE_MONITOR },
		{ STATES(INTERRUPT, MONITOR), LULL_IDLE_MONITOR },
		{ LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE), LULL_IDLE_PAUSE },
		{ LULL_IDLE_STATE_BIT(LULL_IDLE_NONE), LULL_IDLE_NONE },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct lull_rest rest;

		begin(1000);
		learn(&stand.calibration[LULL_IDLE_INTERRUPT], 64, 5 * US);
		learn(&stand.events[LULL_IDLE_INTERRUPT], LULL_EVENT_READY, 10 * US);
		stand.limits.idle_states = table[i].offered;
		rest = plan(0);
		assert_int_equal(rest.idle_state, table[i].got);
		assert_int_equal(verdict().idle_state, table[i].got);
		assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
		assert_int_equal(verdict().binding, LULL_BOUND_NONE);
		if (table[i].got == LULL_IDLE_PAUSE)
			assert_int_equal(rest.limit_ns, US);
		if (table[i].got == LULL_IDLE_INTERRUPT)
			assert_int_equal(rest.limit_ns, LULL_EVENT_NS);
		if (table[i].got == LULL_IDLE_MONITOR)
			assert_int_equal(rest.limit_ns, 100 * US);
		/* of interrupts that come too late, or were not measured, no use is made */
		learn(&stand.calibration[LULL_IDLE_INTERRUPT], 64, 5 * US);
		learn(&stand.events[LULL_IDLE_INTERRUPT], LULL_EVENT_READY, 250 * US);
		plan(2 * MS);
		assert_int_not_equal(verdict().idle_state, LULL_IDLE_INTERRUPT);
	}
}

/* With fewer than one packet in ten rests, and interrupts that are known to be in time. */
TEST(plan__prefers_interrupts_where_packets_are_rare)
{
	/* a watch of a second: for a long time none is due */
	struct lull_wake watched = { .rest = { .idle_state = LULL_IDLE_INTERRUPT, .watch = true },
				     .end_ns = LULL_NS_PER_S };
	uint64_t rest_ns;

	begin(1000);
	stand.governor->wake(stand.state, &watched);
	stand.limits.idle_states = STATES(SLEEP, INTERRUPT);
	learn(&stand.calibration[LULL_IDLE_INTERRUPT], 64, 6 * US);
	learn(&stand.events[LULL_IDLE_INTERRUPT], LULL_EVENT_READY, 10 * US);
	settled_ns();
	rest_ns = verdict().rest_ns;
	stand.load.arrival_pps = (LULL_NS_PER_S / 10 - 1) / rest_ns;
	/* the first is a trial on a timer, which shows stalls */
	assert_int_equal(plan(2 * MS).idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(verdict().idle_state, LULL_IDLE_INTERRUPT);
	assert_int_equal(plan(0).limit_ns, LULL_EVENT_NS);
	stand.load.arrival_pps = (LULL_NS_PER_S / 10 - 1) / rest_ns + 1;
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	stand.load.arrival_pps = 1;
	learn(&stand.calibration[LULL_IDLE_INTERRUPT], 64, 5 * US);
	learn(&stand.events[LULL_IDLE_INTERRUPT], LULL_EVENT_READY, 300 * US);
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
}

/* Not measured: only after a second without a packet, and where no ring is promised. */
TEST(plan__waits_for_unmeasured_interrupts_in_silence_alone)
{
	begin(1000);
	stand.limits.idle_states = STATES(SLEEP, INTERRUPT);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	stand.load.arrival_pps = 0;
	settled_ns();
	stand.load.packet_ns = stand.now_ns;
	plan(LULL_NS_PER_S - 1);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_INTERRUPT);
	stand.limits.loss = LULL_LOSS_ZERO;
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_INTERRUPT);
}

/* While refused, a rest of 1 ns each 2 ms, 20 while late, 200 where it was promised away. */
TEST(plan__probes_while_it_does_not_sleep)
{
	struct lull_idle_iteration busy = { .drained = true, .pkt_count = 1 };

	begin(1000);
	stand.limits.idle_states = STATES(SLEEP, PAUSE);
	stand.limits.latency_ns = 5 * US;
	/* not beside a packet */
	busy.now_ns = stand.now_ns;
	assert_int_equal(stand.governor->plan(stand.state, &busy).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(0).limit_ns, 1);
	assert_int_equal(plan(200 * MS - 1).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(1).idle_state, LULL_IDLE_SLEEP);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_int_equal(plan(200 * MS).idle_state, LULL_IDLE_SLEEP);
	stand.load.packet_ns = stand.now_ns;
	assert_int_equal(plan(2 * MS - 1).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(1).idle_state, LULL_IDLE_SLEEP);
	stand.calibration[LULL_IDLE_SLEEP].late_ppm = 20001;
	assert_int_equal(plan(2 * MS).idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(plan(20 * MS - 1).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(1).idle_state, LULL_IDLE_SLEEP);
	stand.calibration[LULL_IDLE_SLEEP].late_ppm = 20000;
	assert_int_equal(plan(20 * MS).idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(plan(2 * MS).idle_state, LULL_IDLE_SLEEP);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	assert_int_equal(plan(300 * MS).idle_state, LULL_IDLE_PAUSE);
}

TEST(wake__a_late_one_takes_a_quarter)
{
	struct lull_wake wake = { .rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = 100 * US },
				  .begin_ns = MS,
				  .reason = LULL_WAKE_TIMER };
	uint64_t rest_ns, late_ns;

	begin(1000);
	rest_ns = settled_ns();
	late_ns = 100 * US + 4 * stand.calibration[LULL_IDLE_SLEEP].p99_ns;
	stand.limits.latency_ns = 50 * US;
	wake.end_ns = MS + late_ns;
	stand.governor->wake(stand.state, &wake);
	stand.limits.latency_ns = late_ns;
	wake.end_ns++;
	wake.reason = LULL_WAKE_PACKET;
	stand.governor->wake(stand.state, &wake);
	wake.reason = LULL_WAKE_TIMER;
	wake.rest.idle_state = LULL_IDLE_INTERRUPT;
	stand.governor->wake(stand.state, &wake);
	wake.rest.idle_state = LULL_IDLE_SLEEP;
	stand.limits.latency_ns = late_ns + 1;
	stand.governor->wake(stand.state, &wake);
	assert_int_equal(verdict().rest_ns, rest_ns);
	assert_int_equal(counters.backoffs, 0);
	stand.limits.latency_ns = late_ns;
	stand.governor->wake(stand.state, &wake);
	assert_int_equal(verdict().rest_ns, rest_ns - rest_ns / 4);
	assert_int_equal(plan(0).limit_ns, rest_ns - rest_ns / 4);
	assert_int_equal(counters.backoffs, 1);
	/* nothing is promised while it calibrates, so nothing is taken back */
	begin(0);
	rest_ns = plan(0).limit_ns;
	stand.governor->wake(stand.state, &wake);
	assert_int_equal(plan(0).limit_ns, rest_ns);
	assert_int_equal(counters.backoffs, 0);
}

TEST(miss__acts_at_once_where_loss_matters)
{
	uint64_t ring_ns;

	begin(1000);
	stand.limits.latency_ns = 10 * MS;
	stand.limits.pps_max = 10000000; /* 992 packets: 99 us */
	settled_ns();
	assert_int_equal(verdict().binding, LULL_BOUND_RING);
	ring_ns = verdict().ring_bound_ns;
	assert_int_equal(verdict().rest_ns, ring_ns);
	stand.governor->miss(stand.state, stand.now_ns, 1);
	assert_int_equal(verdict().ring_bound_ns, ring_ns / 2);
	assert_int_equal(counters.backoffs, 1);
	assert_int_equal(plan(0).limit_ns, ring_ns / 2);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	stand.governor->miss(stand.state, stand.now_ns, 1);
	assert_int_equal(counters.backoffs, 1);
	stand.limits.loss = LULL_LOSS_ZERO;
	assert_int_equal(verdict().ring_bound_ns, ring_ns / 2);
	plan(100 * MS);
	assert_true(verdict().ring_bound_ns > ring_ns / 2);
}

/* How late packets end a rest is measured where few come, and within the objective. */
TEST(plan__watches_how_late_interrupts_are)
{
	struct lull_idle_iteration busy = { .drained = true, .pkt_count = 1 };
	uint64_t limit_ns = 200 * US - 200 * US / 11;
	struct lull_rest rest;

	begin(1000);
	stand.limits.idle_states = STATES(SLEEP, INTERRUPT);
	stand.load.arrival_pps = LULL_NS_PER_S / limit_ns;
	stand.load.packet_ns = stand.now_ns;
	rest = plan(0);
	assert_true(rest.watch);
	assert_int_equal(rest.idle_state, LULL_IDLE_INTERRUPT);
	assert_int_equal(rest.limit_ns, limit_ns);
	/* not beside packets, not where many come, not in silence, not beyond the ring */
	busy.now_ns = stand.now_ns;
	assert_false(stand.governor->plan(stand.state, &busy).watch);
	stand.load.arrival_pps++;
	assert_false(plan(0).watch);
	stand.load.arrival_pps--;
	assert_true(plan(0).watch);
	stand.limits.pps_max = 10000000;
	assert_int_equal(plan(0).limit_ns, verdict().ring_bound_ns);
	assert_true(plan(0).watch);
	assert_false(plan(LULL_NS_PER_S).watch);
	begin(0);
	stand.limits.idle_states = STATES(SLEEP, INTERRUPT);
	stand.load.arrival_pps = 1;
	assert_false(plan(0).watch);
}

/* A record of stalls that took the share @p late_ppm of the packets, over 100 s. */
static void
stall(struct lull_stalls *stalls, uint64_t count, uint32_t late_ppm)
{
	lull_stalls_init(stalls, LULL_STALL_MEMORY_NS, stand.now_ns);
	stalls->time_ns = 100 * LULL_NS_PER_S;
	stalls->bins[3].count_x256 = count * 256;
	stalls->bins[3].len_ns = late_ppm * 100 * US + count * 200 * US;
}

/* Stalls take their part of the budget; once they took it all, short rests do not bring it back. */
TEST(plan__stalls_shorten_rests_until_that_is_no_use)
{
	uint64_t free_ns, less_ns;

	begin(1000);
	free_ns = settled_ns();
	stall(&stand.stalls.rest, 20, 5000);
	plan(2 * MS);
	less_ns = verdict().rest_ns;
	assert_true(less_ns < free_ns);
	stand.limits.latency_ns -= 200 * US / 11;
	assert_int_equal(less_ns, request_ns(stand.limits.latency_ns));
	stand.limits.latency_ns = 200 * US;
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_LATENCY);
	/* lost, but not so that polling were better: rests as without them, and says so */
	stall(&stand.stalls.rest, 20, 12000);
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_OVERSHOOT);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	for (int i = 0; i < 60; i++) {
		stall(&stand.stalls.rest, 20, 12000);
		plan(2 * MS);
	}
	assert_int_equal(verdict().rest_ns, free_ns);
	/* back within three quarters of it, from the next look on */
	stall(&stand.stalls.rest, 20, 7000);
	plan(2 * MS);
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	assert_true(verdict().rest_ns < free_ns);
}

/* Gross stalls suspend resting, in a second at least; silence is no harm, and a trial ends it. */
TEST(plan__suspends_and_tries_again)
{
	begin(1000);
	stand.limits.idle_states = STATES(SLEEP, PAUSE);
	plan(LULL_NS_PER_S);
	stand.load.packet_ns = stand.now_ns;
	stall(&stand.stalls.recent, 10, 50000);
	assert_int_equal(plan(2 * MS).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(verdict().state, LULL_VERDICT_SUSPENDED);
	assert_int_equal(verdict().binding, LULL_BOUND_OVERSHOOT);
	assert_int_equal(verdict().rest_ns, 0);
	/* while it polls it does not probe: resting is tried in earnest */
	assert_int_equal(plan(300 * MS).idle_state, LULL_IDLE_PAUSE);
	plan(700 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(verdict().state, LULL_VERDICT_SUSPENDED);
	stand.load.packet_ns = stand.now_ns;
	plan(2 * MS);
	assert_int_equal(verdict().idle_state, LULL_IDLE_PAUSE);
	stand.load.packet_ns = stand.now_ns + 3 * LULL_NS_PER_S;
	plan(3 * LULL_NS_PER_S);
	assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(verdict().state, LULL_VERDICT_SUSPENDED);
	plan(2 * LULL_NS_PER_S);
	plan(2 * MS);
	assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
}

/* What is forbidden is done all the same where polling breaks the objective as well. */
TEST(plan__rests_anyway_where_polling_fails)
{
	const struct lull_calibration *calibration = &stand.calibration[LULL_IDLE_SLEEP];

	for (int ring = 0; ring < 2; ring++) {
		begin(1000);
		stand.limits.idle_states = STATES(SLEEP, PAUSE);
		if (ring == 1) {
			stand.limits.ring_pkts = 64;
			stand.limits.pps_max = 1000000; /* 32 us, and wake-ups of 40 */
			stand.calibration[LULL_IDLE_SLEEP].p9999_ns = 40 * US;
		} else {
			learn(&stand.calibration[LULL_IDLE_SLEEP], 1000, 6 * US);
			for (int i = 0; i < 100; i++)
				lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP], 400 * US,
						     5 * US);
			stand.calibration[LULL_IDLE_SLEEP].p50_ns = 6 * US;
		}
		plan(LULL_NS_PER_S);
		stand.load.packet_ns = stand.now_ns;
		plan(2 * MS);
		assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
		if (verdict().idle_state == LULL_IDLE_PAUSE) {
			stall(&stand.stalls.poll, 20, 50000);
			plan(2 * MS);
		}
		stand.load.packet_ns = stand.now_ns;
		plan(2 * MS);
		assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
		assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
		if (ring == 1) {
			assert_int_equal(verdict().binding, LULL_BOUND_RING);
			assert_int_equal(
				verdict().rest_ns,
				lull_bound_ring_ns(&stand.limits, &stand.pace, 1000000,
						   lull_calibration_usual(calibration, 999900)));
		} else {
			assert_int_equal(verdict().rest_ns, 200 * US - 200 * US / 11 - 6 * US);
		}
	}
}
