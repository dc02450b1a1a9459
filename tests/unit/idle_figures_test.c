/* SPDX-License-Identifier: BSD-3-Clause */
/* What an idle object counts, tells and charges, to the nanosecond. */
#include "idle/blame.h"
#include "idle_stand.h"

/* Each figure of a verdict, of a loop whose every nanosecond is known. */
TEST(verdict__tells_what_was_measured)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_STATED, .pps_max = 1000000 };
	uint64_t now_ns = 1000 * US;
	struct lull_verdict verdict;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	/* 1 us empty, 49 us at rest of which 40 were asked for, 5 us with 10 packets */
	for (int i = 0; i < 4000; i++) {
		struct lull_wake w = { .reason = LULL_WAKE_TIMER, .cpu_ns = 6 * US };

		answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 40 * US };
		rest = iteration(&stand, now_ns, 0, 0);
		now_ns += US;
		w.rest = rest;
		w.begin_ns = now_ns;
		w.end_ns = now_ns += 49 * US;
		lull_idle_wake(stand.idle, &w);
		answer = lull_rest_none();
		iteration(&stand, now_ns, 10, 0);
		now_ns += 5 * US;
	}
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 40 * US };
	iteration(&stand, now_ns, 0, 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.state, LULL_VERDICT_NONE);
	assert_int_equal(verdict.idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(verdict.rest_ns, 40 * US);
	assert_in_range(verdict.overshoot_p50_ns, 9 * US, 9 * US * 17 / 16);
	assert_int_equal(verdict.overshoot_p99_ns, verdict.overshoot_p50_ns);
	assert_int_equal(verdict.overshoot_p9999_ns, verdict.overshoot_p50_ns);
	assert_int_equal(verdict.cost_ns, 6 * US);
	assert_int_equal(verdict.break_even_ns, 1);
	assert_int_equal(verdict.calibration_count, 4000);
	assert_in_range(verdict.load_ppm, 1000000 * 5 / 55 - 3000, 1000000 * 5 / 55 + 3000);
	assert_in_range(verdict.arrival_pps, 10e9 / 55e3 - 3000, 10e9 / 55e3 + 3000);
	assert_in_range(verdict.resting_ppm, 950000, 1000000);
	assert_int_equal(verdict.envelope, LULL_ENVELOPE_STATED);
	assert_int_equal(verdict.pps_max, 1000000);
	/* 512 descriptors less a burst of 32, at 1 us each */
	assert_int_equal(verdict.ring_bound_ns, 480 * US - verdict.overshoot_p9999_ns);
	/* no more than a burst of one queue: 5 us with 10 packets, on a line through 1 us */
	assert_in_range(verdict.iteration_ns, 13 * US, 14 * US);
	assert_in_range(verdict.latency_bound_ns, 200 * US * 100 / 99 - 400,
			200 * US * 100 / 99 + 400);
	assert_int_equal(verdict.interrupt_late_ns, 0);
	limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(lull_idle_change(stand.idle, NULL, &limits), 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_true(verdict.ring_bound_ns == UINT64_MAX);
	/* what another class taught is dropped, what a rest costs is not */
	lull_idle_forget(stand.idle);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.calibration_count, 0);
	assert_int_equal(verdict.overshoot_p50_ns, 40 * US);
	assert_int_equal(verdict.cost_ns, 6 * US);
	free(stand.memory);
}

/* Packets that nobody kept waiting: half of 2048 packets move the share by half. */
TEST(polled__packets_met_no_rest)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_verdict verdict;
	uint32_t resting_ppm;
	struct stand stand;

	stand_begin(&stand, &limits);
	lull_idle_verdict(stand.idle, &verdict);
	resting_ppm = verdict.resting_ppm;
	assert_true(resting_ppm > 0);
	lull_idle_polled(stand.idle, 2000 * US, 100, 0, 1024);
	lull_idle_verdict(stand.idle, &verdict);
	assert_in_range(verdict.resting_ppm, resting_ppm / 2 - 1, resting_ppm / 2 + 1);
	free(stand.memory);
}

