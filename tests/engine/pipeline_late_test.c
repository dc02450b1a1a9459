/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that stand still: who waits for them, for how long, and what their flows say then. Rings
 * that are full: what another worker gets late is recorded as if it had come in order.
 */
#include "pipeline_stand.h"

#include <stdlib.h>

#include "engine/flow/stage.h"

#define SEED 20261124
#define FLOWS 300
#define PKTS 6000
#define PORT_FLOWS 99 /* odd: by turns each has packets at both workers */
#define PORT_PKTS 1000
#define ROUNDS 4
#define SHORT_NS (5 * LULL_NS_PER_MS) /* many records */
#define LATE_NS (100 * LULL_NS_PER_MS)

static struct frames frames;
static struct lull_flow_record *expected, *records;
static uint32_t expected_count;

static int
setup(void **state)
{
	struct bench bench;

	(void)state;
	printf("seed %d\n", SEED);
	if (stand_start_many(NULL, PIPELINE_LOOPS) != 0)
		return -1;
	frames_make(&frames, SEED, FLOWS, PKTS, LULL_NS_PER_S, 10 * LULL_NS_PER_US);
	expected = calloc(RECORDS_MAX, sizeof(expected[0]));
	records = calloc(RECORDS_MAX, sizeof(records[0]));
	bench_init(&bench, &frames);
	bench_start(&bench, NULL);
	bench_complete(&bench);
	expected_count = bench_records(&bench, expected);
	bench_close(&bench);
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

static void
stall(const struct bench *bench, uint32_t worker, uint64_t stall_ns)
{
	bench_post(bench->workers[worker], &(struct lull_pipeline_command){
						   .verb = LULL_PIPELINE_STALL,
						   .stall_ns = stall_ns,
					   });
}

static struct lull_pipeline_late
late_of(const struct bench *bench)
{
	struct lull_pipeline_late late;

	lull_pipeline_late(bench->pipeline, &late);
	return late;
}

static uint64_t
sent_to(const struct bench *bench, uint32_t worker)
{
	return LULL_COUNTER_READ(lull_pipeline_dispatch(bench->pipeline, 0)->worker_pkts[worker]);
}

static uint32_t
count_of(const struct bench *bench)
{
	return __atomic_load_n(&bench->kept[0].count, __ATOMIC_ACQUIRE);
}

/* Frames once told to go, and as long as all workers but the first keep up with them. */
struct paced {
	struct reading reading;
	const struct bench *bench;
	bool go;
};

static uint32_t
paced_read(void *arg, struct lull_pipeline_frame *list, uint32_t count, bool *end)
{
	struct paced *paced = arg;

	*end = false;
	if (!__atomic_load_n(&paced->go, __ATOMIC_ACQUIRE))
		return 0;
	for (uint32_t i = 1; paced->bench != NULL && i < paced->bench->config.worker_count; i++) {
		if (rte_ring_count(paced->bench->pipeline->ios[0]->rings[i]) > 16)
			return 0;
	}
	return reading_read(&paced->reading, list, LULL_MIN(count, 8u), end);
}

/* ---- live ---- */

static void
live_start(struct bench *bench, const char *name, const char *scheduler, struct lull_port *near,
	   struct lull_port *far)
{
	port_init(bench, &frames, name, near, far);
	bench->config.late_ns = LATE_NS;
	bench->config.dispatch.bucket_bits = 8; /* flows share buckets */
	bench->config.dispatch.scheduler = lull_scheduler_find(scheduler);
	bench_start(bench, far);
	stall(bench, 0, STAND_PATIENCE_NS);
	port_send(near, PORT_FLOWS, PORT_PKTS);
	STAND_WAIT(totals_of(bench).totals.rx == PORT_PKTS);
	STAND_WAIT(sent_to(bench, 0) + sent_to(bench, 1) == PORT_PKTS);
	assert_in_range(sent_to(bench, 0), 1, PORT_PKTS - 1);
}

static void
live_close(struct bench *bench, struct lull_port *near, struct lull_port *far)
{
	bench_finish(bench);
	bench_check(bench);
	assert_int_equal(totals_of(bench).open, 0);
	assert_int_equal(late_of(bench).behind, 0);
	bench_close(bench);
	lull_port_close(near);
	lull_port_close(far);
}

/* Their flows are whole at one worker, and leave as if the other were not there. */
TEST(late__holds_nothing_back_that_was_not_split)
{
	struct lull_port near, far;
	struct bench bench;
	uint32_t count;

	live_start(&bench, "whole", "hrw", &near, &far);
	STAND_WAIT(totals_of(&bench).totals.recorded == sent_to(&bench, 1));
	STAND_WAIT(count_of(&bench) == totals_of(&bench).totals.records);
	count = count_of(&bench);
	assert_in_range(count, 1, PORT_FLOWS - 1);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(bench.kept[0].records[i].exact, 1);
		assert_int_equal(bench.kept[0].records[i].workers, 2);
		assert_int_equal(bench.kept[0].records[i].end, LULL_FLOW_END_IDLE);
	}
	stall(&bench, 0, 0);
	STAND_WAIT(totals_of(&bench).totals.recorded == PORT_PKTS);
	STAND_WAIT(count_of(&bench) == PORT_FLOWS);
	for (uint32_t i = 0; i < PORT_FLOWS; i++)
		assert_int_equal(bench.kept[0].records[i].exact, 1);
	assert_int_equal(late_of(&bench).records + late_of(&bench).parts, 0);
	live_close(&bench, &near, &far);
}

