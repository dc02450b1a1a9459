/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * World: a polling loop in virtual time around one idle object, every wait known exactly.
 *
 * One Rx ring, packets arriving by a seeded process, a stated cost per iteration and per packet, a
 * stated distribution of wake-up overshoot. For tests of governors; the simulator proper is sim/.
 */
#ifndef LULL_TEST_WORLD_H
#define LULL_TEST_WORLD_H

#include <stdlib.h>
#include <string.h>

#include <lull/idle.h>

#define WORLD_BURST 32

struct world_config {
	const char *governor;
	struct lull_idle_limits limits;
	double pps;              /* mean rate while on */
	bool constant;           /* evenly spaced instead of Poisson */
	uint64_t on_ns, off_ns;  /* on/off; 0: always on */
	uint64_t iteration_ns;   /* cost of an iteration */
	uint64_t pkt_ns;         /* cost of a packet */
	uint64_t overshoot_ns;   /* usual lateness of a wake-up */
	uint32_t late_ppm;       /* share of wake-ups that come late ... */
	uint64_t late_ns;        /* ... by this */
	uint64_t stall_ns;       /* other programs take the CPU for so long ... */
	uint64_t stall_every_ns; /* ... about so often; 0: never */
	uint64_t cost_ns;        /* CPU time of a rest */
	uint32_t ring_pkts;      /* 0: endless */
	uint32_t pkt_bytes;      /* size of each packet; 0: not measured */
	uint32_t window_pkts;    /* the sender waits while so many are not fetched; 0: never */
	uint64_t duration_ns;
	uint64_t seed;
};

struct world {
	struct world_config config;
	struct lull_idle *idle;
	void *memory;
	uint64_t random;
	uint64_t now_ns, next_ns, stall_at_ns;
	uint64_t *ring; /* arrival times */
	uint32_t head, count, size;
	uint64_t lost, sent, cpu_ns;
	uint64_t rests, rest_ns_longest;
	struct lull_histogram waits; /* from arrival to the end of the iteration that carried it */
	struct lull_verdict verdict;
};

