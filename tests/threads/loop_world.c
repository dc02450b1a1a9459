/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop_world.h"

#include <stdlib.h>
#include <string.h>

#include "loop_run.h"

struct world *world;
struct lull_loop *loops[1];

static void
world_receive(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct world *own = loop->stage_state;

	(void)iteration;
	loop->queue_pkts[0] = LULL_COUNTER_READ(own->iterations) % 3 == 0;
	LULL_COUNTER_ADD(own->iterations, 1);
}

static void
world_begin(struct lull_loop *loop)
{
	__atomic_fetch_add(&((struct world *)loop->stage_state)->begun, 1, __ATOMIC_RELAXED);
}

static void
world_end(struct lull_loop *loop)
{
	__atomic_fetch_add(&((struct world *)loop->stage_state)->ended, 1, __ATOMIC_RELAXED);
}

static void
world_audit(struct lull_loop *loop, bool last, struct lull_loss_charge *charge)
{
	struct world *own = loop->stage_state;

	(void)last;
	__atomic_fetch_add(&own->audits, 1, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&own->losing, false, __ATOMIC_RELAXED))
		charge->rests += LOST_PKTS;
}

static void
world_kick(struct lull_loop *loop)
{
	__atomic_fetch_add(&((struct world *)loop->stage_state)->kicks, 1, __ATOMIC_RELAXED);
}

static const struct lull_loop_source source = {
	.receive = world_receive,
	.begin = world_begin,
	.end = world_end,
	.audit = world_audit,
	.kick = world_kick,
};

static uint64_t
world_iterate(void *state, uint64_t now_ns)
{
	(void)state;
	(void)now_ns;
	return 0;
}

static void
world_mark(void *state, uint64_t now_ns)
{
	(void)now_ns;
	LULL_COUNTER_ADD(((struct world *)state)->counters.marks, 1);
}

/* Commands come in the order in which they were posted. */
static void
world_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct world *own = state;
	uint64_t number;

	(void)now_ns;
	assert_int_equal(size, sizeof(number));
	memcpy(&number, data, sizeof(number));
	assert_int_equal(number, ++own->last_command);
	LULL_COUNTER_ADD(own->counters.commands, 1);
}

const struct lull_counter_info world_counters[] = {
	{ .name = "commands", .offset = offsetof(struct counters, commands) },
	{ .name = "marks", .offset = offsetof(struct counters, marks) },
	{ .name = NULL },
};
static const struct lull_stage stage = {
	.name = "world",
	.iterate = world_iterate,
	.mark = world_mark,
	.command = world_command,
	.counters = world_counters,
	.counters_offset = offsetof(struct world, counters),
};

static void *
world_run(void *arg)
{
	lull_loop_run(&((struct world *)arg)->loop, &source);
	return NULL;
}

static void *
memory(size_t size)
{
	size = (size + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	return memset(aligned_alloc(LULL_CACHE_LINE, size), 0, size);
}

int
world_open(void **state)
{
	struct lull_loop_parts parts = {
		.name = "one0",
		.kind = "pretended",
		.cpu = -1,
		.burst_pkts = 32,
		.source = &source,
		.stage = &stage,
		.ways = lull_loop_ways,
		.governor = lull_idle_governor_find("fixed"),
		.limits = { .rest_ns = 20 * LULL_NS_PER_US },
		.sched_policy = LULL_SCHED_OTHER,
	};

	(void)state;
	world = memory(sizeof(*world));
	parts.stage_state = world;
	parts.idle_memory = memory(lull_idle_size());
	if (lull_loop_init(&world->loop, &parts) != 0)
		return -1;
	loops[0] = &world->loop;
	return pthread_create(&world->thread, NULL, world_run, world);
}

int
world_close(void **state)
{
	(void)state;
	lull_loop_end(&world->loop);
	pthread_join(world->thread, NULL);
	lull_loop_fini(&world->loop);
	free(world->loop.idle_memory);
	free(world);
	return 0;
}
