/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads share, under ThreadSanitizer: a loop that works and others that read, write to its
 * mailbox and take copies. A data race ends the program; what is checked besides is that nobody
 * sees halves.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <lull/idle.h>

#include "case.h"
#include "host/mailbox.h"
#include "host/snapshot.h"

#define POSTERS 3
#define MESSAGES 2000
#define SNAPSHOTS 20000
#define ITERATIONS 20000

/* ---- mailbox: several post, one takes ---- */

struct post {
	uint32_t poster, number;
	uint8_t pattern[200];
};

struct office {
	struct lull_mailbox mailbox;
	uint32_t poster;
};

static void *
post_all(void *arg)
{
	struct office *office = arg;
	struct post post = { .poster = __atomic_fetch_add(&office->poster, 1, __ATOMIC_RELAXED) };

	for (post.number = 0; post.number < MESSAGES; post.number++) {
		memset(post.pattern, (int)(post.number & 0xff), sizeof(post.pattern));
		while (lull_mailbox_post(&office->mailbox, 7, &post, sizeof(post)) == -EAGAIN)
			sched_yield();
	}
	return NULL;
}

static void
check_post(const struct lull_message *message, uint32_t *next)
{
	struct post post;

	assert_int_equal(message->kind, 7);
	assert_int_equal(message->size, sizeof(post));
	memcpy(&post, message->data, sizeof(post));
	assert_in_range(post.poster, 0, POSTERS - 1);
	assert_int_equal(post.number, next[post.poster]++);
	for (size_t i = 0; i < sizeof(post.pattern); i++)
		assert_int_equal(post.pattern[i], post.number & 0xff);
}

TEST(mailbox__every_message_whole_and_in_order_of_its_poster)
{
	struct office *office = aligned_alloc(LULL_CACHE_LINE, sizeof(*office));
	uint32_t next[POSTERS] = { 0 };
	pthread_t posters[POSTERS];
	uint32_t taken = 0;

	assert_non_null(office);
	office->poster = 0;
	lull_mailbox_init(&office->mailbox);
	for (uint32_t i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&posters[i], NULL, post_all, office), 0);
	while (taken < POSTERS * MESSAGES) {
		const struct lull_message *message = lull_mailbox_peek(&office->mailbox);

		if (message == NULL) {
			sched_yield();
			continue;
		}
		check_post(message, next);
		lull_mailbox_pop(&office->mailbox);
		taken++;
	}
	for (uint32_t i = 0; i < POSTERS; i++)
		pthread_join(posters[i], NULL);
	assert_null(lull_mailbox_peek(&office->mailbox));
	lull_mailbox_fini(&office->mailbox);
	free(office);
}

/* ---- snapshot: one writes, others copy ---- */

static void *
publish_all(void *arg)
{
	struct lull_snapshot_cell *cell = arg;

	for (uint64_t i = 1; i <= SNAPSHOTS; i++) {
		struct lull_loop_snapshot snapshot = {
			.now_ns = i,
			.window_begin_ns = i,
			.window = (uint32_t)i,
			.limits.latency_ns = i,
			.verdict.rest_ns = i,
			.verdict.calibration_count = i,
		};

		lull_snapshot_write(cell, &snapshot, NULL);
		if (i % 16 == 0)
			sched_yield(); /* as a loop does between two of them */
	}
	return NULL;
}

TEST(snapshot__a_copy_is_never_of_two_writes)
{
	static struct lull_snapshot_cell cell;
	struct lull_loop_snapshot snapshot = { .now_ns = 0 };
	uint64_t last = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, publish_all, &cell), 0);
	while (last < SNAPSHOTS) {
		lull_snapshot_read(&cell, &snapshot);
		assert_true(snapshot.now_ns >= last);
		last = snapshot.now_ns;
		assert_int_equal(snapshot.window_begin_ns, last);
		assert_int_equal(snapshot.window, last);
		assert_int_equal(snapshot.limits.latency_ns, last);
		assert_int_equal(snapshot.verdict.rest_ns, last);
		assert_int_equal(snapshot.verdict.calibration_count, last);
	}
	pthread_join(writer, NULL);
}

/* ---- counters and histograms: the loop writes, others read relaxed ---- */

struct idle_loop {
	struct lull_idle *idle;
	uint32_t stop;
};

static void *
iteration_all(void *arg)
{
	struct idle_loop *loop = arg;
	uint64_t now_ns = 1;

	for (uint32_t i = 0; i < ITERATIONS; i++) {
		uint16_t pkts = (uint16_t)(i % 5 == 0 ? i % 40 : 0);
		struct lull_iteration iteration = { .now_ns = now_ns,
						    .queue_pkts = &pkts,
						    .queue_count = 1 };
		struct lull_rest rest = lull_idle_plan(loop->idle, &iteration);

		now_ns += 800;
		if (rest.idle_state != LULL_IDLE_NONE) {
			struct lull_wake wake = { .rest = rest,
						  .begin_ns = now_ns,
						  .end_ns = now_ns + rest.limit_ns + 20000,
						  .cpu_ns = 3000,
						  .reason = LULL_WAKE_TIMER };

			now_ns = wake.end_ns;
			lull_idle_wake(loop->idle, &wake);
		}
		if (i % 1000 == 999)
			lull_idle_mark(loop->idle);
	}
	__atomic_store_n(&loop->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST(counters__may_be_read_while_the_loop_turns)
{
	void *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	struct lull_idle_limits limits = { .latency_ns = 0 };
	const struct lull_idle_counters *counters;
	struct idle_loop loop = { .stop = 0 };
	uint64_t iterations, last = 0;
	pthread_t thread;

	assert_non_null(memory);
	assert_int_equal(lull_idle_init(memory, lull_idle_governor_find("objective"), &limits, 0,
					&loop.idle),
			 0);
	counters = lull_idle_counters(loop.idle);
	assert_int_equal(pthread_create(&thread, NULL, iteration_all, &loop), 0);
	while (!__atomic_load_n(&loop.stop, __ATOMIC_ACQUIRE)) {
		iterations = LULL_COUNTER_READ(counters->iterations);
		assert_true(iterations >= last && iterations <= ITERATIONS);
		last = iterations;
		assert_true(lull_idle_usage_ppm(counters) <= LULL_PPM);
		assert_true(lull_idle_empty_ppm(counters) <= LULL_PPM);
		(void)lull_histogram_quantile(lull_idle_wait_histogram(loop.idle), 990000);
		(void)lull_histogram_quantile(lull_idle_rest_histogram(loop.idle), 999000);
	}
	pthread_join(thread, NULL);
	assert_int_equal(LULL_COUNTER_READ(counters->iterations), ITERATIONS);
	free(memory);
}
