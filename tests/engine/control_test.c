/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands to a running loop, what others may read of it meanwhile, and its end. */
#include <errno.h>
#include <pthread.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "host/mailbox.h"
#include "stand.h"

#define LONG_REST_NS (50 * LULL_NS_PER_MS)

/* ---- one loop on a pair, watched through the trace ---- */

struct watch {
	uint64_t since_ns; /* rests begun after this count; 0: none */
	uint64_t limit_ns; /* of this length */
	uint32_t rests;
	uint32_t iterations;
};

static void
watch(void *arg, const struct lull_iteration *iteration, const struct lull_rest *rest,
      const struct lull_wake *wake)
{
	struct watch *watch = arg;
	uint64_t since_ns = __atomic_load_n(&watch->since_ns, __ATOMIC_ACQUIRE);

	(void)iteration;
	if (wake == NULL)
		__atomic_fetch_add(&watch->iterations, 1, __ATOMIC_RELAXED);
	else if (since_ns != 0 && wake->begin_ns >= since_ns && rest->limit_ns == watch->limit_ns)
		__atomic_fetch_add(&watch->rests, 1, __ATOMIC_RELAXED);
}

struct scene {
	struct lull_port near, far;
	struct lull_forward_config forward;
	struct lull_idle_limits limits;
	struct lull_loop *loop;
	struct watch watch;
	uint64_t sent;
};

static void
scene_begin(struct scene *scene, const char *governor, uint64_t rest_ns)
{
	struct lull_loop_config config;

	memset(scene, 0, sizeof(*scene));
	stand_pair("control", 1, 512, &scene->near, &scene->far);
	config = stand_loop("fwd0", 1, &scene->far, &scene->forward);
	config.governor = lull_idle_governor_find(governor);
	config.limits.rest_ns = rest_ns;
	config.limits.rest_ns_max = LULL_NS_PER_S;
	config.trace = watch;
	config.trace_arg = &scene->watch;
	scene->limits = config.limits;
	scene->loop = stand_run(&config);
}

static void
scene_end(struct scene *scene)
{
	lull_loop_destroy(scene->loop);
	lull_port_close(&scene->near);
	lull_port_close(&scene->far);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

/* Keep packets coming and going. */
static void
scene_traffic(struct scene *scene)
{
	struct rte_mbuf *pkts[32];
	uint16_t count;

	pkts[0] = stand_frame(stand_pool(), 0);
	if (pkts[0] != NULL && rte_eth_tx_burst(scene->near.port_id, 0, pkts, 1) == 0)
		rte_pktmbuf_free(pkts[0]);
	else
		scene->sent += pkts[0] != NULL;
	count = rte_eth_rx_burst(scene->near.port_id, 0, pkts, 32);
	rte_pktmbuf_free_bulk(pkts, count);
}

static void
scene_watch(struct scene *scene, uint64_t limit_ns)
{
	scene->watch.limit_ns = limit_ns;
	__atomic_store_n(&scene->watch.rests, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&scene->watch.since_ns, lull_clock_ns(), __ATOMIC_RELEASE);
}

static uint32_t
scene_iterations(struct scene *scene)
{
	return __atomic_load_n(&scene->watch.iterations, __ATOMIC_RELAXED);
}

/* ---- change ---- */

TEST(change__takes_effect_within_one_rest)
{
	const struct lull_idle_governor *spin = lull_idle_governor_find("spin");
	const struct lull_idle_governor *fixed = lull_idle_governor_find("fixed");
	struct lull_loop_snapshot snapshot;
	struct scene scene;

	scene_begin(&scene, "fixed", LONG_REST_NS);
	for (int i = 0; i < 5; i++) {
		const struct lull_idle_governor *next = i % 2 == 0 ? spin : fixed;

		STAND_WAIT((scene_traffic(&scene), scene_iterations(&scene) > 3u * (uint32_t)i));
		assert_int_equal(lull_loop_post_change(scene.loop, next, &scene.limits), 0);
		scene_watch(&scene, LONG_REST_NS);
		STAND_WAIT((scene_traffic(&scene), lull_loop_snapshot(scene.loop, &snapshot),
			    snapshot.governor == next));
		/* One iteration may have been past its mailbox already. */
		if (next == spin)
			assert_true(__atomic_load_n(&scene.watch.rests, __ATOMIC_RELAXED) <= 1);
	}
	scene_end(&scene);
}

TEST(change__a_lower_limit_takes_effect_without_a_packet)
{
	struct lull_loop_snapshot snapshot;
	struct scene scene;
	uint32_t iterations;

	scene_begin(&scene, "fixed", LONG_REST_NS);
	STAND_WAIT(scene_iterations(&scene) > 2);
	scene.limits.rest_ns = 100 * LULL_NS_PER_US;
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &scene.limits), 0);
	scene_watch(&scene, LONG_REST_NS);
	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot),
		    snapshot.limits.rest_ns == scene.limits.rest_ns));
	iterations = scene_iterations(&scene);
	STAND_WAIT(scene_iterations(&scene) > iterations + 50);
	assert_true(__atomic_load_n(&scene.watch.rests, __ATOMIC_RELAXED) <= 1);
	assert_ptr_equal(snapshot.governor, lull_idle_governor_find("fixed"));
	scene_end(&scene);
}

TEST(change__refuses_what_is_out_of_range)
{
	struct lull_idle_limits limits = stand_limits();
	struct scene scene;

	scene_begin(&scene, "spin", 1000);
	limits.percentile_ppm = 1;
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &limits), -EINVAL);
	scene_end(&scene);
}

/* ---- mark ---- */

