/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "idle/event_rest.h"
#include "idle_stand.h"

TEST(config_check__names_field_value_and_range)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_range error;

	assert_int_equal(lull_idle_config_check(&limits, &error), 0);
	limits.latency_ns = 999;
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "latency_ns");
	assert_int_equal(error.value, 999);
	assert_int_equal(error.low, 1000);
	limits.latency_ns = 0;
	limits.percentile_ppm = 1000000;
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "percentile_ppm");
	limits.percentile_ppm = 0;
	limits.held_pkts = 512;
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "held_pkts");
	limits.held_pkts = 0;
	limits.envelope = LULL_ENVELOPE_STATED;
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "pps_max");
	limits.envelope = (enum lull_envelope)7;
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "envelope");
	assert_int_equal(error.value, 7);
	assert_int_equal(error.high, LULL_ENVELOPE_STATED);
}

TEST(config_check__looks_at_the_kalman_parameters)
{
	static const struct {
		struct lull_kalman_config kalman;
		const char *field;
	} wrong[] = {
		{ { .step_ns = 10 * LULL_NS_PER_MS + 1 }, "kalman.step_ns" },
		{ { .window_ns = 999 }, "kalman.window_ns" },
		{ { .window_ns = LULL_NS_PER_S + 1 }, "kalman.window_ns" },
		{ { .tolerance_ppm = 500001 }, "kalman.tolerance_ppm" },
		{ { .row_bytes = 1438 }, "kalman.row_bytes" },
	};
	struct lull_idle_limits limits = { 0 };
	struct lull_range error;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		limits.kalman = wrong[i].kalman;
		assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
		assert_string_equal(error.field, wrong[i].field);
	}
	limits.kalman = (struct lull_kalman_config){ .layout = (enum lull_record_layout)3 };
	assert_int_equal(lull_idle_config_check(&limits, &error), -EINVAL);
	assert_string_equal(error.field, "kalman.layout");
	assert_int_equal(error.value, 3);
}

static struct lull_idle_iteration curious_saw;

static struct lull_rest
curious_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	curious_saw = *iteration;
	return lull_rest_none();
}

TEST(plan__hands_sizes_to_who_wants_them)
{
	struct lull_idle_governor curious = puppet;
	struct lull_idle_limits limits = { 0 };
	uint16_t pkts = 3;
	struct lull_iteration one = { .now_ns = 2000 * US, .queue_pkts = &pkts, .queue_count = 1 };
	struct stand stand;

	curious.plan = curious_plan;
	curious.wants_sizes = true;
	stand_begin(&stand, &limits);
	assert_false(lull_idle_wants_sizes(stand.idle));
	assert_int_equal(lull_idle_change(stand.idle, &curious, &limits), 0);
	assert_true(lull_idle_wants_sizes(stand.idle));
	one.size_pkts = 5; /* two came in iterations that nobody timed */
	one.bytes = 5 * 100;
	one.bytes_squared = 5 * 100 * 100;
	lull_idle_plan(stand.idle, &one);
	assert_int_equal(curious_saw.pkt_count, 3);
	assert_int_equal(curious_saw.size_pkts, 5);
	assert_int_equal(curious_saw.bytes, 500);
	assert_int_equal(curious_saw.bytes_squared, 50000);
	free(stand.memory);
}

TEST(init__refuses_what_cannot_work)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_idle *idle;
	uint8_t *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 127) / 64 * 64);

	assert_int_equal(lull_idle_init(NULL, &puppet, &limits, 0, &idle), -EINVAL);
	assert_int_equal(lull_idle_init(memory + 8, &puppet, &limits, 0, &idle), -EINVAL);
	assert_int_equal(lull_idle_init(memory, NULL, &limits, 0, &idle), -EINVAL);
	limits.rest_ns_max = 2 * LULL_NS_PER_S;
	assert_int_equal(lull_idle_init(memory, &puppet, &limits, 0, &idle), -EINVAL);
	free(memory);
}

