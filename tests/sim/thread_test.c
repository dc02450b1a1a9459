/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "base/prng.h"
#include "idle/governor.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* ---- rests of each idle state, asked for after every empty iteration ---- */

static void
waiter_init(void *state, const struct lull_idle_view *view)
{
	const struct lull_idle_view **kept = state;

	*kept = view;
}

static struct lull_rest
waiter_plan(void *state, const struct lull_idle_iteration *iteration)
{
	const struct lull_idle_view *const *view = state;
	const struct lull_idle_limits *limits = (*view)->limits;
	enum lull_idle_state idle_state = LULL_IDLE_PAUSE;

	while ((limits->idle_states & LULL_IDLE_STATE_BIT(idle_state)) == 0)
		idle_state++;
	if (iteration->pkt_count > 0)
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = idle_state, .limit_ns = limits->rest_ns };
}

static const struct lull_idle_governor waiter = {
	.name = "waiter",
	.summary = "rests as the test says after every empty iteration",
	.state_size = sizeof(const struct lull_idle_view *),
	.init = waiter_init,
	.plan = waiter_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};

/* Costs of stand_machine(): iteration 100, burst of one 150, event 1000. Packets 1 ms apart. */
static struct lull_sim_config
waiting(enum lull_idle_state idle_state, uint64_t rest_ns)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, 1000);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim_policy *policy = &config.policy[LULL_SIM_SIDE_RECEIVE];

	config.machine = stand_machine();
	config.duration_ns = 100 * MS + US;
	policy->governor = &waiter;
	policy->limits.idle_states = LULL_IDLE_STATE_BIT(idle_state);
	policy->limits.rest_ns = rest_ns;
	return config;
}

TEST(rest__ends_with_the_packet)
{
	static const enum lull_idle_state idle_states[] = { LULL_IDLE_MONITOR,
							    LULL_IDLE_INTERRUPT };

	for (uint32_t i = 0; i < 2 * COUNT(idle_states); i++) {
		enum lull_idle_state idle_state = idle_states[i % 2];
		struct lull_sim_config config = waiting(idle_state, 5 * MS);
		struct lull_sim_result result;

		config.queue_count = 1 + i / 2 * 3; /* whichever ring it comes to */
		stand_run(&config, &result);
		assert_in_range(result.delivered, 99, 100);
		assert_int_equal(result.counters.rests[idle_state], result.rest.count);
		assert_in_range(result.counters.wakes_packet, result.delivered,
				result.delivered + 1);
		assert_in_range(result.rest.count, result.delivered, result.delivered + 1);
		/* event, iteration, empty looks at rings before it, then the packet itself */
		assert_int_equal(result.latency.max,
				 1000 + 100 + 100 * (config.queue_count - 1) + 150);
		if (config.queue_count == 1)
			assert_int_equal(result.latency.sum,
					 result.latency.count * (1000 + 100 + 150));
		/* per packet: two iterations, and a rest's cost */
		assert_in_range(result.cpu_ns / result.delivered, 2000 + 2 * 100,
				2000 + 2 * 100 + 8 * 100 + 150);
	}
}

TEST(rest__ends_by_timer_when_nothing_comes)
{
	static const enum lull_idle_state idle_states[] = { LULL_IDLE_MONITOR,
							    LULL_IDLE_INTERRUPT };

	for (size_t i = 0; i < COUNT(idle_states); i++) {
		struct lull_sim_config config = waiting(idle_states[i], 400 * US);
		struct lull_sim_result result;

		/* two rests by timer, and one that the packet ends */
		stand_run(&config, &result);
		assert_in_range(result.rest.count, 3 * 99, 3 * 101);
		assert_in_range(result.counters.wakes_packet, 99, 101);
		assert_int_equal(result.rest.max, 400 * US);
		assert_int_equal(result.latency.max, 1250);
	}
}

/* Each way of resting is late by its own figure, and its limit holds whatever a packet does. */
TEST(rest__ends_as_late_as_its_way_is)
{
	const struct lull_sim_curve late = { 1, { { 0, 30 * US } } };
	const struct lull_sim_curve very_late = { 1, { { 0, 3 * MS } } };
	struct lull_sim_config config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	struct lull_sim_result result;

	config.machine.interrupt = late;
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 30 * US + 100 + 150);
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.idle_states =
		LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR);
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 1250);
	config.machine.monitor = late;
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 30 * US + 100 + 150);

	config = waiting(LULL_IDLE_INTERRUPT, 400 * US);
	config.machine.interrupt = very_late;
	config.machine.overshoot = late;
	stand_run(&config, &result);
	assert_int_equal(result.counters.wakes_packet, 0);
	assert_int_equal(result.rest.max, 430 * US);
	assert_in_range(result.latency.max, 300 * US, 430 * US + 250);
}

/* ---- what cores and NICs do besides ---- */

