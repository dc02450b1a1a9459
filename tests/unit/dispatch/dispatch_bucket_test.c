/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* ---- a model of workers that progress at random ---- */

#define FLOWS 300
#define RING 256

struct model {
	struct dispatch_stand stand;
	uint32_t digests[FLOWS];
	uint32_t held[FLOWS]; /* packets of the flow at ... */
	uint16_t at[FLOWS];   /* ... this worker */
	uint16_t rings[LULL_DISPATCH_WORKERS_MAX][RING];
	uint64_t put[LULL_DISPATCH_WORKERS_MAX], done[LULL_DISPATCH_WORKERS_MAX];
	uint64_t violations, lost, second;
	bool stalled[LULL_DISPATCH_WORKERS_MAX];
};

static bool
model_put(struct model *model, uint16_t worker, uint16_t flow)
{
	if (model->put[worker] - model->done[worker] == RING)
		return false;
	if (model->held[flow] > 0 && model->at[flow] != worker)
		model->violations++;
	model->held[flow]++;
	model->at[flow] = worker;
	model->rings[worker][model->put[worker]++ % RING] = flow;
	return true;
}

static void
model_progress(struct model *model)
{
	for (uint32_t worker = 0; worker < 4; worker++) {
		uint64_t most = lull_prng_below(&model->stand.prng, 40);

		if (lull_prng_below(&model->stand.prng, 200) == 0)
			model->stalled[worker] = !model->stalled[worker];
		for (; !model->stalled[worker] && most > 0 &&
		       model->done[worker] < model->put[worker];
		     most--)
			model->held[model->rings[worker][model->done[worker]++ % RING]]--;
	}
}

static void
model_look(struct model *model)
{
	for (uint32_t worker = 0; worker < 4; worker++) {
		model->stand.loads[worker] = (struct lull_dispatch_load){
			.used_pkts = (uint32_t)(model->put[worker] - model->done[worker]),
			.capacity_pkts = RING,
			.done_pkts = model->done[worker],
		};
	}
}

/* What @p from refused: to a second worker or lost. */
static void
model_refuse(struct model *model, uint16_t from, const uint16_t *flows, uint32_t count)
{
	uint32_t digests[64], lost = 0;
	uint16_t workers[64];

	for (uint32_t i = 0; i < count; i++)
		digests[i] = model->digests[flows[i]];
	model_look(model);
	lull_dispatch_refused(model->stand.dispatch, model->stand.now_ns, from, model->stand.loads,
			      digests, count, workers, NULL);
	for (uint32_t i = 0; i < count; i++) {
		if (workers[i] == from)
			lost++;
		else
			assert_true(model_put(model, workers[i], flows[i]));
	}
	model->lost += lost;
	model->second += count - lost;
}

static void
model_burst(struct model *model, uint32_t count)
{
	uint16_t flows[64], refused[4][64];
	uint32_t digests[64], refused_count[4] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		/* Some flows have most of the packets. */
		uint64_t below = 1 + lull_prng_below(&model->stand.prng, FLOWS);

		flows[i] = (uint16_t)lull_prng_below(&model->stand.prng, below);
		digests[i] = model->digests[flows[i]];
	}
	model_look(model);
	stand_burst(&model->stand, digests, count);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t worker = model->stand.workers[i];

		/* A ring that refused one packet takes no later one of the burst. */
		if (refused_count[worker] > 0 || !model_put(model, worker, flows[i]))
			refused[worker][refused_count[worker]++] = flows[i];
	}
	for (uint16_t worker = 0; worker < 4; worker++) {
		if (refused_count[worker] > 0)
			model_refuse(model, worker, refused[worker], refused_count[worker]);
	}
	for (uint32_t worker = 0; worker < 4; worker++)
		assert_int_equal(model->stand.counters->worker_pkts[worker], model->put[worker]);
}

static struct model *
model_run(const struct lull_scheduler *scheduler, enum lull_order order, uint32_t pkts)
{
	struct lull_dispatch_config config = stand_config(lull_scheduler_name(scheduler));
	struct model *model = calloc(1, sizeof(*model));

	assert_non_null(model);
	config.order = order;
	config.tracks = true;
	config.bucket_bits = 8; /* flows share buckets */
	config.pin_pkts = 3;
	config.idle_ns = LULL_NS_PER_MS;
	stand_init(&model->stand, &config);
	for (uint32_t i = 0; i < FLOWS; i++)
		model->digests[i] = stand_digest(&model->stand);
	while (model->stand.counters->pkts < pkts) {
		model_burst(model, 1 + (uint32_t)lull_prng_below(&model->stand.prng, 64));
		model_progress(model);
		if (lull_prng_below(&model->stand.prng, 500) == 0)
			model->stand.now_ns += 2 * LULL_NS_PER_MS;
	}
	return model;
}

