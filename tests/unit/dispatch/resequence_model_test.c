/* SPDX-License-Identifier: BSD-3-Clause */
/* Several workers at random, beside a model that is plain and slow. */
#include <stdio.h>

#include "base/prng.h"

#include "resequence_stand.h"

#define MODEL_WINDOW_MAX 64
#define WORKERS_MAX 5
#define FIFO_PKTS 64

struct model_pkt {
	uint64_t since_ns;
	uint32_t bucket, seq;
};

struct model {
	uint32_t window_pkts;
	uint64_t delay_ns;
	uint32_t next[BUCKETS];
	struct model_pkt held[MODEL_WINDOW_MAX + 1]; /* oldest first */
	uint32_t held_count;
	struct lull_resequence_counters counters;
	void *out[MODEL_WINDOW_MAX + 1];
	uint32_t out_count;
};

/* Index of the held packet of @p bucket with the smallest number; held_count: none. */
static uint32_t
model_smallest(const struct model *model, uint32_t bucket)
{
	uint32_t found = model->held_count, least = UINT32_MAX;

	for (uint32_t i = 0; i < model->held_count; i++) {
		uint32_t ahead = model->held[i].seq - model->next[bucket];

		if (model->held[i].bucket == bucket && ahead < least) {
			least = ahead;
			found = i;
		}
	}
	return found;
}

/* Give the smallest of the bucket; what is missing before it is given up. */
static void
model_give(struct model *model, uint32_t bucket)
{
	uint32_t index = model_smallest(model, bucket), seq = model->held[index].seq;

	model->counters.missing += seq - model->next[bucket];
	model->next[bucket] = seq + 1;
	model->out[model->out_count++] = handle_of(bucket, seq);
	model->held_count--;
	for (uint32_t i = index; i < model->held_count; i++)
		model->held[i] = model->held[i + 1];
}

static void
model_follow(struct model *model, uint32_t bucket)
{
	uint32_t index;

	while ((index = model_smallest(model, bucket)) < model->held_count &&
	       model->held[index].seq == model->next[bucket])
		model_give(model, bucket);
}

static void
model_give_oldest(struct model *model)
{
	struct model_pkt oldest = model->held[0];

	do
		model_give(model, oldest.bucket);
	while ((int32_t)(oldest.seq - model->next[oldest.bucket]) >= 0);
	model_follow(model, oldest.bucket);
}

static void
model_add(struct model *model, uint64_t now_ns, uint32_t bucket, uint32_t seq)
{
	int32_t ahead = (int32_t)(seq - model->next[bucket]);

	model->out_count = 0;
	model->counters.pkts++;
	if (ahead > 0) {
		model->counters.held++;
		model->held[model->held_count++] = (struct model_pkt){ now_ns, bucket, seq };
		if (model->held_count > model->window_pkts) {
			model->counters.overflows++;
			model_give_oldest(model);
		}
		return;
	}
	model->out[model->out_count++] = handle_of(bucket, seq);
	model->counters.late += ahead < 0;
	model->next[bucket] += ahead == 0;
	model_follow(model, bucket);
}

static void
model_expire(struct model *model, uint64_t now_ns)
{
	model->out_count = 0;
	while (model->held_count > 0 && now_ns >= model->held[0].since_ns + model->delay_ns)
		model_give_oldest(model);
}

/* A dispatcher that numbers packets and gives them to workers, each a queue of its own. */
struct world {
	struct lull_prng prng;
	uint32_t worker_count, bucket_count, loss_ppm;
	uint32_t seq[BUCKETS]; /* next to be given out */
	struct model_pkt fifo[WORKERS_MAX][FIFO_PKTS];
	uint32_t head[WORKERS_MAX], count[WORKERS_MAX];
	uint32_t next_out[BUCKETS]; /* RFC 4737, at the output */
	uint64_t now_ns, out_pkts, reordered;
};

static bool
world_send(struct world *world)
{
	uint32_t worker = (uint32_t)lull_prng_below(&world->prng, world->worker_count);
	uint32_t bucket = (uint32_t)lull_prng_below(&world->prng, world->bucket_count);

	if (world->count[worker] == FIFO_PKTS)
		return false;
	world->fifo[worker][(world->head[worker] + world->count[worker]++) % FIFO_PKTS] =
		(struct model_pkt){ 0, bucket, world->seq[bucket]++ };
	return true;
}

/* A packet of any worker that has one; false: there is none. */
static bool
world_finish(struct world *world, struct model_pkt *pkt)
{
	uint32_t first = (uint32_t)lull_prng_below(&world->prng, world->worker_count);

	for (uint32_t i = 0; i < world->worker_count; i++) {
		uint32_t worker = (first + i) % world->worker_count;

		if (world->count[worker] == 0)
			continue;
		*pkt = world->fifo[worker][world->head[worker] % FIFO_PKTS];
		world->head[worker]++;
		world->count[worker]--;
		return true;
	}
	return false;
}

static void
world_take(struct world *world, void *const *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		world->reordered += lull_order_late(&world->next_out[handle_bucket(out[i])],
						    handle_seq(out[i]));
	world->out_pkts += count;
}

