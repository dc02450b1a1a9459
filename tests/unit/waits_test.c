/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "case.h"
#include "idle/waits.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define LATENCY_NS (200 * US)

static struct lull_waits *waits;

static int
setup(void **state)
{
	(void)state;
	waits = malloc(sizeof(*waits));
	if (waits == NULL)
		return -1;
	memset(waits, 0xa5, sizeof(*waits));
	lull_waits_init(waits, 999 * US);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(waits);
	return 0;
}

/* One queue, looked at now and served within 1 us. */
static bool
look(uint64_t now_ns, uint32_t pkts)
{
	bool drained;

	lull_waits_poll(waits, now_ns, 1);
	drained = lull_waits_queue(waits, 0, pkts, 32);
	lull_waits_settle(waits, now_ns + US, LATENCY_NS);
	return drained;
}

static void
rest(uint64_t begin_ns, uint64_t limit_ns, uint64_t end_ns)
{
	struct lull_wake wake = {
		.rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = limit_ns },
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.reason = LULL_WAKE_TIMER,
	};

	lull_waits_rested(waits, &wake);
}

static uint64_t
late_pkts(void)
{
	return waits->late_pkts_x256 / 256;
}

TEST_WITH(settle__counts_the_fluid_share_beyond_the_objective, setup, teardown)
{
	look(1 * MS, 0);
	/* 100 us: none late */
	look(1 * MS + 100 * US, 10);
	assert_int_equal(late_pkts(), 0);
	/* 399 us and 1 us to serve them: half of them */
	look(1 * MS + 499 * US, 20);
	assert_int_equal(late_pkts(), 10);
	assert_int_equal(lull_waits_window(waits).pkts, 30);
	/* the bound holds for each of them */
	assert_int_equal(waits->histogram.count, 30);
	assert_in_range(lull_histogram_quantile(&waits->histogram, 999999), 400 * US, 420 * US);
}

TEST_WITH(queue__a_backlog_waited_for_the_gap_before_it, setup, teardown)
{
	uint64_t now_ns = 1 * MS;

	look(now_ns, 0);
	/* nobody looked for 400 us; ten bursts, 1 us apart, work the backlog off */
	now_ns += 399 * US;
	for (int i = 0; i < 10; i++, now_ns += 1 * US)
		assert_false(look(now_ns, 32));
	assert_true(look(now_ns, 3));
	assert_in_range(late_pkts(), 160, 164);
	/* once empty, what comes next has waited for a microsecond */
	look(now_ns + 1 * US, 31);
	assert_in_range(late_pkts(), 160, 164);
}

/* Each queue has a backlog of its own: what another one is still working off makes none late. */
TEST_WITH(queue__one_backlog_is_not_the_others, setup, teardown)
{
	uint64_t now_ns = 1 * MS;

	look(now_ns, 0);
	now_ns += 399 * US;
	/* both waited for the gap; the second one is empty after its 10, the first one never */
	for (int i = 0; i < 3; i++, now_ns += 1 * US) {
		lull_waits_poll(waits, now_ns, 2);
		assert_false(lull_waits_queue(waits, 0, 32, 32));
		assert_true(lull_waits_queue(waits, 1, 10, 32));
		lull_waits_settle(waits, now_ns + US, LATENCY_NS);
	}
	/* half of 3 x 32 and of the first 10 */
	assert_in_range(late_pkts(), 52, 54);
	assert_in_range(lull_arrival_curve_pkts(&waits->curve, 9), 10, 30);
}

/* A queue that never runs short, at high load: its packets came long after that gap. */
TEST_WITH(queue__no_backlog_lasts_for_ever, setup, teardown)
{
	uint64_t now_ns = 1 * MS, late;

	look(now_ns, 0);
	now_ns += 400 * US;
	for (int i = 0; i < 3300; i++, now_ns += 1 * US)
		look(now_ns, 32);
	late = late_pkts();
	for (int i = 0; i < 10000; i++, now_ns += 1 * US)
		look(now_ns, 32);
	assert_true(late > 0);
	assert_int_equal(late_pkts(), late);
}