TEST(counters__count_what_happened)
{
	struct lull_idle_limits limits = { .rest_ns_max = 100 * US };
	struct lull_verdict verdict;
	const struct lull_idle_counters *counters;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	counters = lull_idle_counters(stand.idle);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 100 * US };
	rest = iteration(&stand, 1000 * US, 0, 0);
	assert_int_equal(counters->rests_cut, 0);
	wake(&stand, rest, 1001 * US, 1102 * US, LULL_WAKE_TIMER);
	answer.limit_ns++;
	rest = iteration(&stand, 1102 * US, 7, 0);
	assert_int_equal(rest.limit_ns, 100 * US);
	assert_int_equal(counters->rests_cut, 1);
	wake(&stand, rest, 1104 * US, 1150 * US, LULL_WAKE_PACKET);
	answer = lull_rest_none();
	iteration(&stand, 1150 * US, 0, 0);
	assert_int_equal(counters->rests_cut, 1);
	assert_int_equal(counters->iterations, 3);
	assert_int_equal(counters->iterations_empty, 2);
	assert_int_equal(counters->pkts, 7);
	assert_int_equal(counters->empty_ns, 1 * US);
	assert_int_equal(counters->busy_ns, 2 * US);
	assert_int_equal(counters->rest_ns, 147 * US);
	assert_int_equal(counters->rest_requested_ns, 200 * US);
	assert_int_equal(counters->overshoot_ns, 1 * US);
	assert_int_equal(counters->rests[LULL_IDLE_SLEEP], 2);
	assert_int_equal(counters->wakes_packet, 1);
	assert_int_equal(counters->wakes_late, 0);
	assert_int_equal(lull_idle_rest_histogram(stand.idle)->count, 2);
	/* only what a timer ended tells how late timers are */
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.calibration_count, 1);
	lull_idle_mark(stand.idle);
	assert_int_equal(lull_idle_rest_histogram(stand.idle)->count, 0);
	/* a rest that ended before it began took no time */
	wake(&stand, rest, 1151 * US, 1150 * US, LULL_WAKE_PACKET);
	assert_int_equal(counters->rest_ns, 147 * US);
	assert_int_equal(counters->overshoot_ns, 1 * US);
	/* 50 us and four times what is usual, once that is known: 1 us */
	for (int i = 0; i < 64; i++)
		wake(&stand, rest, 2000 * US, 2101 * US, LULL_WAKE_TIMER);
	assert_int_equal(counters->wakes_late, 0);
	wake(&stand, rest, 2000 * US, 2000 * US + 100 * US + 55 * US, LULL_WAKE_TIMER);
	assert_int_equal(counters->wakes_late, 1);
	free(stand.memory);
}

/* A rest that was asked for is no stall, one that ends half a millisecond late is. */
TEST(wake__what_was_asked_for_is_no_stall)
{
	struct lull_idle_limits limits = { .rest_ns_max = 10000 * US };
	struct lull_verdict verdict;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 5000 * US };
	rest = iteration(&stand, 1000 * US, 0, 0);
	wake(&stand, rest, 1000 * US, 6500 * US, LULL_WAKE_TIMER);
	rest = iteration(&stand, 6500 * US, 0, 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 0);
	wake(&stand, rest, 6500 * US, 12100 * US, LULL_WAKE_TIMER);
	iteration(&stand, 12100 * US, 0, 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 5600 * US);
	free(stand.memory);
}

/* Up to what a timer is late at p99 before the deadline; a pause needs no such room. */
TEST(plan__leaves_a_deadline_its_time)
{
	struct lull_idle_limits limits = { 0 };
	struct stand stand;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 500 * US };
	/* 40 us, which is a guess so far */
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1041 * US).limit_ns, 1 * US);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1040 * US).idle_state, LULL_IDLE_NONE);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 999 * US).idle_state, LULL_IDLE_NONE);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 9000 * US).limit_ns, 500 * US);
	answer.idle_state = LULL_IDLE_PAUSE;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1001 * US).limit_ns, 1 * US);
	/* not on offer: the pause instead, or nothing */
	answer.idle_state = LULL_IDLE_MONITOR;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).idle_state, LULL_IDLE_PAUSE);
	limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	assert_int_equal(lull_idle_change(stand.idle, NULL, &limits), 0);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).idle_state, LULL_IDLE_NONE);
	free(stand.memory);
}

static uint64_t missed_pkts;

static void
puppet_miss(void *state, uint64_t now_ns, uint64_t pkts)
{
	(void)state;
	(void)now_ns;
	missed_pkts += pkts;
}