static void
expect_same(struct world *world, const struct stand *stand, uint32_t count,
	    const struct model *model)
{
	assert_int_equal(count, model->out_count);
	assert_memory_equal(stand->out, model->out, count * sizeof(stand->out[0]));
	assert_memory_equal(stand->counters, &model->counters, sizeof(model->counters));
	assert_true(
		lull_resequence_deadline_ns(stand->resequence) ==
		(model->held_count > 0 ? model->held[0].since_ns + model->delay_ns : UINT64_MAX));
	world_take(world, stand->out, count);
}

static void
world_step(struct world *world, struct stand *stand, struct model *model, bool send)
{
	struct model_pkt pkt;
	uint32_t count;

	if (send)
		world_send(world);
	world->now_ns += lull_prng_below(&world->prng, 200);
	model_expire(model, world->now_ns);
	count = lull_resequence_expire(stand->resequence, world->now_ns, stand->out);
	expect_same(world, stand, count, model);
	if ((send && lull_prng_below(&world->prng, 16) == 0) || !world_finish(world, &pkt) ||
	    lull_prng_below(&world->prng, LULL_PPM) < world->loss_ppm)
		return;
	model_add(model, world->now_ns, pkt.bucket, pkt.seq);
	count = stand_add(stand, world->now_ns, pkt.bucket, pkt.seq);
	expect_same(world, stand, count, model);
}

/* What must be true of the counters at any time. */
static void
expect_identities(const struct world *world, const struct model *model,
		  const struct lull_resequence_counters *counters)
{
	uint64_t expected = 0;

	for (uint32_t i = 0; i < BUCKETS; i++)
		expected += model->next[i];
	assert_int_equal(counters->pkts, world->out_pkts + model->held_count);
	assert_int_equal(counters->late, world->reordered);
	/* each number below next left in order or was given up */
	assert_int_equal(world->out_pkts - counters->late + counters->missing, expected);
}

TEST(resequence__does_as_the_model)
{
	enum { RUNS = 12, STEPS = 100000 };
	static struct world world;
	static struct model model;
	uint64_t seed = 1605, overflows = 0, late = 0, pkts = 0;

	printf("seed %llu\n", (unsigned long long)seed);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct stand stand;

		memset(&world, 0, sizeof(world));
		memset(&model, 0, sizeof(model));
		lull_prng_init(&world.prng, seed, run);
		world.worker_count = 2 + (uint32_t)lull_prng_below(&world.prng, WORKERS_MAX - 1);
		world.bucket_count = 1u << lull_prng_below(&world.prng, 9);
		world.loss_ppm = run % 3 * 5000;
		model.window_pkts = 1 + (uint32_t)lull_prng_below(&world.prng, MODEL_WINDOW_MAX);
		model.delay_ns = 1000 + lull_prng_below(&world.prng, 30000);
		stand_open(&stand, model.window_pkts, model.delay_ns);
		for (uint32_t step = 0; step < STEPS; step++)
			world_step(&world, &stand, &model, true);
		expect_identities(&world, &model, stand.counters);
		for (uint32_t step = 0; step < WORKERS_MAX * FIFO_PKTS; step++)
			world_step(&world, &stand, &model, false);
		world.now_ns += model.delay_ns;
		world_step(&world, &stand, &model, false);
		assert_int_equal(model.held_count, 0);
		expect_identities(&world, &model, stand.counters);
		overflows += stand.counters->overflows;
		late += stand.counters->late;
		pkts += stand.counters->pkts;
		free(stand.memory);
	}
	assert_true(pkts > 1000000 && overflows > 1000 && late > 1000);
}

TEST(resequence__within_window_and_delay_all_is_in_order)
{
	enum { STEPS = 200000 };
	static struct world world;
	struct model_pkt pkt;
	struct stand stand;

	memset(&world, 0, sizeof(world));
	lull_prng_init(&world.prng, 1606, 0);
	world.worker_count = WORKERS_MAX;
	world.bucket_count = 3;
	stand_open(&stand, WORKERS_MAX * FIFO_PKTS * 16, LULL_NS_PER_S);
	for (uint32_t step = 0; step < STEPS; step++) {
		world_send(&world);
		if (lull_prng_below(&world.prng, 16) == 0 || !world_finish(&world, &pkt))
			continue;
		world_take(&world, stand.out, stand_add(&stand, step, pkt.bucket, pkt.seq));
	}
	while (world_finish(&world, &pkt))
		world_take(&world, stand.out, stand_add(&stand, STEPS, pkt.bucket, pkt.seq));
	assert_int_equal(world.reordered, 0);
	assert_int_equal(stand.counters->missing + stand.counters->overflows, 0);
	assert_int_equal(world.out_pkts, stand.counters->pkts);
	assert_true(stand.counters->held > STEPS / 10);
	for (uint32_t i = 0; i < BUCKETS; i++)
		assert_int_equal(world.next_out[i], world.seq[i]);
	free(stand.memory);
}