TEST(mark__begins_a_window_and_clears_histograms)
{
	const struct lull_histogram *wait;
	struct lull_loop_snapshot snapshot;
	struct scene scene;

	scene_begin(&scene, "fixed", 20 * LULL_NS_PER_US);
	wait = lull_loop_wait_histogram(scene.loop);
	STAND_WAIT((scene_traffic(&scene), scene.sent > 100));
	STAND_WAIT(LULL_COUNTER_READ(wait->count) == scene.sent);
	lull_loop_snapshot(scene.loop, &snapshot);
	assert_int_equal(snapshot.window, 0);
	assert_int_equal(lull_loop_post_mark(scene.loop, 7), 0);
	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot), snapshot.window == 7));
	assert_true(snapshot.window_begin_ns <= snapshot.now_ns);
	assert_int_equal(LULL_COUNTER_READ(wait->count), 0);
	assert_int_equal(LULL_COUNTER_READ(lull_loop_counters(scene.loop)->pkts), scene.sent);
	scene_end(&scene);
}

/* ---- stop ---- */

TEST(stop__waits_for_one_rest_at_most)
{
	struct scene scene;

	scene_begin(&scene, "fixed", LONG_REST_NS);
	for (int i = 0; i < 3; i++) {
		STAND_WAIT(scene_iterations(&scene) >= 2);
		scene_watch(&scene, LONG_REST_NS);
		lull_loop_stop(scene.loop);
		assert_true(scene.watch.rests <= 1);
		lull_loop_stop(scene.loop); /* again does nothing */
		scene.watch.iterations = 0;
		assert_int_equal(lull_loop_start(scene.loop), 0);
		assert_int_equal(lull_loop_start(scene.loop), -EALREADY);
	}
	scene_end(&scene);
}

/* ---- mailbox ---- */

TEST(mailbox__keeps_order_and_says_when_it_is_full)
{
	static struct lull_mailbox mailbox;
	uint8_t large[LULL_MESSAGE_SIZE + 1] = { 0 };

	lull_mailbox_init(&mailbox);
	assert_null(lull_mailbox_peek(&mailbox));
	assert_int_equal(lull_mailbox_post(&mailbox, 0, large, sizeof(large)), -EMSGSIZE);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < LULL_MAILBOX_SLOTS; i++)
			assert_int_equal(lull_mailbox_post(&mailbox, i, &i, sizeof(i)), 0);
		assert_int_equal(lull_mailbox_post(&mailbox, 99, NULL, 0), -EAGAIN);
		for (uint32_t i = 0; i < LULL_MAILBOX_SLOTS; i++) {
			const struct lull_message *message = lull_mailbox_peek(&mailbox);

			assert_non_null(message);
			assert_int_equal(message->kind, i);
			assert_int_equal(message->size, sizeof(i));
			assert_memory_equal(message->data, &i, sizeof(i));
			lull_mailbox_pop(&mailbox);
		}
		assert_null(lull_mailbox_peek(&mailbox));
	}
	lull_mailbox_fini(&mailbox);
}

TEST(mailbox__a_loop_that_does_not_run_keeps_its_mail)
{
	struct lull_loop_snapshot snapshot;
	struct scene scene;
	uint32_t posted = 0;

	scene_begin(&scene, "spin", 1000);
	lull_loop_stop(scene.loop);
	while (lull_loop_post_mark(scene.loop, posted + 1) == 0)
		posted++;
	assert_int_equal(posted, LULL_MAILBOX_SLOTS);
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &scene.limits), -EAGAIN);
	assert_int_equal(lull_loop_post_stage(scene.loop, "", 1), -EAGAIN);
	assert_int_equal(lull_loop_start(scene.loop), 0);
	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot), snapshot.window == posted));
	assert_int_equal(lull_loop_post_mark(scene.loop, 1), 0);
	scene_end(&scene);
}

/* ---- snapshot ---- */

struct readers {
	const struct lull_loop *loop;
	bool stop;
	uint64_t reads, torn;
};

/* Every change has latency_ns = 3 * rest_ns: a copy where that fails is made of two. */
static void *
read_snapshots(void *arg)
{
	struct readers *readers = arg;

	while (!__atomic_load_n(&readers->stop, __ATOMIC_RELAXED)) {
		struct lull_loop_snapshot snapshot;

		lull_loop_snapshot(readers->loop, &snapshot);
		if (snapshot.limits.latency_ns != 3 * snapshot.limits.rest_ns)
			__atomic_fetch_add(&readers->torn, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&readers->reads, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(snapshot__is_never_torn)
{
	struct readers readers = { .stop = false };
	struct lull_loop_snapshot snapshot;
	struct scene scene;
	pthread_t thread;

	scene_begin(&scene, "yield", 1000);
	scene.limits.latency_ns = 3 * scene.limits.rest_ns;
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &scene.limits), 0);
	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot),
		    snapshot.limits.latency_ns == scene.limits.latency_ns));
	readers.loop = scene.loop;
	assert_int_equal(pthread_create(&thread, NULL, read_snapshots, &readers), 0);
	for (uint64_t i = 0; i < 3000; i++) {
		scene.limits.rest_ns = 1000 + i;
		scene.limits.latency_ns = 3 * scene.limits.rest_ns;
		STAND_WAIT(lull_loop_post_change(scene.loop, NULL, &scene.limits) == 0);
	}
	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot),
		    snapshot.limits.rest_ns == scene.limits.rest_ns));
	__atomic_store_n(&readers.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	print_message("   %llu reads\n", (unsigned long long)readers.reads);
	assert_true(readers.reads > 0);
	assert_int_equal(readers.torn, 0);
	scene_end(&scene);
}

TEST_GROUP(stand_setup, stand_stop);
