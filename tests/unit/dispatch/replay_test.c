/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>

#include "case.h"
#include "base/prng.h"
#include "dispatch/trace.h"

#define WORKERS 5
#define RING_PKTS 64
#define BURST_PKTS 48
#define FLOWS 300
#define ELEPHANT 12345u
#define SEED 4737

/* ---- a trace in memory ---- */

struct recording {
	uint8_t *bytes;
	size_t size, room;
	uint32_t kinds[LULL_TRACE_BURST_CRCS + 1];
};

static void
recording_add(void *arg, const uint8_t *bytes, size_t size)
{
	struct recording *recording = arg;
	size_t kind_at = recording->size == 0 ? LULL_TRACE_MAGIC_SIZE + 4 : 4;

	if (recording->size + size > recording->room) {
		recording->room = 2 * (recording->size + size);
		recording->bytes = realloc(recording->bytes, recording->room);
		assert_non_null(recording->bytes);
	}
	memcpy(recording->bytes + recording->size, bytes, size);
	recording->size += size;
	assert_in_range(bytes[kind_at], LULL_TRACE_CONFIG, LULL_TRACE_BURST_CRCS);
	recording->kinds[bytes[kind_at]]++;
}

static struct lull_dispatch *
dispatch_new(const struct lull_dispatch_config *config)
{
	struct lull_dispatch *dispatch;
	size_t size = lull_dispatch_size(config);
	void *memory = aligned_alloc(LULL_CACHE_LINE, (size + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);

	assert_non_null(memory);
	assert_int_equal(lull_dispatch_init(memory, config, &dispatch), 0);
	assert_ptr_equal(dispatch, memory);
	return dispatch;
}

/* ---- rings that fill, refuse and drain at random, one flow far above the others ---- */

struct world {
	struct lull_prng prng;
	struct lull_dispatch *dispatch;
	uint64_t now_ns;
	struct lull_dispatch_load loads[WORKERS];
	uint32_t digests[BURST_PKTS];
	uint16_t workers[BURST_PKTS];
	uint64_t dropped;
};

static uint32_t
world_below(struct world *world, uint32_t bound)
{
	return (uint32_t)lull_prng_below(&world->prng, bound);
}

static void
world_serve(struct world *world)
{
	for (uint32_t i = 0; i < WORKERS; i++) {
		uint32_t done = world_below(world, 1 + 20 / (i + 1));

		done = LULL_MIN(done, world->loads[i].used_pkts);
		world->loads[i].used_pkts -= done;
		world->loads[i].done_pkts += done;
	}
	/* now and then so long that buckets are forgotten */
	world->now_ns += world_below(world, 500) == 0 ? LULL_NS_PER_S : world_below(world, 5000);
}

/* The last @p count packets of the burst that went to @p from, to somebody else or nowhere. */
static void
world_refuse(struct world *world, uint32_t burst_pkts, uint16_t from, uint32_t count)
{
	uint32_t digests[BURST_PKTS], given[WORKERS] = { 0 }, left = count;
	uint16_t workers[BURST_PKTS];

	for (uint32_t i = burst_pkts; i-- > 0 && left > 0;)
		if (world->workers[i] == from)
			digests[--left] = world->digests[i];
	lull_dispatch_refused(world->dispatch, world->now_ns, from, world->loads, digests, count,
			      workers, NULL);
	for (uint32_t i = 0; i < count; i++)
		given[workers[i]]++;
	for (uint16_t i = 0; i < WORKERS; i++) {
		uint32_t room = world->loads[i].capacity_pkts - world->loads[i].used_pkts;
		/* sometimes room is gone when the packets come */
		uint32_t taken = world_below(world, 8) == 0 ? 0 : LULL_MIN(room, given[i]);

		if (i == from || given[i] == 0)
			continue;
		world->loads[i].used_pkts += taken;
		if (taken < given[i])
			lull_dispatch_dropped(world->dispatch, i, given[i] - taken);
		world->dropped += given[i] - taken;
	}
	world->dropped += given[from];
}

static void
world_burst(struct world *world)
{
	uint32_t count = 1 + world_below(world, BURST_PKTS), given[WORKERS] = { 0 };
	struct lull_dispatch_mark marks[BURST_PKTS];

	for (uint32_t i = 0; i < count; i++)
		world->digests[i] =
			world_below(world, 2) == 0 ?
				ELEPHANT :
				(1 + world_below(world, FLOWS)) * 6700417u & LULL_DIGEST_MAX;
	for (uint16_t i = 0; i < WORKERS; i++)
		world->loads[i].staged_pkts =
			LULL_MIN(world_below(world, 3), world->loads[i].used_pkts);
	lull_dispatch_burst(world->dispatch, world->now_ns, world->loads, world->digests,
			    world->digests, count, world->workers, marks);
	for (uint32_t i = 0; i < count; i++)
		given[world->workers[i]]++;
	for (uint16_t i = 0; i < WORKERS; i++) {
		uint32_t room = world->loads[i].capacity_pkts - world->loads[i].used_pkts;
		uint32_t taken = LULL_MIN(room, given[i]);

		world->loads[i].used_pkts += taken;
		given[i] -= taken;
	}
	for (uint16_t i = 0; i < WORKERS; i++)
		if (given[i] > 0)
			world_refuse(world, count, i, given[i]);
}

static const struct lull_scheduler *
world_scheduler(struct world *world)
{
	uint32_t count = 0;

	while (lull_schedulers[count] != NULL)
		count++;
	return lull_schedulers[world_below(world, count)];
}

/* One after the other: compilers order arguments as they like. */
static void
world_thresholds(struct world *world)
{
	uint32_t threshold_ppm = 100000 + world_below(world, 400000);
	uint32_t enter_ppm = 100000 + world_below(world, 400000);

	lull_dispatch_thresholds(world->dispatch, threshold_ppm, enter_ppm,
				 world_below(world, 100000));
}

static void
world_change(struct world *world, bool shadowed)
{
	const struct lull_scheduler *scheduler = world_scheduler(world);

	lull_dispatch_change(world->dispatch, scheduler, shadowed ? world_scheduler(world) : NULL);
}

/* Run @p steps bursts under trace; @p changes: also change the scheduler on the way. */
static void
world_run(struct world *world, const struct lull_dispatch_config *config, uint32_t steps,
	  bool changes, struct recording *recording)
{
	memset(world, 0, sizeof(*world));
	memset(recording, 0, sizeof(*recording));
	lull_prng_init(&world->prng, SEED, config->order);
	world->dispatch = dispatch_new(config);
	for (uint32_t i = 0; i < WORKERS; i++)
		world->loads[i].capacity_pkts = RING_PKTS;
	lull_dispatch_trace(world->dispatch, recording_add, recording);
	for (uint32_t step = 0; step < steps; step++) {
		world_serve(world);
		world_burst(world);
		if (world_below(world, 8) == 0)
			lull_dispatch_note(world->dispatch, world->digests[0],
					   (uint16_t)(1 + world_below(world, 300)));
		if (world_below(world, 32) == 0)
			world_thresholds(world);
		if (changes && world_below(world, 64) == 0)
			world_change(world, step % 2 == 0);
	}
	lull_dispatch_trace(world->dispatch, NULL, NULL);
}

static struct lull_dispatch_config
config_of(const struct lull_scheduler *scheduler, enum lull_order order)
{
	return (struct lull_dispatch_config){
		.scheduler = scheduler,
		.shadow = lull_scheduler_find("crc32"),
		.order = order,
		.worker_count = WORKERS,
		.bucket_bits = 8,
		.idle_ns = 100 * LULL_NS_PER_MS,
		.pin_pkts = order == LULL_ORDER_DRAIN ? 0 : 5,
		.tracks = true,
		.seed = SEED,
	};
}

/* ---- cases ---- */

static void
expect_same_again(const struct lull_dispatch_config *config, bool changes)
{
	struct lull_dispatch_replay replay;
	struct recording recording;
	struct lull_dispatch *dispatch;
	struct world world;
	uint32_t calls = 0;

	world_run(&world, config, 600, changes, &recording);
	assert_int_equal(lull_dispatch_replay_open(recording.bytes, recording.size, &replay), 0);
	assert_ptr_equal(replay.config.scheduler, config->scheduler);
	assert_ptr_equal(replay.config.shadow, config->shadow);
	assert_int_equal(replay.config.order, config->order);
	assert_int_equal(replay.config.worker_count, config->worker_count);
	dispatch = dispatch_new(&replay.config);
	assert_int_equal(
		lull_dispatch_replay_run(recording.bytes, recording.size, dispatch, &replay), 0);
	assert_null(replay.reason);
	assert_int_equal(replay.offset, recording.size);
	assert_int_equal(replay.differences, 0);
	assert_int_equal(replay.first_call, 0);
	for (uint32_t kind = LULL_TRACE_BURST; kind <= LULL_TRACE_BURST_CRCS; kind++)
		calls += recording.kinds[kind];
	assert_int_equal(replay.calls, calls);
	assert_int_equal(replay.pkts, lull_dispatch_counters(world.dispatch)->pkts);
	assert_true(recording.kinds[LULL_TRACE_BURST_CRCS] == 600);
	assert_true(recording.kinds[LULL_TRACE_NOTE] > 0);
	assert_true(recording.kinds[LULL_TRACE_THRESHOLDS] > 0);
	assert_true(!changes || recording.kinds[LULL_TRACE_CHANGE] > 0);
	assert_memory_equal(lull_dispatch_counters(dispatch),
			    lull_dispatch_counters(world.dispatch),
			    sizeof(struct lull_dispatch_counters));
	free(recording.bytes);
	free(world.dispatch);
	free(dispatch);
}

TEST(replay_run__makes_the_same_decisions_again)
{
	printf("seed %d\n", SEED);
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++)
		for (int order = LULL_ORDER_NONE; order <= LULL_ORDER_RESEQUENCE; order++) {
			struct lull_dispatch_config config =
				config_of(lull_schedulers[i], (enum lull_order)order);

			expect_same_again(&config, false);
			expect_same_again(&config, true);
		}
}

