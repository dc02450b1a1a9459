/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"

#include "idle/event_rest.h"

#define US LULL_NS_PER_US

/* Interrupts that are always so late, as often measured; timers 5 us late. */
struct stand {
	struct lull_idle_limits limits;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT], events[LULL_IDLE_STATE_COUNT];
	struct lull_arrival_curve curve;
	struct lull_pace pace;
	struct lull_stall_watch stalls;
	struct lull_load load;
	struct lull_idle_view view;
};

static struct stand stand;

static void
begin(uint32_t count, uint64_t late_ns)
{
	stand = (struct stand){
		.limits = { .latency_ns = 200 * US,
			    .percentile_ppm = 990000,
			    .ring_pkts = 1024,
			    .burst_pkts = 32,
			    .envelope = LULL_ENVELOPE_STATED,
			    .pps_max = 10000000,
			    .idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT) },
		.pace = { .queue_count = 1 },
		.view = { .limits = &stand.limits,
			  .calibration = stand.calibration,
			  .events = stand.events,
			  .curve = &stand.curve,
			  .pace = &stand.pace,
			  .load = &stand.load,
			  .stalls = &stand.stalls },
	};
	lull_stall_watch_init(&stand.stalls, 0);
	for (uint32_t i = 0; i < LULL_IDLE_STATE_COUNT; i++) {
		lull_calibration_init(&stand.calibration[i]);
		lull_calibration_init(&stand.events[i]);
		for (uint32_t k = 0; k < 64; k++)
			lull_calibration_add(&stand.calibration[i], 5 * US, 0);
	}
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(&stand.events[LULL_IDLE_INTERRUPT], late_ns, 0);
}

static bool
fits(void)
{
	return lull_event_fits(&stand.view, LULL_IDLE_INTERRUPT);
}

TEST(late_ns__is_the_word_and_the_wakeup)
{
	begin(LULL_EVENT_READY - 1, 20 * US);
	assert_int_equal(lull_event_late_ns(&stand.view, LULL_IDLE_INTERRUPT, 100), UINT64_MAX);
	begin(LULL_EVENT_READY, 20 * US);
	assert_in_range(lull_event_late_ns(&stand.view, LULL_IDLE_INTERRUPT, 100), 25 * US,
			27 * US);
	assert_int_equal(lull_event_late_ns(&stand.view, LULL_IDLE_MONITOR, 100), UINT64_MAX);
	/* nobody knows how long it takes to wake from such rests */
	begin(LULL_EVENT_READY, 20 * US);
	lull_calibration_init(&stand.calibration[LULL_IDLE_INTERRUPT]);
	assert_int_equal(lull_event_late_ns(&stand.view, LULL_IDLE_INTERRUPT, 100), UINT64_MAX);
	assert_false(lull_event_known(&stand.view, LULL_IDLE_INTERRUPT));
	assert_false(fits());
	begin(LULL_EVENT_READY, 20 * US);
	/* rests that long end later, as from a deeper idle state */
	for (uint32_t k = 0; k < 64; k++)
		lull_calibration_add(&stand.calibration[LULL_IDLE_INTERRUPT], 90 * US, 0);
	assert_in_range(lull_event_late_ns(&stand.view, LULL_IDLE_INTERRUPT, 100), 110 * US,
			117 * US);
}

/* A ring of 1024 at 10 Mpps holds 99 us less the burst. */
TEST(fits__the_objective_and_the_ring)
{
	begin(LULL_EVENT_READY, 20 * US);
	assert_true(fits());
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_INTERRUPT, 50 * US),
			 LULL_EVENT_NS);
	stand.limits.latency_ns = 22 * US;
	assert_false(fits());
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_INTERRUPT, 50 * US), 50 * US);

	begin(LULL_EVENT_READY, 120 * US);
	assert_false(fits());
	stand.limits.ring_pkts = 4096;
	assert_true(fits());
	stand.limits.ring_pkts = 1024;
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_true(fits());

	begin(LULL_EVENT_READY - 1, 20 * US);
	assert_false(fits());
}

/* So many of so many interrupts are 5 ms late, the others 20 us. */
static void
begin_mixed(uint32_t percentile_ppm, uint32_t late, uint32_t count)
{
	begin(0, 0);
	stand.limits.percentile_ppm = percentile_ppm;
	stand.limits.loss = LULL_LOSS_TOLERATE;
	for (uint32_t i = 1; i <= count; i++) {
		bool is_late = late > 0 && i % (count / late) == 0;

		lull_calibration_add(&stand.events[LULL_IDLE_INTERRUPT],
				     is_late ? 5000 * US : 20 * US, 0);
	}
}