/* The governor hears of what a rest may have lost, and of nothing else. */
TEST(miss__is_charged_to_rests_only_where_one_was)
{
	struct lull_idle_governor deaf = puppet;
	struct lull_idle_limits limits = { .ring_pkts = 64, .burst_pkts = 32 };
	const struct lull_idle_counters *counters;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	deaf.miss = puppet_miss;
	missed_pkts = 0;
	assert_int_equal(lull_idle_change(stand.idle, &deaf, &limits), 0);
	counters = lull_idle_counters(stand.idle);
	answer = lull_rest_none();
	iteration(&stand, 1000 * US, 32, 0);
	lull_idle_miss(stand.idle, 1000 * US, 3);
	assert_int_equal(counters->misses_other, 3);
	assert_int_equal(counters->misses, 0);
	assert_false(lull_idle_undecided(stand.idle));
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
	rest = iteration(&stand, 1001 * US, 0, 0);
	wake(&stand, rest, 1002 * US, 1052 * US, LULL_WAKE_TIMER);
	assert_true(lull_idle_undecided(stand.idle));
	assert_true(lull_idle_suspects(stand.idle, 1000 * US, 1052 * US));
	lull_idle_miss(stand.idle, 1052 * US, 5);
	assert_int_equal(counters->misses, 5);
	assert_int_equal(missed_pkts, 5);
	/* half a ring came of it: suspect until then, and no longer */
	answer = lull_rest_none();
	iteration(&stand, 1053 * US, 32, 0);
	iteration(&stand, 1054 * US, 0, 0);
	assert_false(lull_idle_undecided(stand.idle));
	lull_idle_miss(stand.idle, 1055 * US, 7);
	assert_int_equal(counters->misses, 12);
	lull_idle_miss(stand.idle, 1056 * US, 9);
	assert_int_equal(counters->misses, 12);
	assert_int_equal(counters->misses_other, 12);
	assert_int_equal(missed_pkts, 12);
	free(stand.memory);
}

static struct lull_idle_iteration saw;

static struct lull_rest
seeing_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	saw = *iteration;
	return lull_rest_none();
}

/* A burst, or where a short one may leave packets any at all. */
TEST(plan__a_queue_is_empty_by_what_its_driver_says)
{
	struct lull_idle_limits limits = { .burst_pkts = 32 };
	struct lull_idle_governor seeing = puppet;
	struct stand stand;

	stand_begin(&stand, &limits);
	seeing.plan = seeing_plan;
	assert_int_equal(lull_idle_change(stand.idle, &seeing, &limits), 0);
	iteration(&stand, 1000 * US, 31, 0);
	assert_true(saw.drained);
	assert_int_equal(saw.pkt_count, 31);
	assert_int_equal(saw.queue_pkts_max, 31);
	iteration(&stand, 1001 * US, 32, 0);
	assert_false(saw.drained);
	limits.short_leaves = true;
	assert_int_equal(lull_idle_change(stand.idle, &seeing, &limits), 0);
	iteration(&stand, 1002 * US, 1, 0);
	assert_false(saw.drained);
	iteration(&stand, 1003 * US, 0, 0);
	assert_true(saw.drained);
	free(stand.memory);
}

/* Iterations that nobody timed: empty ones that take much longer than usual were held up. */
TEST(polled__finds_stalls_among_empty_iterations)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_verdict verdict;
	struct stand stand;

	stand_begin(&stand, &limits);
	lull_idle_polled(stand.idle, 1010 * US, 100, 100, 0); /* 100 ns each */
	lull_idle_polled(stand.idle, 1010 * US + 9000 * US, 90000, 90000, 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 0);
	lull_idle_polled(stand.idle, 20 * LULL_NS_PER_MS, 100, 100, 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 20 * LULL_NS_PER_MS - 10010 * US);
	/* with packets among them nobody knows */
	lull_idle_polled(stand.idle, 90 * LULL_NS_PER_MS, 100, 99, 1);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 20 * LULL_NS_PER_MS - 10010 * US);
	/* other limits change nothing of that */
	assert_int_equal(lull_idle_change(stand.idle, NULL, &limits), 0);
	assert_int_equal(lull_idle_change(stand.idle, &puppet, &limits), 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 20 * LULL_NS_PER_MS - 10010 * US);
	/* another governor begins to rest: what polling knew is none of its business */
	assert_int_equal(lull_idle_change(stand.idle, &lull_idle_spin, &limits), 0);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.stall_ns, 0);
	free(stand.memory);
}
