/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch/staging.h"
#include "dispatch_stand.h"

#define WORKERS 2
#define PKTS_MAX 2048

/* A packet carries what was decided of it; its number is its place. */
struct pkt {
	uint32_t digest;
	struct lull_dispatch_mark mark;
	bool changed;
};
static struct {
	struct dispatch_stand stand;
	struct lull_staging staging;
	struct pkt pkts[PKTS_MAX];
	uint32_t pkt_count, dropped;
	/* rings, never emptied: room is what may still be put in */
	uint32_t room[WORKERS], ring_count[WORKERS];
	uint32_t shown[WORKERS]; /* room that the dispatcher is told of; 0: as it is */
	uint32_t rings[WORKERS][PKTS_MAX];
} lane;

static void
way_look(void *owner, uint32_t worker, struct lull_dispatch_load *load)
{
	uint32_t room = lane.shown[worker] > 0 ? lane.shown[worker] : lane.room[worker];

	(void)owner;
	load->capacity_pkts = STAND_CAPACITY;
	load->used_pkts = STAND_CAPACITY - LULL_MIN(room, STAND_CAPACITY);
	load->done_pkts = 0;
}

static uint32_t
way_send(void *owner, uint32_t worker, void **pkts, uint32_t count)
{
	(void)owner;
	count = LULL_MIN(count, lane.room[worker]);
	for (uint32_t i = 0; i < count; i++)
		lane.rings[worker][lane.ring_count[worker]++] =
			(uint32_t)((struct pkt *)pkts[i] - lane.pkts);
	lane.room[worker] -= count;
	return count;
}

static uint32_t
way_decided(const void *pkt, struct lull_dispatch_mark *mark)
{
	*mark = ((const struct pkt *)pkt)->mark;
	return ((const struct pkt *)pkt)->digest;
}

static void
way_changed(void *owner, void *pkt, const struct lull_dispatch_mark *mark)
{
	(void)owner;
	((struct pkt *)pkt)->changed = true;
	((struct pkt *)pkt)->mark = *mark;
}

static void
way_drop(void *owner, void **pkts, uint32_t count)
{
	(void)owner;
	(void)pkts;
	lane.dropped += count;
}

static const struct lull_staging_way way = { way_look, way_send, way_decided, way_changed,
					     way_drop };

static void
lane_begin(const char *scheduler, uint32_t room0, uint32_t room1)
{
	struct lull_dispatch_config config = stand_config(scheduler);

	memset(&lane, 0, sizeof(lane));
	config.worker_count = WORKERS;
	config.tracks = true;
	stand_init(&lane.stand, &config);
	lane.room[0] = room0;
	lane.room[1] = room1;
	lane.staging = (struct lull_staging){
		.way = &way,
		.dispatch = lane.stand.dispatch,
		.worker_count = WORKERS,
		.flush_pkts = 4,
		.flush_ns = 100,
		.marks = true,
	};
}

/* @p count packets of one flow, which goes to worker 0 by hrw. */
static void
lane_add(uint32_t digest, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pkt *pkt = &lane.pkts[lane.pkt_count++];

		lull_staging_look(&lane.staging);
		pkt->digest = digest;
		lull_dispatch_burst(lane.stand.dispatch, now_ns, lane.staging.loads, &digest, NULL,
				    1, lane.stand.workers, &pkt->mark);
		lull_staging_add(&lane.staging, lane.stand.workers[0], pkt, now_ns);
	}
}

