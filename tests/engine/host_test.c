/* SPDX-License-Identifier: BSD-3-Clause */
/* host/: clock, rests, CPU time, stolen time, the sentence about a verdict. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"
#include "host/explain.h"

#include "steal.h"

TEST(steal_parse__reads_the_eighth_column)
{
	uint64_t ticks = 99;

	assert_true(lull_steal_parse("cpu12 1 2 3 4 5 6 7 42 9 10\n", 12, &ticks));
	assert_int_equal(ticks, 42);
}

TEST(steal_parse__refuses_other_lines)
{
	static const char *const lines[] = {
		"cpu  1 2 3 4 5 6 7 42 9 10\n",
		"cpu1 1 2 3 4 5 6 7 42\n",
		"cpu12 1 2 3\n",
		"cpu12x 1",
		"intr 1 2 3",
		"cpu-1 1 2 3 4 5 6 7 8",
		"cpu",
		"",
		"cpu12",
		"cpu012y 1 2 3 4 5 6 7 8",
		"cp",
	};
	uint64_t ticks;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(lull_steal_parse(lines[i], 12, &ticks));
	assert_false(lull_steal_parse("cpu-1 1 2 3 4 5 6 7 8", -1, &ticks));
}

TEST(steal_ns__unknown_cpu_is_zero)
{
	assert_int_equal(lull_steal_ns(-1), 0);
	assert_int_equal(lull_steal_ns(1 << 20), 0);
}

TEST(thread_cpu__grows_with_work_and_ends_with_the_thread)
{
	uint64_t before_ns = lull_thread_cpu_ns(gettid());

	assert_true(before_ns > 0);
	while (lull_thread_cpu_ns(gettid()) < before_ns + LULL_NS_PER_MS)
		;
	assert_int_equal(lull_thread_cpu_ns(0), 0);
	assert_int_equal(lull_thread_cpu_ns(-1), 0);
	assert_int_equal(lull_thread_cpu_ns(1), 0); /* not one of ours */
}

TEST(rest_run__reaches_its_limit)
{
	static const struct lull_rest_way *const ways[] = { &lull_rest_pause,
							    &lull_rest_sleep_timer };
	assert_int_equal(lull_rest_thread_init(), 0);
	for (int i = 0; i < 2; i++) {
		struct lull_rest rest = { .idle_state = ways[i]->idle_state, .limit_ns = 300000 };
		struct lull_wake wake;

		assert_int_equal(ways[i]->probe(NULL), 0);
		lull_rest_run(ways[i], NULL, &rest, &wake);
		assert_int_equal(wake.reason, LULL_WAKE_TIMER);
		assert_int_equal(wake.rest.limit_ns, rest.limit_ns);
		assert_true(wake.end_ns - wake.begin_ns >= rest.limit_ns);
	}
}

TEST(rest_run__measures_cpu_time_of_one_in_64)
{
	struct lull_rest rest = { .idle_state = LULL_IDLE_PAUSE, .limit_ns = 1 };
	int measured = 0;

	for (int i = 0; i < 640; i++) {
		struct lull_wake wake;

		lull_rest_run(&lull_rest_pause, NULL, &rest, &wake);
		measured += wake.cpu_ns > 0;
	}
	assert_int_equal(measured, 10);
}

static void
kick(int number)
{
	(void)number;
}

static void *
rest_long(void *wake)
{
	struct lull_rest rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = 60 * LULL_NS_PER_S };

	lull_rest_run(&lull_rest_sleep_timer, NULL, &rest, wake);
	return NULL;
}

TEST(rest_sleep__a_signal_ends_it)
{
	struct sigaction action = { .sa_handler = kick };
	struct lull_wake wake;
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	assert_int_equal(pthread_create(&thread, NULL, rest_long, &wake), 0);
	do
		pthread_kill(thread, SIGUSR1);
	while (pthread_tryjoin_np(thread, NULL) != 0 && usleep(1000) == 0);
	assert_int_equal(wake.reason, LULL_WAKE_KICK);
}

