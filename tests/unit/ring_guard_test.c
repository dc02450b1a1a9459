/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "idle/bound.h"
#include "idle/ring_guard.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

struct stand {
	struct lull_idle_limits limits;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT];
	struct lull_arrival_curve curve;
	struct lull_pace pace;
	struct lull_stall_watch stalls;
	struct lull_idle_view view;
	struct lull_ring_guard guard;
};

static struct stand stand;

/* 1024 descriptors at 1 Mpps, a burst of 32: they fill in 992 us. */
static void
begin(void)
{
	stand = (struct stand){
		.limits = { .latency_ns = 200 * US,
			    .percentile_ppm = 990000,
			    .loss = LULL_LOSS_ZERO,
			    .ring_pkts = 1024,
			    .burst_pkts = 32,
			    .envelope = LULL_ENVELOPE_STATED,
			    .pps_max = 1000000 },
		.pace = { .queue_count = 1 },
		.view = { .limits = &stand.limits,
			  .calibration = stand.calibration,
			  .curve = &stand.curve,
			  .pace = &stand.pace,
			  .stalls = &stand.stalls },
	};
	stand.calibration[LULL_IDLE_SLEEP] = (struct lull_calibration){ .p999_ns = 40 * US,
									.p9999_ns = 92 * US,
									.usual_p99_ns = 10 * US };
	lull_arrival_curve_init(&stand.curve, 0);
	lull_stall_watch_init(&stand.stalls, 0);
	lull_ring_guard_init(&stand.guard);
}

static uint64_t
guard_ns(void)
{
	return lull_ring_guard_ns(&stand.guard, &stand.view);
}

TEST(ns__a_promise_counts_the_rarest_wakeups_and_the_stalls)
{
	begin();
	assert_int_equal(guard_ns(), 900 * US);
	lull_stall_watch_stall(&stand.stalls, 1000 * MS, 592 * US);
	assert_int_equal(guard_ns(), 400 * US);
	/* while it polls, a stall says nothing about rests */
	begin();
	lull_stall_watch_turn_to(&stand.stalls, true, 0);
	lull_stall_watch_stall(&stand.stalls, 1000 * MS, 592 * US);
	assert_int_equal(guard_ns(), 900 * US);
}

TEST(ns__learned_arrivals_count_the_usual_wakeups)
{
	begin();
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_int_equal(guard_ns(), 982 * US);
	/* once the curve against the rare ones: 2000 packets in 2 ms fill the ring in 1 ms */
	struct lull_arrival_windows windows = { 0 };

	for (uint64_t us = 1; us <= 100000; us++)
		lull_arrival_curve_add(&stand.curve, &windows, (us - 1) * US, us * US, 1);
	assert_int_equal(guard_ns(), lull_bound_learned_ns(&stand.limits, &stand.pace, &stand.curve,
							   10 * US, 40 * US));
	assert_in_range(guard_ns(), 450 * US, 490 * US);
	stand.calibration[LULL_IDLE_SLEEP].p999_ns = 700 * US;
	assert_in_range(guard_ns(), 250 * US, 300 * US);
}

TEST(ns__lost_packets_may_be_acceptable)
{
	begin();
	stand.limits.loss = LULL_LOSS_TOLERATE;
	lull_ring_guard_miss(&stand.guard, 0);
	assert_true(guard_ns() == UINT64_MAX);
}

/* Half each time, down to a hundredth; back by a 64th every 100 ms. */
TEST(miss__halves_the_share_and_release_gives_it_back)
{
	begin();
	lull_ring_guard_miss(&stand.guard, 1000 * MS);
	assert_int_equal(stand.guard.share_ppm, 500000);
	assert_int_equal(guard_ns(), 450 * US);
	lull_ring_guard_release(&stand.guard, 1100 * MS - 1);
	assert_int_equal(guard_ns(), 450 * US);
	lull_ring_guard_release(&stand.guard, 1100 * MS);
	assert_int_equal(stand.guard.share_ppm, 507813);
	lull_ring_guard_release(&stand.guard, 1200 * MS - 1);
	assert_int_equal(stand.guard.share_ppm, 507813);
	lull_ring_guard_release(&stand.guard, 1200 * MS);
	assert_int_equal(stand.guard.share_ppm, 507813 + 7934 + 1);
	/* another loss begins the wait anew */
	lull_ring_guard_miss(&stand.guard, 1250 * MS);
	lull_ring_guard_release(&stand.guard, 1300 * MS);
	assert_int_equal(stand.guard.share_ppm, 257874);
	for (int i = 0; i < 20; i++)
		lull_ring_guard_miss(&stand.guard, 2000 * MS);
	assert_int_equal(stand.guard.share_ppm, 10000);
	assert_int_equal(guard_ns(), 9 * US);
	for (uint64_t ms = 2100; ms < 60000; ms += 100)
		lull_ring_guard_release(&stand.guard, ms * MS);
	assert_int_equal(stand.guard.share_ppm, 1000000);
	assert_int_equal(guard_ns(), 900 * US);
}

/* Of times that a product with parts per million would overflow, too. */
TEST(ns__long_times_do_not_overflow)
{
	begin();
	stand.limits.pps_max = 1;
	stand.limits.ring_pkts = 1u << 20;
	lull_ring_guard_miss(&stand.guard, 0);
	/* (2^20 - 32) s - 92 us, halved */
	assert_true(guard_ns() == (1048544ULL * LULL_NS_PER_S - 92 * US) / 2);
	stand.guard.share_ppm = 333333;
	stand.limits.ring_pkts = 32 + 2;
	assert_int_equal(guard_ns(), 666635 * US + 333); /* 1.999908 s x 0.333333 */
}
