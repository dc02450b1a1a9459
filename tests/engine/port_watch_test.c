/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports count: asked by one thread, and charged to whom it concerns. */
#include "port_scene.h"

/* ---- who asks, and how often ---- */

static bool askers_stop;

static void *
ask_again_and_again(void *arg)
{
	struct scene *scene = arg;

	while (!__atomic_load_n(&askers_stop, __ATOMIC_RELAXED)) {
		lull_port_missed(&scene->far);
		scene_missed(scene);
		lull_port_link_up(&scene->far);
	}
	return NULL;
}

TEST_WITH(ask__one_at_a_time_and_never_the_loop, driver_anew, NULL)
{
	struct scene scene;
	pthread_t askers[2];

	scene_begin(&scene, "spin");
	SET(loop_tid, lull_loop_tid(scene.loop));
	SET(took_us, 200);
	__atomic_store_n(&askers_stop, false, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&askers[i], NULL, ask_again_and_again, &scene), 0);
	driver_is_asked(scene.far.port_id, 200);
	__atomic_store_n(&askers_stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(askers[i], NULL);
	SET(took_us, 0);
	assert_int_equal(GET(inside_max), 1);
	assert_int_equal(GET(asked_by_loop), 0);
	SET(loop_tid, 0); /* it asks when it ends, for what it lost last */
	scene_end(&scene);
}

TEST_WITH(ask__costs_one_part_in_a_hundred, driver_anew, NULL)
{
	struct lull_port_reading reading;
	struct scene scene;
	uint32_t before;

	scene_begin(&scene, "spin");
	SET(took_us, 5000);
	driver_is_asked(scene.far.port_id, 3); /* now it knows */
	before = GET(asked[scene.far.port_id]);
	usleep(1500000);
	/* two ports of 5 ms each: one second apart */
	assert_in_range(GET(asked[scene.far.port_id]) - before, 1, 3);
	lull_port_reading(scene.far.port_id, &reading);
	assert_true(reading.cost_ns >= 5 * LULL_NS_PER_MS);
	SET(took_us, 0);
	STAND_WAIT((before = GET(asked[scene.far.port_id]), usleep(300000),
		    GET(asked[scene.far.port_id]) - before > 10));
	scene_end(&scene);
}

/* ---- what is told ---- */

/* 1000, a failure, 1000: told once, charged once, and never less in between. */
TEST_WITH(read__a_failed_call_changes_nothing, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "spin");
	driver_is_asked(scene.far.port_id, 2);
	SET(missed, 1000);
	STAND_WAIT(scene_charged(&scene) == 1000);
	SET(forgets, true);
	SET(refuses, true);
	driver_is_asked(scene.far.port_id, 4);
	assert_int_equal(scene_missed(&scene), 1000);
	assert_int_equal(lull_port_missed(&scene.far), 1000);
	SET(refuses, false);
	SET(forgets, false);
	driver_is_asked(scene.far.port_id, 4);
	assert_int_equal(scene_missed(&scene), 1000);
	SET(missed, 1003);
	STAND_WAIT(scene_charged(&scene) > 1000);
	assert_int_equal(scene_charged(&scene), 1003);
	assert_int_equal(lull_port_missed(&scene.far), 1003);
	scene_end(&scene);
}

TEST_WITH(read__counters_that_began_anew_count_on, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "spin");
	driver_is_asked(scene.far.port_id, 2);
	SET(missed, 1000);
	STAND_WAIT(scene_charged(&scene) == 1000);
	SET(missed, 4); /* somebody has cleared them, and then four were lost */
	STAND_WAIT(scene_charged(&scene) > 1000);
	assert_int_equal(scene_charged(&scene), 1004);
	assert_int_equal(scene_missed(&scene), 1004);
	scene_end(&scene);
}

/* What is lost last belongs to the result. */
TEST_WITH(read__the_end_of_a_loop_is_fresh, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "spin");
	SET(took_us, 30000); /* seldom asked */
	driver_is_asked(scene.far.port_id, 2);
	SET(missed, 17);
	lull_loop_stop(scene.loop);
	assert_int_equal(scene_missed(&scene), 17);
	assert_int_equal(scene_charged(&scene), 17);
	SET(took_us, 0);
	scene_end(&scene);
}

/* Counters that have just begun anew: it looks twice at once, for there may be no next time. */
TEST_WITH(read__a_fresh_one_looks_twice, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "spin");
	driver_is_asked(scene.far.port_id, 2);
	SET(missed, 1000);
	STAND_WAIT(scene_charged(&scene) == 1000);
	SET(took_us, 30000); /* seldom asked by others */
	driver_is_asked(scene.far.port_id, 3);
	STAND_WAIT(GET(inside[scene.far.port_id]) == 0);
	SET(missed, 4);
	assert_int_equal(lull_port_missed(&scene.far), 1004);
	SET(took_us, 0);
	scene_end(&scene);
}

/* ---- who is charged ---- */

TEST_WITH(audit__a_ring_that_overflows_while_the_loop_rests, driver_anew, NULL)
{
	struct scene scene;
	uint64_t rests;
	uint32_t lost = 0;

	scene_begin(&scene, "fixed");
	while (lost == 0) { /* right after it has begun to rest */
		rests = LULL_COUNTER_READ(scene.counters->rests[LULL_IDLE_SLEEP]);
		STAND_WAIT(LULL_COUNTER_READ(scene.counters->rests[LULL_IDLE_SLEEP]) > rests);
		usleep(5000);
		lost = scene_send(&scene, RING_PKTS + 88);
	}
	STAND_WAIT(scene_charged(&scene) == lost);
	assert_int_equal(LULL_COUNTER_READ(scene.counters->misses), lost);
	assert_int_equal(lull_port_missed(&scene.near), 0);
	scene_end(&scene);
}

/* It rests, but what is lost is not lost then: few packets wait when it wakes. */
TEST_WITH(audit__a_loss_that_no_rest_explains, driver_anew, NULL)
{
	struct scene scene;

	scene_begin(&scene, "fixed");
	for (int i = 0; i < 20; i++) {
		scene_send(&scene, 5);
		usleep(2000);
	}
	lull_port_pair_refused(scene.near.port_id, 5);
	STAND_WAIT(scene_charged(&scene) == 5);
	assert_int_equal(LULL_COUNTER_READ(scene.counters->misses_other), 5);
	assert_true(LULL_COUNTER_READ(scene.counters->rests[LULL_IDLE_SLEEP]) > 0);
	scene_end(&scene);
}

TEST_WITH(audit__a_lack_of_buffers_is_charged_to_nobody, driver_anew, NULL)
{
	struct scene scene;
	uint64_t missed, nombuf;

	scene_begin(&scene, "fixed");
	driver_is_asked(scene.far.port_id, 2);
	SET(nombuf, 40);
	STAND_WAIT((lull_loop_missed(scene.loop, &missed, &nombuf), nombuf == 40));
	assert_int_equal(missed, 0);
	driver_is_asked(scene.far.port_id, 6);
	STAND_WAIT(LULL_COUNTER_READ(scene.counters->iterations) > 20);
	assert_int_equal(scene_charged(&scene), 0);
	assert_int_equal(lull_port_missed(&scene.far), 40);
	scene_end(&scene);
}

TEST_GROUP(stand_setup, stand_stop);