static void
ring_is(uint32_t worker, uint32_t first, uint32_t count)
{
	assert_int_equal(lane.ring_count[worker], count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(lane.rings[worker][i], first + i);
}

TEST(flush__when_full_or_late)
{
	uint32_t digest;

	lane_begin("hrw", 100, 100);
	digest = stand_digest_of(&lane.stand, 0);
	lane_add(digest, 3, 1000);
	assert_int_equal(lull_staging_deadline_ns(&lane.staging), 1100);
	lull_staging_flush(&lane.staging, 1099, 0, false);
	assert_int_equal(lane.ring_count[0], 0);
	lane_add(digest, 1, 1099);
	lull_staging_flush(&lane.staging, 1099, 0, false);
	ring_is(0, 0, 4);
	assert_int_equal(lull_staging_deadline_ns(&lane.staging), 0);
	lane_add(digest, 2, 1200);
	lull_staging_flush(&lane.staging, 1300, 0, false);
	lane_add(digest, 1, 1300);
	lull_staging_flush(&lane.staging, 1300, 0, true);
	ring_is(0, 0, 7);
	assert_int_equal(lane.staging.counters.flushes_size, 1);
	assert_int_equal(lane.staging.counters.flushes_deadline, 2);
	assert_int_equal(lane.staging.counters.partial, 0);
	stand_end(&lane.stand);
}

/* What the ring refuses goes to the other one, behind what is staged there, in its order. */
TEST(flush__second_chance_in_order)
{
	uint32_t digest, other;

	lane_begin("subflow", STAND_CAPACITY, STAND_CAPACITY);
	digest = stand_digest_of(&lane.stand, 0);
	other = stand_digest_of(&lane.stand, 1);
	lane_add(other, 2, 1000);
	lane_add(digest, 9, 1000);
	lane.room[0] = 5;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	assert_int_equal(lane.ring_count[0], 5);
	assert_int_equal(lane.rings[0][0], 2);
	assert_int_equal(lane.rings[0][4], 6);
	/* 0 and 1 were staged for it, then come 7 to 10. */
	assert_int_equal(lane.ring_count[1], 6);
	assert_int_equal(lane.rings[1][1], 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(lane.rings[1][2 + i], 7 + i);
		assert_true(lane.pkts[7 + i].changed);
		assert_true((lane.pkts[7 + i].mark.flags & LULL_DISPATCH_SHARED) != 0);
	}
	assert_int_equal(lane.staging.counters.retried, 4);
	assert_int_equal(lane.staging.counters.partial, 1);
	assert_int_equal(lane.stand.counters->retried, 4);
	assert_int_equal(lane.dropped, 0);
	stand_end(&lane.stand);
}

/* Where the second ring is full too, or flows are not split, it is lost and counted. */
TEST(flush__drops_what_nobody_takes)
{
	lane_begin("subflow", STAND_CAPACITY, STAND_CAPACITY);
	lane_add(stand_digest_of(&lane.stand, 0), 9, 1000);
	lane.room[0] = lane.room[1] = 2;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	ring_is(0, 0, 2);
	assert_int_equal(lane.dropped + lane.ring_count[1], 7);
	assert_int_equal(lane.dropped, lane.stand.counters->refused);
	assert_int_equal(lane.staging.workers[0].count + lane.staging.workers[1].count, 0);
	stand_end(&lane.stand);

	lane_begin("hrw", STAND_CAPACITY, STAND_CAPACITY);
	lane_add(stand_digest_of(&lane.stand, 0), 9, 1000);
	lane.room[0] = 2;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	ring_is(0, 0, 2);
	assert_int_equal(lane.ring_count[1], 0);
	assert_int_equal(lane.dropped, 7);
	assert_int_equal(lane.stand.counters->refused, 7);
	assert_int_equal(lane.stand.counters->worker_pkts[0], 2);
	stand_end(&lane.stand);
}

/* The second ring has filled meanwhile: what was given there last is lost, and so it is told. */
TEST(flush__drops_what_the_second_refuses)
{
	lane_begin("subflow", STAND_CAPACITY, STAND_CAPACITY);
	lane_add(stand_digest_of(&lane.stand, 0), 9, 1000);
	lane.room[0] = 2;
	lane.room[1] = 3;
	lane.shown[1] = STAND_CAPACITY;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	ring_is(0, 0, 2);
	ring_is(1, 2, 3);
	assert_int_equal(lane.dropped, 4);
	assert_int_equal(lane.stand.counters->refused, 4);
	assert_int_equal(lane.stand.counters->worker_pkts[1], 3);
	assert_int_equal(lane.staging.workers[1].count, 0);
	stand_end(&lane.stand);
}

/* More than the dispatcher takes back in a call: the youngest go at once. */
TEST(flush__drops_more_than_one_call_takes_back)
{
	lane_begin("hrw", STAND_CAPACITY, STAND_CAPACITY);
	lane_add(stand_digest_of(&lane.stand, 0), LULL_STAGING_PKTS, 1000);
	lane.room[0] = 3;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	ring_is(0, 0, 3);
	assert_int_equal(lane.dropped, LULL_STAGING_PKTS - 3);
	assert_int_equal(lane.stand.counters->refused, LULL_STAGING_PKTS - 3);
	assert_int_equal(lane.stand.counters->worker_pkts[0], 3);
	stand_end(&lane.stand);
}

TEST(flush__waits_for_room)
{
	lane_begin("subflow", STAND_CAPACITY, STAND_CAPACITY);
	lane.staging.wait = true;
	lane_add(stand_digest_of(&lane.stand, 0), 9, 1000);
	lane.room[0] = 2;
	lull_staging_flush(&lane.staging, 1000, 1000, false);
	assert_true(lane.staging.blocked);
	ring_is(0, 0, 2);
	lane.room[0] = 100;
	/* None of it is full or late: it goes because it was held up. */
	lane.staging.flush_pkts = 100;
	lull_staging_flush(&lane.staging, 1001, 1001, false);
	assert_false(lane.staging.blocked);
	ring_is(0, 0, 9);
	assert_int_equal(lane.dropped, 0);
	stand_end(&lane.stand);
}