static inline uint64_t
world_random(struct world *world)
{
	uint64_t z = (world->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline double
world_uniform(struct world *world)
{
	return ((double)(world_random(world) >> 11) + 0.5) / 9007199254740992.0;
}

/* -ln(u) by halving and a series: no libm, the same on every machine. */
static inline double
world_exponential(struct world *world)
{
	double u = world_uniform(world);
	double result = 0, y, term, power;
	int i;

	while (u < 0.5) {
		u *= 2;
		result += 0.69314718055994530942;
	}
	y = (1 - u) / (1 + u);
	power = y;
	for (term = 0, i = 1; i < 30; i += 2, power *= y * y)
		term += power / i;
	return result + 2 * term;
}

static inline void
world_next(struct world *world)
{
	const struct world_config *config = &world->config;
	double gap = 1e9 / config->pps;
	uint64_t period = config->on_ns + config->off_ns;

	if (config->pps <= 0) {
		world->next_ns = UINT64_MAX;
		return;
	}
	world->next_ns += (uint64_t)(config->constant ? gap : gap * world_exponential(world)) + 1;
	if (period > 0 && world->next_ns % period >= config->on_ns)
		world->next_ns += period - world->next_ns % period;
}

static inline void
world_arrive(struct world *world)
{
	while (world->next_ns <= world->now_ns) {
		if (world->config.window_pkts > 0 && world->count >= world->config.window_pkts) {
			world->next_ns = world->now_ns + 1; /* sent as soon as there is room */
			return;
		}
		if (world->config.ring_pkts > 0 && world->count >= world->config.ring_pkts) {
			world->lost++;
		} else {
			if (world->count == world->size)
				abort();
			world->ring[(world->head + world->count++) % world->size] = world->next_ns;
		}
		world->sent++;
		world_next(world);
	}
}

static inline void
world_rest(struct world *world, const struct lull_rest *rest)
{
	const struct world_config *config = &world->config;
	struct lull_wake wake = { .rest = *rest, .begin_ns = world->now_ns };
	uint64_t over_ns = 0;

	if (rest->idle_state == LULL_IDLE_SLEEP) {
		over_ns = config->overshoot_ns / 2 +
			  (uint64_t)(world_uniform(world) * (double)config->overshoot_ns);
		if (world_random(world) % 1000000 < config->late_ppm)
			over_ns += config->late_ns;
		wake.cpu_ns = config->cost_ns;
	}
	world->now_ns += rest->limit_ns + over_ns;
	wake.end_ns = world->now_ns;
	world->cpu_ns += rest->idle_state == LULL_IDLE_SLEEP ? config->cost_ns : rest->limit_ns;
	world->rests++;
	if (wake.end_ns - wake.begin_ns > world->rest_ns_longest)
		world->rest_ns_longest = wake.end_ns - wake.begin_ns;
	lull_idle_wake(world->idle, &wake);
}

static inline void
world_iterate(struct world *world)
{
	uint64_t begin_ns = world->now_ns;
	uint64_t lost = world->lost;
	uint64_t arrived[WORLD_BURST];
	uint16_t pkts = 0;
	struct lull_iteration iteration = { .now_ns = begin_ns,
					    .queue_pkts = &pkts,
					    .queue_count = 1 };
	struct lull_rest rest;
	uint16_t i;

	world_arrive(world);
	while (pkts < WORLD_BURST && world->count > 0) {
		arrived[pkts++] = world->ring[world->head];
		world->head = (world->head + 1) % world->size;
		world->count--;
	}
	world->now_ns += world->config.iteration_ns + pkts * world->config.pkt_ns;
	world->cpu_ns += world->now_ns - begin_ns;
	if (world->config.stall_every_ns > 0 && world->now_ns >= world->stall_at_ns) {
		if (world->stall_at_ns > 0)
			world->now_ns += world->config.stall_ns;
		world->stall_at_ns =
			world->now_ns +
			(uint64_t)((double)world->config.stall_every_ns * world_exponential(world));
	}
	for (i = 0; i < pkts; i++)
		lull_histogram_add(&world->waits, world->now_ns - arrived[i], 1);
	if (world->lost > lost)
		lull_idle_miss(world->idle, begin_ns, world->lost - lost);
	else
		lull_idle_miss(world->idle, begin_ns, 0);
	if (world->config.pkt_bytes > 0) {
		iteration.size_pkts = pkts;
		iteration.bytes = (uint64_t)pkts * world->config.pkt_bytes;
		iteration.bytes_squared = iteration.bytes * world->config.pkt_bytes;
	}
	rest = lull_idle_plan(world->idle, &iteration);
	if (rest.idle_state != LULL_IDLE_NONE)
		world_rest(world, &rest);
}

/* Start a world; its numbers live in @p world until world_end(). */
static inline void
world_begin(struct world *world, const struct world_config *config)
{
	memset(world, 0, sizeof(*world));
	world->config = *config;
	world->random = config->seed;
	world->size = 1u << 20;
	world->ring = calloc(world->size, sizeof(*world->ring));
	world->memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	world->now_ns = 1000;
	world->next_ns = 1000;
	world_next(world);
	if (lull_idle_init(world->memory, lull_idle_governor_find(config->governor),
			   &config->limits, world->now_ns, &world->idle) != 0)
		abort();
}

static inline void
world_run(struct world *world, uint64_t duration_ns)
{
	uint64_t end_ns = world->now_ns + duration_ns;

	while (world->now_ns < end_ns)
		world_iterate(world);
	lull_idle_verdict(world->idle, &world->verdict);
}

/* Forget what was measured, keep what was learned. */
static inline void
world_mark(struct world *world)
{
	lull_histogram_clear(&world->waits);
	lull_idle_mark(world->idle);
	world->cpu_ns = 0;
	world->lost = 0;
	world->sent = 0;
	world->rests = 0;
	world->rest_ns_longest = 0;
}

static inline void
world_end(struct world *world)
{
	free(world->ring);
	free(world->memory);
}

#endif
