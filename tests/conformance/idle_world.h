/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Idle world: a small loop, its rings and a machine that wakes late, in virtual time.
 *
 * Deterministic: the same setup gives the same iterations, plans and losses. Each
 * step checks what holds for every governor, whatever it proposes.
 */
#ifndef LULL_TEST_IDLE_WORLD_H
#define LULL_TEST_IDLE_WORLD_H

#include <stdlib.h>
#include <string.h>

#include <lull/idle.h>

#include "base/prng.h"
#include "case.h"

#define WORLD_BURST_PKTS 32
#define WORLD_POLL_NS 400 /* one empty receive; slow, so that few iterations cover much time */
#define WORLD_PKT_NS 50
#define WORLD_MONITOR_NS 500 /* from a packet to the end of the rest it ends */
#define WORLD_EVENT_REST_NS_MAX (10 * LULL_NS_PER_MS) /* cap of rests that a packet ends */
#define WORLD_PLANS_MAX 30000
#define WORLD_RING_MAX 1024

#define SLEEP_ONLY LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP)
#define PAUSE_ONLY LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE)
#define PAUSE_SLEEP (PAUSE_ONLY | SLEEP_ONLY)
#define MONITOR_SLEEP (LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR) | SLEEP_ONLY)
#define EVERYTHING (PAUSE_SLEEP | MONITOR_SLEEP | LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT))

#define FOR_EACH_GOVERNOR(governor)                                                                \
	for (const struct lull_idle_governor *const *governor##_cursor = lull_idle_governors,      \
						    *governor;                                     \
	     (governor = *governor##_cursor) != NULL; governor##_cursor++)

enum world_traffic {
	WORLD_SILENCE,
	WORLD_TRICKLE, /* a packet per queue in 300 us */
	WORLD_STEADY,  /* in 5 us */
	WORLD_BURSTS,  /* 200 at once every 3 ms */
	WORLD_FLOOD,   /* faster than the loop can serve */
	WORLD_TRAFFIC_COUNT
};

/* How late rests end. */
enum world_machine {
	WORLD_EXACT,
	WORLD_LATE_5US,
	WORLD_LATE_60US,
	WORLD_LATE_RARELY, /* 5 us, one in a hundred 1 ms more */
	WORLD_MACHINE_COUNT
};

struct world_setup {
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits;
	enum world_traffic traffic;
	enum world_machine machine;
	uint32_t queue_count;
	uint64_t duty_ns; /* the loop has a deadline at each multiple; 0: none */
	uint64_t seed;
	uint8_t garbage; /* what the memory holds before init */
};

/* One queue without traffic, an exact machine, nothing that binds but the default cap of 1 ms. */
static inline struct world_setup
world_setup_plain(const struct lull_idle_governor *governor)
{
	return (struct world_setup){
		.governor = governor,
		.limits = {
			.ring_pkts = 512,
			.envelope = LULL_ENVELOPE_STATED,
			.pps_max = 500000,
			.idle_states = PAUSE_SLEEP,
		},
		.traffic = WORLD_SILENCE,
		.machine = WORLD_EXACT,
		.queue_count = 1,
		.seed = 1,
	};
}

/* One plan, without padding, so that two runs compare byte by byte. */
struct world_plan {
	uint64_t now_ns;
	uint64_t idle_state;
	uint64_t limit_ns;
};

struct world_queue {
	uint64_t next_ns; /* next arrival */
	uint32_t burst_left;
	uint32_t backlog;
	uint32_t head_index; /* oldest in arrivals_ns */
	uint64_t arrivals_ns[WORLD_RING_MAX];
};

struct world {
	struct world_setup setup;
	void *memory;
	struct lull_idle *idle;
	uint64_t begin_ns;
	uint64_t now_ns;
	struct lull_prng prng;
	struct world_queue queues[LULL_IDLE_QUEUES_MAX];
	/* what the loop did, counted independently */
	uint64_t iterations, iterations_empty, pkts, lost, lost_told, rests, rest_ns, requested_ns;
	struct lull_histogram waits; /* true ones, from arrival to the end of the iteration */
	uint64_t last_iteration_ns;
	uint64_t last_rest_ns; /* length of the rest of the last step, 0: none */
	bool last_drained;
	uint32_t last_pkts, last_queue_pkts_max;
	struct lull_rest last_plan;
	uint32_t plan_count;
	struct world_plan plans[WORLD_PLANS_MAX];
};

static inline uint64_t
world_gap_ns(struct world *world, struct world_queue *queue)
{
	switch (world->setup.traffic) {
	case WORLD_TRICKLE:
		return 1 + lull_prng_below(&world->prng, 600000);
	case WORLD_STEADY:
		return 1 + lull_prng_below(&world->prng, 10000);
	case WORLD_BURSTS:
		if (queue->burst_left > 0) {
			queue->burst_left--;
			return 100;
		}
		queue->burst_left = 199;
		return 1 + lull_prng_below(&world->prng, 6 * LULL_NS_PER_MS);
	case WORLD_FLOOD:
		return 1 + lull_prng_below(&world->prng, 2 * WORLD_PKT_NS / 3);
	default:
		return LULL_NS_PER_S * 1000000;
	}
}

/* Other traffic from now on. */
static inline void
world_traffic_set(struct world *world, enum world_traffic traffic)
{
	world->setup.traffic = traffic;
	for (uint32_t i = 0; i < world->setup.queue_count; i++) {
		world->queues[i].burst_left = 0;
		world->queues[i].next_ns = world->now_ns + world_gap_ns(world, &world->queues[i]);
	}
}

static inline struct world *
world_create(const struct world_setup *setup)
{
	struct world *world = calloc(1, sizeof(*world));
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;

	assert_non_null(world);
	world->setup = *setup;
	lull_prng_init(&world->prng, setup->seed, 0);
	world->begin_ns = LULL_NS_PER_S;
	world->now_ns = world->begin_ns;
	world->memory = aligned_alloc(LULL_CACHE_LINE, size);
	assert_non_null(world->memory);
	memset(world->memory, setup->garbage, size);
	assert_int_equal(lull_idle_init(world->memory, setup->governor, &setup->limits,
					world->now_ns, &world->idle),
			 0);
	world_traffic_set(world, setup->traffic);
	return world;
}

static inline void
world_destroy(struct world *world)
{
	free(world->memory);
	free(world);
}

static inline void
world_arrive_one(struct world *world, struct world_queue *queue, uint64_t arrival_ns)
{
	if (queue->backlog >= lull_idle_limits(world->idle)->ring_pkts) {
		world->lost++;
		return;
	}
	queue->arrivals_ns[(queue->head_index + queue->backlog) % WORLD_RING_MAX] = arrival_ns;
	queue->backlog++;
}

/* Arrivals of @p queue up to @p now_ns; those that find the ring full are lost. */
static inline void
world_arrive_queue(struct world *world, struct world_queue *queue, uint64_t now_ns)
{
	uint32_t ring_pkts = lull_idle_limits(world->idle)->ring_pkts;

	while (queue->next_ns <= now_ns) {
		if (queue->backlog < ring_pkts) {
			queue->arrivals_ns[(queue->head_index + queue->backlog) % WORLD_RING_MAX] =
				queue->next_ns;
			queue->backlog++;
			queue->next_ns += world_gap_ns(world, queue);
			continue;
		}
		/* Full until it is read again: no need to tell the lost ones apart. */
		world->lost += 1 + (now_ns - queue->next_ns) / LULL_NS_PER_US;
		queue->next_ns = now_ns + world_gap_ns(world, queue);
	}
}

static inline void
world_arrive(struct world *world, uint64_t now_ns)
{
	for (uint32_t i = 0; i < world->setup.queue_count; i++)
		world_arrive_queue(world, &world->queues[i], now_ns);
}

static inline uint64_t
world_next_arrival_ns(const struct world *world)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < world->setup.queue_count; i++) {
		if (world->queues[i].backlog > 0)
			return 0;
		next_ns = LULL_MIN(next_ns, world->queues[i].next_ns);
	}
	return next_ns;
}