/* As traces were before they told what is staged: the last word of each load is not there. */
static void
recording_unstage(struct recording *recording)
{
	size_t from = LULL_TRACE_MAGIC_SIZE, to = from;

	recording->bytes[LULL_TRACE_MAGIC_SIZE - 1] = LULL_TRACE_VERSION_UNSTAGED;
	while (from < recording->size) {
		uint8_t *bytes = recording->bytes + from, kind = bytes[4], *out;
		uint32_t len = bytes[0] | (uint32_t)bytes[1] << 8, loads = 0, cut = 0;

		if (kind == LULL_TRACE_BURST_CRCS || kind == LULL_TRACE_REFUSED) {
			loads = kind == LULL_TRACE_BURST_CRCS ? 5 + 10 : 5 + 12;
			cut = 4 * WORKERS;
		}
		out = recording->bytes + to;
		memmove(out, bytes, loads);
		for (uint32_t i = 0; loads > 0 && i < WORKERS; i++)
			memmove(out + loads + (size_t)16 * i, bytes + loads + (size_t)20 * i, 16);
		memmove(out + loads + 16 * (cut / 4), bytes + loads + 20 * (cut / 4),
			4 + len - loads - 20 * (cut / 4));
		from += 4 + len;
		to += 4 + len - cut;
		out[0] = (uint8_t)(len - cut);
		out[1] = (uint8_t)((len - cut) >> 8);
	}
	recording->size = to;
}