TEST(poller__rests_and_counts)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	struct lull_idle *idle;

	assert_int_not_equal(lull_idle_create("no such", &limits, &idle), 0);
	limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	assert_int_not_equal(lull_idle_create("fixed", &limits, &idle), 0);
	limits.idle_states = 0;
	assert_int_equal(lull_idle_create("fixed", &limits, &idle), 0);
	for (int i = 0; i < 20; i++)
		lull_idle_iterate(idle, lull_clock_ns(), (uint16_t)(i % 2));
	assert_int_equal(lull_idle_counters(idle)->pkts, 10);
	assert_true(lull_idle_counters(idle)->rests[LULL_IDLE_SLEEP] > 0);
	lull_idle_destroy(idle);
	lull_idle_destroy(NULL);
}

static void
expect_sentence(const struct lull_verdict *verdict, const struct lull_idle_limits *limits,
		const char *sentence)
{
	char text[300], cut[20];

	assert_string_equal(lull_verdict_explain(verdict, limits, text, sizeof(text)), sentence);
	/* A short buffer gets the beginning. */
	lull_verdict_explain(verdict, limits, cut, sizeof(cut));
	assert_memory_equal(cut, sentence, sizeof(cut) - 1);
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
}

TEST(explain__feasible)
{
	struct lull_idle_limits limits = { .loss = LULL_LOSS_TOLERATE };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_FEASIBLE,
		.binding = LULL_BOUND_LATENCY,
		.idle_state = LULL_IDLE_SLEEP,
		.rest_ns = 176000,
		.predicted_ns = 199400,
		.predicted_cpu_ppm = 52000,
		.ring_bound_ns = UINT64_MAX,
		.pps_max = 2980000,
		.envelope = LULL_ENVELOPE_LEARNED,
	};

	expect_sentence(&verdict, &limits,
			"feasible: rests of 176 us, limited by latency; predicted: p99 added wait "
			"199 us at 5 % CPU");
	limits.loss = LULL_LOSS_ZERO;
	limits.percentile_ppm = 999500;
	verdict.ring_bound_ns = 344000;
	expect_sentence(&verdict, &limits,
			"feasible: rests of 176 us, limited by latency; predicted: p99.95 added "
			"wait 199 us at 5 % CPU; no loss up to 3 Mpps (learned, not proven)");
}

TEST(explain__infeasible_ring_names_the_way_out)
{
	struct lull_idle_limits limits = { .ring_pkts = 1024, .pps_max = 148809523 };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = LULL_BOUND_RING,
		.idle_state = LULL_IDLE_NONE,
		.pps_max = 148809523,
		.break_even_ns = 10000,
		.overshoot_p9999_ns = 20000,
	};

	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 6.9 us at 149 Mpps, but a "
			"wake-up comes up to 20 us late; the loop polls; raise the ring or choose "
			"loss=tolerate");
	/* Less may arrive than the link can bring. */
	verdict.envelope = LULL_ENVELOPE_LINK;
	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 6.9 us at 149 Mpps, but a "
			"wake-up comes up to 20 us late; the loop polls; raise the ring, set "
			"pps-max or choose loss=tolerate");
	verdict.envelope = LULL_ENVELOPE_LEARNED;
	/* No ring helps against other work on the CPU. */
	limits.pps_max = verdict.pps_max = 1000000;
	verdict.overshoot_p50_ns = 20000;
	verdict.overshoot_p9999_ns = 3700000;
	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 1 ms at 1 Mpps, but a "
			"wake-up comes up to 3.7 ms late; the loop polls; keep other work off "
			"this CPU (isolate it) or choose loss=tolerate");
}

/* With figures, where they are known: the best in full, others with their share. */
TEST(explain__names_the_cheapest_remedy_with_its_figure)
{
	struct lull_idle_limits limits = { .ring_pkts = 1024, .pps_max = 37202380 };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = LULL_BOUND_RING,
		.idle_state = LULL_IDLE_PAUSE,
		.pps_max = 37202380,
		.overshoot_p9999_ns = 60000,
		.remedy_count = 4,
		.remedies = {
			{ .changes = LULL_REMEDY_RING, .fits = true, .measured = true,
			  .ring_pkts = 4096, .rest_ns = 82000, .cpu_ppm = 312000 },
			{ .changes = LULL_REMEDY_PPS_MAX, .fits = true, .measured = true,
			  .pps_max = 8200000, .rest_ns = 50000, .cpu_ppm = 450000 },
			{ .changes = LULL_REMEDY_LOSS, .fits = true, .measured = true,
			  .rest_ns = 163000, .cpu_ppm = 92000 },
			{ .changes = LULL_REMEDY_PORT },
		},
	};

	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 27.5 us at 37.2 Mpps, but "
			"a wake-up comes up to 60 us late; the loop pauses the core; a ring of "
			"4096 allows rests of 82 us: 31 % CPU; or pps-max=8.2M: 45 %; or "
			"loss=tolerate: 9 %");
}

