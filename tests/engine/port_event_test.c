/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that change, come late or go; devices that are removed; a process that forks. */
#include "port_scene.h"

/* ---- links ---- */

static uint64_t
scene_pps(const struct scene *scene)
{
	struct lull_loop_snapshot snapshot;

	lull_loop_snapshot(scene->loop, &snapshot);
	return snapshot.limits.pps_max;
}

TEST_WITH(link__a_change_reaches_the_bound, driver_anew, NULL)
{
	uint64_t begin_ns;
	struct scene scene;

	memset(&scene, 0, sizeof(scene));
	stand_pair("watch", 1, RING_PKTS, &scene.near, &scene.far);
	scene_run(&scene, "yield", LULL_ENVELOPE_LINK);
	assert_int_equal(scene_pps(&scene), lull_link_pps(10000));
	SET(link_mbps, 25000);
	begin_ns = lull_clock_ns();
	driver_tells(&scene.far, RTE_ETH_EVENT_INTR_LSC);
	STAND_WAIT(scene_pps(&scene) == lull_link_pps(25000));
	/* the event did it, not the look once a second; 0.3 s for a machine that is busy */
	assert_true(lull_clock_ns() - begin_ns < 300 * LULL_NS_PER_MS);
	/* settings that come later do not bring the old rate back */
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &scene.limits), 0);
	assert_int_equal(lull_loop_post_mark(scene.loop, 7), 0);
	struct lull_loop_snapshot snapshot;

	STAND_WAIT((lull_loop_snapshot(scene.loop, &snapshot), snapshot.window == 7));
	assert_int_equal(snapshot.limits.pps_max, lull_link_pps(25000));
	/* a link that is down may come back as it was */
	SET(link_mbps, 0);
	driver_tells(&scene.far, RTE_ETH_EVENT_INTR_LSC);
	STAND_WAIT(!lull_port_link(scene.far.port_id).up);
	assert_int_equal(scene_pps(&scene), lull_link_pps(25000));
	/* without an event: once a second */
	SET(link_mbps, 1000);
	STAND_WAIT(scene_pps(&scene) == lull_link_pps(1000));
	scene_end(&scene);
}

/* The loop has two ports; the first is down, and the second becomes faster. */
TEST_WITH(link__a_port_that_is_down_hides_no_other, driver_anew, NULL)
{
	struct lull_port near[2], far[2];
	struct lull_forward_config forward;
	struct lull_loop_config config;
	struct scene scene;

	stand_pair("one", 1, RING_PKTS, &near[0], &far[0]);
	stand_pair("two", 1, RING_PKTS, &near[1], &far[1]);
	config = stand_loop("sink0", 1, &far[0], &forward);
	config.queue_count = 2;
	config.queues[1].port_id = far[1].port_id;
	config.limits.envelope = LULL_ENVELOPE_LINK;
	config.limits.pps_max = lull_link_pps(10000);
	forward.mode = LULL_FORWARD_SINK;
	forward.queue_count = 2;
	scene.loop = stand_run(&config);
	SET(down, 1u + far[0].port_id);
	SET(link_mbps, 25000);
	driver_tells(&far[0], RTE_ETH_EVENT_INTR_LSC);
	driver_tells(&far[1], RTE_ETH_EVENT_INTR_LSC);
	STAND_WAIT(scene_pps(&scene) == lull_link_pps(25000));
	assert_false(lull_port_link(far[0].port_id).up);
	lull_loop_destroy(scene.loop);
	for (int i = 0; i < 2; i++) {
		lull_port_close(&near[i]);
		lull_port_close(&far[i]);
	}
}

TEST_WITH(link__a_stated_rate_stays, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "yield");
	scene.limits.envelope = LULL_ENVELOPE_STATED;
	scene.limits.pps_max = 12345;
	assert_int_equal(lull_loop_post_change(scene.loop, NULL, &scene.limits), 0);
	STAND_WAIT(scene_pps(&scene) == 12345);
	SET(link_mbps, 25000);
	driver_tells(&scene.far, RTE_ETH_EVENT_INTR_LSC);
	STAND_WAIT(lull_port_link(scene.far.port_id).mbps == 25000);
	usleep(50000);
	assert_int_equal(scene_pps(&scene), 12345);
	scene_end(&scene);
}