TEST(replay_run__reads_traces_that_do_not_tell_what_is_staged)
{
	struct lull_dispatch_config config =
		config_of(lull_scheduler_find("sticky"), LULL_ORDER_NONE);
	struct lull_dispatch_replay replay;
	struct recording recording;
	struct lull_dispatch *dispatch;
	struct world world;

	world_run(&world, &config, 600, true, &recording);
	recording_unstage(&recording);
	assert_int_equal(lull_dispatch_replay_open(recording.bytes, recording.size, &replay), 0);
	dispatch = dispatch_new(&replay.config);
	assert_int_equal(
		lull_dispatch_replay_run(recording.bytes, recording.size, dispatch, &replay), 0);
	assert_int_equal(replay.pkts, lull_dispatch_counters(world.dispatch)->pkts);
	/* Only subflow-paper, which the trace changes to as well, asks for it. */
	assert_in_range(replay.differences, 0, replay.pkts / 4);
	recording.bytes[LULL_TRACE_MAGIC_SIZE - 1] = 3;
	assert_int_equal(lull_dispatch_replay_open(recording.bytes, recording.size, &replay),
			 -EINVAL);
	assert_string_equal(replay.reason, "not a decision trace of this version");
	free(recording.bytes);
	free(world.dispatch);
	free(dispatch);
}

