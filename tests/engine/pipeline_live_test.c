/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline while it runs: nothing is lost or made, ports, silence, stalls, the heaviest flows,
 * the end.
 */
#include "pipeline_stand.h"

#include <errno.h>

#include <stdlib.h>

#include <rte_ethdev.h>

#include "engine/flow/stage.h"

#define SEED 20261123
#define FLOWS 200
#define PKTS 4000
#define CHECKS 5000

static struct frames frames;

static int
setup(void **state)
{
	(void)state;
	printf("seed %d\n", SEED);
	frames_make(&frames, SEED, FLOWS, PKTS, LULL_NS_PER_S, 10 * LULL_NS_PER_US);
	return stand_start_many(NULL, PIPELINE_LOOPS);
}

static int
teardown(void **state)
{
	frames_free(&frames);
	return stand_stop(state);
}

/* ---- conservation ---- */

static void
endless_init(struct bench *bench, bool wait)
{
	bench_init(bench, &frames);
	bench->readings[0].rounds = 0;
	bench->config.worker_count = 3;
	bench->config.wait = wait;
	bench->config.aggregator_ring = 64;
	bench->config.dispatch.scheduler = lull_scheduler_find("subflow");
}

/* Totals add up however old each of their parts is. */
static void
check_totals(const struct lull_pipeline_totals *all)
{
	const struct lull_encode_totals *totals = &all->totals;

	assert_int_equal(totals->rx, totals->dispatched + all->staged + totals->drop_ring +
					     totals->not_ip + totals->malformed +
					     totals->truncated + totals->link);
	assert_int_equal(totals->dispatched,
			 totals->recorded + totals->unrecorded + all->open + all->in_flight);
	assert_in_range(all->open, 0, totals->dispatched);
}

static void
check_long(struct bench *bench)
{
	const struct lull_pipeline_command stall = { .verb = LULL_PIPELINE_STALL,
						     .stall_ns = 5 * LULL_NS_PER_MS };
	uint64_t rx = 0;

	for (int i = 0; i < CHECKS; i++) {
		struct lull_pipeline_totals totals;

		if (i % 500 == 0)
			bench_post(bench->workers[i / 500 % 3], &stall);
		bench_check(bench);
		totals = totals_of(bench);
		check_totals(&totals);
		assert_true(totals.totals.rx >= rx);
		rx = totals.totals.rx;
	}
}

TEST(pipeline__nothing_is_lost_that_is_not_counted)
{
	const struct lull_pipeline_command stall = { .verb = LULL_PIPELINE_STALL,
						     .stall_ns = STAND_PATIENCE_NS };
	const struct lull_pipeline_command go_on = { .verb = LULL_PIPELINE_STALL };
	uint64_t dispatched = 0;
	struct bench bench;

	endless_init(&bench, false);
	bench_start(&bench, NULL);
	check_long(&bench);
	/* All workers stand still: rings fill up, and the I/O loop goes on. */
	for (int i = 0; i < 3; i++)
		bench_post(bench.workers[i], &stall);
	STAND_WAIT(totals_of(&bench).totals.drop_ring > 10000);
	bench_check(&bench);
	for (int i = 0; i < 3; i++)
		bench_post(bench.workers[i], &go_on);
	bench_finish(&bench);
	bench_check(&bench);
	/* The dispatcher has counted the same. */
	assert_int_equal(lull_pipeline_dispatch(bench.pipeline, 0)->refused,
			 totals_of(&bench).totals.drop_ring);
	for (int i = 0; i < 3; i++)
		dispatched += lull_pipeline_dispatch(bench.pipeline, 0)->worker_pkts[i];
	assert_int_equal(dispatched, totals_of(&bench).totals.dispatched);
	assert_int_equal(totals_of(&bench).in_flight, 0);
	assert_int_equal(totals_of(&bench).open, 0);
	bench_close(&bench);
}

TEST(pipeline__told_to_wait_it_drops_nothing)
{
	struct bench bench;

	endless_init(&bench, true);
	bench_start(&bench, NULL);
	check_long(&bench);
	STAND_WAIT(totals_of(&bench).totals.rx > 0);
	bench_finish(&bench);
	bench_check(&bench);
	assert_int_equal(totals_of(&bench).totals.drop_ring, 0);
	assert_int_equal(totals_of(&bench).totals.rx, totals_of(&bench).totals.recorded);
	bench_close(&bench);
}