TEST(plan__cuts_to_cap_deadline_and_offer)
{
	struct lull_idle_limits limits = {
		.rest_ns_max = 100 * US,
		.idle_states =
			LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP),
	};
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 500 * US };
	rest = iteration(&stand, 1001 * US, 0, 0);
	assert_int_equal(rest.idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(rest.limit_ns, 100 * US);
	/* a deadline 90 us away, a wake-up up to 40 us late */
	rest = iteration(&stand, 1002 * US, 0, 1092 * US);
	assert_int_equal(rest.limit_ns, 50 * US);
	/* too close, or over already */
	assert_int_equal(iteration(&stand, 1003 * US, 0, 1043 * US).idle_state, LULL_IDLE_NONE);
	assert_int_equal(iteration(&stand, 1004 * US, 0, 900 * US).idle_state, LULL_IDLE_NONE);
	/* not on offer */
	answer.idle_state = LULL_IDLE_MONITOR;
	assert_int_equal(iteration(&stand, 1005 * US, 0, 0).idle_state, LULL_IDLE_PAUSE);
	/* zero limit: poll again at once */
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 0 };
	assert_int_equal(iteration(&stand, 1006 * US, 0, 0).idle_state, LULL_IDLE_NONE);
	assert_int_equal(lull_idle_counters(stand.idle)->rests_cut, 5);
	free(stand.memory);
}

TEST(plan__time_adds_up)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	const struct lull_idle_counters *counters;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
	rest = iteration(&stand, 1000 * US, 0, 0);                 /* empty iteration of 1 us */
	wake(&stand, rest, 1001 * US, 1061 * US, LULL_WAKE_TIMER); /* rest of 60, asked for 50 */
	answer = lull_rest_none();
	iteration(&stand, 1061 * US, 5, 0); /* busy iteration of 4 us */
	iteration(&stand, 1065 * US, 0, 0); /* empty iteration of 2 us */
	iteration(&stand, 1067 * US, 0, 0);
	counters = lull_idle_counters(stand.idle);
	assert_int_equal(counters->iterations, 4);
	assert_int_equal(counters->iterations_empty, 3);
	assert_int_equal(counters->pkts, 5);
	assert_int_equal(counters->busy_ns, 4 * US);
	assert_int_equal(counters->empty_ns, 3 * US);
	assert_int_equal(counters->rest_ns, 60 * US);
	assert_int_equal(counters->rest_requested_ns, 50 * US);
	assert_int_equal(counters->overshoot_ns, 10 * US);
	/* eta = 3 / 67, U = 1 - 60 / 67 */
	assert_int_equal(lull_idle_empty_ppm(counters), 3 * 1000000 / 67);
	assert_int_equal(lull_idle_usage_ppm(counters), 1000000 - 60 * 1000000 / 67);
	free(stand.memory);
}

TEST(wait__bounded_from_last_known_empty_to_end_of_iteration)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED, .burst_pkts = 32 };
	const struct lull_histogram *waits;
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	waits = lull_idle_wait_histogram(stand.idle);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
	rest = iteration(&stand, 2000 * US, 0, 0); /* empty here: t_0 */
	wake(&stand, rest, 2001 * US, 2060 * US, LULL_WAKE_TIMER);
	answer = lull_rest_none();
	iteration(&stand, 2060 * US, 32, 0); /* a full burst: not short yet */
	assert_int_equal(waits->count, 0);   /* its iteration has not ended */
	iteration(&stand, 2063 * US, 10, 0); /* the ring runs short here */
	assert_int_equal(waits->count, 32);
	assert_int_equal(waits->max, 63 * US);
	iteration(&stand, 2065 * US, 1, 0); /* arrived after 2063 */
	assert_int_equal(waits->count, 42);
	assert_int_equal(waits->max, 65 * US);
	lull_idle_mark(stand.idle);
	iteration(&stand, 2066 * US, 0, 0);
	assert_int_equal(waits->count, 1);
	assert_int_equal(waits->max, 3 * US);
	free(stand.memory);
}

TEST(wait__queues_are_bounded_each_by_itself)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED, .burst_pkts = 32 };
	const struct lull_histogram *waits;
	struct stand stand;
	uint16_t pkts[2] = { 32, 0 };
	struct lull_iteration t = { .now_ns = 2000 * US, .queue_pkts = pkts, .queue_count = 2 };

	answer = lull_rest_none();
	stand_begin(&stand, &limits);
	waits = lull_idle_wait_histogram(stand.idle);
	lull_idle_plan(stand.idle, &t); /* queue 0 is behind since 1000 us, queue 1 is empty */
	t.now_ns = 2010 * US;
	pkts[0] = 0;
	pkts[1] = 1;
	lull_idle_plan(stand.idle, &t);
	t.now_ns = 2012 * US;
	pkts[1] = 0;
	lull_idle_plan(stand.idle, &t);
	assert_int_equal(waits->count, 33);
	assert_int_equal(waits->max, 1010 * US);
	assert_int_equal(waits->bins[lull_histogram_bin(12 * US)], 1);
	free(stand.memory);
}

