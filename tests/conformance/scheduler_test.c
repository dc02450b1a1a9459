/* SPDX-License-Identifier: BSD-3-Clause */
/* What every scheduler of the list keeps to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>

#include "case.h"
#include "base/prng.h"

#define FLOWS 4000
#define SEED 20

#define FOR_EACH_SCHEDULER(scheduler)                                                              \
	for (const struct lull_scheduler *const *entry = lull_schedulers, *scheduler;              \
	     (scheduler = *entry) != NULL; entry++)

struct world {
	struct lull_dispatch *dispatch;
	void *memory;
	struct lull_prng prng;
	uint64_t now_ns;
	uint32_t worker_count;
	uint32_t digests[LULL_DISPATCH_BURST_MAX];
	uint16_t workers[LULL_DISPATCH_BURST_MAX + 1];
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
};

static void
world_begin(struct world *world, const struct lull_scheduler *scheduler, uint32_t worker_count,
	    enum lull_order order)
{
	struct lull_dispatch_config config = {
		.scheduler = scheduler,
		.worker_count = worker_count,
		.order = order,
		.bucket_bits = 10,
		.seed = 3,
	};

	memset(world, 0, sizeof(*world));
	world->memory = aligned_alloc(LULL_CACHE_LINE, lull_dispatch_size(&config));
	assert_non_null(world->memory);
	/* What was there before does not matter. */
	memset(world->memory, 0xa5, lull_dispatch_size(&config));
	assert_int_equal(lull_dispatch_init(world->memory, &config, &world->dispatch), 0);
	lull_prng_init(&world->prng, SEED, 0);
	world->worker_count = worker_count;
}

/* A burst of flows with any loads. */
static uint32_t
world_burst(struct world *world)
{
	const struct lull_dispatch_counters *counters = lull_dispatch_counters(world->dispatch);
	uint32_t count = (uint32_t)lull_prng_below(&world->prng, LULL_DISPATCH_BURST_MAX + 1);

	for (uint32_t i = 0; i < world->worker_count; i++) {
		uint32_t most = (uint32_t)lull_prng_below(&world->prng, 600);
		uint64_t held =
			LULL_MIN(counters->worker_pkts[i] - world->loads[i].done_pkts, most);

		world->loads[i].used_pkts = most;
		world->loads[i].capacity_pkts = 1u << lull_prng_below(&world->prng, 11);
		world->loads[i].done_pkts = counters->worker_pkts[i] - held;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t flow = (uint32_t)lull_prng_below(&world->prng, FLOWS);

		world->digests[i] = flow * 2654435761u & LULL_DIGEST_MAX;
	}
	world->now_ns += lull_prng_below(&world->prng, 200000);
	world->workers[count] = 0xbeef;
	lull_dispatch_burst(world->dispatch, world->now_ns, world->loads, world->digests,
			    world->digests, count, world->workers, NULL);
	assert_int_equal(world->workers[count], 0xbeef);
	return count;
}

TEST(burst__worker_in_range)
{
	struct world world;

	FOR_EACH_SCHEDULER(scheduler)
	for (uint32_t worker_count = 1; worker_count <= 32; worker_count += worker_count / 3 + 1) {
		world_begin(&world, scheduler, worker_count, worker_count % 3);
		for (uint32_t i = 0; i < 100; i++) {
			uint32_t count = world_burst(&world);

			for (uint32_t k = 0; k < count; k++)
				assert_true(world.workers[k] < worker_count);
		}
		free(world.memory);
	}
}

/* Nothing but the inputs decides: no address, no file-level state. */
TEST(burst__same_inputs_same_outputs)
{
	struct world worlds[2];

	FOR_EACH_SCHEDULER(scheduler)
	{
		for (uint32_t i = 0; i < 2; i++)
			world_begin(&worlds[i], scheduler, 5, LULL_ORDER_NONE);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t count = world_burst(&worlds[0]);

			assert_int_equal(world_burst(&worlds[1]), count);
			assert_memory_equal(worlds[0].workers, worlds[1].workers,
					    count * sizeof(worlds[0].workers[0]));
		}
		for (uint32_t i = 0; i < 2; i++)
			free(worlds[i].memory);
	}
}