TEST(late__leaves_out_a_worker_and_takes_it_back)
{
	struct lull_port near, far;
	struct bench bench;
	uint32_t count;

	live_start(&bench, "back", "rr-packet", &near, &far);
	STAND_WAIT(late_of(&bench).workers == 1);
	assert_int_equal(late_of(&bench).times[0], 1);
	assert_int_equal(late_of(&bench).times[1], 0);
	STAND_WAIT(totals_of(&bench).totals.recorded == sent_to(&bench, 1));
	STAND_WAIT(count_of(&bench) == totals_of(&bench).totals.records);
	assert_int_equal(late_of(&bench).records, count_of(&bench));
	stall(&bench, 0, 0);
	STAND_WAIT(late_of(&bench).workers == 0);
	STAND_WAIT(totals_of(&bench).totals.recorded == PORT_PKTS);
	STAND_WAIT(count_of(&bench) == totals_of(&bench).totals.records);
	assert_true(late_of(&bench).parts > 0);
	assert_true(late_of(&bench).ns[0] > 0);
	count = count_of(&bench);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(bench.kept[0].records[i].exact, 0);
	/* From now on it is one of them again. */
	port_send(&near, PORT_FLOWS, PORT_PKTS);
	STAND_WAIT(totals_of(&bench).totals.recorded == 2 * PORT_PKTS);
	STAND_WAIT(count_of(&bench) == totals_of(&bench).totals.records);
	assert_true(count_of(&bench) >= count + PORT_FLOWS);
	for (uint32_t i = count; i < count_of(&bench); i++) {
		assert_int_equal(bench.kept[0].records[i].exact, 1);
		assert_int_equal(bench.kept[0].records[i].workers, 3);
	}
	assert_int_equal(late_of(&bench).times[0], 1);
	live_close(&bench, &near, &far);
}

/* ---- files ---- */

static uint32_t
rounds_expected(struct lull_flow_record *list)
{
	struct bench bench;
	uint32_t count;

	bench_init(&bench, &frames);
	bench.readings[0].rounds = ROUNDS;
	bench.config.table.idle_ns = SHORT_NS;
	bench_start(&bench, NULL);
	bench_complete(&bench);
	count = bench_records(&bench, list);
	bench_close(&bench);
	return count;
}

/* A worker that stands still costs no record: the merge takes no more from the others. */
TEST(late__waits_in_files_without_evictions)
{
	struct paced paced = { .reading = { .frames = &frames, .rounds = ROUNDS } };
	struct lull_flow_record *list = calloc(RECORDS_MAX, sizeof(list[0]));
	uint32_t list_count = rounds_expected(list);
	const struct lull_flow_merge_counters *merge;
	struct bench bench;

	bench_init(&bench, &frames);
	bench.config.sources[0] = (struct lull_pipeline_source){ paced_read, &paced, true };
	bench.config.worker_count = 2;
	bench.config.ring_pkts = 8192;
	bench.config.table.idle_ns = SHORT_NS;
	bench.config.aggregator_ring = 64;
	bench.config.merge_records = 900;
	bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
	bench_start(&bench, NULL);
	stall(&bench, 0, STAND_PATIENCE_NS);
	__atomic_store_n(&paced.go, true, __ATOMIC_RELEASE);
	STAND_WAIT(LULL_COUNTER_READ(bench.pipeline->aggregators[0]->counters.held_back) > 0);
	stall(&bench, 0, 0);
	bench_complete(&bench);
	merge = lull_pipeline_merge(bench.pipeline, 0);
	assert_int_equal(merge->evicted, 0);
	assert_int_equal(merge->late + merge->late_parts, 0);
	bench_same(list, list_count, records, bench_records(&bench, records), "stalled");
	bench_close(&bench);
	free(list);
}