TEST_WITH(look__tells_rests_from_stalls, setup, teardown)
{
	look(1 * MS, 0);
	rest(1 * MS, 900 * US, 1 * MS + 950 * US);
	look(1 * MS + 950 * US, 5);
	assert_false(waits->stalled);
	rest(2 * MS, 200 * US, 7 * MS);
	look(7 * MS, 5);
	assert_true(waits->stalled);
	assert_in_range(lull_stalls_longest_ns(&waits->watch.rest), 5 * MS, 5100 * US);
	/* also one that no rest was part of */
	look(9 * MS, 0);
	assert_true(waits->stalled);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 512);
}

TEST_WITH(look__a_trial_rest_says_nothing_about_polling, setup, teardown)
{
	lull_stall_watch_turn_to(&waits->watch, true, 0);
	look(1 * MS, 0);
	rest(1 * MS, 1, 6 * MS);
	look(6 * MS, 100);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.poll, 0), 0);
	assert_int_equal(waits->watch.poll.pkts_x256 + waits->watch.fresh_pkts, 0);
	/* those packets were late all the same */
	assert_true(late_pkts() > 90);
	look(8 * MS, 100);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.poll, 0), 256);
	assert_int_equal(waits->watch.poll.pkts_x256, 100 * 256);
}

TEST_WITH(polled__knows_a_stall_by_what_empty_iterations_take, setup, teardown)
{
	lull_waits_polled(waits, 1 * MS, 0, 900 * US);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 0);
	lull_waits_polled(waits, 5 * MS, 0, 900 * US);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 256);
	/* with packets among them nothing is known */
	lull_waits_polled(waits, 9 * MS, 1000, 0);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 256);
	assert_int_equal(late_pkts(), 0);
	assert_in_range(lull_arrival_curve_pkts(&waits->curve, 12), 1000, 1000);
}

/* What is fetched of a backlog comes as fast as the loop serves it: no burst. */
TEST_WITH(queue__a_backlog_is_one_batch_of_the_arrival_curve, setup, teardown)
{
	uint64_t now_ns = 1 * MS;

	look(now_ns, 0);
	now_ns += 20 * MS;
	for (int i = 0; i < 30; i++, now_ns += US / 2)
		look(now_ns, 32);
	look(now_ns, 0);
	assert_in_range(lull_arrival_curve_pkts(&waits->curve, 0), 0, 2);
	look(now_ns + US, 1);
	assert_in_range(lull_arrival_curve_pkts(&waits->curve, 14), 700, 900);
	assert_in_range(lull_arrival_curve_pkts(&waits->curve, 4), 0, 3);
}

TEST_WITH(missed__needs_a_second_and_three_packets, setup, teardown)
{
	lull_waits_mark(waits, 0);
	look(100 * MS, 0);
	look(110 * MS, 2); /* both late */
	look(1010 * MS, 0);
	assert_false(lull_waits_missed(waits, 1011 * MS, 10000));
	look(1020 * MS, 2);
	assert_true(lull_waits_missed(waits, 1021 * MS, 10000));
	/* not within the first second, and not when there are enough others */
	assert_false(lull_waits_missed(waits, 999 * MS, 10000));
	for (uint64_t us = 1; us <= 40; us++)
		look(1020 * MS + us * US, 10);
	assert_false(lull_waits_missed(waits, 1021 * MS, 10000));
	lull_waits_mark(waits, 1021 * MS);
	assert_int_equal(lull_waits_window(waits).late_pkts_x256, 0);
}

/* 19 rests of 1 ms that packets end, and one of 100 us on a timer, in which a stall is seen. */
static uint64_t
rest_blind(uint64_t now_ns, uint64_t stall_ns)
{
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t real_ns = i == 19 ? 100 * US + stall_ns : MS;
		struct lull_wake wake = {
			.rest = { .idle_state = i == 19 ? LULL_IDLE_SLEEP : LULL_IDLE_INTERRUPT,
				  .limit_ns = i == 19 ? 100 * US : 10 * MS },
			.begin_ns = now_ns,
			.end_ns = now_ns + real_ns,
			.reason = i == 19 ? LULL_WAKE_TIMER : LULL_WAKE_PACKET,
		};

		lull_waits_rested(waits, &wake);
		now_ns += real_ns;
		look(now_ns, i == 19 ? 0 : 1);
	}
	lull_waits_step(waits, now_ns);
	return now_ns;
}