/* Half of the budget may be late, and it takes three times as many to tell by as one of that. */
TEST(fits__the_percentile)
{
	begin_mixed(990000, 1, 599);
	assert_false(fits());
	begin_mixed(990000, 1, 600);
	assert_true(fits());
	begin_mixed(990000, 8, 1000);
	assert_false(fits());
	begin_mixed(990000, 4, 1000);
	assert_true(fits());
	begin_mixed(999000, 0, 5999);
	assert_false(fits());
	begin_mixed(999000, 0, 6000);
	assert_true(fits());
	begin_mixed(999000, 4, 6000);
	assert_false(fits());
	/* a median may not be taken for all of them */
	begin_mixed(500000, 30, 1000);
	assert_false(fits());
	begin_mixed(500000, 1, 1000);
	assert_true(fits());
}

/* What is remembered does not tell so rare ones: 500 ppm may not be called fine. */
TEST(fits__no_percentile_that_cannot_be_measured)
{
	begin_mixed(999900, 4, 8000);
	assert_false(fits());
	begin_mixed(999900, 0, 100000);
	assert_false(fits());
}

/* Stalls delay interrupts as they do timers: a proven ring has room for the longest. */
TEST(fits__a_proven_ring_that_outlasts_a_stall)
{
	begin(LULL_EVENT_READY, 20 * US);
	assert_true(fits());
	lull_stall_watch_stall(&stand.stalls, 0, 1000 * US);
	assert_false(fits());
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_true(fits());
	stand.limits.envelope = LULL_ENVELOPE_STATED;
	stand.limits.ring_pkts = 16384;
	assert_true(fits());
}

/* Nobody knows how late a write ends a rest: objective and ring must last as if none did. */
TEST(limit__lasts_without_a_word)
{
	begin(0, 0);
	/* 1024 at 10 Mpps last 102 us: less the burst, and 5 us for the timer */
	assert_in_range(lull_event_limit_ns(&stand.view, LULL_IDLE_MONITOR, 100 * US), 85 * US,
			95 * US);
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_MONITOR, 50 * US), 50 * US);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_MONITOR, 100 * US), 100 * US);
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_MONITOR, LULL_NS_PER_S),
			 LULL_EVENT_NS);
	/* 64 at 10 Mpps: no rest is short enough */
	stand.limits.loss = LULL_LOSS_ZERO;
	stand.limits.ring_pkts = 64;
	assert_int_equal(lull_event_limit_ns(&stand.view, LULL_IDLE_MONITOR, 100 * US), US);
}

/* Learned arrivals are at least 1 Mpps, which fill a ring of 1024 in a millisecond. */
TEST(fits__what_was_learned)
{
	begin(LULL_EVENT_READY, 1200 * US);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	stand.limits.latency_ns = 5000 * US;
	assert_false(fits());
	stand.limits.ring_pkts = 4096;
	assert_true(fits());
}

/* Watching takes the core: seldom, and more so when it is known. */
TEST(watch__is_seldom)
{
	for (int known = 0; known < 2; known++) {
		struct lull_event_rest event = { .view = &stand.view };
		struct lull_wake wake = { .begin_ns = 1000 * US, .end_ns = 1100 * US };
		uint64_t pause_ns = known == 1 ? 25600 * US : 1600 * US;

		begin(known == 1 ? LULL_EVENT_READY : 0, 20 * US);
		wake.rest = lull_event_watch(&event, 1000 * US, 100 * US);
		assert_int_equal(wake.rest.idle_state, LULL_IDLE_INTERRUPT);
		assert_int_equal(wake.rest.limit_ns, 100 * US);
		assert_true(wake.rest.watch);
		lull_event_wake(&event, &wake);
		assert_int_equal(
			lull_event_watch(&event, 1100 * US + pause_ns - 1, 100 * US).idle_state,
			LULL_IDLE_NONE);
		assert_int_equal(
			lull_event_watch(&event, 1100 * US + pause_ns, 100 * US).idle_state,
			LULL_IDLE_INTERRUPT);
		assert_int_equal(lull_event_watch(&event, LULL_NS_PER_S, 0).idle_state,
				 LULL_IDLE_NONE);
		assert_int_equal(lull_event_watch(&event, LULL_NS_PER_S, LULL_NS_PER_S).limit_ns,
				 LULL_EVENT_NS);
		stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
		assert_int_equal(lull_event_watch(&event, LULL_NS_PER_S, 100 * US).idle_state,
				 LULL_IDLE_NONE);
	}
}

