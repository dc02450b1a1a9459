/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live loop decided, decided again: iterations and wakes recorded on real rings go through a
 * fresh idle object, which must plan the same rests. That is what makes the simulator's word good.
 */
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "stand.h"

#define RECORDS_MAX 20000
#define QUEUES 2

struct record {
	uint64_t now_ns, deadline_ns;
	uint16_t queue_pkts[QUEUES];
	uint64_t size_pkts, bytes, bytes_squared;
	struct lull_rest rest;
	struct lull_wake wake;
	bool woken;
};

struct recording {
	struct record *records;
	uint32_t count; /* written by the loop, read here */
	const struct lull_loop *loop;
};

static void
record(void *arg, const struct lull_iteration *iteration, const struct lull_rest *rest,
       const struct lull_wake *wake)
{
	struct recording *recording = arg;
	uint32_t count = recording->count;
	struct record *last;

	if (wake != NULL) {
		if (count <= RECORDS_MAX) {
			recording->records[count - 1].wake = *wake;
			recording->records[count - 1].woken = true;
		}
		return;
	}
	if (count >= RECORDS_MAX) {
		__atomic_store_n(&recording->count, RECORDS_MAX + 1, __ATOMIC_RELAXED);
		return;
	}
	last = &recording->records[count];
	last->now_ns = iteration->now_ns;
	last->deadline_ns = iteration->deadline_ns;
	assert_int_equal(iteration->queue_count, QUEUES);
	memcpy(last->queue_pkts, iteration->queue_pkts, sizeof(last->queue_pkts));
	last->size_pkts = iteration->size_pkts;
	last->bytes = iteration->bytes;
	last->bytes_squared = iteration->bytes_squared;
	last->rest = *rest;
	__atomic_store_n(&recording->count, count + 1, __ATOMIC_RELEASE);
}

/* Enough traffic for every governor to rest, wake and rest again; then silence. */
static void
make_traffic(const struct lull_port *near, const struct recording *recording)
{
	uint64_t end_ns = lull_clock_ns() + STAND_PATIENCE_NS;
	uint32_t number = 0;

	while (__atomic_load_n(&recording->count, __ATOMIC_RELAXED) < RECORDS_MAX / 2 &&
	       number < 20000) {
		uint16_t queue = number % QUEUES;
		struct rte_mbuf *pkts[32];
		uint16_t count;

		pkts[0] = stand_frame(stand_pool(), number++);
		if (pkts[0] != NULL && rte_eth_tx_burst(near->port_id, queue, pkts, 1) == 0)
			rte_pktmbuf_free(pkts[0]);
		count = rte_eth_rx_burst(near->port_id, queue, pkts, 32);
		rte_pktmbuf_free_bulk(pkts, count);
		if (number % 512 == 0)
			rte_delay_us_sleep(number % 3000);
		assert_true(lull_clock_ns() < end_ns);
	}
}

static void
replay(const struct recording *recording, const struct lull_idle_governor *governor,
       const struct lull_idle_limits *limits)
{
	uint32_t count = LULL_MIN(recording->count, (uint32_t)RECORDS_MAX);
	void *memory = aligned_alloc(LULL_CACHE_LINE, lull_idle_size());
	struct lull_idle *idle;
	uint64_t pkts = 0, sized = 0;
	uint32_t rests = 0;

	assert_true(count > 10);
	assert_int_equal(
		lull_idle_init(memory, governor, limits, recording->records[0].now_ns, &idle), 0);
	for (uint32_t i = 0; i < count; i++) {
		const struct record *record = &recording->records[i];
		const struct lull_iteration iteration = {
			.now_ns = record->now_ns,
			.deadline_ns = record->deadline_ns,
			.queue_pkts = record->queue_pkts,
			.size_pkts = record->size_pkts,
			.bytes = record->bytes,
			.bytes_squared = record->bytes_squared,
			.queue_count = QUEUES,
		};
		struct lull_rest rest = lull_idle_plan(idle, &iteration);

		pkts += record->queue_pkts[0] + record->queue_pkts[1];
		sized += record->size_pkts;
		assert_true(record->bytes >= 60 * record->size_pkts);
		if (rest.idle_state != record->rest.idle_state ||
		    rest.limit_ns != record->rest.limit_ns)
			fail_msg("%s, iteration %u of %u: %s %llu ns live, %s %llu ns again",
				 lull_idle_governor_name(governor), i, count,
				 lull_idle_state_name(record->rest.idle_state),
				 (unsigned long long)record->rest.limit_ns,
				 lull_idle_state_name(rest.idle_state),
				 (unsigned long long)rest.limit_ns);
		if (record->woken) {
			lull_idle_wake(idle, &record->wake);
			rests++;
		}
	}
	assert_int_equal(sized, lull_idle_wants_sizes(idle) ? pkts : 0);
	print_message("   %-10s %u iterations, %u rests\n", lull_idle_governor_name(governor),
		      count, rests);
	free(memory);
}

static void
record_and_replay(const struct lull_idle_governor *governor)
{
	struct recording recording = { .count = 0 };
	struct lull_forward_config forward;
	struct lull_loop_snapshot snapshot;
	struct lull_loop_config config;
	struct lull_port near, far;
	struct lull_loop *loop;

	recording.records = calloc(RECORDS_MAX, sizeof(recording.records[0]));
	assert_non_null(recording.records);
	stand_pair("replay", QUEUES, 512, &near, &far);
	config = stand_loop("fwd0", 1, &far, &forward);
	config.queue_count = QUEUES;
	config.queues[1] = (struct lull_loop_queue){ far.port_id, 1 };
	forward.queue_count = QUEUES;
	forward.tx[1].port_id = far.port_id;
	forward.tx[1].queue_id = 1;
	config.governor = governor;
	config.limits.loss = LULL_LOSS_ZERO;
	config.sched_policy = LULL_SCHED_OTHER; /* a class that changes is not in the record */
	config.trace = record;
	config.trace_arg = &recording;
	loop = stand_run(&config);
	make_traffic(&near, &recording);
	STAND_WAIT(lull_loop_counters(loop)->iterations > 200);
	lull_loop_stop(loop);
	lull_loop_snapshot(loop, &snapshot);
	assert_int_equal(lull_loop_counters(loop)->misses, 0); /* the recording has none */
	replay(&recording, governor, &snapshot.limits);
	lull_loop_destroy(loop);
	lull_port_close(&near);
	lull_port_close(&far);
	free(recording.records);
}

TEST(replay__plans_the_same_rests)
{
	for (int i = 0; lull_idle_governors[i] != NULL; i++)
		record_and_replay(lull_idle_governors[i]);
}

TEST_GROUP(stand_setup, stand_stop);
