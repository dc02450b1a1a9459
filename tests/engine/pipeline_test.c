/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records do not depend on scheduler, workers, order contract, number of loops or live changes.
 */
#include "pipeline_stand.h"

#include <errno.h>
#include <stdlib.h>

#define SEED 20261122
#define FLOWS 300
#define PKTS 6000

static struct frames frames;
static struct lull_flow_record *expected, *records;
static uint32_t expected_count;

static void
bench_run(struct bench *bench, const char *what)
{
	uint32_t count;

	bench_start(bench, NULL);
	bench_complete(bench);
	count = bench_records(bench, records);
	bench_same(expected, expected_count, records, count, what);
	bench_close(bench);
}

static int
setup(void **state)
{
	struct bench bench;
	uint64_t pkts = 0;

	(void)state;
	printf("seed %d\n", SEED);
	if (stand_start_many(NULL, PIPELINE_LOOPS) != 0)
		return -1;
	/* 60 ms of packets and silences of 20 ms: many flows end while others go on. */
	frames_make(&frames, SEED, FLOWS, PKTS, LULL_NS_PER_S, 10 * LULL_NS_PER_US);
	expected = calloc(RECORDS_MAX, sizeof(expected[0]));
	records = calloc(RECORDS_MAX, sizeof(records[0]));
	bench_init(&bench, &frames);
	bench_start(&bench, NULL);
	bench_complete(&bench);
	expected_count = bench_records(&bench, expected);
	bench_close(&bench);
	for (uint32_t i = 0; i < expected_count; i++)
		pkts += expected[i].packets[0] + expected[i].packets[1];
	assert_int_equal(pkts, PKTS);
	assert_in_range(expected_count, FLOWS, 5 * FLOWS);
	return 0;
}

static int
teardown(void **state)
{
	free(expected);
	free(records);
	frames_free(&frames);
	return stand_stop(state);
}

/* ---- the same records ---- */

TEST(pipeline__records_do_not_depend_on_scheduling)
{
	static const uint32_t worker_counts[] = { 1, 2, 4 };

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		for (uint32_t j = 0; j < 9; j++) {
			struct bench bench;
			char what[64];

			bench_init(&bench, &frames);
			bench.config.dispatch.scheduler = lull_schedulers[i];
			bench.config.worker_count = worker_counts[j / 3];
			bench.config.dispatch.order = j % 3;
			snprintf(what, sizeof(what), "%s, %u workers, order %s",
				 lull_scheduler_name(lull_schedulers[i]), worker_counts[j / 3],
				 lull_order_name(j % 3));
			bench_run(&bench, what);
		}
	}
}

TEST(pipeline__parts_on_one_thread_make_the_same_records)
{
	for (uint32_t i = 0; i < 24; i++) {
		struct bench bench;
		char what[64];

		bench_init(&bench, &frames);
		bench.whole = true;
		bench.config.worker_count = 1 + i / 8;
		bench.config.dispatch.scheduler =
			lull_scheduler_find((i & 1) != 0 ? "rr-packet" : "sticky");
		bench.config.sources[0].stays = (i & 1) != 0;
		bench.config.burst_pkts = (i & 2) != 0 ? 256 : 7;
		bench.config.flush_pkts = (i & 4) != 0 ? 1 : 256;
		bench.config.aggregator_ring = 64;
		bench.kept[0].slow = i % 8 == 0;
		snprintf(what, sizeof(what), "%u workers on one thread less, variant %u",
			 bench.config.worker_count, i % 8);
		bench_run(&bench, what);
	}
}

TEST(pipeline__parts_on_one_thread_are_one_of_each)
{
	struct lull_pipeline_place place = { NULL, 0 };
	struct lull_error error;
	struct bench bench;
	void *state = aligned_alloc(LULL_CACHE_LINE, lull_stage_flow_whole.state_size);

	assert_non_null(state);
	bench_init(&bench, &frames);
	bench.config.aggregator_count = 2;
	assert_int_equal(lull_pipeline_create(&bench.config, &bench.pipeline, &error), 0);
	place.pipeline = bench.pipeline;
	assert_int_equal(lull_stage_flow_whole.init(state, &place, 0), -EINVAL);
	bench_close(&bench);
	free(state);
}