/* A trial of which nothing is known, or one that is in its turn, and when the next is due. */
static struct lull_rest
try_at(struct lull_event_rest *event, uint64_t now_ns, bool resting)
{
	assert_true(lull_event_trial_due(event, now_ns));
	return lull_event_trial(event, now_ns, 100 * US, resting);
}

TEST(trial__shows_what_rests_by_interrupt_do_not)
{
	struct lull_event_rest event;
	struct lull_rest rest;

	begin(LULL_EVENT_READY, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	stand.load.arrival_pps = 200;
	/* in turn, every 10 ms */
	rest = try_at(&event, 1000 * US, true);
	assert_int_equal(rest.idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(rest.limit_ns, 100 * US);
	assert_false(lull_event_trial_due(&event, 11000 * US - 1));
	rest = try_at(&event, 11000 * US, true);
	assert_int_equal(rest.idle_state, LULL_IDLE_INTERRUPT);
	assert_int_equal(rest.limit_ns, 2500 * US);
	assert_false(rest.watch);
	assert_int_equal(try_at(&event, 21000 * US, true).idle_state, LULL_IDLE_SLEEP);
	/* a loop that does not rest so: one in a thousand times its length, of a millisecond */
	stand.load.arrival_pps = 900;
	rest = try_at(&event, 31000 * US, false);
	assert_int_equal(rest.idle_state, LULL_IDLE_INTERRUPT);
	assert_int_equal(rest.limit_ns, 1000 * US);
	assert_false(lull_event_trial_due(&event, (31000 + 1024000) * US - 1));
	/* and more often while that is what has to be learned */
	lull_calibration_init(&stand.calibration[LULL_IDLE_INTERRUPT]);
	rest = try_at(&event, 3000000 * US, false);
	assert_int_equal(rest.idle_state, LULL_IDLE_INTERRUPT);
	assert_true(lull_event_trial_due(&event, (3000000 + 128000) * US));
}

TEST(trial__is_none_that_could_do_harm)
{
	struct lull_event_rest event;

	begin(LULL_EVENT_READY, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.load.arrival_pps = 200;
	/* a ring of 1024 at a stated 10 Mpps does not last for a core that takes 1 ms to wake */
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_NONE);
	stand.limits.ring_pkts = 16384;
	assert_int_equal(try_at(&event, 4000000 * US, false).idle_state, LULL_IDLE_INTERRUPT);
	/* interrupts that are late, or of which nobody knows */
	begin(LULL_EVENT_READY, 300 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_NONE);
	begin(LULL_EVENT_READY - 1, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_NONE);
	/* too many packets, and none that are offered */
	begin(LULL_EVENT_READY, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	stand.load.arrival_pps = 1000;
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_NONE);
	stand.load.arrival_pps = 999;
	assert_int_equal(lull_event_trial(&event, 1000 * US, 0, true).idle_state, LULL_IDLE_NONE);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_NONE);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	assert_int_equal(try_at(&event, 1000 * US, false).idle_state, LULL_IDLE_INTERRUPT);
}

/* Exactly as late as the objective is too late. */
TEST(fits__at_the_edge)
{
	begin(LULL_EVENT_READY, 20 * US);
	stand.limits.latency_ns = lull_event_late_ns(&stand.view, LULL_IDLE_INTERRUPT, 5000);
	assert_false(fits());
	stand.limits.latency_ns++;
	assert_true(fits());
}

/* Each packet that ends a silence doubles it, from a second to 64. */
TEST(silence__grows_with_packets)
{
	struct lull_event_rest event;

	begin(0, 0);
	lull_event_rest_init(&event, &stand.view);
	stand.load.packet_ns = 5;
	for (uint64_t s = 1; s <= 64; s *= 2) {
		assert_false(lull_event_silent(&event, 5 + s * LULL_NS_PER_S - 1));
		assert_true(lull_event_silent(&event, 5 + s * LULL_NS_PER_S));
		event.unmeasured = true;
		lull_event_end_silence(&event);
		assert_false(event.unmeasured);
	}
	assert_int_equal(event.silence_ns, 64 * LULL_NS_PER_S);
}

/* What is remembered tells 367 of a million, and no less. */
TEST(watch__only_where_it_can_tell)
{
	static const struct {
		uint32_t percentile_ppm;
		enum lull_idle_state got;
	} table[] = {
		{ 999266, LULL_IDLE_INTERRUPT },
		{ 999268, LULL_IDLE_NONE },
		{ 999999, LULL_IDLE_NONE },
	};
	struct lull_event_rest event;

	for (size_t i = 0; i < COUNT(table); i++) {
		begin(0, 0);
		lull_event_rest_init(&event, &stand.view);
		stand.limits.percentile_ppm = table[i].percentile_ppm;
		assert_int_equal(lull_event_watch(&event, 0, 100 * US).idle_state, table[i].got);
	}
	stand.limits.percentile_ppm = 990000;
	assert_int_equal(lull_event_watch(&event, 0, 1).limit_ns, 1);
	assert_int_equal(lull_event_watch(&event, 0, LULL_EVENT_NS + 1).limit_ns, LULL_EVENT_NS);
}

/* Rests that were not watched are no reason to wait, and time does not go back. */
TEST(wake__counts_what_was_watched)
{
	struct lull_event_rest event;
	struct lull_wake wake = { .rest = { .idle_state = LULL_IDLE_INTERRUPT },
				  .begin_ns = 1000,
				  .end_ns = 1100 };

	begin(0, 0);
	lull_event_rest_init(&event, &stand.view);
	lull_event_wake(&event, &wake);
	assert_int_equal(event.watch_ns, 0);
	wake.rest.watch = true;
	lull_event_wake(&event, &wake);
	assert_int_equal(event.watch_ns, 1100 + 16 * 100);
	wake.begin_ns = 1200;
	lull_event_wake(&event, &wake);
	assert_int_equal(event.watch_ns, 1100);
}

TEST(trial__lengths_and_pauses)
{
	struct lull_event_rest event;
	struct lull_rest rest;

	begin(LULL_EVENT_READY, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	/* half of the time between packets, 10 ms at most and 1 ms at least */
	rest = try_at(&event, 0, false);
	assert_int_equal(rest.limit_ns, LULL_EVENT_NS);
	assert_int_equal(event.trial_ns, 1024 * LULL_EVENT_NS);
	assert_false(event.trial_timed);
	stand.load.arrival_pps = 400;
	rest = lull_event_trial(&event, 7, 100 * US, false);
	assert_int_equal(rest.limit_ns, 1250 * US);
	assert_int_equal(event.trial_ns, 7 + 1024 * 1250 * US);
	stand.load.arrival_pps = 600;
	assert_int_equal(lull_event_trial(&event, 7, 100 * US, false).limit_ns, 1000 * US);
	/* a loop that rests so tries whatever comes */
	stand.load.arrival_pps = 100000;
	rest = lull_event_trial(&event, 7, 100 * US, true);
	assert_int_equal(rest.idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(event.trial_ns, 7 + 10000 * US);
	assert_true(event.trial_timed);
	stand.load.arrival_pps = 1;
	assert_int_equal(lull_event_trial(&event, 7, 100 * US, false).idle_state,
			 LULL_IDLE_INTERRUPT);
	assert_false(event.trial_timed);
	stand.load.arrival_pps = 400;
	lull_calibration_init(&stand.calibration[LULL_IDLE_INTERRUPT]);
	lull_event_trial(&event, 7, 100 * US, false);
	assert_int_equal(event.trial_ns, 7 + 128 * 1250 * US);
}

/* A promised ring outlasts a core that takes a millisecond to wake, by a packet. */
TEST(trial__fits_the_ring_by_a_packet)
{
	struct lull_event_rest event;
	uint64_t late_ns;

	begin(LULL_EVENT_READY, 20 * US);
	lull_event_rest_init(&event, &stand.view);
	late_ns = 1000 * US + lull_calibration_quantile(&stand.events[LULL_IDLE_INTERRUPT], 999900);
	stand.limits.ring_pkts = 32 + (uint32_t)(late_ns / 100);
	assert_int_equal(try_at(&event, 0, false).idle_state, LULL_IDLE_NONE);
	event.trial_ns = 0;
	stand.limits.ring_pkts++;
	assert_int_equal(try_at(&event, 0, false).idle_state, LULL_IDLE_INTERRUPT);
	/* exactly as late as the objective is too late */
	stand.limits.latency_ns =
		lull_calibration_quantile(&stand.events[LULL_IDLE_INTERRUPT], 995000);
	event.trial_ns = 0;
	assert_int_equal(try_at(&event, 0, false).idle_state, LULL_IDLE_NONE);
	stand.limits.latency_ns++;
	event.trial_ns = 0;
	assert_int_equal(try_at(&event, 0, false).idle_state, LULL_IDLE_INTERRUPT);
}