TEST(burst__never_splits_unless_it_says_so)
{
	struct world world;

	FOR_EACH_SCHEDULER(scheduler)
	for (enum lull_order order = 0; order <= LULL_ORDER_RESEQUENCE; order++) {
		static int32_t at[FLOWS];
		bool split = false;

		memset(at, -1, sizeof(at));
		world_begin(&world, scheduler, 4, order);
		for (uint32_t i = 0; i < 300; i++) {
			uint32_t count = world_burst(&world);

			for (uint32_t k = 0; k < count; k++) {
				/* Back from digest to flow: the inverse of the factor. */
				uint32_t flow = world.digests[k] * 244002641u & LULL_DIGEST_MAX;

				assert_true(flow < FLOWS);
				split |= at[flow] >= 0 && at[flow] != world.workers[k];
				at[flow] = world.workers[k];
			}
		}
		assert_int_equal(split, lull_scheduler_splits(scheduler));
		free(world.memory);
	}
}

/* With empty rings hashing policies spread flows evenly; sticky as hrw. */
TEST(burst__uniform)
{
	static const char *const names[] = {
		"crc32", "hash", "hrw", "ahrw", "ahrw-paper", "subflow"
	};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (uint32_t worker_count = 2; worker_count <= 16; worker_count *= 2) {
			const struct lull_dispatch_counters *counters;
			struct world world;
			uint64_t most = 0;

			world_begin(&world, lull_scheduler_find(names[i]), worker_count, 0);
			for (uint32_t k = 0; k < worker_count; k++)
				world.loads[k].capacity_pkts = 1024;
			for (uint32_t k = 0; k < 131072 / 256; k++) {
				for (uint32_t n = 0; n < 256; n++)
					world.digests[n] = (uint32_t)lull_prng_u64(&world.prng) &
							   LULL_DIGEST_MAX;
				lull_dispatch_burst(world.dispatch, ++world.now_ns, world.loads,
						    world.digests, world.digests, 256,
						    world.workers, NULL);
			}
			counters = lull_dispatch_counters(world.dispatch);
			for (uint32_t k = 0; k < worker_count; k++)
				most = LULL_MAX(most, counters->worker_pkts[k]);
			assert_true(most * worker_count * 100 < 131072ull * 104);
			free(world.memory);
		}
}

/* A worker more takes flows from all; no flow moves between the others. */
TEST(hrw__minimal_disruption)
{
	struct world few, more;
	uint32_t moved = 0;

	world_begin(&few, lull_scheduler_find("hrw"), 7, 0);
	world_begin(&more, lull_scheduler_find("hrw"), 8, 0);
	for (uint32_t i = 0; i < 8; i++)
		few.loads[i].capacity_pkts = 1024;
	for (uint32_t k = 0; k < 64; k++) {
		for (uint32_t n = 0; n < 256; n++)
			few.digests[n] = (uint32_t)lull_prng_u64(&few.prng) & LULL_DIGEST_MAX;
		lull_dispatch_burst(few.dispatch, 1, few.loads, few.digests, NULL, 256, few.workers,
				    NULL);
		lull_dispatch_burst(more.dispatch, 1, few.loads, few.digests, NULL, 256,
				    more.workers, NULL);
		for (uint32_t n = 0; n < 256; n++) {
			assert_true(more.workers[n] == few.workers[n] || more.workers[n] == 7);
			moved += more.workers[n] == 7;
		}
	}
	assert_in_range(moved, 64 * 256 / 9, 64 * 256 / 7);
	free(few.memory);
	free(more.memory);
}

static int
seed_print(void **state)
{
	(void)state;
	printf("seed %u\n", SEED);
	return 0;
}

TEST_GROUP(seed_print, NULL);
