/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of remedies by hand: what each limit would have to be, to the packet and nanosecond. */
#include "case.h"
#include "governor_stand.h"
#include "idle/bound.h"
#include "idle/remedy_case.h"

#define US LULL_NS_PER_US

static struct governor_stand stand;
static struct lull_remedy_basis basis;
static struct lull_remedy_machine machine;
static struct lull_remedy_case trial;

/* 1 Mpps promised; @p count wake-ups, each 16 us late, that cost 20 us. */
static void
begin(uint32_t count)
{
	stand_init(&stand, &lull_idle_objective);
	stand.limits.pps_max = 1000000;
	basis = (struct lull_remedy_basis){ .curve = stand.curve, .stalls = stand.stalls.rest };
	basis.load.resting_ppm = LULL_PPM;
	basis.pace.queue_count = 1;
	lull_calibration_init(&basis.sleeps);
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(&basis.sleeps, 16 * US, 20 * US);
}

static struct lull_remedy_case *
trial_of(bool rests)
{
	machine = (struct lull_remedy_machine){ .measured = false };
	lull_remedy_machine_begin(&machine, &basis, rests);
	return lull_remedy_case_begin(&trial, &stand.limits, &machine);
}

TEST(machine__guesses_what_was_not_measured)
{
	const struct lull_calibration *sleeps = &machine.calibration[LULL_IDLE_SLEEP];

	begin(LULL_CALIBRATION_READY - 1);
	trial_of(true);
	assert_false(machine.measured);
	assert_int_equal(sleeps->count, 64);
	assert_int_equal(sleeps->cost_ns, 20 * US);
	/* four of 64 as late as the guess, the others half as late */
	assert_in_range(sleeps->p50_ns, 20 * US, 21 * US);
	assert_in_range(sleeps->p9999_ns, 40 * US, 42 * US);
	assert_in_range(lull_calibration_quantile(sleeps, 900000), 20 * US, 21 * US);
	assert_in_range(lull_calibration_quantile(sleeps, 940000), 40 * US, 42 * US);
	begin(LULL_CALIBRATION_READY);
	trial_of(true);
	assert_true(machine.measured);
	assert_in_range(sleeps->p50_ns, 16 * US, 17 * US);
	assert_ptr_equal(trial.view.curve, &basis.curve);
}

/* Half of the rests ended after 1 us: those cost that, so the others 39 us for a mean of 20. */
TEST(machine__costs_of_a_loop_that_does_not_rest)
{
	const struct lull_calibration *sleeps = &machine.calibration[LULL_IDLE_SLEEP];

	begin(0);
	for (uint32_t i = 0; i < 64; i++)
		lull_calibration_add(&basis.sleeps, i % 2 == 0 ? US : 60 * US, 20 * US);
	basis.sleeps.p50_ns = 60 * US;
	trial_of(true);
	assert_int_equal(sleeps->cost_ns, 20 * US);
	trial_of(false);
	assert_in_range(sleeps->cost_ns, 38900, 39100);
	/* as much as the usual rest at most, and no less than was measured */
	basis.sleeps.p50_ns = 30 * US;
	trial_of(false);
	assert_int_equal(sleeps->cost_ns, 30 * US);
	basis.sleeps.p50_ns = 10 * US;
	trial_of(false);
	assert_int_equal(sleeps->cost_ns, 20 * US);
	basis.sleeps.p50_ns = 60 * US;
	basis.sleeps.cost_measured = false;
	trial_of(false);
	assert_int_equal(sleeps->cost_ns, 20 * US);
}

/* Without what is as long as a stall, and without stalls. */
TEST(machine__calm_is_what_is_usual)
{
	struct lull_calibration *sleeps = &machine.calibration[LULL_IDLE_SLEEP];

	begin(960);
	for (uint32_t i = 0; i < 64; i++)
		lull_calibration_add(&basis.sleeps, i % 2 == 0 ? 400 * US : 2000 * US, 20 * US);
	basis.stalls.bins[3].count_x256 = 256;
	basis.stalls.bins[3].len_ns = 5000 * US;
	trial_of(true);
	assert_in_range(sleeps->p99_ns, 2000 * US, 2100 * US);
	assert_true(lull_stalls_longest_ns(&machine.stalls.rest) > 0);
	lull_remedy_machine_calm(&machine);
	assert_in_range(sleeps->p50_ns, 16 * US, 17 * US);
	assert_in_range(sleeps->p99_ns, 400 * US, 420 * US);
	assert_int_equal(sleeps->p99_ns, sleeps->usual_p99_ns);
	assert_int_equal(sleeps->p999_ns, sleeps->p99_ns);
	assert_int_equal(sleeps->p9999_ns, sleeps->p99_ns);
	assert_int_equal(sleeps->weight, 992);
	assert_int_equal(sleeps->bin_last, LULL_CALIBRATION_STALL_BIN - 1);
	for (uint32_t i = LULL_CALIBRATION_STALL_BIN; i < LULL_CALIBRATION_BINS; i++)
		assert_int_equal(sleeps->bins[i], 0);
	assert_int_equal(lull_stalls_longest_ns(&machine.stalls.rest), 0);
}