/* A burst of one takes 150: four times of that right after a rest, and half from a time on. */
TEST(quirks__costs_change)
{
	struct lull_sim_config config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	struct lull_sim_result result;

	config.quirks.cold_pct = 400;
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 1000 + 100 + 4 * 150);
	/* a loop that does not rest is never cold */
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.idle_states =
		LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 50;
	stand_run(&config, &result);
	assert_true(result.latency.max < 100 + 2 * 150 + 50 + 250);

	config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	config.quirks.change_ns = 50 * MS;
	config.quirks.change_pct = 300;
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 1000 + 100 + 450);
	assert_in_range(lull_histogram_quantile(&result.latency, 480000), 1250, 1280);
	assert_in_range(lull_histogram_quantile(&result.latency, 520000), 1550, 1600);
}

/* Packets come 1 ms apart, and every other one within the gap after an interrupt. */
TEST(quirks__interrupts_keep_a_gap)
{
	struct lull_sim_config config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	struct lull_sim_result result;

	config.quirks.gap_ns = 1500 * US;
	stand_run(&config, &result);
	/* each waits until the gap is over; what came meanwhile ends no rest of its own */
	assert_in_range(result.counters.wakes_packet, 60, 70);
	assert_in_range(result.latency.max, 1000 * US, 1500 * US);
	config.quirks.gap_ns = 900 * US;
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 1000 + 100 + 150);
}

TEST(quirks__long_rests_end_later)
{
	struct lull_sim_config config = waiting(LULL_IDLE_SLEEP, 100 * US);
	struct lull_sim_result result;

	config.quirks.exit = (struct lull_sim_curve){ 2, { { 150 * US, 0 }, { 151 * US, 70000 } } };
	stand_run(&config, &result);
	assert_int_equal(result.rest.max, 100 * US);
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 200 * US;
	stand_run(&config, &result);
	assert_int_equal(result.rest.max, 270 * US);
	/* one that a packet ends too */
	config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	config.quirks.exit = (struct lull_sim_curve){ 2, { { 150 * US, 0 }, { 151 * US, 70000 } } };
	stand_run(&config, &result);
	assert_int_equal(result.latency.max, 1000 + 70000 + 100 + 150);
}

/* A ring of one loses packets in each rest, and they are told at multiples of 40 ms. */
TEST(quirks__losses_are_told_later)
{
	struct lull_sim_config config = waiting(LULL_IDLE_SLEEP, 10 * MS);
	struct lull_sim_result result;

	config.ring_pkts = 1;
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns_max = 10 * MS;
	config.duration_ns = 39 * MS;
	stand_run(&config, &result);
	assert_true(result.lost > 20);
	assert_true(result.counters.misses + result.counters.misses_other > 0);
	config.quirks.lag_ns = 40 * MS;
	stand_run(&config, &result);
	assert_true(result.lost > 20);
	assert_int_equal(result.counters.misses + result.counters.misses_other, 0);
	config.duration_ns = 70 * MS;
	stand_run(&config, &result);
	assert_true(result.counters.misses + result.counters.misses_other > 20);
}

/* A packet that came during the iteration before does not wait for the next one. */
TEST(rest__ends_at_once_when_a_packet_is_there)
{
	struct lull_sim_config config = waiting(LULL_IDLE_INTERRUPT, 5 * MS);
	struct lull_sim_result result;

	config.machine.iteration_ns = 300 * US; /* a third of the packets come during iterations */
	stand_run(&config, &result);
	assert_in_range(result.delivered, 98, 100);
	assert_true(result.latency.max <= 2 * 300 * US + 2 * US);
}

TEST(rest__pause_keeps_the_core)
{
	struct lull_sim_config config = waiting(LULL_IDLE_PAUSE, 5 * US);
	struct lull_sim_result result;

	stand_run(&config, &result);
	assert_int_equal(result.cpu_ns, result.time_ns);
	assert_int_equal(lull_sim_wakes(&result), 0);
	assert_int_equal(result.rest.max, 5 * US);
	assert_true(result.counters.rests[LULL_IDLE_PAUSE] > 19000);
	assert_true(result.latency.max <= 5 * US + 100 + 100 + 150);
}

TEST(rest__sleep_ends_late_by_the_curve)
{
	struct lull_sim_config config = waiting(LULL_IDLE_SLEEP, 50 * US);
	struct lull_sim_result result;

	config.machine.overshoot =
		(struct lull_sim_curve){ 2, { { 0, 1000 }, { LULL_SIM_PPB, 3000 } } };
	stand_run(&config, &result);
	assert_in_range(result.rest.sum / result.rest.count, 51950, 52050);
	assert_true(result.rest.max <= 53 * US);
	assert_int_equal(result.counters.overshoot_ns,
			 result.rest.sum - result.rest.count * 50 * US);
}

/* virtio ends a burst of more than four at a multiple of four: packets stay behind. */
TEST(burst__ends_where_the_driver_rounds)
{
	static const uint16_t wanted[] = { 32, 4, 3, 0 };
	static uint64_t times_ns[39];
	static uint16_t bytes[39];
	struct lull_idle_limits limits = { 0 };
	struct lull_sim_trace trace = { 39, times_ns, bytes };
	static struct stand_bench bench;
	struct lull_sim_thread *thread;

	stand_bench_init(&bench);
	thread = stand_bench_add(&bench, "spin", &limits, &trace);
	thread->round_pkts = 4;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(lull_sim_thread_iterate(thread), 0);
		assert_int_equal(thread->queue_pkts[0], wanted[i]);
	}
	assert_int_equal(thread->stats.delivered, 39);
	stand_bench_done(&bench);
}