TEST(explain__says_what_two_changes_bring_and_what_is_not_sure)
{
	struct lull_idle_limits limits = { .ring_pkts = 1024, .pps_max = 37202380 };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = LULL_BOUND_RING,
		.idle_state = LULL_IDLE_PAUSE,
		.pps_max = 37202380,
		.overshoot_p9999_ns = 60000,
		.remedies = { { .changes = LULL_REMEDY_RING,
				.fits = true,
				.ring_pkts = 4096,
				.rest_ns = 82000,
				.cpu_ppm = 312000 } },
	};
	struct lull_remedy *first = verdict.remedies;

	first->changes |= LULL_REMEDY_LATENCY;
	first->latency_ns = 120000;
	verdict.remedy_count = 1;
	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 27.5 us at 37.2 Mpps, but "
			"a wake-up comes up to 60 us late; the loop pauses the core; a ring of "
			"4096 and max-latency=120us allow rests of 82 us: at most 31 % CPU");
	/* What does not fit is no remedy. */
	first->fits = false;
	expect_sentence(&verdict, &limits,
			"infeasible: the ring of 1024 packets fills in 27.5 us at 37.2 Mpps, but "
			"a wake-up comes up to 60 us late; the loop pauses the core; raise the "
			"ring or choose loss=tolerate");
	verdict.binding = LULL_BOUND_CAP;
	limits.rest_ns_max = 1000;
	*first = (struct lull_remedy){ .changes = LULL_REMEDY_MAX_REST,
				       .fits = true,
				       .measured = true,
				       .rest_ns_max = 18000,
				       .rest_ns = 18000,
				       .cpu_ppm = 500000 };
	expect_sentence(&verdict, &limits,
			"infeasible: max-rest is 1 us, but a rest that saves CPU lasts at least "
			"0 ns; the loop pauses the core; max-rest=18us allows rests of 18 us: "
			"50 % CPU");
	verdict.state = LULL_VERDICT_SUSPENDED;
	*first = (struct lull_remedy){ .changes = LULL_REMEDY_QUIET,
				       .fits = true,
				       .measured = true,
				       .rest_ns = 169000,
				       .cpu_ppm = 47000 };
	expect_sentence(&verdict, &limits,
			"suspended: this host wakes a resting thread too late too often; the loop "
			"pauses the core and will try resting again; keep other work off this CPU "
			"or allow a real-time class (sched-policy): 5 % CPU");
}

static void
expect_remedy(const struct lull_remedy *remedy, const char *words)
{
	char text[160];

	assert_string_equal(lull_remedy_explain(remedy, text, sizeof(text)), words);
}

TEST(remedy__is_told_in_words_and_why_it_does_not_fit)
{
	struct lull_remedy remedy = { .changes = LULL_REMEDY_RING,
				      .ring_pkts = 512,
				      .binding = LULL_BOUND_RING };

	expect_remedy(&remedy, "a ring of 512: too short");
	remedy.changes = LULL_REMEDY_INTERRUPT;
	expect_remedy(&remedy, "interrupts: too late for the ring");
	remedy.binding = LULL_BOUND_LATENCY;
	expect_remedy(&remedy, "interrupts: too late for max-latency");
	remedy.binding = LULL_BOUND_NONE;
	expect_remedy(&remedy, "interrupts: not measured");
	remedy.changes = LULL_REMEDY_PORT;
	expect_remedy(&remedy, "ports with interrupts: not measured");
	remedy.fits = true;
	remedy.changes = LULL_REMEDY_QUIET | LULL_REMEDY_RING;
	expect_remedy(&remedy, "no other work on this CPU and a ring of 512");
	remedy.changes = LULL_REMEDY_PPS_MAX;
	remedy.pps_max = 640;
	expect_remedy(&remedy, "pps-max=640");
	remedy.pps_max = 370000;
	expect_remedy(&remedy, "pps-max=370k");
	remedy.pps_max = 12000000;
	expect_remedy(&remedy, "pps-max=12M");
}

