/* SPDX-License-Identifier: BSD-3-Clause */
/* The faithful governor, iteration by iteration. */

#include "case.h"
#include "governor_stand.h"

#define ITERATION_NS 1000
#define STEP_NS (10 * LULL_NS_PER_US)

static struct governor_stand stand;

static void
kalman_stand(enum lull_record_layout layout)
{
	stand_init(&stand, &lull_idle_spin);
	stand.limits.kalman = (struct lull_kalman_config){
		.step_ns = STEP_NS,
		.window_ns = 10 * LULL_NS_PER_MS,
		.tolerance_ppm = 10000,
		.row_bytes = 10,
		.layout = layout,
	};
	stand.governor = &lull_idle_kalman;
	stand.governor->init(stand.state, &stand.view);
}

/*
 * An iteration with @p pkts packets of @p size bytes (0: not measured); returns the rest planned.
 */
static uint64_t
kalman_iterate(uint32_t pkts, uint64_t size)
{
	struct lull_idle_iteration iteration = {
		.now_ns = stand.now_ns,
		.pkt_count = pkts,
		.queue_pkts_max = pkts,
		.drained = pkts<stand.limits.burst_pkts, .size_pkts = size> 0 ? pkts : 0,
		.bytes = pkts * size,
		.bytes_squared = pkts * size * size,
	};
	struct lull_rest rest = stand.governor->plan(stand.state, &iteration);

	stand.now_ns += ITERATION_NS;
	return rest.idle_state == LULL_IDLE_NONE ? 0 : rest.limit_ns;
}

/*
 * A burst, the empty iteration after it and its rest so lengthened that all intervals are 100 us.
 */
static uint64_t
kalman_cycle(uint32_t pkts, uint64_t size)
{
	uint64_t rest_ns;

	if (pkts > 0)
		assert_int_equal(kalman_iterate(pkts, size), 0); /* polls on */
	else
		stand.now_ns += ITERATION_NS;
	rest_ns = kalman_iterate(0, 0);
	stand.now_ns += 100 * LULL_NS_PER_US - 2 * ITERATION_NS;
	return rest_ns;
}

TEST(kalman_plan__silence_stays_at_the_shortest_sleep)
{
	kalman_stand(LULL_RECORD_LINKED);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(kalman_cycle(0, 0), 1); /* usleep(0) */
}

/* The same speed however long the rest: a step per sleep, without end. */
TEST(kalman_plan__steady_speed_climbs)
{
	kalman_stand(LULL_RECORD_LINKED);
	assert_int_equal(kalman_cycle(10, 512), 1); /* no interval yet */
	for (uint64_t i = 1; i < 500; i++)
		assert_int_equal(kalman_cycle(10, 512), i * STEP_NS);
}

/* Half of it for good: the rest found stays, whatever it is. */
TEST(kalman_plan__lost_speed_stops_the_search)
{
	uint64_t rest_ns = 0;

	kalman_stand(LULL_RECORD_LINKED);
	stand.limits.kalman.window_ns = LULL_NS_PER_MS; /* ten intervals */
	stand.governor->init(memset(stand.state, 0, sizeof(stand.state)), &stand.view);
	for (uint64_t i = 0; i < 50; i++)
		rest_ns = kalman_cycle(10, 1000);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(kalman_cycle(5, 1000), rest_ns);
	/* back to the old speed: on it goes */
	for (uint64_t i = 0; i < 20; i++)
		kalman_cycle(10, 1000);
	assert_true(kalman_cycle(10, 1000) > rest_ns);
}

/* As much less, but slowly: the record follows it down, and the rest grows all the while. */
TEST(kalman_plan__slow_loss_ratchets)
{
	uint64_t rest_ns = 0;

	kalman_stand(LULL_RECORD_LINKED);
	for (uint64_t i = 0; i < 50; i++)
		rest_ns = kalman_cycle(10, 1000);
	for (uint64_t i = 1; i <= 250; i++)
		assert_int_equal(kalman_cycle(10, 1000 - 2 * i), rest_ns + i * STEP_NS);
}

TEST(kalman_plan__unmeasured_packets_count_as_64_bytes)
{
	static struct governor_stand measured;

	kalman_stand(LULL_RECORD_LINKED);
	for (uint32_t i = 0; i < 100; i++)
		kalman_cycle(1 + i % 7, 64);
	measured = stand;
	kalman_stand(LULL_RECORD_LINKED);
	for (uint32_t i = 0; i < 100; i++)
		kalman_cycle(1 + i % 7, 0);
	assert_memory_equal(stand.state, measured.state, sizeof(stand.state));
}

/* Many sizes and speeds: the layouts of the table decide alike. */
TEST(kalman_plan__layouts_decide_alike)
{
	static uint64_t rests_ns[3][3000];
	uint64_t random;

	for (uint32_t layout = 0; layout < 3; layout++) {
		kalman_stand((enum lull_record_layout)layout);
		random = 1;
		for (uint32_t i = 0; i < 3000; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			rests_ns[layout][i] =
				kalman_cycle((uint32_t)(random >> 59), 60 + (random >> 40) % 1455);
		}
	}
	assert_memory_equal(rests_ns[0], rests_ns[1], sizeof(rests_ns[0]));
	assert_memory_equal(rests_ns[0], rests_ns[2], sizeof(rests_ns[0]));
	assert_true(rests_ns[0][2999] > 1);
}