/* So many rests were watched, each with a packet whose word came so late. */
static void
watch(struct stand *stand, uint32_t count, uint64_t late_ns, enum lull_wake_reason reason)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t begin_ns = (1002 + i) * US;
		struct lull_wake w = {
			.rest = { .idle_state = LULL_IDLE_INTERRUPT,
				  .limit_ns = 500,
				  .watch = true },
			.begin_ns = begin_ns,
			.end_ns = begin_ns + US,
			.packet_ns = begin_ns + US - late_ns,
			.reason = reason,
		};

		lull_idle_wake(stand->idle, &w);
	}
}

/* Rests that no packet ended, and that ended in time. */
static void
rest_long(struct stand *stand, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lull_rest rest = { .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = US };

		wake(stand, rest, 1001 * US, 1002 * US, LULL_WAKE_TIMER);
	}
}

/* Enough of them and it is known; the word of one that never came is none that is early. */
TEST(wake__watched_tells_how_late_packets_end_rests)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	struct lull_verdict verdict;
	struct stand stand;

	stand_begin(&stand, &limits);
	rest_long(&stand, 31);
	watch(&stand, LULL_EVENT_READY - 1, 700, LULL_WAKE_PACKET);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.interrupt_late_ns, 0);
	watch(&stand, 1, 700, LULL_WAKE_PACKET);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.interrupt_late_ns, 0);
	/* of what long rests take to end as well */
	rest_long(&stand, 1);
	lull_idle_verdict(stand.idle, &verdict);
	/* its bin, and what a timer takes, which is a guess so far */
	assert_in_range(verdict.interrupt_late_ns, 40 * US + 700, 40 * US + 750);
	/* no timer was measured by that */
	assert_int_equal(verdict.calibration_count, 0);
	watch(&stand, 64, 700, LULL_WAKE_TIMER);
	lull_idle_verdict(stand.idle, &verdict);
	assert_true(verdict.interrupt_late_ns >= 10000 * US);
	lull_idle_forget(stand.idle);
	lull_idle_verdict(stand.idle, &verdict);
	assert_int_equal(verdict.interrupt_late_ns, 0);
	free(stand.memory);
}

TEST(wait__packet_that_ends_a_rest_waits_for_the_wakeup_only)
{
	struct lull_idle_limits limits = {
		.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT),
	};
	struct stand stand;
	struct lull_rest rest;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = 10000 * US };
	/* Nobody knows how late it is: the packet may have come when the rest began. */
	wake(&stand, iteration(&stand, US, 0, 0), US, 900 * US, LULL_WAKE_PACKET);
	iteration(&stand, 900 * US, 1, 0);
	iteration(&stand, 901 * US, 0, 0);
	assert_int_equal(lull_idle_wait_histogram(stand.idle)->max, 900 * US);
	lull_idle_mark(stand.idle);
	rest_long(&stand, 32);
	watch(&stand, LULL_EVENT_READY, 1, LULL_WAKE_PACKET);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = 10000 * US };
	rest = iteration(&stand, 2000 * US, 0, 0);
	assert_int_equal(rest.limit_ns, 10000 * US);
	wake(&stand, rest, 2000 * US, 9000 * US, LULL_WAKE_PACKET);
	answer = lull_rest_none();
	iteration(&stand, 9000 * US, 1, 0);
	iteration(&stand, 9001 * US, 0, 0);
	assert_int_equal(lull_idle_wait_histogram(stand.idle)->max, 41 * US + 1);
	assert_int_equal(lull_idle_counters(stand.idle)->wakes_packet, LULL_EVENT_READY + 2);
	free(stand.memory);
}