/* How late this machine usually is. */
static inline uint64_t
world_usual_ns(const struct world *world)
{
	switch (world->setup.machine) {
	case WORLD_EXACT:
		return 0;
	case WORLD_LATE_60US:
		return 60000;
	default:
		return 5000;
	}
}

static inline uint64_t
world_late_ns(struct world *world)
{
	if (world->setup.machine == WORLD_LATE_RARELY && lull_prng_below(&world->prng, 100) == 0)
		return world_usual_ns(world) + LULL_NS_PER_MS;
	return world_usual_ns(world);
}

/* From the packet to the end of the rest that it ends: an interrupt is as late as a timer. */
static inline uint64_t
world_wake_ns(const struct world *world, enum lull_idle_state idle_state)
{
	return idle_state == LULL_IDLE_MONITOR ? WORLD_MONITOR_NS : world_usual_ns(world);
}

/* Carry a rest out, as a machine would. */
static inline void
world_rest(struct world *world, const struct lull_rest *rest)
{
	bool by_event =
		rest->idle_state == LULL_IDLE_MONITOR || rest->idle_state == LULL_IDLE_INTERRUPT;
	struct lull_wake wake = {
		.rest = *rest,
		.begin_ns = world->now_ns,
		.end_ns = world->now_ns + rest->limit_ns,
		.reason = LULL_WAKE_TIMER,
	};
	uint64_t packet_ns;

	if (rest->idle_state != LULL_IDLE_PAUSE)
		wake.end_ns += world_late_ns(world);
	if (rest->idle_state == LULL_IDLE_SLEEP && world->rests % 64 == 0)
		wake.cpu_ns = 15000;
	if (by_event) {
		world_arrive(world, world->now_ns);
		packet_ns = LULL_MAX(world_next_arrival_ns(world), world->now_ns);
		if (packet_ns < wake.end_ns) {
			wake.end_ns = packet_ns + world_wake_ns(world, rest->idle_state);
			wake.reason = LULL_WAKE_PACKET;
		}
	}
	world->now_ns = wake.end_ns;
	world->rests++;
	world->last_rest_ns = wake.end_ns - wake.begin_ns;
	world->rest_ns += world->last_rest_ns;
	world->requested_ns += rest->limit_ns;
	lull_idle_wake(world->idle, &wake);
}