/* Break-even and a quarter; half of the CPU, if that is longer. */
TEST(case__rests_that_are_worth_it)
{
	begin(64);
	basis.sleeps.p50_ns = 10 * US;
	trial_of(true);
	assert_int_equal(lull_remedy_case_least_ns(&trial), 15 * US * 5 / 4 + 1);
	assert_int_equal(lull_remedy_case_worth_ns(&trial), 30 * US);
	basis.sleeps.p50_ns = 40 * US;
	trial_of(true);
	assert_int_equal(lull_remedy_case_least_ns(&trial), 2);
	assert_int_equal(lull_remedy_case_worth_ns(&trial), 2);
	basis.sleeps.p50_ns = 40 * US - 3;
	trial_of(true);
	assert_int_equal(lull_remedy_case_worth_ns(&trial), 3);
}

/* What is not known yet: a quarter of the rarest, half where few were measured, all of a stall. */
TEST(case__allows_with_room_for_doubt)
{
	uint64_t ring_ns;

	begin(64);
	basis.sleeps.p9999_ns = 20 * US;
	trial_of(true);
	ring_ns = lull_remedy_case_ring_ns(&trial);
	assert_int_equal(ring_ns, (1024 - 32) * 1000 - 20 * US);
	assert_true(lull_remedy_case_allows(&trial, ring_ns - 10 * US));
	assert_false(lull_remedy_case_allows(&trial, ring_ns - 10 * US + 1));
	basis.sleeps.weight = LULL_CALIBRATION_WEIGHT / 2 - 1;
	trial_of(true);
	assert_false(lull_remedy_case_allows(&trial, ring_ns - 10 * US + 1));
	basis.sleeps.weight = LULL_CALIBRATION_WEIGHT / 2;
	trial_of(true);
	assert_true(lull_remedy_case_allows(&trial, ring_ns - 5 * US));
	assert_false(lull_remedy_case_allows(&trial, ring_ns - 5 * US + 1));
	/* the guess counts in full, and so does a stall */
	begin(0);
	trial_of(true);
	ring_ns = lull_remedy_case_ring_ns(&trial);
	assert_true(lull_remedy_case_allows(
		&trial, ring_ns - machine.calibration[LULL_IDLE_SLEEP].p9999_ns));
	assert_false(lull_remedy_case_allows(
		&trial, ring_ns - machine.calibration[LULL_IDLE_SLEEP].p9999_ns + 1));
	begin(64);
	stand.limits.ring_pkts = 4096;
	basis.sleeps.p9999_ns = LULL_STALL_NS;
	trial_of(true);
	ring_ns = lull_remedy_case_ring_ns(&trial);
	assert_true(lull_remedy_case_allows(&trial, ring_ns - LULL_STALL_NS));
	assert_false(lull_remedy_case_allows(&trial, ring_ns - LULL_STALL_NS + 1));
}

/* At a rate that the loop cannot take nothing is allowed, if it is promised. */
TEST(case__allows_nothing_that_outruns_the_loop)
{
	begin(64);
	basis.pace.full[5] = (struct lull_pace_scale){ 0, 256 * 64 * US, 256 * 32, 8 };
	assert_false(lull_remedy_case_allows(trial_of(true), 1));
	lull_remedy_case_reckon(&trial);
	assert_true(trial.outlook.forbidden);
	assert_int_equal(trial.outlook.binding, LULL_BOUND_RING);
	assert_false(lull_remedy_case_complete(&trial));
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_true(lull_remedy_case_allows(trial_of(true), 1));
	stand.limits.loss = LULL_LOSS_ZERO;
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_true(lull_remedy_case_allows(trial_of(true), 1));
}

/* 30 us and 9 for doubt at 10 Mpps, 18 us late: 870 packets beside the burst. */
TEST(case__the_smallest_ring)
{
	begin(64);
	basis.sleeps.p50_ns = 10 * US;
	basis.sleeps.p9999_ns = 18 * US;
	stand.limits.pps_max = 10000000;
	stand.limits.ring_pkts = 64;
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 1024);
	assert_int_equal(trial.limits.ring_pkts, 64);
	stand.limits.ring_pkts_max = 1024;
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 1024);
	/* the largest on offer, where it saves something at least: 458 packets */
	stand.limits.ring_pkts_max = 490 + 10;
	assert_int_equal(lull_remedy_ring_most(&stand.limits), 500);
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 500);
	stand.limits.ring_pkts_max = 32 + 458;
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 490);
	stand.limits.ring_pkts_max = 32 + 457;
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 0);
	assert_int_equal(trial.limits.ring_pkts, 64);
	assert_false(lull_remedy_case_set_ring(&trial));
	assert_int_equal(trial.changes, 0);
	/* none that is no larger than what there is */
	stand.limits.ring_pkts = 500;
	stand.limits.ring_pkts_max = 500;
	assert_int_equal(lull_remedy_case_ring(trial_of(true)), 0);
	stand.limits.ring_pkts_max = 0;
	assert_int_equal(lull_remedy_ring_most(&stand.limits), LULL_REMEDY_RING_PKTS_MAX);
	assert_true(lull_remedy_case_set_ring(trial_of(true)));
	assert_int_equal(trial.limits.ring_pkts, 1024);
	assert_int_equal(trial.changes, LULL_REMEDY_RING);
	/* once */
	assert_false(lull_remedy_case_set_ring(&trial));
	stand.limits.ring_pkts_max = LULL_REMEDY_RING_PKTS_MAX + 1;
	assert_int_equal(lull_remedy_ring_most(&stand.limits), LULL_REMEDY_RING_PKTS_MAX);
}