TEST(replay_run__meets_refusals_and_drops)
{
	struct lull_dispatch_config config = config_of(lull_scheduler_find("hrw"), LULL_ORDER_NONE);
	struct recording recording;
	struct world world;

	world_run(&world, &config, 600, true, &recording);
	assert_true(recording.kinds[LULL_TRACE_REFUSED] > 20);
	assert_true(recording.kinds[LULL_TRACE_DROPPED] > 0);
	assert_true(world.dropped > 100);
	free(recording.bytes);
	free(world.dispatch);
}

TEST(replay_run__counts_what_another_scheduler_would_do)
{
	struct lull_dispatch_config config = config_of(lull_scheduler_find("hrw"), LULL_ORDER_NONE);
	struct recording recording;
	struct world world;

	world_run(&world, &config, 600, true, &recording);
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		struct lull_dispatch_replay replay;
		struct lull_dispatch *dispatch;

		assert_int_equal(
			lull_dispatch_replay_open(recording.bytes, recording.size, &replay), 0);
		replay.config.scheduler = lull_schedulers[i];
		dispatch = dispatch_new(&replay.config);
		assert_int_equal(lull_dispatch_replay_run(recording.bytes, recording.size, dispatch,
							  &replay),
				 0);
		assert_int_equal(replay.offset, recording.size);
		if (lull_schedulers[i] == config.scheduler) {
			assert_int_equal(replay.differences, 0);
		} else {
			assert_true(replay.differences > 100);
			assert_in_range(replay.first_call, 1, replay.calls);
			/* it stays: changes in the trace are of the scheduler traced */
			assert_ptr_equal(lull_dispatch_scheduler(dispatch), lull_schedulers[i]);
		}
		free(dispatch);
	}
	free(recording.bytes);
	free(world.dispatch);
}

/* Read a copy in memory of exactly that size; 0, or -EINVAL and a reason. */
static int
read_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	struct lull_dispatch_replay replay;
	struct lull_dispatch *dispatch;
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	rc = lull_dispatch_replay_open(copy, size, &replay);
	assert_true((rc == 0) == (replay.reason == NULL));
	if (rc == 0 && replay.config.bucket_bits <= 10) {
		dispatch = dispatch_new(&replay.config);
		rc = lull_dispatch_replay_run(copy, size, dispatch, &replay);
		assert_true((rc == 0) == (replay.reason == NULL));
		assert_true((rc == 0) == (replay.offset == size));
		free(dispatch);
	}
	assert_true(rc == 0 || rc == -EINVAL);
	free(copy);
	return rc;
}

