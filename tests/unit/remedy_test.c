/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "governor_stand.h"
#include "idle/event_rest.h"
#include "idle/remedy.h"

#define US LULL_NS_PER_US
#define WIRE_BITS (84 * 8)

static struct governor_stand stand;

/* A loop that pauses on a link of so many Gbit/s; 64 wake-ups measured, 17 us late, one 30 us. */
static struct lull_idle_view *
view_of(double gbps, uint32_t ring_pkts)
{
	struct lull_calibration *sleeps = &stand.calibration[LULL_IDLE_SLEEP];

	stand_init(&stand, &lull_idle_objective);
	for (int state = 0; state < LULL_IDLE_STATE_COUNT; state++) {
		lull_calibration_init(&stand.calibration[state]);
		lull_calibration_init(&stand.events[state]);
	}
	for (int i = 0; i < 64; i++)
		lull_calibration_add(sleeps, i == 32 ? 30 * US : 17 * US, 16 * US);
	stand.limits.envelope = LULL_ENVELOPE_LINK;
	stand.limits.pps_max = (uint64_t)(gbps * 1e9 / WIRE_BITS);
	stand.limits.ring_pkts = ring_pkts;
	stand.load.resting_ppm = LULL_PPM;
	stand.pace.queue_count = 1;
	return &stand.view;
}

static uint32_t
ring_for(const struct lull_idle_view *view)
{
	struct lull_remedy_basis basis;

	lull_remedy_basis_read(&basis, view);
	return lull_remedy_ring_pkts(view->limits, &basis);
}

static struct lull_verdict
verdict_of(const struct lull_idle_view *view, enum lull_bound binding)
{
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = binding,
		.idle_state = LULL_IDLE_PAUSE,
	};
	struct lull_remedy_basis basis;

	lull_remedy_basis_read(&basis, view);
	lull_remedies_find(&verdict, view->limits, &basis);
	return verdict;
}

static const struct lull_remedy *
remedy_of(const struct lull_verdict *verdict, uint32_t changes)
{
	for (uint32_t i = 0; i < verdict->remedy_count; i++)
		if (verdict->remedies[i].changes == changes)
			return &verdict->remedies[i];
	return NULL;
}

/* ---- the ring ---- */

/* 16 us of CPU per rest: half of it is saved by rests of 15 us. They end 45 us late at most. */
TEST(ring_pkts__is_the_smallest_that_saves_half_by_link_speed)
{
	assert_int_equal(ring_for(view_of(1, 1024)), 1024);
	assert_int_equal(ring_for(view_of(10, 1024)), 1024);
	assert_int_equal(ring_for(view_of(10, 512)), 1024);
	assert_int_equal(ring_for(view_of(25, 1024)), 4096);
	assert_int_equal(ring_for(view_of(40, 1024)), 4096);
	assert_int_equal(ring_for(view_of(100, 1024)), 16384);
}

TEST(ring_pkts__counts_the_bursts_of_other_queues)
{
	view_of(25, 2048);
	assert_int_equal(ring_for(&stand.view), 4096);
	stand.pace.queue_count = 64;
	assert_int_equal(ring_for(&stand.view), 8192);
}

TEST(ring_pkts__keeps_to_what_the_device_grants)
{
	view_of(25, 1024);
	stand.limits.ring_pkts_max = 4096;
	assert_int_equal(ring_for(&stand.view), 4096);
	/* 3000 allow some rest, though not one that saves half. */
	stand.limits.ring_pkts_max = 2500;
	assert_int_equal(ring_for(&stand.view), 2500);
	/* 1500 allow none: then a larger ring only costs. */
	stand.limits.ring_pkts_max = 1500;
	assert_int_equal(ring_for(&stand.view), 1024);
	stand.limits.ring_pkts_max = 512;
	assert_int_equal(ring_for(&stand.view), 1024);
}

TEST(ring_pkts__stays_where_a_larger_one_brings_nothing)
{
	view_of(100, 1024);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(ring_for(&stand.view), 1024);
	view_of(100, 1024);
	stand.limits.latency_ns = 10 * US; /* wake-ups alone are later */
	assert_int_equal(ring_for(&stand.view), 1024);
	view_of(100, 1024);
	stand.limits.rest_ns_max = 100;
	assert_int_equal(ring_for(&stand.view), 1024);
	view_of(100, 1024);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED; /* nothing was seen: 1 Mpps */
	assert_int_equal(ring_for(&stand.view), 1024);
}