TEST(share__packets_that_met_a_rest_are_told_from_those_that_did_not)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED, .burst_pkts = 32 };
	struct lull_verdict verdict;
	struct stand stand;
	struct lull_rest rest;
	uint64_t now_ns = 2000 * US;
	int i;

	stand_begin(&stand, &limits);
	/* half the packets come in a rest, half in polls that follow one another */
	for (i = 0; i < 5000; i++) {
		answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
		rest = iteration(&stand, now_ns, 0, 0);
		wake(&stand, rest, now_ns, now_ns + 50 * US, LULL_WAKE_TIMER);
		now_ns += 50 * US;
		answer = lull_rest_none();
		iteration(&stand, now_ns, 4, 0);
		now_ns += US;
		iteration(&stand, now_ns, 4, 0);
		now_ns += US;
	}
	lull_idle_verdict(stand.idle, &verdict);
	assert_in_range(verdict.resting_ppm, 480000, 520000);
	assert_in_range(verdict.arrival_pps, 150000, 158000);
	free(stand.memory);
}

TEST(change__takes_effect_and_bad_limits_change_nothing)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	struct stand stand;

	stand_begin(&stand, &limits);
	limits.rest_ns_max = 10 * US;
	assert_int_equal(lull_idle_change(stand.idle, &lull_idle_spin, &limits), 0);
	assert_ptr_equal(lull_idle_governor(stand.idle), &lull_idle_spin);
	assert_int_equal(lull_idle_limits(stand.idle)->rest_ns_max, 10 * US);
	assert_int_equal(lull_idle_limits(stand.idle)->latency_ns, 200 * US);
	limits.latency_ns = 1;
	assert_int_equal(lull_idle_change(stand.idle, &puppet, &limits), -EINVAL);
	assert_ptr_equal(lull_idle_governor(stand.idle), &lull_idle_spin);
	limits.latency_ns = 0;
	assert_int_equal(lull_idle_change(stand.idle, NULL, &limits), 0);
	assert_ptr_equal(lull_idle_governor(stand.idle), &lull_idle_spin);
	free(stand.memory);
}

TEST(polled__splits_untimed_iterations_by_what_an_empty_one_takes)
{
	struct lull_idle_limits limits = { 0 };
	const struct lull_idle_counters *counters;
	struct stand stand;

	stand_begin(&stand, &limits);
	counters = lull_idle_counters(stand.idle);
	/* 100 empty iterations in 10 us, then 10 empty and 10 busy ones in 11 us */
	lull_idle_polled(stand.idle, 1010 * US, 100, 100, 0);
	lull_idle_polled(stand.idle, 1021 * US, 20, 10, 320);
	assert_int_equal(counters->iterations, 120);
	assert_int_equal(counters->iterations_empty, 110);
	assert_int_equal(counters->empty_ns, 11 * US);
	assert_int_equal(counters->busy_ns, 10 * US);
	/* nobody kept them waiting */
	assert_int_equal(lull_idle_wait_histogram(stand.idle)->count, 320);
	assert_int_equal(lull_idle_wait_histogram(stand.idle)->max, 0);
	/* no iterations: only the end of the planned one */
	answer = lull_rest_none();
	iteration(&stand, 1021 * US, 5, 0);
	lull_idle_polled(stand.idle, 1024 * US, 0, 0, 0);
	assert_int_equal(counters->iterations, 121);
	assert_int_equal(counters->busy_ns, 13 * US);
	free(stand.memory);
}

/* Untimed iterations followed no rest, so neither did what comes after them. */
TEST(polled__ends_what_a_rest_left_behind)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_rest rest;
	struct stand stand;

	stand_begin(&stand, &limits);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
	rest = iteration(&stand, 1000 * US, 0, 0);
	wake(&stand, rest, 1000 * US, 1050 * US, LULL_WAKE_TIMER);
	answer = lull_rest_none();
	iteration(&stand, 1050 * US, 32, 0);
	lull_idle_polled(stand.idle, 9000 * US, 1000, 0, 32000);
	iteration(&stand, 9001 * US, 32, 0);
	lull_idle_polled(stand.idle, 9002 * US, 0, 0, 0);
	assert_in_range(lull_idle_wait_histogram(stand.idle)->max, 50 * US, 60 * US);
	free(stand.memory);
}

TEST(counters__table_covers_the_struct)
{
	uint64_t seen = 0;
	uint32_t i, count = 0;

	for (i = 0; lull_idle_counter_table[i].name != NULL; i++, count++) {
		assert_true(lull_idle_counter_table[i].offset < sizeof(struct lull_idle_counters));
		seen |= 1ULL << (lull_idle_counter_table[i].offset / 8);
	}
	/* every member once, except rests[none], which never happens */
	assert_int_equal(count, sizeof(struct lull_idle_counters) / 8 - 1);
	assert_int_equal(__builtin_popcountll(seen), count);
}