TEST(explain__late_packets_are_told_with_their_cause)
{
	struct lull_idle_limits limits = { .latency_ns = 200000 };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = LULL_BOUND_OVERSHOOT,
		.idle_state = LULL_IDLE_SLEEP,
		.overshoot_p50_ns = 14000,
		.overshoot_p99_ns = 30000,
		.overshoot_p9999_ns = 90000,
		.late_ppm = 23400,
		.stall_ppm = 14000,
		.stall_rate = 2100,
		.stall_ns = 7000000,
	};

	expect_sentence(&verdict, &limits,
			"infeasible: 2.3 % of the packets wait longer than 200 us (stalls of up "
			"to 7 ms, 2.1 per second); the loop sleeps anyway; keep other work off "
			"this CPU or allow a real-time class (sched-policy), or raise max-latency");
	/* the last second was bad, the window is not */
	verdict.late_ppm = 9000;
	verdict.stall_ppm = 9000;
	verdict.stall_ns = 0;
	expect_sentence(&verdict, &limits,
			"infeasible: p99 was recently above 200 us (wake-ups up to 90 us late, "
			"usually 14 us); the loop sleeps anyway; keep other work off this CPU or "
			"allow a real-time class (sched-policy), or raise max-latency");
	verdict.state = LULL_VERDICT_SUSPENDED;
	verdict.idle_state = LULL_IDLE_PAUSE;
	expect_sentence(&verdict, &limits,
			"suspended: this host wakes a resting thread too late too often; the loop "
			"pauses the core and will try resting again; keep other work off this CPU "
			"or allow a real-time class (sched-policy)");
}

/* Who has a real-time class is not told to take one. */
TEST(explain__knows_the_class)
{
	struct lull_idle_limits limits = { .loss = LULL_LOSS_TOLERATE };
	struct lull_verdict verdict = {
		.state = LULL_VERDICT_INFEASIBLE,
		.binding = LULL_BOUND_OVERSHOOT,
		.idle_state = LULL_IDLE_SLEEP,
		.late_ppm = 20000,
		.stall_rate = 2100,
		.stall_ns = 7000000,
	};
	char text[300];

	lull_verdict_explain_of(&verdict, &limits, false, text, sizeof(text));
	assert_non_null(strstr(text, "allow a real-time class"));
	lull_verdict_explain_of(&verdict, &limits, true, text, sizeof(text));
	assert_null(strstr(text, "real-time"));
	assert_non_null(strstr(text, "; keep other work off this CPU, or raise max-latency"));
	verdict.state = LULL_VERDICT_SUSPENDED;
	lull_verdict_explain_of(&verdict, &limits, true, text, sizeof(text));
	assert_null(strstr(text, "real-time"));
}

/* Whatever the verdict holds, there is a sentence and it ends inside the buffer. */
TEST(explain__says_something_about_every_verdict)
{
	struct lull_idle_limits limits = { .latency_ns = 0 };
	char text[300];

	for (int verdict_state = 0; verdict_state <= LULL_VERDICT_SUSPENDED; verdict_state++) {
		for (int binding = 0; binding <= LULL_BOUND_OVERSHOOT; binding++) {
			for (int idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++) {
				struct lull_verdict verdict = {
					.state = (enum lull_verdict_state)verdict_state,
					.binding = (enum lull_bound)binding,
					.idle_state = (enum lull_idle_state)idle_state,
					.rest_ns = 999999999,
					.ring_bound_ns = 12345678,
					.overshoot_p99_ns = 123456,
					.overshoot_p9999_ns = 999999,
					.late_ppm = 1000000,
					.stall_rate = 999999,
					.stall_ns = 999999999,
					.envelope = LULL_ENVELOPE_LINK,
					.break_even_ns = 12345,
					.pps_max = 999999999999,
					.predicted_cpu_ppm = 1000000,
				};

				lull_verdict_explain(&verdict, &limits, text, sizeof(text));
				assert_in_range(strlen(text), 20, 254);
				lull_verdict_explain(&verdict, &limits, text, 0);
			}
		}
	}
}
