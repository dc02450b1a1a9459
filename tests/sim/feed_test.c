/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "sim/feed.h"

#define RINGS 8
#define PACKETS 200000

static uint64_t times_ns[PACKETS];
static uint16_t bytes[PACKETS];

struct stand {
	struct lull_sim_feed feed;
	struct lull_sim_ideal ideal;
	struct lull_sim_ring rings[RINGS];
	struct lull_sim_ring *list[RINGS];
};

/* Packets 100 ns apart. */
static void
stand_begin(struct stand *stand, uint32_t ring_count, uint32_t room)
{
	for (uint32_t i = 0; i < PACKETS; i++) {
		times_ns[i] = 100ULL * i;
		bytes[i] = (uint16_t)(60 + i % 1000);
	}
	*stand = (struct stand){ .ideal = { .free_ns = 0 } };
	lull_sim_feed_init(&stand->feed, 9);
	for (uint32_t i = 0; i < ring_count; i++) {
		assert_int_equal(lull_sim_ring_init(&stand->rings[i], room, &stand->ideal), 0);
		stand->list[i] = &stand->rings[i];
		stand->rings[i].feed = &stand->feed;
	}
	stand->feed.rings = stand->list;
	stand->feed.ring_count = ring_count;
	stand->feed.trace = (struct lull_sim_trace){ PACKETS, times_ns, bytes };
	lull_sim_feed_begin(&stand->feed);
}

static void
stand_end(struct stand *stand)
{
	for (uint32_t i = 0; i < stand->feed.ring_count; i++)
		lull_sim_ring_done(&stand->rings[i]);
}

static uint64_t
take_all(struct lull_sim_ring *ring)
{
	uint64_t count = lull_sim_ring_count(ring);

	ring->head = ring->tail;
	return count;
}

TEST(fill__spreads_evenly)
{
	static struct stand stand;
	uint64_t sum = 0;

	stand_begin(&stand, RINGS, 4096);
	for (uint64_t now_ns = 0; now_ns < 100ULL * PACKETS; now_ns += 10000)
		for (uint32_t i = 0; i < RINGS; i++) {
			assert_int_equal(lull_sim_feed_fill(&stand.feed, &stand.rings[i], now_ns),
					 0);
			sum += take_all(&stand.rings[i]);
		}
	for (uint32_t i = 0; i < RINGS; i++) {
		assert_int_equal(stand.rings[i].lost, 0);
		/* five standard deviations */
		assert_in_range(stand.rings[i].offered, PACKETS / RINGS - 740,
				PACKETS / RINGS + 740);
	}
	assert_in_range(sum, PACKETS - 100, PACKETS);
	stand_end(&stand);
}

/* Only what has arrived, in order, and the rest beyond the room is lost. */
TEST(fill__takes_what_has_arrived)
{
	static struct stand stand;
	const struct lull_sim_ring *ring = &stand.rings[0];

	for (uint32_t rings = 1; rings <= 2; rings++) {
		stand_begin(&stand, rings, 50);
		assert_int_equal(lull_sim_feed_fill(&stand.feed, &stand.rings[0], 1000), 0);
		if (rings == 1)
			assert_int_equal(lull_sim_ring_count(ring), 11); /* the one at 0, too */
		for (uint64_t i = ring->head + 1; i < ring->tail; i++)
			assert_true(ring->pkts[i & ring->mask].arrive_ns >
				    ring->pkts[(i - 1) & ring->mask].arrive_ns);
		assert_int_equal(lull_sim_feed_fill(&stand.feed, &stand.rings[0], 100000), 0);
		assert_int_equal(lull_sim_ring_count(ring), 50);
		assert_int_equal(ring->offered, 50 + ring->lost);
		if (rings == 1)
			assert_int_equal(ring->lost, 1001 - 50);
		stand_end(&stand);
	}
}

TEST(next__finds_the_first_of_this_ring)
{
	static struct stand stand;
	uint64_t next_ns[2], limit_ns = 1000000;

	stand_begin(&stand, 2, 1024);
	for (uint64_t now_ns = 0; now_ns < 500000; now_ns += 5000) {
		for (uint32_t i = 0; i < 2; i++) {
			struct lull_sim_ring *ring = &stand.rings[i];

			assert_int_equal(lull_sim_feed_fill(&stand.feed, ring, now_ns), 0);
			take_all(ring);
			assert_int_equal(
				lull_sim_feed_next(&stand.feed, ring, limit_ns, &next_ns[i]), 0);
			assert_true(next_ns[i] > now_ns && next_ns[i] % 100 == 0);
			assert_int_equal(
				lull_sim_feed_next(&stand.feed, ring, now_ns + 1, &next_ns[i]), 0);
			assert_int_equal(next_ns[i], now_ns + 1);
		}
	}
	stand_end(&stand);
	/* after the last packet: the limit */
	stand_begin(&stand, 1, 1024);
	assert_int_equal(lull_sim_feed_fill(&stand.feed, &stand.rings[0], 100ULL * PACKETS), 0);
	assert_int_equal(stand.rings[0].offered, PACKETS);
	assert_int_equal(
		lull_sim_feed_next(&stand.feed, &stand.rings[0], UINT64_MAX - 1, &next_ns[0]), 0);
	assert_int_equal(next_ns[0], UINT64_MAX - 1);
	stand_end(&stand);
}

/* A producer that waits: nothing lost, nothing before its time, never more than the room. */
TEST(fill__closed_waits_for_room)
{
	static struct stand stand;
	struct lull_sim_ring *ring = &stand.rings[0];
	uint64_t now_ns, taken = 0;

	stand_begin(&stand, 1, 64);
	stand.feed.closed = true;
	for (now_ns = 0; taken < PACKETS; now_ns += 9600) { /* 96 packets' time */
		assert_int_equal(lull_sim_feed_fill(&stand.feed, ring, now_ns), 0);
		assert_true(lull_sim_ring_count(ring) <= 64);
		for (; ring->head != ring->tail; ring->head++, taken++) {
			const struct lull_sim_pkt *pkt = &ring->pkts[ring->head & ring->mask];

			assert_int_equal(pkt->bytes, bytes[taken]);
			assert_in_range(pkt->arrive_ns, times_ns[taken], now_ns);
		}
	}
	assert_int_equal(ring->lost, 0);
	assert_int_equal(ring->offered, PACKETS);
	/* 64 fit each time, so it took one and a half times as long */
	assert_in_range(now_ns, 149 * PACKETS, 151 * PACKETS);
	stand_end(&stand);
}