/* What must hold for every plan of every governor. */
static inline void
world_check(const struct world *world, const struct lull_iteration *iteration,
	    const struct lull_rest *rest)
{
	const struct lull_idle_limits *limits = lull_idle_limits(world->idle);
	uint64_t limit_ns_max = limits->rest_ns_max;

	assert_true(rest->idle_state < LULL_IDLE_STATE_COUNT);
	if (rest->idle_state == LULL_IDLE_NONE) {
		assert_int_equal(rest->limit_ns, 0);
		return;
	}
	if (rest->idle_state == LULL_IDLE_MONITOR || rest->idle_state == LULL_IDLE_INTERRUPT)
		limit_ns_max = LULL_MAX(limit_ns_max, WORLD_EVENT_REST_NS_MAX);
	assert_true((limits->idle_states & LULL_IDLE_STATE_BIT(rest->idle_state)) != 0);
	assert_true(rest->limit_ns > 0);
	assert_true(rest->limit_ns <= limit_ns_max);
	if (iteration->deadline_ns != 0) {
		assert_true(iteration->deadline_ns > iteration->now_ns);
		assert_true(rest->limit_ns <= iteration->deadline_ns - iteration->now_ns);
	}
	/* A full burst (of ordinary size) says that more is waiting: never rest then. */
	assert_true(world->last_drained || limits->burst_pkts < WORLD_BURST_PKTS);
}

/*
 * Receive a burst from a queue; @p end_ns, when the iteration will end, is known beforehand here.
 */
static inline void
world_fetch(struct world *world, struct world_queue *queue, uint16_t pkts, uint64_t end_ns)
{
	for (uint32_t i = 0; i < pkts; i++) {
		lull_histogram_add(&world->waits, end_ns - queue->arrivals_ns[queue->head_index],
				   1);
		queue->head_index = (queue->head_index + 1) % WORLD_RING_MAX;
	}
	queue->backlog -= pkts;
}

/* One iteration: receive, plan and, if @p carry_out, rest. */
static inline void
world_step(struct world *world, bool carry_out)
{
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	struct lull_iteration iteration = {
		.now_ns = world->now_ns,
		.queue_pkts = queue_pkts,
		.queue_count = world->setup.queue_count,
	};
	uint32_t burst_pkts = lull_idle_limits(world->idle)->burst_pkts;
	uint64_t duty_ns = world->setup.duty_ns;
	struct lull_rest rest;

	if (duty_ns > 0)
		iteration.deadline_ns = (iteration.now_ns / duty_ns + 1) * duty_ns;
	world_arrive(world, world->now_ns);
	world->last_pkts = 0;
	world->last_queue_pkts_max = 0;
	for (uint32_t i = 0; i < iteration.queue_count; i++) {
		queue_pkts[i] = (uint16_t)LULL_MIN(world->queues[i].backlog, burst_pkts);
		world->last_pkts += queue_pkts[i];
		world->last_queue_pkts_max = LULL_MAX(world->last_queue_pkts_max, queue_pkts[i]);
	}
	world->now_ns += WORLD_POLL_NS * iteration.queue_count;
	world->now_ns += WORLD_PKT_NS * (uint64_t)world->last_pkts;
	for (uint32_t i = 0; i < iteration.queue_count; i++)
		world_fetch(world, &world->queues[i], queue_pkts[i], world->now_ns);
	world->last_drained = world->last_queue_pkts_max < burst_pkts;
	world->iterations++;
	world->iterations_empty += world->last_pkts == 0;
	world->pkts += world->last_pkts;
	world->last_iteration_ns = iteration.now_ns;
	if (world->iterations % 8 == 0) {
		lull_idle_miss(world->idle, iteration.now_ns, world->lost - world->lost_told);
		world->lost_told = world->lost;
	}

	rest = lull_idle_plan(world->idle, &iteration);
	world->last_plan = rest;
	world_check(world, &iteration, &rest);
	assert_true(world->plan_count < WORLD_PLANS_MAX);
	world->plans[world->plan_count++] =
		(struct world_plan){ iteration.now_ns, rest.idle_state, rest.limit_ns };
	world->last_rest_ns = 0;
	if (rest.idle_state != LULL_IDLE_NONE && carry_out)
		world_rest(world, &rest);
	/* Once the machine is known, even its overshoot fits before the deadline. */
	if (duty_ns > 0 && rest.idle_state == LULL_IDLE_SLEEP && world->rests > 100 &&
	    world->setup.machine != WORLD_LATE_RARELY)
		assert_true(iteration.now_ns + world->last_rest_ns <= iteration.deadline_ns);
}

static inline void
world_run(struct world *world, uint32_t iterations)
{
	for (uint32_t i = 0; i < iterations; i++)
		world_step(world, true);
}

#endif