/* What one rest of twenty shows counts for all of their time and packets. */
TEST_WITH(rested__stands_for_rests_that_show_nothing, setup, teardown)
{
	uint64_t now_ns = 1 * MS;

	look(now_ns, 0);
	for (uint32_t i = 0; i < 200; i++)
		now_ns = rest_blind(now_ns, i % 10 == 0 ? 4 * MS : 0);
	/* 20 of 4 ms were seen, in 20 of 200 rests: a tenth of the time */
	assert_in_range(lull_stalls_late_ppm(&waits->watch.rest, LATENCY_NS, 10), 80000, 125000);
	assert_in_range(lull_stalls_late_ppm(&waits->watch.rest, LATENCY_NS, 10000), 80000, 125000);
	/* the last moments count what was seen alone */
	assert_true(lull_stalls_count_x256(&waits->watch.recent, LATENCY_NS) < 6 * 256);
}

/* Ten steps of a tenth of a second: what is late within them at 2.25 budgets is enough. */
TEST_WITH(missed__the_last_second_counts_by_itself, setup, teardown)
{
	uint64_t now_ns = 999 * US;

	lull_waits_mark(waits, 0);
	waits->pkts = 1000000; /* in time, long ago */
	for (int i = 0; i < 30; i++)
		lull_waits_step(waits, now_ns += 100 * MS);
	assert_int_equal(waits->step_ns, now_ns);
	assert_int_equal(waits->step, 0);
	waits->pkts += 1000;
	waits->late_pkts_x256 += 22 * 256;
	assert_false(lull_waits_missed(waits, now_ns, 10000));
	waits->late_pkts_x256 += 256;
	assert_true(lull_waits_missed(waits, now_ns, 10000));
	/* for nine steps more, and then it is past */
	for (int i = 0; i < 9; i++) {
		lull_waits_step(waits, now_ns += 100 * MS);
		assert_true(lull_waits_missed(waits, now_ns, 10000));
	}
	assert_true(lull_waits_missed(waits, now_ns + 1000 * MS, 10000));
	assert_false(lull_waits_missed(waits, now_ns + 1000 * MS + 1, 10000));
	lull_waits_step(waits, now_ns += 100 * MS);
	assert_false(lull_waits_missed(waits, now_ns, 10000));
	/* 2.5 packets are three, rounded */
	lull_waits_mark(waits, now_ns);
	waits->pkts += 3;
	waits->late_pkts_x256 += 639;
	assert_false(lull_waits_missed(waits, now_ns, 10000));
	waits->late_pkts_x256 += 1;
	assert_true(lull_waits_missed(waits, now_ns, 10000));
	lull_waits_forget(waits, now_ns);
	assert_false(lull_waits_missed(waits, now_ns, 10000));
	/* the window stays: a second later it is what tells */
	assert_false(lull_waits_missed(waits, now_ns + 1000 * MS - 1, 10000));
	assert_true(lull_waits_missed(waits, now_ns + 1000 * MS, 10000));
}

/* Not before a tenth is over; after long absence the steps begin anew. */
TEST_WITH(step__is_a_tenth_of_a_second, setup, teardown)
{
	lull_waits_step(waits, 999 * US + 100 * MS - 1);
	assert_int_equal(waits->step, 0);
	lull_waits_step(waits, 999 * US + 100 * MS);
	assert_int_equal(waits->step, 1);
	assert_int_equal(waits->step_ns, 999 * US + 100 * MS);
	lull_waits_step(waits, 999 * US + 450 * MS);
	assert_int_equal(waits->step, 4);
	assert_int_equal(waits->step_ns, 999 * US + 400 * MS);
	lull_waits_step(waits, 999 * US + 1400 * MS);
	assert_int_equal(waits->step, 4);
	assert_int_equal(waits->step_ns, 999 * US + 1400 * MS);
	lull_waits_step(waits, 9000 * MS);
	assert_int_equal(waits->step_ns, 9000 * MS);
	/* what was seen is folded in then */
	lull_stall_watch_fine(&waits->watch, 5 * MS, 7);
	lull_waits_step(waits, 9100 * MS);
	assert_int_equal(waits->watch.fresh_ns, 0);
	assert_int_equal(waits->watch.rest.time_ns, 5 * MS);
	/* the arrival curve fades with the steps */
	waits->curve.pkts_x256[14] = 1000 * 128;
	lull_waits_step(waits, 9200 * MS);
	assert_int_equal(waits->curve.pkts_x256[14], 1000 * 127);
	/* settle looks at the time */
	lull_waits_poll(waits, 9299 * MS, 1);
	lull_waits_settle(waits, 9300 * MS - 1, LATENCY_NS);
	assert_int_equal(waits->step_ns, 9200 * MS);
	lull_waits_settle(waits, 9300 * MS, LATENCY_NS);
	assert_int_equal(waits->step_ns, 9300 * MS);
}