TEST(drain__nothing_moves_in_flight)
{
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		struct model *model = model_run(lull_schedulers[i], LULL_ORDER_DRAIN, 1000000);

		assert_int_equal(model->violations, 0);
		assert_true(model->lost > 0);
		assert_int_equal(model->stand.counters->refused, model->lost);
		assert_int_equal(model->stand.counters->retried, model->second);
		assert_int_equal(model->stand.counters->moves_inflight, 0);
		if (lull_scheduler_splits(lull_schedulers[i]))
			assert_true(model->stand.counters->held_order > 0);
		stand_end(&model->stand);
		free(model);
	}
}

/* The same model sees what the contract prevents. */
TEST(none__moves_in_flight)
{
	struct model *model = model_run(lull_scheduler_find("subflow"), LULL_ORDER_NONE, 100000);

	assert_true(model->violations > 0);
	assert_true(model->second > 0);
	assert_true(model->stand.counters->moves_inflight > 0);
	assert_int_equal(model->stand.counters->held_order, 0);
	stand_end(&model->stand);
	free(model);
}

/* ---- by hand ---- */

TEST(drain__waits_for_the_last)
{
	struct lull_dispatch_config config = stand_config("subflow");
	const uint32_t other = 5;
	struct dispatch_stand stand;
	uint32_t digest;
	uint16_t home = 2;

	config.order = LULL_ORDER_DRAIN;
	stand_init(&stand, &config);
	digest = stand_digest_of(&stand, home);
	assert_int_equal(stand_one(&stand, digest), home);
	stand.loads[home].used_pkts = STAND_CAPACITY / 2;
	assert_int_equal(stand_one(&stand, digest), home); /* 2 packets there */
	assert_int_equal(stand.marks[0].flags, 0);
	stand.loads[home].done_pkts = 1;
	assert_int_equal(stand_one(&stand, digest), home);
	assert_int_equal(stand.counters->held_order, 2);
	stand.loads[home].done_pkts = 3;
	stand_one(&stand, other);
	assert_int_not_equal(stand_one(&stand, digest), home);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
	assert_int_equal(stand.marks[0].seq, 3);
	assert_int_equal(stand.counters->moves, 1);
	assert_int_equal(stand.counters->moves_inflight, 0);
	/* Back home, where it is shared for good. */
	stand_drain(&stand);
	assert_int_equal(stand_one(&stand, digest), home);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
	assert_int_equal(stand_one(&stand, digest), home);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED);
	stand_end(&stand);
}

TEST(bucket__forgotten)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	struct dispatch_stand stand;

	config.idle_ns = LULL_NS_PER_S;
	config.order = LULL_ORDER_DRAIN;
	stand_init(&stand, &config);
	assert_int_equal(stand_one(&stand, 77), 0);
	stand_drain(&stand);
	assert_int_equal(stand_one(&stand, 77), 1);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
	lull_dispatch_note(stand.dispatch, 77, 9);
	stand_drain(&stand);
	stand.now_ns += LULL_NS_PER_S - 2000;
	stand_one(&stand, 77);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
	assert_int_equal(stand.marks[0].app, 9);
	/* Silent for so long, yet its worker still holds it: not forgotten. */
	stand.now_ns += 2 * LULL_NS_PER_S;
	assert_int_equal(stand_one(&stand, 77), 2);
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED);
	stand_drain(&stand);
	stand.now_ns += 2 * LULL_NS_PER_S;
	assert_int_equal(stand_one(&stand, 77), 0);
	assert_int_equal(stand.marks[0].flags, 0);
	assert_int_equal(stand.marks[0].app, 0);
	assert_int_equal(stand.marks[0].seq, 4); /* numbers go on */
	assert_int_equal(stand.counters->moves, 2);
	stand_end(&stand);
}

TEST(pin__until_identified)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	struct dispatch_stand stand;

	config.pin_pkts = 4;
	stand_init(&stand, &config);
	/* 4 packets long, then it follows the round: the proposals are 0 1 2 3 0 1. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(stand_one(&stand, 100), 0);
	assert_int_equal(stand.counters->held_pin, 3);
	assert_int_equal(stand_one(&stand, 100), 0);
	assert_int_equal(stand_one(&stand, 100), 1);
	/* Ended by a verdict, which travels with the packets of that flow. */
	assert_int_equal(stand_one(&stand, 200), 2);
	assert_int_equal(stand_one(&stand, 200), 2);
	lull_dispatch_note(stand.dispatch, 200, 7);
	assert_int_equal(stand_one(&stand, 200), 0);
	assert_int_equal(stand.marks[0].app, 7);
	assert_int_equal(stand_one(&stand, 200 + (1u << 12)), 0); /* same bucket, other flow */
	assert_int_equal(stand.marks[0].app, 0);
	assert_int_equal(stand.marks[0].bucket, 200);
	assert_int_equal(stand.counters->notes, 1);
	/* Ended by a worker that is nearly full. */
	assert_int_equal(stand_one(&stand, 300), 2);
	stand.loads[2].used_pkts = STAND_CAPACITY / 8 * 7;
	assert_int_equal(stand_one(&stand, 300), 2);
	stand.loads[2].used_pkts++;
	assert_int_equal(stand_one(&stand, 300), 0);
	stand_end(&stand);
}

