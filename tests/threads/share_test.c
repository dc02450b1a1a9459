/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that share queues, under ThreadSanitizer: what a queue holds is plain memory, so two
 * threads at one queue, or a release that publishes too little, are a data race and end the
 * program.
 */
#include "case.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "loop_run.h"

#define THREADS 4
#define QUEUES 2
#define BURST 32
#define PKTS 40000
#define WAIT_STEPS 60000 /* of 1 ms: the machine may be busy */

/* Its producer raises sent; the rest is of whoever holds it. */
struct ring {
	uint64_t sent;
	uint64_t taken, last_thread, turns;
};
static struct ring rings[QUEUES];
static struct lull_share *share;

struct worker {
	struct lull_loop loop;
	pthread_t thread;
	uint64_t pkts;
};
static struct worker *workers[THREADS];

static void
worker_receive(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct worker *worker = loop->stage_state;
	struct ring *ring;
	uint32_t index;
	uint64_t count;

	loop->queue_pkts[0] = 0;
	if (!lull_idle_take(loop->idle, iteration->now_ns, &index))
		return;
	ring = &rings[index];
	count = LULL_MIN(LULL_COUNTER_READ(ring->sent) - ring->taken, (uint64_t)BURST);
	ring->taken += count;
	ring->turns += ring->last_thread != loop->share->number;
	ring->last_thread = loop->share->number;
	loop->queue_pkts[0] = (uint16_t)count;
	LULL_COUNTER_ADD(worker->pkts, count);
}

static const struct lull_loop_source source = { .receive = worker_receive };

static uint64_t
worker_iterate(void *state, uint64_t now_ns)
{
	(void)state;
	(void)now_ns;
	return 0;
}

static const struct lull_stage stage = { .name = "worker", .iterate = worker_iterate };

static void *
worker_run(void *arg)
{
	lull_loop_run(&((struct worker *)arg)->loop, &source);
	return NULL;
}

static void *
memory(size_t size)
{
	size = (size + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	return memset(aligned_alloc(LULL_CACHE_LINE, size), 0, size);
}

static void
worker_start(uint32_t number)
{
	struct lull_loop_parts parts = {
		.name = "worker",
		.kind = "pretended",
		.cpu = -1,
		.queue_count = 1,
		.burst_pkts = BURST,
		.source = &source,
		.stage = &stage,
		.share = &share->members[number],
		.ways = lull_loop_ways,
		.governor = lull_idle_governor_find("metronome"),
		.limits = { .rest_ns = 20 * LULL_NS_PER_US, .backup_ns = 60 * LULL_NS_PER_US },
		.sched_policy = LULL_SCHED_OTHER,
	};

	workers[number] = memory(sizeof(struct worker));
	parts.stage_state = workers[number];
	parts.idle_memory = memory(lull_idle_size());
	assert_int_equal(lull_loop_init(&workers[number]->loop, &parts), 0);
	assert_int_equal(
		pthread_create(&workers[number]->thread, NULL, worker_run, workers[number]), 0);
}

static uint64_t
received(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		sum += LULL_COUNTER_READ(workers[i]->pkts);
	return sum;
}

/* Others look at what a thread counts, while it does. */
static void
look(void)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct lull_share_member *member = &share->members[i];

		(void)LULL_COUNTER_READ(member->counters.tries_failed);
		(void)lull_share_vacation_ns(member);
		(void)lull_histogram_quantile(&member->vacations, 990000);
	}
}

static void
send_all(void)
{
	for (uint64_t sent = 0; sent < PKTS; sent++) {
		__atomic_fetch_add(&rings[sent % QUEUES].sent, 1, __ATOMIC_RELAXED);
		if (sent % 500 == 0) {
			look();
			usleep(500);
		}
	}
}

TEST(share__each_packet_once_by_one_thread_at_a_time)
{
	uint64_t tries = 0, vacations = 0;
	int steps = 0;

	share = memory(lull_share_size(THREADS));
	lull_share_init(share, QUEUES, THREADS, 1);
	for (uint32_t i = 0; i < THREADS; i++)
		worker_start(i);
	send_all();
	while (received() < PKTS && steps++ < WAIT_STEPS)
		usleep(1000);
	for (uint32_t i = 0; i < THREADS; i++)
		lull_loop_end(&workers[i]->loop);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(workers[i]->thread, NULL);
	assert_int_equal(received(), PKTS);
	for (uint32_t i = 0; i < QUEUES; i++) {
		assert_int_equal(rings[i].taken, PKTS / QUEUES);
		assert_true(rings[i].turns > 10); /* no queue is one thread's alone */
		assert_int_equal(share->queues[i].held, 0);
		assert_int_equal(lull_share_queue_threads(&share->queues[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		tries += share->members[i].counters.tries - share->members[i].counters.tries_failed;
		vacations += share->members[i].vacations.count;
		lull_loop_fini(&workers[i]->loop);
		free(workers[i]->loop.idle_memory);
		free(workers[i]);
	}
	/* all but the first of each queue, if no window began meanwhile */
	assert_int_equal(vacations, tries - QUEUES);
	free(share);
}