/* A rest that watches holds a packet as long again. */
TEST_WITH(rested__a_watched_rest_is_planned_twice_as_long, setup, teardown)
{
	struct lull_wake wake = {
		.rest = { .idle_state = LULL_IDLE_INTERRUPT, .watch = true, .limit_ns = MS }
	};

	lull_waits_poll(waits, 1000 * MS, 1);
	lull_waits_rested(waits, &wake);
	assert_int_equal(waits->planned_ns, 2 * MS);
	assert_true(waits->rested);
	lull_waits_poll(waits, 1000 * MS + 2 * MS + LULL_STALL_NS - 1, 1);
	assert_false(waits->stalled);
	assert_int_equal(waits->planned_ns, 0);
	wake.rest = (struct lull_rest){ .idle_state = LULL_IDLE_PAUSE, .limit_ns = US };
	lull_waits_rested(waits, &wake);
	assert_false(waits->rested);
	wake.rest.idle_state = LULL_IDLE_MONITOR;
	lull_waits_rested(waits, &wake);
	assert_true(waits->rested);
	assert_int_equal(waits->planned_ns, 2 * US);
}

TEST_WITH(polled__tells_all_that_a_look_would_tell, setup, teardown)
{
	lull_waits_poll(waits, 1000 * MS, 2);
	lull_waits_queue(waits, 0, 32, 32);
	waits->rested = true;
	waits->planned_ns = MS;
	lull_stall_watch_fold(&waits->watch, 1000 * MS);
	uint64_t time_ns = waits->watch.rest.time_ns;

	lull_waits_polled(waits, 1000 * MS + 300 * US, 10, 0);
	lull_stall_watch_fold(&waits->watch, 1000 * MS);
	assert_int_equal(waits->watch.rest.time_ns - time_ns, 300 * US);
	assert_int_equal(waits->watch.rest.pkts_x256, 10 * 256);
	assert_int_equal(waits->pkts, 10);
	assert_int_equal(waits->histogram.count, 10);
	assert_int_equal(waits->poll_ns, 1000 * MS + 300 * US);
	assert_int_equal(waits->planned_ns, 0);
	assert_false(waits->rested);
	assert_int_equal(waits->queues[0].empty_ns, 1000 * MS + 300 * US);
	assert_int_equal(waits->queues[0].batch_pkts, 0);
	assert_int_equal(lull_arrival_curve_pkts(&waits->curve, 9), 10);
	/* time does not go back */
	lull_stall_watch_fold(&waits->watch, 1000 * MS);
	lull_waits_polled(waits, 999 * MS, 0, 0);
	assert_int_equal(waits->watch.fresh_ns, 0);
	assert_int_equal(waits->poll_ns, 1000 * MS + 300 * US);
	assert_int_equal(waits->pkts, 10);
}

/* Exactly the objective is in time; what is served before it was looked at did not wait. */
TEST_WITH(settle__at_the_edges, setup, teardown)
{
	look(1 * MS, 0);
	look(1 * MS + 199 * US, 100);
	assert_int_equal(waits->late_pkts_x256, 0);
	lull_waits_poll(waits, 2 * MS, 1);
	lull_waits_queue(waits, 0, 0, 32);
	lull_waits_settle(waits, 1 * MS, LATENCY_NS);
	lull_waits_poll(waits, 2 * MS + 10, 1);
	lull_waits_queue(waits, 0, 1, 32);
	lull_waits_settle(waits, 2 * MS, LATENCY_NS);
	assert_int_equal(waits->late_pkts_x256, 0);
	assert_int_equal(waits->pkts, 101);
	assert_int_equal(waits->pending_count, 0);
	/* the second packet of two queues waits for its own */
	assert_int_equal(waits->queues[1].empty_ns, 999 * US);
}