/* Each flow has its own first packets, also in a bucket that has had many of others. */
TEST(pin__is_of_the_flow)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	const uint32_t one = 100, other = 100 + (1u << 12), third = 100 + (2u << 12);
	struct dispatch_stand stand;

	config.pin_pkts = 4;
	stand_init(&stand, &config);
	/* The proposals are 0 1 2 3 again and again. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(stand_one(&stand, one), 0);
	assert_int_equal(stand.counters->held_pin, 3);
	/* A newcomer takes the bucket nowhere ... */
	assert_int_equal(stand_one(&stand, other), 0);
	assert_int_equal(stand_one(&stand, other), 0);
	assert_int_equal(stand.counters->held_pin, 4);
	/* ... who has had its packets does, and takes the newcomer with it. */
	assert_int_equal(stand_one(&stand, one), 2);
	assert_int_equal(stand_one(&stand, other), 2);
	assert_int_equal(stand_one(&stand, other), 2);
	assert_int_equal(stand.counters->held_pin, 6);
	assert_int_equal(stand_one(&stand, other), 1);
	/* A verdict is about one flow. */
	assert_int_equal(stand_one(&stand, third), 1);
	lull_dispatch_note(stand.dispatch, other, 7);
	assert_int_equal(stand_one(&stand, third), 1);
	lull_dispatch_note(stand.dispatch, third, 8);
	stand_one(&stand, third);
	assert_int_equal(stand_one(&stand, third), 1);
	assert_int_equal(stand_one(&stand, third), 2);
	assert_int_equal(stand.counters->held_pin, 8);
	/* A bucket that was silent begins anew. */
	stand_drain(&stand);
	stand.now_ns += 3600 * LULL_NS_PER_S;
	assert_int_equal(stand_one(&stand, one), 3);
	assert_int_equal(stand_one(&stand, one), 3);
	assert_int_equal(stand.counters->held_pin, 9);
	stand_end(&stand);
}

/* Of more flows than are told apart the one that came first begins anew; that ends. */
TEST(pin__of_many_flows)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	struct dispatch_stand stand;
	uint64_t held;

	config.pin_pkts = 2;
	stand_init(&stand, &config);
	for (uint32_t flow = 0; flow < 6; flow++) {
		for (uint32_t i = 0; i < 3; i++)
			stand_one(&stand, 100 + (flow << 12));
	}
	held = stand.counters->held_pin;
	for (uint32_t i = 0; i < 100; i++)
		stand_one(&stand, 100 + (5u << 12));
	assert_int_equal(stand.counters->held_pin, held);
	for (uint32_t i = 0; i < 100; i++)
		stand_one(&stand, 100);
	assert_in_range(stand.counters->held_pin, held + 1, held + 2);
	stand_end(&stand);
}