TEST(replay_run__tells_where_a_trace_is_cut)
{
	struct lull_dispatch_config config =
		config_of(lull_scheduler_find("subflow"), LULL_ORDER_NONE);
	struct recording recording;
	struct world world;
	uint32_t whole = 0, records = 0;

	world_run(&world, &config, 8, true, &recording);
	for (uint32_t kind = 0; kind <= LULL_TRACE_BURST_CRCS; kind++)
		records += recording.kinds[kind];
	for (size_t size = 0; size <= recording.size; size++)
		whole += read_copy(recording.bytes, size) == 0;
	assert_int_equal(whole, records); /* right after each */
	free(recording.bytes);
	free(world.dispatch);
}

TEST(replay_run__survives_any_byte)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	struct lull_dispatch_config config =
		config_of(lull_scheduler_find("sticky"), LULL_ORDER_DRAIN);
	struct recording recording;
	struct world world;
	uint32_t refused = 0;

	world_run(&world, &config, 12, true, &recording);
	for (size_t at = 0; at < recording.size; at++)
		for (size_t i = 0; i < sizeof(flips); i++) {
			recording.bytes[at] ^= flips[i];
			refused += read_copy(recording.bytes, recording.size) != 0;
			recording.bytes[at] ^= flips[i];
		}
	assert_true(refused > 1000);
	free(recording.bytes);
	free(world.dispatch);
}

/* The reason for which a trace of one worker record @p record is not read further. */
static const char *
reason_of(const uint8_t *record, size_t size)
{
	struct lull_dispatch_config config = config_of(lull_scheduler_find("hrw"), LULL_ORDER_NONE);
	struct lull_dispatch_replay replay;
	struct recording recording;
	struct lull_dispatch *dispatch;
	struct world world;
	size_t head;

	world_run(&world, &config, 0, false, &recording);
	head = recording.size;
	recording_add(&recording, record, size);
	assert_int_equal(lull_dispatch_replay_open(recording.bytes, recording.size, &replay), 0);
	dispatch = dispatch_new(&replay.config);
	assert_int_equal(
		lull_dispatch_replay_run(recording.bytes, recording.size, dispatch, &replay),
		-EINVAL);
	assert_int_equal(replay.offset, head);
	assert_int_equal(replay.calls, 1);
	free(recording.bytes);
	free(world.dispatch);
	free(dispatch);
	return replay.reason;
}

TEST(replay_run__says_why)
{
	static const uint8_t note[] = { 7, 0, 0, 0, LULL_TRACE_NOTE, 1, 2, 3, 4, 0, 0 };
	static const uint8_t wide[] = { 7, 0, 0, 0, LULL_TRACE_NOTE, 1, 2, 3, 0x84, 1, 0 };
	static const uint8_t longer[] = { 8, 0, 0, 0, LULL_TRACE_NOTE, 1, 2, 3, 4, 1, 0, 0 };
	static const uint8_t shorter[] = { 6, 0, 0, 0, LULL_TRACE_NOTE, 1, 2, 3, 4, 1 };
	static const uint8_t dropped[] = { 7, 0, 0, 0, LULL_TRACE_DROPPED, 1, 0, 1, 0, 0, 0 };
	static const uint8_t nobody[] = { 7, 0, 0, 0, LULL_TRACE_DROPPED, WORKERS, 0, 0, 0, 0, 0 };
	static const uint8_t change[] = { 6, 0, 0, 0, LULL_TRACE_CHANGE, 3, 'h', 'r', 'x', 0 };
	static const uint8_t second[] = { 1, 0, 0, 0, LULL_TRACE_CONFIG };

	assert_string_equal(reason_of(note, sizeof(note)), "note is out of range");
	assert_string_equal(reason_of(wide, sizeof(wide)), "note is out of range");
	assert_string_equal(reason_of(longer, sizeof(longer)), "record is too long");
	assert_string_equal(reason_of(shorter, sizeof(shorter)), "record is too short");
	assert_string_equal(reason_of(dropped, sizeof(dropped)),
			    "worker dropped what it was not given");
	assert_string_equal(reason_of(nobody, sizeof(nobody)), "worker is out of range");
	assert_string_equal(reason_of(change, sizeof(change)), "scheduler is not known here");
	assert_string_equal(reason_of(second, sizeof(second)), "second config");
}