TEST(pipeline__workers_that_read_make_the_same_records)
{
	static const struct lull_pipeline_command stall = { .verb = LULL_PIPELINE_STALL,
							    .stall_ns = 5 * LULL_NS_PER_MS };

	for (uint32_t i = 0; i < 16; i++) {
		struct bench bench;
		char what[64];
		uint32_t count;

		bench_init(&bench, &frames);
		bench.config.workers_read = true;
		bench.config.worker_count = 1 + i / 2;
		bench.config.aggregator_count =
			LULL_MIN(1 + i / 4, (uint32_t)LULL_PIPELINE_AGGREGATOR_MAX);
		bench.config.dispatch.scheduler =
			lull_scheduler_find((i & 1) != 0 ? "hrw" : "crc32");
		bench.config.aggregator_ring = 64;
		bench.kept[0].slow = i % 5 == 0;
		snprintf(what, sizeof(what), "%u workers that read, %u aggregators",
			 bench.config.worker_count, bench.config.aggregator_count);
		bench_start(&bench, NULL);
		if (i % 3 == 0)
			bench_post(bench.workers[bench.config.worker_count - 1], &stall);
		bench_complete(&bench);
		count = bench_records(&bench, records);
		bench_same(expected, expected_count, records, count, what);
		assert_int_equal(lull_pipeline_dispatch(bench.pipeline, 0)->pkts, PKTS);
		bench_close(&bench);
	}
}

TEST(pipeline__workers_read_without_a_dispatcher)
{
	const struct lull_scheduler *sticky = lull_scheduler_find("sticky");
	struct lull_error error;
	struct bench bench;

	for (int i = 0; i < 6; i++) {
		bench_init(&bench, &frames);
		bench.config.workers_read = true;
		bench.config.worker_count = 2;
		if (i == 1)
			bench.config.dispatch.scheduler = sticky;
		if (i == 2)
			bench.config.dispatch.shadow = sticky;
		if (i == 3)
			bench.config.sources[0].stays = false;
		if (i == 4)
			bench.config.dispatch.order = LULL_ORDER_RESEQUENCE;
		if (i == 5)
			bench.config.aggregator_count = 3;
		assert_int_equal(lull_pipeline_create(&bench.config, &bench.pipeline, &error),
				 i == 0 ? 0 : -EINVAL);
		bench_close(&bench);
	}
}

TEST(pipeline__records_do_not_depend_on_rings_and_aggregators)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct bench bench;
		char what[64];

		bench_init(&bench, &frames);
		bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
		bench.config.worker_count = 4;
		bench.config.aggregator_count = 1 + i % 2;
		bench.config.aggregator_ring = 64;
		bench.config.ring_pkts = (i & 2) != 0 ? 1024 : 64;
		bench.config.burst_pkts = (i & 4) != 0 ? 256 : 7;
		bench.config.flush_pkts = (i & 4) != 0 ? 1 : 256;
		bench.kept[0].slow = i % 2 == 0;
		snprintf(what, sizeof(what), "variant %u", i);
		bench_run(&bench, what);
	}
}

TEST(pipeline__records_survive_a_change_of_scheduler)
{
	struct lull_pipeline_command command = { .verb = LULL_PIPELINE_SCHEDULER };
	uint32_t scheduler = 0, changes = 0;
	struct bench bench;

	bench_init(&bench, &frames);
	bench.config.worker_count = 4;
	bench.config.dispatch.scheduler = lull_scheduler_find("crc32");
	/* Slow enough for changes to fall among the packets. */
	bench.config.work_ns = 10 * LULL_NS_PER_US;
	bench_start(&bench, NULL);
	while (!bench_ended(&bench)) {
		command.scheduler = lull_schedulers[scheduler];
		command.shadow = (changes & 1) != 0 ? lull_scheduler_find("hrw") : NULL;
		changes += lull_loop_post_stage(bench.ios[0], &command, sizeof(command)) == 0;
		scheduler = lull_schedulers[scheduler + 1] == NULL ? 0 : scheduler + 1;
		bench_check(&bench);
	}
	assert_true(changes > 0);
	bench_complete(&bench);
	bench_same(expected, expected_count, records, bench_records(&bench, records), "changes");
	bench_close(&bench);
}