/* Late for a long rest, but no stall: its packets met none. */
TEST_WITH(settle__late_packets_need_no_stall, setup, teardown)
{
	look(1 * MS, 0);
	rest(1 * MS, 900 * US, 1900 * US);
	look(1900 * US, 10);
	assert_int_equal(waits->late_pkts_x256, 10 * 256 * 701 / 901);
	lull_stall_watch_fold(&waits->watch, 2 * MS);
	assert_int_equal(waits->watch.rest.pkts_x256, 10 * 256);
	assert_int_equal(waits->watch.rest.time_ns, 901 * US);
	for (uint32_t i = 0; i < LULL_STALL_BINS; i++)
		assert_int_equal(waits->watch.rest.bins[i].pkts_x256, 0);
	/* of a stall they did */
	look(4 * MS, 5);
	assert_int_equal(waits->watch.rest.bins[2].pkts_x256, 5 * 256);
}

/* A clock that went back is no gap. */
TEST_WITH(poll__time_that_went_back_is_none, setup, teardown)
{
	look(5 * MS, 0);
	lull_stall_watch_init(&waits->watch, 0);
	lull_waits_poll(waits, 4 * MS, 1);
	assert_int_equal(waits->gap_ns, 0);
	assert_false(waits->stalled);
	assert_int_equal(lull_stalls_longest_ns(&waits->watch.rest), 0);
}

/* A packet that ended the rest had come then, on whichever queue of those that are polled. */
TEST_WITH(woken__shortens_what_was_waited, setup, teardown)
{
	assert_int_equal(waits->curve.fade_ns, 999 * US);
	lull_waits_poll(waits, 1000 * US, 2);
	lull_waits_queue(waits, 0, 0, 32);
	lull_waits_queue(waits, 1, 0, 32);
	lull_waits_settle(waits, 1000 * US, LATENCY_NS);
	waits->queues[2].empty_ns = 7;
	lull_waits_woken(waits, 1800 * US);
	assert_int_equal(waits->queues[0].empty_ns, 1800 * US);
	assert_int_equal(waits->queues[1].empty_ns, 1800 * US);
	assert_int_equal(waits->queues[2].empty_ns, 7);
	lull_waits_woken(waits, 1700 * US);
	assert_int_equal(waits->queues[1].empty_ns, 1800 * US);
	lull_waits_poll(waits, 1810 * US, 2);
	lull_waits_queue(waits, 1, 1, 32);
	assert_int_equal(waits->pending[0].gap_ns, 10 * US);
	lull_waits_settle(waits, 1811 * US, LATENCY_NS);
	assert_int_equal(waits->late_pkts_x256, 0);
	assert_int_equal(waits->histogram.max, 11 * US);
	/* one packet is a batch, too */
	assert_int_equal(lull_arrival_curve_pkts(&waits->curve, LULL_ARRIVAL_SCALES - 1), 1);
}

/* Of a shared queue: it was empty when another thread looked, 30 us ago, and this one long
 * before. So nothing is late, and no stall is seen. */
TEST_WITH(found_empty__another_thread_has_looked_since, setup, teardown)
{
	look(1 * MS, 0);
	lull_waits_found_empty(waits, 0, 9 * MS - 30 * US);
	look(9 * MS, 4);
	look(9 * MS + US, 0);
	assert_int_equal(waits->histogram.max, 31 * US);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 0);
	/* another queue, which nobody has looked at for longer */
	lull_waits_found_empty(waits, 0, 8 * MS);
	look(9 * MS + 200 * US, 4);
	look(9 * MS + 201 * US, 0);
	assert_int_equal(waits->histogram.max, MS + 201 * US);
	assert_int_equal(lull_stalls_count_x256(&waits->watch.rest, 0), 256);
}