/* ---- full rings ---- */

/* Returns what went to a second worker. */
static uint64_t
paced_run(const struct lull_scheduler *scheduler, bool *compared)
{
	struct paced paced = { .reading = { .frames = &frames, .rounds = 1 } };
	const struct lull_dispatch_counters *dispatch;
	struct bench bench;
	uint64_t retried;

	bench_init(&bench, &frames);
	paced.bench = &bench;
	bench.config.worker_count = 4;
	bench.config.wait = false;
	bench.config.dispatch.scheduler = scheduler;
	bench.config.sources[0] = (struct lull_pipeline_source){ paced_read, &paced, false };
	bench_start(&bench, NULL);
	stall(&bench, 0, STAND_PATIENCE_NS);
	__atomic_store_n(&paced.go, true, __ATOMIC_RELEASE);
	STAND_WAIT(bench_ended(&bench));
	stall(&bench, 0, 0);
	bench_complete(&bench);
	dispatch = lull_pipeline_dispatch(bench.pipeline, 0);
	retried = dispatch->retried;
	assert_int_equal(late_of(&bench).behind, 0);
	assert_int_equal(late_of(&bench).parts, 0);
	*compared = dispatch->refused == 0;
	if (*compared)
		bench_same(expected, expected_count, records, bench_records(&bench, records),
			   lull_scheduler_name(scheduler));
	bench_close(&bench);
	return retried;
}

TEST(retry__records_are_the_same)
{
	uint32_t compared_count = 0;
	uint64_t retried = 0;

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		bool compared;

		retried += paced_run(lull_schedulers[i], &compared);
		compared_count += compared;
	}
	assert_true(retried > 100);
	assert_true(compared_count >= 4);
}

/* ---- full rings, live ---- */

/* A record per flow: those that are exact are whole, and the others lack what was dropped. */
static void
check_loss(const struct bench *bench, uint32_t each)
{
	uint64_t missing = 0;
	uint32_t count = bench_records(bench, records);

	assert_int_equal(count, PORT_FLOWS);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t pkts = records[i].packets[0] + records[i].packets[1];

		assert_in_range(pkts, 1, each);
		assert_int_equal(records[i].exact, pkts == each);
		missing += each - pkts;
	}
	assert_int_equal(missing, totals_of(bench).totals.drop_ring);
}

/* Returns what was dropped while a worker took nothing. Then one more of each flow comes. */
static uint64_t
loss_run(const struct lull_scheduler *scheduler, uint32_t index, uint64_t *retried)
{
	const uint32_t each = 20;
	struct lull_port near, far;
	struct bench bench;
	uint64_t dropped;
	char name[16];

	snprintf(name, sizeof(name), "loss%u", index);
	port_init(&bench, &frames, name, &near, &far);
	bench.config.worker_count = 4;
	bench.config.ring_pkts = 64;
	bench.config.table.idle_ns = 3600 * LULL_NS_PER_S;
	bench.config.dispatch.scheduler = scheduler;
	bench_start(&bench, &far);
	stall(&bench, 0, STAND_PATIENCE_NS);
	port_send(&near, PORT_FLOWS, each * PORT_FLOWS);
	STAND_WAIT(totals_of(&bench).totals.rx == each * PORT_FLOWS);
	stall(&bench, 0, 0);
	STAND_WAIT(totals_of(&bench).staged + totals_of(&bench).in_flight == 0);
	for (uint32_t i = 0; i < PORT_FLOWS; i += 33) {
		port_send_from(&near, i, 33);
		STAND_WAIT(totals_of(&bench).totals.rx == each * PORT_FLOWS + i + 33);
		STAND_WAIT(totals_of(&bench).staged + totals_of(&bench).in_flight == 0);
	}
	bench_finish(&bench);
	bench_check(&bench);
	assert_int_equal(late_of(&bench).behind + late_of(&bench).parts, 0);
	check_loss(&bench, each + 1);
	dropped = totals_of(&bench).totals.drop_ring;
	*retried += lull_pipeline_dispatch(bench.pipeline, 0)->retried;
	bench_close(&bench);
	lull_port_close(&near);
	lull_port_close(&far);
	return dropped;
}

TEST(loss__every_scheduler_tells_it)
{
	uint64_t dropped = 0, retried = 0;

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++)
		dropped += loss_run(lull_schedulers[i], i, &retried);
	assert_true(dropped > 100);
	assert_true(retried > 0);
}

TEST_GROUP(setup, teardown);