/* What was refused and dropped did not come to nDPI. */
TEST(pin__does_not_count_what_is_dropped)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	struct dispatch_stand stand;
	uint32_t digests[2] = { 100, 100 };
	uint16_t workers[2];

	config.pin_pkts = 5;
	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(stand_one(&stand, 100), 0);
	for (uint32_t worker = 0; worker < 4; worker++)
		stand.loads[worker].used_pkts = STAND_CAPACITY / 8 * 7;
	lull_dispatch_refused(stand.dispatch, stand.now_ns, 0, stand.loads, digests, 2, workers,
			      NULL);
	assert_int_equal(workers[0], 0);
	assert_int_equal(stand.counters->refused, 2);
	for (uint32_t worker = 0; worker < 4; worker++)
		stand.loads[worker].used_pkts = 0;
	/* One has come; the proposals go on with 3 0 1 2 3. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(stand_one(&stand, 100), 0);
	assert_int_equal(stand_one(&stand, 100), 3);
	stand_end(&stand);
}

TEST(refused__given_to_another)
{
	struct lull_dispatch_config config = stand_config("subflow");
	uint32_t digests[6];
	struct dispatch_stand stand;

	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 6; i++)
		digests[i] = stand_digest_of(&stand, 1);
	digests[5] = digests[4];
	stand_burst(&stand, digests, 6);
	assert_int_equal(stand.counters->worker_pkts[1], 6);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY;
	/* Others have a place, but are about as full; a small ring is empty. The last 4. */
	stand.loads[0].used_pkts = STAND_CAPACITY - 10;
	stand.loads[3].capacity_pkts = 3;
	stand.loads[3].used_pkts = 0;
	lull_dispatch_refused(stand.dispatch, stand.now_ns, 1, stand.loads, digests + 2, 4,
			      stand.workers + 2, stand.marks + 2);
	assert_int_equal(stand.workers[2], 3);
	assert_int_equal(stand.workers[4], 3);
	assert_int_equal(stand.workers[5], 1);
	/* They were new: nobody else has any of them. */
	assert_int_equal(stand.marks[2].flags, 0);
	assert_int_equal(stand.counters->moves, 0);
	assert_int_equal(stand.counters->worker_pkts[1], 2);
	assert_int_equal(stand.counters->worker_pkts[3], 3);
	assert_int_equal(stand.counters->retried, 3);
	assert_int_equal(stand.counters->refused, 1);
	/* The number of the dropped one is used again. */
	assert_int_equal(stand.marks[5].seq, 1);
	stand.loads[3].used_pkts = 0;
	assert_int_equal(stand_one(&stand, digests[5]), 3);
	assert_int_equal(stand.marks[0].seq, 1);
	lull_dispatch_dropped(stand.dispatch, 3, 2);
	assert_int_equal(stand.counters->worker_pkts[3], 2);
	assert_int_equal(stand.counters->refused, 3);
	assert_int_equal(stand.counters->pkts, 7);
	stand_end(&stand);
}

TEST(refused__shared_when_old)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digest;

	for (uint32_t drain = 0; drain < 2; drain++) {
		config.order = drain ? LULL_ORDER_DRAIN : LULL_ORDER_NONE;
		stand_init(&stand, &config);
		digest = stand_digest_of(&stand, 1);
		stand_one(&stand, digest);
		stand_one(&stand, digest);
		lull_dispatch_refused(stand.dispatch, stand.now_ns, 1, stand.loads, &digest, 1,
				      stand.workers, stand.marks);
		assert_int_equal(stand.workers[0] == 1, drain);
		assert_int_equal(stand.marks[0].flags,
				 drain ? 0 : LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
		assert_int_equal(stand.counters->moves, !drain);
		assert_int_equal(stand.counters->refused, drain);
		stand_end(&stand);
	}
}

TEST(refused__not_by_those_that_never_split)
{
	struct dispatch_stand stand;

	for (uint32_t tracks = 0; tracks < 2; tracks++) {
		struct lull_dispatch_config config = stand_config("crc32");
		const uint32_t digests[3] = { 4, 8, 12 }; /* all to worker 0 */

		config.tracks = tracks;
		stand_init(&stand, &config);
		stand_burst(&stand, digests, 3);
		lull_dispatch_refused(stand.dispatch, stand.now_ns, 0, stand.loads, digests + 1, 2,
				      stand.workers, stand.marks);
		assert_int_equal(stand.workers[0], 0);
		assert_int_equal(stand.workers[1], 0);
		assert_int_equal(stand.counters->worker_pkts[0], 1);
		assert_int_equal(stand.counters->refused, 2);
		stand_end(&stand);
	}
}

/* As published: what the ring refuses is lost. subflow itself tries another worker. */
TEST(refused__is_lost_as_published)
{
	static const struct {
		const char *scheduler;
		uint32_t refused;
	} rows[] = { { "rr-burst", 2 }, { "subflow-paper", 2 }, { "subflow", 0 } };
	struct dispatch_stand stand;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lull_dispatch_config config = stand_config(rows[i].scheduler);
		uint32_t digests[3];
		uint16_t from;

		stand_init(&stand, &config);
		for (uint32_t k = 0; k < 3; k++)
			digests[k] = stand_digest_of(&stand, 2);
		stand_burst(&stand, digests, 3);
		from = stand.workers[0];
		assert_int_equal(stand.workers[2], from);
		stand.loads[from].used_pkts = STAND_CAPACITY;
		lull_dispatch_refused(stand.dispatch, stand.now_ns, from, stand.loads, digests + 1,
				      2, stand.workers, stand.marks + 1);
		assert_int_equal(stand.counters->refused, rows[i].refused);
		assert_int_equal(stand.counters->retried, 2 - rows[i].refused);
		assert_int_equal(stand.counters->worker_pkts[from], 3 - 2);
		stand_end(&stand);
	}
}