/* The check itself: it finds a packet too many and one too few. */
TEST(pipeline_check__finds_what_does_not_add_up)
{
	struct lull_error error = { "" };
	struct bench bench;

	bench_init(&bench, &frames);
	bench_start(&bench, NULL);
	STAND_WAIT(bench_ended(&bench));
	bench_finish(&bench);
	bench_stop(&bench);
	bench_check(&bench);
	uint64_t *const words[] = {
		&bench.pipeline->ios[0]->words.rx,
		&bench.pipeline->ios[0]->words.sent[0],
		&bench.pipeline->workers[0]->words.taken[0],
		&bench.pipeline->workers[0]->words.pkts,
		&bench.pipeline->workers[0]->words.put_pkts[0],
		&bench.pipeline->aggregators[0]->words.got[0],
		&bench.pipeline->aggregators[0]->words.got_pkts[0],
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		++*words[i];
		assert_int_equal(lull_pipeline_check(bench.pipeline, &error), -EPROTO);
		assert_true(error.text[0] != '\0');
		--*words[i];
		bench_check(&bench);
	}
	bench_close(&bench);
}

/* ---- ports ---- */

TEST(pipeline__a_port_goes_silent_and_its_flows_end)
{
	const struct lull_pipeline_command idle = { .verb = LULL_PIPELINE_IDLE,
						    .idle_ns = 10 * LULL_NS_PER_MS };
	struct lull_port near, far;
	struct bench bench;

	port_init(&bench, &frames, "silent", &near, &far);
	bench.config.table.idle_ns = 3600 * LULL_NS_PER_S;
	bench_start(&bench, &far);
	port_send(&near, 50, 1000);
	STAND_WAIT(totals_of(&bench).totals.rx == 1000);
	STAND_WAIT(totals_of(&bench).open == 1000);
	assert_in_range(totals_of(&bench).open_flows, 50, 100); /* of two workers */
	/* Not a packet more: the clock of the loops alone ends the flows. */
	for (int i = 0; i < 2; i++)
		bench_post(bench.workers[i], &idle);
	bench_post(bench.loops[0], &idle);
	STAND_WAIT(totals_of(&bench).totals.recorded == 1000);
	assert_int_equal(totals_of(&bench).open_flows, 0);
	bench_check(&bench);
	STAND_WAIT(__atomic_load_n(&bench.kept[0].count, __ATOMIC_ACQUIRE) ==
		   totals_of(&bench).totals.records);
	bench_finish(&bench);
	/* What comes after the end is let go and belongs to nothing. */
	port_send(&near, 50, 100);
	STAND_WAIT(rte_mempool_in_use_count(stand_pool()) == 0);
	bench_check(&bench);
	assert_int_equal(totals_of(&bench).totals.rx, 1000);
	bench_stop(&bench);
	assert_true(bench.kept[0].count >= 50);
	for (uint32_t i = 0; i < bench.kept[0].count; i++)
		assert_true(bench.kept[0].records[i].first_ns > 1000000000 * LULL_NS_PER_S);
	bench_close(&bench);
	lull_port_close(&near);
	lull_port_close(&far);
}

/* They waited in the ring, so one poll finds them all: spread over a millisecond. */
TEST(pipeline__packets_of_one_poll_have_times_of_their_own)
{
	struct lull_port near, far;
	struct bench bench;
	const struct lull_flow_record *record = NULL;

	port_init(&bench, &frames, "spread", &near, &far);
	port_send(&near, 1, 20);
	bench_start(&bench, &far);
	STAND_WAIT(totals_of(&bench).totals.rx == 20);
	bench_finish(&bench);
	bench_stop(&bench);
	assert_int_equal(bench.kept[0].count, 1);
	record = &bench.kept[0].records[0];
	assert_int_equal(record->packets[0] + record->packets[1], 20);
	assert_true(record->last_ns - record->first_ns > 940 * LULL_NS_PER_US);
	assert_true(record->last_ns - record->first_ns <= LULL_NS_PER_MS);
	bench_close(&bench);
	lull_port_close(&near);
	lull_port_close(&far);
}

TEST(pipeline__packets_leave_by_the_output_port_in_order)
{
	struct lull_port near, far;
	struct bench bench;
	uint32_t count = 0, next[7] = { 0 };

	port_init(&bench, &frames, "output", &near, &far);
	bench.config.table.idle_ns = 30 * LULL_NS_PER_S;
	bench.config.dispatch.order = LULL_ORDER_RESEQUENCE;
	bench.config.output_send = true;
	bench.config.output_port = far.port_id;
	bench_start(&bench, &far);
	port_send(&near, 7, 900);
	bench_post(bench.ios[0], &(struct lull_pipeline_command){ .verb = LULL_PIPELINE_FLUSH,
								  .flush_pkts = 8,
								  .flush_ns = LULL_NS_PER_MS });
	while (count < 900) {
		struct rte_mbuf *pkt = NULL;
		const uint8_t *ip;
		uint32_t flow, number;

		STAND_WAIT(rte_eth_rx_burst(near.port_id, 0, &pkt, 1) == 1);
		ip = rte_pktmbuf_mtod_offset(pkt, const uint8_t *, 14);
		number = (uint32_t)(ip[4] << 8 | ip[5]);
		flow = number % 7;
		assert_true(number >= next[flow]);
		next[flow] = number + 7;
		rte_pktmbuf_free(pkt);
		count++;
	}
	bench_finish(&bench);
	assert_int_equal(totals_of(&bench).output, 900);
	bench_close(&bench);
	lull_port_close(&near);
	lull_port_close(&far);
}