/* 32 of 64 packets in 57 us: 561 kpps, of which two digits are told. */
TEST(case__the_highest_rate)
{
	begin(64);
	basis.sleeps.p50_ns = 10 * US;
	basis.sleeps.p9999_ns = 18 * US;
	stand.limits.ring_pkts = 64;
	assert_true(lull_remedy_case_set_rate(trial_of(true)));
	assert_int_equal(trial.limits.pps_max, 550000);
	assert_int_equal(trial.limits.envelope, LULL_ENVELOPE_STATED);
	assert_int_equal(trial.changes, LULL_REMEDY_PPS_MAX);
	/* no promise, or one that cannot be less */
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_false(lull_remedy_case_set_rate(trial_of(true)));
	stand.limits.envelope = LULL_ENVELOPE_LINK;
	assert_true(lull_remedy_case_set_rate(trial_of(true)));
	assert_int_equal(trial.limits.envelope, LULL_ENVELOPE_STATED);
	stand.limits.pps_max = 1000;
	assert_false(lull_remedy_case_set_rate(trial_of(true)));
	/* a ring that no rate leaves room in */
	stand.limits.pps_max = 1000000;
	stand.limits.ring_pkts = 32;
	assert_false(lull_remedy_case_set_rate(trial_of(true)));
	assert_int_equal(trial.limits.pps_max, 1000000);
	assert_int_equal(trial.changes, 0);
}

TEST(case__the_cap_alone)
{
	struct lull_remedy remedy;

	begin(64);
	basis.sleeps.p50_ns = 10 * US;
	basis.pace.empty_x256 = 10 * US * 256;
	stand.limits.rest_ns_max = 18750;
	assert_true(lull_remedy_case_complete(trial_of(true)));
	assert_int_equal(trial.changes, LULL_REMEDY_MAX_REST);
	assert_int_equal(trial.limits.rest_ns_max, 30 * US);
	remedy = lull_remedy_case_result(&trial, true);
	assert_true(remedy.fits);
	assert_true(remedy.measured);
	assert_int_equal(remedy.changes, LULL_REMEDY_MAX_REST);
	assert_int_equal(remedy.rest_ns_max, 30 * US);
	assert_int_equal(remedy.rest_ns, 30 * US);
	assert_int_equal(remedy.binding, LULL_BOUND_CAP);
	assert_int_equal(remedy.ring_pkts, 0);
	assert_int_equal(remedy.pps_max, 0);
	assert_int_equal(remedy.latency_ns, 0);
	/* 20 of 40 us, and 10 of 50 for the look that finds nothing */
	assert_int_equal(remedy.cpu_ppm, 500000 + 200000);
	remedy = lull_remedy_case_result(&trial, false);
	assert_int_equal(remedy.cpu_ppm, LULL_PPM);
	assert_int_equal(remedy.rest_ns, 0);
	basis.pace.empty_x256 = 100 * US * 256;
	stand.limits.pps_max = 100000;
	assert_true(lull_remedy_case_complete(trial_of(true)));
	assert_int_equal(lull_remedy_case_result(&trial, true).cpu_ppm, LULL_PPM);
	/* one that is long enough stays */
	stand.limits.rest_ns_max = 18751;
	assert_true(lull_remedy_case_complete(trial_of(true)));
	assert_int_equal(trial.changes, 0);
}

/* An objective of 5 us: as long as the rest, its wake-up and the margins. */
TEST(case__the_objective_alone)
{
	begin(64);
	stand.limits.latency_ns = 5 * US;
	assert_true(lull_remedy_case_complete(trial_of(true)));
	assert_int_equal(trial.changes, LULL_REMEDY_LATENCY);
	assert_int_equal(trial.limits.latency_ns, 50 * US);
	assert_int_equal(lull_remedy_case_result(&trial, true).latency_ns, trial.limits.latency_ns);
	assert_false(lull_remedy_case_set_latency(&trial));
	/* what serving takes comes on top: 40 us, times 99 / 80 */
	basis.load.serve_ns = 40 * US;
	assert_true(lull_remedy_case_complete(trial_of(true)));
	assert_int_equal(trial.limits.latency_ns, 99 * US);
	/* a second is the most */
	basis.load.serve_ns = LULL_NS_PER_S;
	assert_false(lull_remedy_case_set_latency(trial_of(true)));
	assert_int_equal(trial.limits.latency_ns, 5 * US);
	assert_int_equal(trial.changes, 0);
}