/* The guess is 40 us, and twice that counts until something was measured. */
TEST(ring_pkts__reckons_with_a_guess_before_anything_was_measured)
{
	view_of(10, 1024);
	lull_calibration_init(&stand.calibration[LULL_IDLE_SLEEP]);
	assert_int_equal(ring_for(&stand.view), 2048);
}

/* ---- the list ---- */

TEST(remedies__give_up_least_first)
{
	struct lull_verdict verdict = verdict_of(view_of(25, 1024), LULL_BOUND_RING);
	const struct lull_remedy *remedies = verdict.remedies;

	assert_int_equal(verdict.remedy_count, 4);
	assert_int_equal(remedies[0].changes, LULL_REMEDY_RING);
	assert_int_equal(remedies[0].ring_pkts, 4096);
	assert_int_equal(remedies[1].changes, LULL_REMEDY_PPS_MAX);
	assert_int_equal(remedies[2].changes, LULL_REMEDY_LOSS);
	/* Losing packets would save most, but is a promise given up. */
	assert_true(remedies[2].cpu_ppm < remedies[0].cpu_ppm);
	for (int i = 0; i < 3; i++) {
		assert_true(remedies[i].fits && remedies[i].measured);
		assert_in_range(remedies[i].cpu_ppm, 50000, 520000);
		assert_in_range(remedies[i].rest_ns, 14 * US, 200 * US);
	}
	assert_int_equal(remedies[3].changes, LULL_REMEDY_PORT);
	assert_false(remedies[3].fits);
}

/* (4096 - 32) descriptors at 37.2 Mpps, 30.7 us late: the bound of bound.h, not a rule of thumb. */
TEST(remedies__figures_are_those_of_the_bound)
{
	struct lull_verdict verdict = verdict_of(view_of(25, 1024), LULL_BOUND_RING);
	const struct lull_remedy *ring = &verdict.remedies[0];
	uint64_t late_ns = stand.calibration[LULL_IDLE_SLEEP].p9999_ns;
	uint64_t fill_ns = (4096 - 32) * LULL_NS_PER_S / stand.limits.pps_max;

	assert_int_equal(ring->rest_ns, fill_ns - late_ns);
	assert_int_equal(ring->binding, LULL_BOUND_RING);
	/* 16 us of 78 + 17 */
	assert_in_range(ring->cpu_ppm, 155000, 185000);
}

TEST(remedies__a_rate_is_one_that_the_ring_holds_and_that_was_not_exceeded)
{
	struct lull_verdict verdict = verdict_of(view_of(25, 1024), LULL_BOUND_RING);
	const struct lull_remedy *rate = remedy_of(&verdict, LULL_REMEDY_PPS_MAX);
	struct lull_arrival_windows windows = { 0 };

	assert_non_null(rate);
	assert_in_range(rate->pps_max, 10000000, 37000000);
	/* 2000 packets within 40 us have been seen: nobody can state less. */
	for (int i = 1; i <= 40; i++)
		lull_arrival_curve_add(&stand.curve, &windows, stand.now_ns + (i - 1) * US,
				       stand.now_ns + i * US, 50);
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	assert_null(remedy_of(&verdict, LULL_REMEDY_PPS_MAX));
	assert_non_null(remedy_of(&verdict, LULL_REMEDY_RING));
	/* Of learned arrivals there is no rate to state. */
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	assert_null(remedy_of(&verdict, LULL_REMEDY_PPS_MAX));
}

TEST(remedies__say_that_the_largest_ring_is_too_short)
{
	struct lull_verdict verdict;
	const struct lull_remedy *ring;

	view_of(100, 1024);
	stand.limits.ring_pkts_max = 4096;
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	ring = remedy_of(&verdict, LULL_REMEDY_RING);
	assert_non_null(ring);
	assert_false(ring->fits);
	assert_int_equal(ring->ring_pkts, 4096);
	assert_int_equal(ring->binding, LULL_BOUND_RING);
	assert_int_equal(ring->rest_ns, 0);
	/* What fits comes first. */
	assert_true(verdict.remedies[0].fits);
}