/* ---- the heaviest flows ---- */

TEST(pipeline_top__finds_the_heaviest)
{
	struct lull_flow_top *top = calloc(1, sizeof(*top));
	struct bench bench;

	assert_non_null(top);
	bench_init(&bench, &frames);
	bench.config.worker_count = 3;
	bench.config.dispatch.scheduler = lull_scheduler_find("rr-packet");
	bench.config.table.idle_ns = 60 * LULL_NS_PER_S;
	bench.readings[0].hold = true;
	bench_start(&bench, NULL);
	STAND_WAIT(totals_of(&bench).totals.rx == PKTS && totals_of(&bench).in_flight == 0);
	STAND_WAIT((lull_pipeline_top(bench.pipeline, top), top->count == LULL_FLOW_TOP_MAX));
	for (uint32_t i = 1; i < top->count; i++) {
		const struct lull_flow_record *a = &top->records[i - 1], *b = &top->records[i];

		assert_true(a->bytes[0] + a->bytes[1] >= b->bytes[0] + b->bytes[1]);
		assert_false(lull_flow_key_same(&a->key, &b->key));
	}
	bench_finish(&bench);
	bench_close(&bench);
	free(top);
}

/* ---- the end, the beginning ---- */

TEST(pipeline_finish__says_who_is_not_done)
{
	struct lull_error error = { "" };
	struct bench bench;

	bench_init(&bench, &frames);
	bench.config.ring_pkts = 8192;
	bench_start(&bench, NULL);
	lull_loop_stop(bench.workers[0]);
	assert_int_equal(lull_pipeline_finish(bench.pipeline, LULL_NS_PER_MS, &error), -ETIMEDOUT);
	assert_true(error.text[0] != '\0');
	STAND_WAIT(lull_pipeline_finish(bench.pipeline, LULL_NS_PER_MS, &error) == -ETIMEDOUT &&
		   strstr(error.text, "worker 0") != NULL);
	assert_int_equal(lull_loop_start(bench.workers[0]), 0);
	bench_finish(&bench);
	bench_check(&bench);
	bench_close(&bench);
}

TEST(pipeline_create__refuses_what_cannot_be)
{
	struct lull_pipeline *pipeline = NULL;
	struct lull_error error = { "" };
	struct bench bench;

	bench_init(&bench, &frames);
	bench.config.ring_pkts = 100;
	assert_int_equal(lull_pipeline_create(&bench.config, &pipeline, &error), -EINVAL);
	assert_non_null(strstr(error.text, "ring_pkts"));
	bench.config.ring_pkts = 64;
	bench.config.worker_count = LULL_DISPATCH_WORKERS_MAX + 1;
	assert_int_equal(lull_pipeline_create(&bench.config, &pipeline, &error), -EINVAL);
	assert_non_null(strstr(error.text, "worker_count"));
	bench.config.worker_count = 1;
	bench.config.table.idle_ns = 1;
	assert_int_equal(lull_pipeline_create(&bench.config, &pipeline, &error), -EINVAL);
	assert_non_null(strstr(error.text, "idle_ns"));
	bench.config.table.idle_ns = 0;
	bench.config.sinks[0].record = NULL;
	assert_int_equal(lull_pipeline_create(&bench.config, &pipeline, &error), -EINVAL);
	bench_close(&bench);
}

/* Packets still anywhere go with the pipeline. */
TEST(pipeline_destroy__takes_what_is_still_inside)
{
	for (int i = 0; i < 3; i++) {
		struct bench bench;

		endless_init(&bench, i != 0);
		bench.config.dispatch.order = LULL_ORDER_RESEQUENCE;
		bench_start(&bench, NULL);
		STAND_WAIT(totals_of(&bench).totals.rx > PKTS);
		bench_stop(&bench);
		bench_check(&bench);
		bench_close(&bench);
	}
}

TEST_GROUP(setup, teardown);
