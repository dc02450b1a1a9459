/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "dispatch_stand.h"

#define FLOWS 2000
#define BURST 64

/* Workers in virtual time: each packet takes pkt_ns, the first 8 of a flow at a worker longer. */
struct lane {
	struct dispatch_stand stand;
	uint32_t digests[FLOWS];
	double cumulated[FLOWS];
	uint64_t free_ns[4];
	uint64_t finish_ns[4][STAND_CAPACITY];
	uint64_t put[4], done[4];
	uint8_t seen[FLOWS][4];
	uint16_t at[FLOWS]; /* worker + 1 */
	uint32_t flow_moves[FLOWS];
	uint64_t lost, moves, pkts;
	uint64_t interval_ns; /* between packets */
	uint64_t pkt_ns;
	uint32_t elephant_ppm; /* of the packets are flow 0's */
};

static void
lane_init(struct lane *lane, const char *scheduler, bool to_one)
{
	struct lull_dispatch_config config = stand_config(scheduler);
	double sum = 0;

	memset(lane, 0, sizeof(*lane));
	config.bucket_bits = 16;
	stand_init(&lane->stand, &config);
	for (uint32_t i = 0; i < FLOWS; i++) {
		lane->digests[i] =
			to_one ? stand_digest_of(&lane->stand, 0) : stand_digest(&lane->stand);
		sum += pow(i + 1, -1.1);
		lane->cumulated[i] = sum;
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		lane->cumulated[i] /= sum;
	lane->pkt_ns = 300;
}

/* Zipf(1.1), with or without an elephant on top. */
static uint32_t
lane_flow(struct lane *lane)
{
	double number = (double)(lull_prng_u64(&lane->stand.prng) >> 11) * 0x1p-53;
	uint32_t low = 0, high = FLOWS - 1;

	if (lull_prng_below(&lane->stand.prng, LULL_PPM) < lane->elephant_ppm)
		return 0;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (lane->cumulated[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
lane_look(struct lane *lane)
{
	for (uint32_t i = 0; i < 4; i++) {
		while (lane->done[i] < lane->put[i] &&
		       lane->finish_ns[i][lane->done[i] % STAND_CAPACITY] <= lane->stand.now_ns)
			lane->done[i]++;
		lane->stand.loads[i].used_pkts = (uint32_t)(lane->put[i] - lane->done[i]);
		lane->stand.loads[i].done_pkts = lane->done[i];
	}
}

static void
lane_put(struct lane *lane, uint32_t flow, uint16_t worker)
{
	uint64_t begin_ns = LULL_MAX(lane->free_ns[worker], lane->stand.now_ns);

	if (lane->at[flow] != 0 && lane->at[flow] != worker + 1) {
		lane->moves++;
		lane->flow_moves[flow]++;
	}
	lane->at[flow] = (uint16_t)(worker + 1);
	lane->free_ns[worker] = begin_ns + lane->pkt_ns;
	if (lane->seen[flow][worker] < 8) {
		lane->seen[flow][worker]++;
		lane->free_ns[worker] += 1300;
	}
	lane->finish_ns[worker][lane->put[worker]++ % STAND_CAPACITY] = lane->free_ns[worker];
}

static void
lane_burst(struct lane *lane)
{
	uint32_t digests[BURST], flows[BURST];

	for (uint32_t i = 0; i < BURST; i++) {
		flows[i] = lane_flow(lane);
		digests[i] = lane->digests[flows[i]];
	}
	lane_look(lane);
	stand_burst(&lane->stand, digests, BURST);
	lane->stand.now_ns += BURST * lane->interval_ns - 1000;
	lane->pkts += BURST;
	for (uint32_t i = 0; i < BURST; i++) {
		uint16_t worker = lane->stand.workers[i], same;

		if (lane->put[worker] - lane->done[worker] < STAND_CAPACITY) {
			lane_put(lane, flows[i], worker);
			continue;
		}
		lane->lost++;
		lull_dispatch_refused(lane->stand.dispatch, lane->stand.now_ns, worker,
				      lane->stand.loads, &digests[i], 1, &same, NULL);
		if (same != worker)
			lull_dispatch_dropped(lane->stand.dispatch, same, 1);
	}
}

static void
lane_run(struct lane *lane, uint64_t ns)
{
	uint64_t end_ns = lane->stand.now_ns + ns;

	while (lane->stand.now_ns < end_ns)
		lane_burst(lane);
}

/* Start again for a new world: the same flows, at this share of what four workers can do. */
static uint64_t
lost_at(const char *scheduler, bool to_one, uint32_t elephant_ppm, uint32_t load_percent,
	uint64_t *moves_per_million)
{
	struct lane *lane = malloc(sizeof(*lane));
	uint64_t lost;

	assert_non_null(lane);
	lane_init(lane, scheduler, to_one);
	lane->elephant_ppm = elephant_ppm;
	/* Without the first packets of flows: 300 ns. */
	lane->interval_ns = 300 * 100 / load_percent / 4;
	lane_run(lane, 100 * LULL_NS_PER_MS);
	lost = lane->lost;
	if (moves_per_million != NULL)
		*moves_per_million = lane->moves * LULL_PPM / lane->pkts;
	stand_end(&lane->stand);
	free(lane);
	return lost;
}

/* Largest load in percent, a multiple of 5, without loss. */
static uint32_t
lossless(const char *scheduler, bool to_one, uint32_t elephant_ppm)
{
	uint32_t percent = 5;

	while (percent < 100 && lost_at(scheduler, to_one, elephant_ppm, percent, NULL) == 0)
		percent += 5;
	return percent - 5;
}

TEST(sticky__carries_more_than_hrw)
{
	uint32_t hrw[3], sticky[3];

	for (uint32_t i = 0; i < 3; i++) {
		hrw[i] = lossless("hrw", i == 2, i == 1 ? 500000 : 0);
		sticky[i] = lossless("sticky", i == 2, i == 1 ? 500000 : 0);
	}
	printf("percent without loss, hrw and sticky: Zipf %u %u, elephant %u %u, to one %u %u\n",
	       hrw[0], sticky[0], hrw[1], sticky[1], hrw[2], sticky[2]);
	assert_true(sticky[0] >= hrw[0]);
	assert_true(10 * sticky[1] >= 18 * hrw[1]);
	assert_true(2 * sticky[2] >= 7 * hrw[2]);
}

TEST(sticky__moves_little)
{
	uint64_t moves;

	for (uint32_t i = 0; i < 3; i++) {
		lost_at("sticky", i == 2, i == 1 ? 500000 : 0, 70, &moves);
		printf("moves per million: %lu\n", (unsigned long)moves);
		assert_true(moves <= 5000);
	}
}

/* Nobody above the threshold: the worker of a bucket never changes. */
TEST(sticky__still_without_load)
{
	struct lane *lane = malloc(sizeof(*lane));

	assert_non_null(lane);
	lane_init(lane, "sticky", false);
	lane->interval_ns = 600;
	lane_run(lane, 200 * LULL_NS_PER_MS);
	assert_int_equal(lane->moves, 0);
	assert_int_equal(lane->lost, 0);
	stand_end(&lane->stand);
	free(lane);
}

/* The first burst that finds a worker above enter relieves it. */
TEST(sticky__relieves_at_once)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digest;

	stand_init(&stand, &config);
	digest = stand_digest_of(&stand, 2);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(stand_one(&stand, digest), 2);
	stand.loads[2].used_pkts = STAND_CAPACITY / 2;
	assert_int_not_equal(stand_one(&stand, digest), 2);
	assert_int_equal(stand.counters->moves, 1);
	stand_end(&stand);
}

/* Moves the heaviest, not what comes first; the light ones stay. */
TEST(sticky__gives_the_heaviest)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digests[16];

	config.enter_ppm = 100000;
	config.leave_ppm = 20000;
	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 16; i++)
		digests[i] = i < 8 ? stand_digest_of(&stand, 1) : digests[7];
	for (uint32_t i = 0; i < 10; i++)
		stand_burst(&stand, digests, 16);
	stand.loads[1].used_pkts = STAND_CAPACITY / 4;
	stand_burst(&stand, digests, 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(stand.workers[i] == 1, i < 7);
	stand_end(&stand);
}

/* A new flow goes elsewhere when packets wait at its home. */
TEST(sticky__spreads_the_new)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digests[400], at[4] = { 0 };

	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 400; i++)
		digests[i] = stand_digest_of(&stand, 0);
	stand_burst(&stand, digests, 400);
	for (uint32_t i = 0; i < 400; i++)
		at[stand.workers[i]]++;
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(at[i], 80, 120);
	stand_end(&stand);
}