TEST(remedies__change_two_limits_where_both_are_too_short)
{
	struct lull_verdict verdict;
	const struct lull_remedy *both;

	view_of(25, 1024);
	stand.limits.latency_ns = 10 * US;
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	both = remedy_of(&verdict, LULL_REMEDY_RING | LULL_REMEDY_LATENCY);
	assert_non_null(both);
	assert_true(both->fits);
	assert_in_range(both->latency_ns, 35 * US, 80 * US);
	assert_int_equal(both->latency_ns % US, 0);
	assert_null(remedy_of(&verdict, LULL_REMEDY_RING));
	stand.limits.latency_ns = 200 * US;
	stand.limits.rest_ns_max = 100;
	verdict = verdict_of(&stand.view, LULL_BOUND_CAP);
	both = remedy_of(&verdict, LULL_REMEDY_RING | LULL_REMEDY_MAX_REST);
	assert_non_null(both);
	assert_in_range(both->rest_ns_max, 10 * US, 30 * US);
}

TEST(remedies__of_the_cap_alone)
{
	struct lull_verdict verdict;

	view_of(1, 1024);
	stand.limits.rest_ns_max = 100;
	verdict = verdict_of(&stand.view, LULL_BOUND_CAP);
	assert_int_equal(verdict.remedies[0].changes, LULL_REMEDY_MAX_REST);
	assert_int_equal(verdict.remedies[0].rest_ns, verdict.remedies[0].rest_ns_max);
}

/* Stalls of 2 ms: calm would help, or a ring that holds a stall, both with room to spare. */
TEST(remedies__against_other_work_on_the_cpu)
{
	struct lull_calibration *sleeps;
	struct lull_verdict verdict;
	const struct lull_remedy *calm, *ring;

	view_of(1, 1024);
	sleeps = &stand.calibration[LULL_IDLE_SLEEP];
	for (int i = 0; i < 64; i++)
		lull_calibration_add(sleeps, i == 5 ? 2000 * US : 17 * US, 16 * US);
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	calm = remedy_of(&verdict, LULL_REMEDY_QUIET);
	assert_non_null(calm);
	assert_true(calm->fits);
	ring = remedy_of(&verdict, LULL_REMEDY_RING);
	assert_non_null(ring);
	/* 1.5 Mpps for twice 2.1 ms */
	assert_int_equal(ring->ring_pkts, 8192);
	/* On a calm host there is nothing to keep away. */
	verdict = verdict_of(view_of(25, 1024), LULL_BOUND_RING);
	assert_null(remedy_of(&verdict, LULL_REMEDY_QUIET));
}

TEST(remedies__say_why_interrupts_are_of_no_use)
{
	struct lull_calibration *words;
	const struct lull_remedy *interrupt;
	struct lull_verdict verdict;

	view_of(25, 1024);
	stand.limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	interrupt = remedy_of(&verdict, LULL_REMEDY_INTERRUPT);
	assert_non_null(interrupt);
	assert_false(interrupt->fits || interrupt->measured);
	assert_int_equal(interrupt->binding, LULL_BOUND_NONE);
	words = &stand.events[LULL_IDLE_INTERRUPT];
	for (int i = 0; i < LULL_EVENT_READY; i++) {
		lull_calibration_add(words, 50 * US, 0);
		lull_calibration_add(&stand.calibration[LULL_IDLE_INTERRUPT], 5 * US, 0);
	}
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	interrupt = remedy_of(&verdict, LULL_REMEDY_INTERRUPT);
	assert_true(interrupt->measured);
	assert_int_equal(interrupt->binding, LULL_BOUND_RING);
	for (int i = 0; i < 256; i++)
		lull_calibration_add(words, 400 * US, 0);
	verdict = verdict_of(&stand.view, LULL_BOUND_RING);
	interrupt = remedy_of(&verdict, LULL_REMEDY_INTERRUPT);
	assert_int_equal(interrupt->binding, LULL_BOUND_LATENCY);
}

TEST(remedies__none_for_a_loop_that_cannot_sleep)
{
	struct lull_verdict verdict;

	view_of(25, 1024);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	verdict = verdict_of(&stand.view, LULL_BOUND_NONE);
	assert_int_equal(verdict.remedy_count, 0);
}