TEST(pipeline__identification_changes_no_count)
{
	uint32_t count;

	if (lull_identify_version() == NULL) {
		print_message("skipped: needs a build with nDPI\n");
		skip();
	}
	for (uint32_t workers = 1; workers <= 4; workers += 3) {
		struct bench bench;

		bench_init(&bench, &frames);
		bench.config.identify = true;
		bench.config.worker_count = workers;
		bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
		bench_start(&bench, NULL);
		bench_complete(&bench);
		count = bench_records(&bench, records);
		for (uint32_t i = 0; i < count; i++) {
			records[i].app = 0;
			records[i].app_master = 0;
			records[i].app_confidence = 0;
			records[i].app_number = 0;
			records[i].app_final = 0;
		}
		bench_same(expected, expected_count, records, count, "identified");
		bench_close(&bench);
	}
}

/* ---- several files at once ---- */

static void
sources_init(struct bench *bench, const struct frames *second)
{
	bench_init(bench, &frames);
	bench->config.io_count = 2;
	bench->readings[1].frames = second;
	bench->config.sources[1] =
		(struct lull_pipeline_source){ reading_read, &bench->readings[1], false };
}

TEST(pipeline__several_sources_meet_in_one_record)
{
	struct lull_flow_record *one = calloc(RECORDS_MAX, sizeof(one[0]));
	uint32_t one_count = 0;
	uint64_t pkts = 0;
	struct frames second;
	struct bench bench;

	/* The same flows, seen at another place, at other times. */
	frames_make(&second, SEED + 1, FLOWS, PKTS / 2, LULL_NS_PER_S + 5 * LULL_NS_PER_MS,
		    25 * LULL_NS_PER_US);
	for (uint32_t workers = 1; workers <= 4; workers *= 2) {
		sources_init(&bench, &second);
		bench.config.worker_count = workers;
		bench.config.aggregator_count = workers == 4 ? 2 : 1;
		bench.config.dispatch.scheduler =
			lull_scheduler_find(workers == 4 ? "rr-packet" : "subflow");
		bench_start(&bench, NULL);
		bench_complete(&bench);
		if (workers == 1)
			one_count = bench_records(&bench, one);
		else
			bench_same(one, one_count, records, bench_records(&bench, records),
				   "two sources");
		bench_close(&bench);
	}
	for (uint32_t i = 0; i < one_count; i++)
		pkts += one[i].packets[0] + one[i].packets[1];
	assert_int_equal(pkts, PKTS + PKTS / 2);
	frames_free(&second);
	free(one);
}

/* ---- order ---- */

TEST(pipeline__resequenced_output_is_in_order)
{
	struct lull_pipeline_totals totals;
	struct bench bench;

	bench_init(&bench, &frames);
	bench.config.worker_count = 4;
	bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
	bench.config.dispatch.order = LULL_ORDER_RESEQUENCE;
	bench.readings[0].rounds = 5;
	bench_start(&bench, NULL);
	STAND_WAIT(bench_ended(&bench));
	bench_finish(&bench);
	lull_pipeline_totals(bench.pipeline, &totals);
	assert_int_equal(totals.output, 5 * PKTS);
	assert_int_equal(totals.output_drops, 0);
	assert_int_equal(lull_pipeline_resequence(bench.pipeline)->late, 0);
	assert_int_equal(lull_pipeline_resequence(bench.pipeline)->missing, 0);
	assert_int_equal(lull_pipeline_resequence_wait(bench.pipeline)->count, 5 * PKTS);
	bench_close(&bench);
}

TEST(pipeline__drained_flows_are_never_reordered)
{
	struct lull_pipeline_totals totals;
	struct bench bench;

	for (int order = LULL_ORDER_NONE; order <= LULL_ORDER_DRAIN; order++) {
		bench_init(&bench, &frames);
		bench.config.worker_count = 4;
		bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
		bench.config.dispatch.order = order;
		bench.readings[0].rounds = 5;
		bench_start(&bench, NULL);
		STAND_WAIT(bench_ended(&bench));
		bench_finish(&bench);
		lull_pipeline_totals(bench.pipeline, &totals);
		/* Four workers that are each given every fourth packet cannot keep an order. */
		if (order == LULL_ORDER_NONE)
			assert_true(totals.reordered > 0);
		else
			assert_int_equal(totals.reordered, 0);
		bench_close(&bench);
	}
}

TEST_GROUP(setup, teardown);