/* The same driver, and a loop that asks how many it has left: none after the last burst only. */
TEST(burst__that_is_short_is_counted)
{
	static const uint64_t emptied[] = { 0, 0, 1, 0 };
	static uint64_t times_ns[39];
	static uint16_t bytes[39];
	struct lull_idle_limits limits = { 0 };
	struct lull_sim_trace trace = { 39, times_ns, bytes };
	static struct stand_bench bench;
	struct lull_sim_thread *thread;

	stand_bench_init(&bench);
	thread = stand_bench_add(&bench, "spin", &limits, &trace);
	thread->round_pkts = 4;
	thread->counts_left = true;
	for (size_t i = 0; i < COUNT(emptied); i++) {
		assert_int_equal(lull_sim_thread_iterate(thread), 0);
		assert_int_equal(thread->emptied, emptied[i]);
	}
	stand_bench_done(&bench);
}

/* ---- a thread that sends on ---- */

#define PACKETS 5000

struct sender {
	struct stand_bench bench;
	struct lull_sim_thread *thread;
	struct lull_sim_ring out;
	struct lull_sim_link link;
	struct lull_sim_ideal ideal;
	uint64_t times_ns[PACKETS];
	uint16_t bytes[PACKETS];
};

static void
sender_begin(struct sender *sender, uint64_t seed, uint64_t room_ps)
{
	struct lull_idle_limits limits = { .rest_ns = 20 * US };
	struct lull_sim_trace trace = { PACKETS, sender->times_ns, sender->bytes };
	struct lull_prng prng;
	uint64_t now_ns = 0;

	print_message("seed %llu\n", (unsigned long long)seed);
	lull_prng_init(&prng, seed, 0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		now_ns += lull_prng_below(&prng, 1500);
		sender->times_ns[i] = now_ns;
		sender->bytes[i] = (uint16_t)(60 + i % 1455); /* tells which one it is */
	}
	stand_bench_init(&sender->bench);
	sender->thread = stand_bench_add(&sender->bench, "fixed", &limits, &trace);
	assert_int_equal(lull_sim_ring_init(&sender->out, 1024, &sender->ideal), 0);
	lull_sim_link_init(&sender->link, 10000000000ULL, 0, 0);
	sender->thread->out = &sender->out;
	sender->thread->out_link = &sender->link;
	sender->thread->out_room_ps = room_ps;
}

static void
sender_end(struct sender *sender)
{
	lull_sim_ring_done(&sender->out);
	stand_bench_done(&sender->bench);
}

/* What leaves is what came, in that order, a frame time apart at least. */
TEST(send__keeps_order)
{
	static struct sender sender;
	const struct lull_sim_pkt *pkt;
	uint64_t before_ns = 0;

	sender_begin(&sender, 12, UINT64_MAX / 4);
	lull_sim_schedule_begin(&sender.bench.schedule, sender.bench.threads, 1);
	assert_int_equal(lull_sim_schedule_run(&sender.bench.schedule, 10 * MS), 0);
	assert_int_equal(sender.out.way_tail - sender.out.way_head, PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++) {
		pkt = &sender.out.way[(sender.out.way_head + i) & sender.out.way_mask];
		assert_int_equal(pkt->bytes, sender.bytes[i]);
		/* rounded up to ns each */
		assert_true(pkt->arrive_ns + 1 >= before_ns + (sender.bytes[i] + 24) * 8 / 10);
		assert_true(pkt->arrive_ns > sender.times_ns[i]);
		before_ns = pkt->arrive_ns;
	}
	sender_end(&sender);
}

/* It rests when its ring had nothing for it, and waits where the link is behind. */
TEST(send__rests_only_when_empty_and_waits_for_the_link)
{
	static struct sender sender;
	const uint64_t room_ps = 10000000; /* 10 us */
	struct lull_sim_thread *thread;
	uint64_t rests = 0, iteration_ns;

	sender_begin(&sender, 13, room_ps);
	thread = sender.thread;
	while (thread->now_ns < 10 * MS) {
		iteration_ns = thread->now_ns;
		assert_int_equal(lull_sim_thread_iterate(thread), 0);
		/* never further ahead of the link than its room and the burst just sent */
		assert_true(sender.link.free_ps <=
			    thread->now_ns * 1000 + room_ps + 32 * 1538 * 800);
		if (lull_idle_counters(thread->idle)->rests[LULL_IDLE_SLEEP] > rests) {
			rests++;
			assert_int_equal(thread->queue_pkts[0], 0);
			assert_true(thread->now_ns >= iteration_ns + 20 * US);
		} else {
			assert_true(thread->queue_pkts[0] > 0);
		}
	}
	assert_true(rests > 20);
	assert_int_equal(thread->stats.delivered, PACKETS);
	sender_end(&sender);
}