/* Nobody waits for it; until it comes the fastest that it can be counts. */
TEST_WITH(open__a_port_without_a_link, driver_anew, NULL)
{
	const struct lull_port_config config = { .queues = 1, .ring_pkts = 512, .burst_pkts = 32 };
	struct lull_error error = { .text = "" };
	uint64_t begin_ns;
	struct lull_port port;

	SET(link_mbps, 0);
	SET(hardware, true);
	begin_ns = lull_clock_ns();
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_null7", ""), 0);
	uint16_t port_id;

	assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &port_id), 0);
	assert_int_equal(lull_port_open(port_id, &config, &port, &error), 0);
	assert_true(lull_clock_ns() - begin_ns < 2 * LULL_NS_PER_S);
	assert_false(lull_port_link_up(&port));
	SET(link_mbps, 40000);
	assert_true(lull_port_link_up(&port));
	assert_int_equal(lull_port_link(port.port_id).mbps, 40000);
	SET(hardware, false);
	lull_port_close(&port);
}

/* ---- nodes ---- */

/* On the node of the device, and where it has no memory on any. */
TEST_WITH(open__buffers_are_on_the_node_of_the_port, driver_anew, NULL)
{
	struct lull_port near, far;

	device_node = 1;
	pool_far = true;
	pool_node_count = 0;
	stand_pair("node", 1, 300, &near, &far); /* a size that has no pool yet */
	assert_int_equal(near.node, 1);
	assert_int_equal(pool_node_count, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pool_nodes[i], i % 2 == 0 ? 1 : SOCKET_ID_ANY);
	device_node = -2;
	pool_far = false;
	lull_port_close(&near);
	lull_port_close(&far);
}

/* ---- removal ---- */

TEST_WITH(removal__ends_polling_of_that_port_alone, driver_anew, NULL)
{
	struct lull_port near[2], far[2];
	struct lull_forward_config forward;
	struct lull_loop_config config;
	const struct lull_idle_counters *counters;
	struct lull_loop *loop;
	uint32_t asked;

	stand_pair("one", 1, RING_PKTS, &near[0], &far[0]);
	stand_pair("two", 1, RING_PKTS, &near[1], &far[1]);
	config = stand_loop("sink0", 1, &far[0], &forward);
	config.queue_count = 2;
	config.queues[1].port_id = far[1].port_id;
	forward.mode = LULL_FORWARD_SINK;
	forward.queue_count = 2;
	loop = stand_run(&config);
	counters = lull_loop_counters(loop);
	struct scene sides[2] = { { .near = near[0] }, { .near = near[1] } };

	assert_int_equal(scene_send(&sides[0], 100) + scene_send(&sides[1], 100), 0);
	STAND_WAIT(LULL_COUNTER_READ(counters->pkts) == 200);
	driver_tells(&far[0], RTE_ETH_EVENT_INTR_RMV);
	/* the iteration that was under way has ended */
	uint64_t iterations = LULL_COUNTER_READ(counters->iterations);

	STAND_WAIT(LULL_COUNTER_READ(counters->iterations) > iterations + 2);
	asked = GET(asked[far[0].port_id]);
	assert_int_equal(scene_send(&sides[0], 100) + scene_send(&sides[1], 70), 0);
	STAND_WAIT(LULL_COUNTER_READ(counters->pkts) == 270);
	driver_is_asked(far[1].port_id, 5);
	assert_in_range(GET(asked[far[0].port_id]) - asked, 0, 1);
	assert_int_equal(LULL_COUNTER_READ(counters->pkts), 270);
	/* both gone: it has nothing to poll and ends as ever */
	driver_tells(&far[1], RTE_ETH_EVENT_INTR_RMV);
	iterations = LULL_COUNTER_READ(counters->iterations);
	STAND_WAIT(LULL_COUNTER_READ(counters->iterations) > iterations + 2);
	assert_int_equal(scene_send(&sides[1], 10), 0);
	lull_loop_destroy(loop);
	for (int i = 0; i < 2; i++) {
		lull_port_close(&near[i]);
		lull_port_close(&far[i]);
	}
}

/* ---- forks ---- */

TEST_WITH(fork__the_child_ends_without_a_wait, driver_anew, NULL)
{
	struct scene scene;
	int status = -1;
	pid_t child;

	scene_begin(&scene, "spin");
	SET(took_us, 3000); /* so the lock is probably taken */
	driver_is_asked(scene.far.port_id, 2);
	child = fork();
	if (child == 0) {
		struct lull_port_reading reading;

		alarm(20);
		lull_port_reading(scene.far.port_id, &reading);
		lull_port_missed(&scene.far);
		lull_port_watch_stop(); /* there is no thread to wait for */
		_exit(7);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	SET(took_us, 0);
	scene_end(&scene);
}

TEST_GROUP(stand_setup, stand_stop);