/* Nor do all new ones of many bursts go to the worker that looked emptiest before them. */
TEST(sticky__spreads_the_new_of_many_bursts)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digests[8], at[4] = { 0 };

	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = i == 2 ? 250 : 256;
	for (uint32_t burst = 0; burst < 20; burst++) {
		for (uint32_t i = 0; i < COUNT(digests); i++)
			digests[i] = stand_digest_of(&stand, 0);
		stand_burst(&stand, digests, COUNT(digests));
		for (uint32_t i = 0; i < COUNT(digests); i++)
			at[stand.workers[i]]++;
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(at[i], 30, 50);
	stand_end(&stand);
}

/* Order holds the heaviest where it is: that is not forgotten, and another one goes. */
TEST(sticky_placed__tries_another)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digests[24];

	config.order = LULL_ORDER_DRAIN;
	config.enter_ppm = 100000;
	config.leave_ppm = 20000;
	stand_init(&stand, &config);
	/* 0..15 are one flow, of which none is done; 16..23 another, all done */
	for (uint32_t i = 0; i < COUNT(digests); i++)
		digests[i] = i % 16 == 0 ? stand_digest_of(&stand, 1) : digests[i - 1];
	for (uint32_t i = 0; i < 10; i++)
		stand_burst(&stand, digests + 16, 8);
	stand.loads[1].done_pkts = 80;
	for (uint32_t i = 0; i < 10; i++)
		stand_burst(&stand, digests, 16);
	stand.loads[1].used_pkts = STAND_CAPACITY / 4;
	stand_burst(&stand, digests, 16);
	assert_int_equal(stand.counters->held_order, 16);
	assert_int_equal(stand.counters->moves, 0);
	stand.now_ns += 200 * LULL_NS_PER_US;
	stand_burst(&stand, digests, 24);
	assert_int_equal(stand.counters->held_order, 16);
	assert_int_equal(stand.counters->moves, 1);
	for (uint32_t i = 0; i < COUNT(digests); i++)
		assert_int_equal(stand.workers[i] == 1, i < 16);
	stand_end(&stand);
}

/* A flow that fills its worker alone goes on when that one stands out; a light one stays. */
TEST(sticky__takes_the_heavy_round)
{
	struct lull_dispatch_config config = stand_config("sticky");
	struct dispatch_stand stand;
	uint32_t digests[32];

	stand_init(&stand, &config);
	for (uint32_t i = 0; i < COUNT(digests); i++)
		digests[i] = i < 2 ? stand_digest_of(&stand, 3) : digests[1];
	stand_burst(&stand, digests, COUNT(digests));
	stand.loads[3].used_pkts = 100;
	/* 32 packets come in 8 us, 16 are done */
	for (uint32_t i = 0; i < 250; i++) {
		stand_burst(&stand, digests, COUNT(digests));
		stand.loads[3].done_pkts += 16;
		stand.now_ns += 7000;
	}
	assert_int_equal(stand.counters->moves, 0);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = i == 3 ? 850 : 800;
	stand_burst(&stand, digests, COUNT(digests));
	assert_int_equal(stand.counters->moves, 0);
	stand.loads[0].used_pkts = 700;
	stand_burst(&stand, digests, COUNT(digests));
	assert_int_equal(stand.counters->moves, 1);
	assert_int_equal(stand.workers[0], 3);
	assert_int_equal(stand.workers[1], 0);
	stand_end(&stand);
}

/* After an overload flows are home within 100 ms, and stay. */
TEST(sticky__goes_home)
{
	struct lane *lane = malloc(sizeof(*lane));
	uint32_t away = 0;

	assert_non_null(lane);
	lane_init(lane, "sticky", false);
	lane->elephant_ppm = 500000;
	lane->interval_ns = 300 * 100 / 90 / 4;
	lane_run(lane, 50 * LULL_NS_PER_MS);
	assert_true(lane->moves > 0);
	lane->interval_ns = 2000;
	lane_run(lane, 400 * LULL_NS_PER_MS);
	memset(lane->flow_moves, 0, sizeof(lane->flow_moves));
	lane->moves = 0;
	lane_run(lane, LULL_NS_PER_S / 2);
	assert_true(lane->moves <= FLOWS / 100);
	for (uint32_t i = 0; i < FLOWS; i++)
		away = LULL_MAX(away, lane->flow_moves[i]);
	assert_true(away <= 1);
	stand_end(&lane->stand);
	free(lane);
}

/* At a steady high load without elephant no flow moves more than twice in a second. */
TEST(sticky__does_not_oscillate)
{
	struct lane *lane = malloc(sizeof(*lane));
	uint32_t most = 0;

	assert_non_null(lane);
	lane_init(lane, "sticky", true);
	lane->interval_ns = 300 * 100 / 80 / 4;
	lane_run(lane, LULL_NS_PER_S);
	for (uint32_t i = 0; i < FLOWS; i++)
		most = LULL_MAX(most, lane->flow_moves[i]);
	printf("most moves of a flow in a second: %u, all: %lu\n", most,
	       (unsigned long)lane->moves);
	assert_true(most <= 2);
	stand_end(&lane->stand);
	free(lane);
}
