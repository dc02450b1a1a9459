/* SPDX-License-Identifier: BSD-3-Clause */
/* Records for every split of packets are in tests/conformance/records_test.c; here the messages. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>
#include <lull/flow.h>

#include "case.h"

#define IDLE_NS LULL_NS_PER_S
#define GIVEN_MAX 16384

static_assert(LULL_FLOW_MARK_SHARED == LULL_DISPATCH_SHARED, "one bit, two headers");
static_assert(LULL_FLOW_MARK_MOVED == LULL_DISPATCH_MOVED, "one bit, two headers");

struct stand {
	void *memory;
	struct lull_flow_merge *merge;
	const struct lull_flow_merge_counters *counters;
	uint32_t given_count;
	uint64_t taken_pkts, given_pkts;
	struct lull_flow_record given[GIVEN_MAX];
};
static struct stand stand;

static void
stand_give(void *arg, const struct lull_flow_record *record)
{
	struct stand *to = arg;

	assert_true(to->given_count < GIVEN_MAX);
	to->given_pkts += record->packets[0] + record->packets[1];
	to->given[to->given_count++] = *record;
}

static void
stand_start(bool hold, uint32_t records_max)
{
	struct lull_flow_merge_config config = { .records_max = records_max,
						 .idle_ns = IDLE_NS,
						 .hold = hold };

	memset(&stand, 0, sizeof(stand));
	stand.memory =
		aligned_alloc(LULL_CACHE_LINE, (lull_flow_merge_size(&config) + 63) / 64 * 64);
	assert_int_equal(
		lull_flow_merge_init(stand.memory, &config, stand_give, &stand, &stand.merge), 0);
	stand.counters = lull_flow_merge_counters(stand.merge);
}

static void
stand_check(void)
{
	const struct lull_flow_merge_counters *counters = stand.counters;

	assert_int_equal(counters->partials, counters->records + counters->open + counters->joined);
	assert_int_equal(counters->pkts, stand.given_pkts);
	assert_int_equal(counters->pkts + counters->open_pkts, stand.taken_pkts);
}

static void
stand_end(void)
{
	lull_flow_merge_advance(stand.merge, UINT64_MAX);
	stand_check();
	assert_int_equal(stand.counters->open + stand.counters->awaited, 0);
	free(stand.memory);
}

static void
stand_whole(uint32_t flow, uint32_t worker, uint64_t first_ns, uint64_t last_ns, uint8_t end)
{
	struct lull_flow_record part = {
		.key = { .port = { (uint16_t)flow, (uint16_t)(flow >> 16) }, .version = 4 },
		.digest = 77,
		.packets = { 2, 1 },
		.first_clock_ns = first_ns,
		.last_clock_ns = last_ns,
		.workers = 1ull << worker,
		.end = end,
		.exact = end != LULL_FLOW_END_EVICTED,
	};

	stand.taken_pkts += 3;
	lull_flow_merge_add(stand.merge, &part);
	stand_check();
}

static void
stand_part(uint32_t flow, uint32_t worker, uint64_t first_ns, uint64_t last_ns, bool announced)
{
	struct lull_flow_record part = {
		.key = { .port = { (uint16_t)flow, (uint16_t)(flow >> 16) }, .version = 4 },
		.digest = 77, /* a flood: all alike */
		.packets = { 2, 1 },
		.first_ns = first_ns,
		.last_ns = last_ns,
		.first_clock_ns = first_ns,
		.last_clock_ns = last_ns,
		.first_number = first_ns,
		.workers = 1ull << worker,
		.announced = announced,
		.split = 1,
		.exact = 1,
	};

	stand.taken_pkts += 3;
	lull_flow_merge_add(stand.merge, &part);
	stand_check();
}

static void
stand_announce(uint32_t flow, uint32_t worker, uint64_t first_ns)
{
	struct lull_flow_record message = {
		.key = { .port = { (uint16_t)flow, (uint16_t)(flow >> 16) }, .version = 4 },
		.digest = 77,
		.first_clock_ns = first_ns,
		.workers = 1ull << worker,
		.message = LULL_FLOW_ANNOUNCE,
	};

	lull_flow_merge_add(stand.merge, &message);
	stand_check();
}

TEST(add__without_hold_passes)
{
	stand_start(false, 16);
	stand_part(1, 0, 5, 9, false);
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.counters->open, 0);
	stand_end();
}

TEST(add__with_hold_waits_for_the_silence)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 9 + IDLE_NS);
	assert_int_equal(stand.given_count, 0);
	lull_flow_merge_advance(stand.merge, 9 + IDLE_NS + 1);
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.given[0].exact, 1);
	stand_end();
}

TEST(add__joins_up_to_the_silence)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	stand_part(1, 1, 9 + IDLE_NS, 10 + IDLE_NS, false);
	assert_int_equal(stand.counters->open, 1);
	stand_part(1, 2, 11 + 2 * IDLE_NS, 11 + 2 * IDLE_NS, false);
	assert_int_equal(stand.counters->open, 2);
	stand_end();
	assert_int_equal(stand.given_count, 2);
}

TEST(add__part_bridges_two_records)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	stand_part(1, 0, 9 + 2 * IDLE_NS, 9 + 2 * IDLE_NS, false);
	assert_int_equal(stand.counters->open, 2);
	stand_part(1, 1, 9 + IDLE_NS, 9 + IDLE_NS, false);
	assert_int_equal(stand.counters->open, 1);
	assert_int_equal(stand.counters->joined, 2);
	stand_end();
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.given[0].workers, 3);
	assert_int_equal(stand.given[0].packets[0], 6);
}

TEST(hold__ended_live)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_hold(stand.merge, false);
	stand_part(2, 0, 5, 9, false); /* passes */
	assert_int_equal(stand.given_count, 1);
	stand_part(1, 1, 10, 11, false); /* joins what was kept before */
	assert_int_equal(stand.given_count, 1);
	lull_flow_merge_hold(stand.merge, true);
	stand_part(3, 0, 5, 9, false);
	assert_int_equal(stand.given_count, 1);
	stand_end();
	assert_int_equal(stand.given_count, 3);
}

TEST(advance__waits_for_what_is_announced)
{
	stand_start(true, 16);
	stand_announce(1, 1, 7);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 100 * IDLE_NS);
	assert_int_equal(stand.given_count, 0);
	stand_part(1, 1, 7, 100 * IDLE_NS, true);
	assert_int_equal(stand.counters->awaited, 0);
	lull_flow_merge_advance(stand.merge, 101 * IDLE_NS + 1);
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.given[0].exact, 1);
	assert_int_equal(stand.counters->late_parts, 0);
	stand_end();
}

TEST(advance__not_for_what_began_later)
{
	stand_start(true, 16);
	stand_announce(1, 1, 10 + IDLE_NS);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 10 + IDLE_NS);
	assert_int_equal(stand.given_count, 1);
	stand_end();
}

TEST(advance__end_gives_all)
{
	stand_start(true, 16);
	stand_announce(1, 1, 7);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 100 * IDLE_NS); /* held */
	stand_part(2, 0, 200 * IDLE_NS, 200 * IDLE_NS, false);
	stand_end();
	assert_int_equal(stand.given_count, 2);
}

TEST(add__without_room_gives_the_oldest)
{
	stand_start(true, 16);
	for (uint32_t i = 0; i < 40; i++)
		stand_part(i, 0, 5 + i, 9 + i, false);
	assert_int_equal(stand.counters->evicted, 24);
	assert_int_equal(stand.given_count, 24);
	assert_int_equal(stand.given[0].end, LULL_FLOW_END_EVICTED);
	assert_int_equal(stand.given[0].exact, 0);
	assert_int_equal(stand.given[0].first_ns, 5);
	stand_end();
}

/* Of a forgotten announcement no record is called exact before its partial has come. */
TEST(add__forgotten_announcement_is_told)
{
	stand_start(true, 16);
	for (uint32_t i = 0; i < 17; i++)
		stand_announce(i, 1, 5);
	assert_int_equal(stand.counters->awaited, 16);
	stand_part(16, 1, 5, 9, true);
	stand_part(0, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 10 + IDLE_NS);
	for (uint32_t i = 0; i < stand.given_count; i++)
		assert_int_equal(stand.given[i].exact, 0);
	assert_true(stand.given_count > 0);
	for (uint32_t i = 0; i < 16; i++)
		stand_part(i, 1, 10 * IDLE_NS, 10 * IDLE_NS, true);
	stand_part(99, 0, 20 * IDLE_NS, 20 * IDLE_NS, false);
	stand_end();
	assert_int_equal(stand.given[stand.given_count - 1].exact, 1);
}

/* Records of one flow, never near enough to join: no chain grows for ever. */
TEST(add__tiny_silences_are_bounded)
{
	stand_start(true, 8192);
	for (uint32_t i = 0; i < 4200; i++)
		stand_part(1, 0, 2 * i * IDLE_NS, 2 * i * IDLE_NS, false);
	assert_int_equal(stand.counters->open, 4096);
	assert_int_equal(stand.counters->evicted, 104);
	assert_int_equal(stand.given[0].first_ns, 0);
	stand_end();
}

/* ---- what waits for nobody ---- */

TEST(add__passes_what_was_not_split)
{
	stand_start(true, 16);
	stand_whole(1, 0, 5, 9, LULL_FLOW_END_IDLE);
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.given[0].exact, 1);
	assert_int_equal(stand.counters->passed, 1);
	/* One that had to go early goes on in the next. */
	stand_whole(2, 0, 5, 9, LULL_FLOW_END_EVICTED);
	assert_int_equal(stand.given_count, 1);
	stand_whole(2, 0, 10, 20, LULL_FLOW_END_IDLE);
	assert_int_equal(stand.counters->open, 1);
	stand_end();
	assert_int_equal(stand.given_count, 2);
	assert_int_equal(stand.given[1].packets[0], 4);
	assert_int_equal(stand.given[1].exact, 0);
}

/* Nobody was late: somebody has told a watermark too early. */
TEST(add__counts_what_comes_behind_the_watermark)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 9 + IDLE_NS + 1);
	assert_int_equal(stand.given_count, 1);
	stand_part(1, 1, 6, 9, false);
	assert_int_equal(stand.counters->late_parts, 1);
	stand_part(2, 1, 6, 10, false);
	assert_int_equal(stand.counters->late_parts, 1);
	stand_end();
	assert_int_equal(stand.given[0].exact, 1);
	assert_int_equal(stand.given[1].exact, 0);
	assert_int_equal(stand.given[2].exact, 1);
}

/* ---- late workers ---- */

TEST(late__is_not_waited_for)
{
	stand_start(true, 16);
	stand_part(1, 0, 5, 9, false);
	stand_part(2, 0, 3 * IDLE_NS, 4 * IDLE_NS, false);
	/* Worker 1 has told all up to here, and nothing since. */
	lull_flow_merge_late(stand.merge, 2, 2 * IDLE_NS);
	lull_flow_merge_advance(stand.merge, 10 * IDLE_NS);
	assert_int_equal(stand.given_count, 2);
	assert_int_equal(stand.given[0].exact, 1); /* it had told */
	assert_int_equal(stand.given[1].exact, 0);
	assert_int_equal(stand.counters->late, 1);
	/* It is back: what began before may belong to what has gone, the rest does not. */
	lull_flow_merge_late(stand.merge, 0, 0);
	stand_part(2, 1, 10 * IDLE_NS, 11 * IDLE_NS, false);
	stand_part(3, 1, 10 * IDLE_NS + 1, 11 * IDLE_NS, false);
	stand_part(4, 0, 10 * IDLE_NS, 11 * IDLE_NS, false);
	assert_int_equal(stand.counters->late_parts, 1);
	lull_flow_merge_advance(stand.merge, 13 * IDLE_NS);
	assert_int_equal(stand.given_count, 5);
	for (uint32_t i = 2; i < 5; i++)
		assert_int_equal(stand.given[i].exact, stand.given[i].key.port[0] != 2);
	assert_int_equal(stand.counters->late, 1);
	stand_end();
}

/* What waits for an announced part of it alone goes; what waits for another worker stays. */
TEST(late__releases_what_is_held)
{
	stand_start(true, 16);
	stand_announce(1, 1, 7);
	stand_announce(2, 2, 7);
	stand_part(1, 0, 5, 9, false);
	stand_part(2, 0, 5, 9, false);
	lull_flow_merge_advance(stand.merge, 4 * IDLE_NS);
	assert_int_equal(stand.given_count, 0);
	lull_flow_merge_late(stand.merge, 2, 4 * IDLE_NS);
	lull_flow_merge_advance(stand.merge, 4 * IDLE_NS);
	assert_int_equal(stand.given_count, 1);
	assert_int_equal(stand.given[0].key.port[0], 1);
	assert_int_equal(stand.given[0].exact, 0);
	assert_int_equal(stand.counters->awaited, 2);
	/* The part comes in the end. */
	stand_part(1, 1, 7, 5 * IDLE_NS, true);
	assert_int_equal(stand.counters->awaited, 1);
	assert_int_equal(stand.counters->late_parts, 1);
	stand_part(2, 2, 7, 5 * IDLE_NS, true);
	lull_flow_merge_late(stand.merge, 0, 0);
	lull_flow_merge_advance(stand.merge, 7 * IDLE_NS);
	assert_int_equal(stand.given_count, 3);
	for (uint32_t i = 1; i < 3; i++)
		assert_int_equal(stand.given[i].exact, stand.given[i].key.port[0] == 2);
	stand_end();
}

/* Evicted with one packet: a SYN. */
static void
stand_half_open(uint32_t flow, uint32_t worker, uint64_t clock_ns)
{
	struct lull_flow_record part = {
		.key = { .port = { (uint16_t)flow, (uint16_t)(flow >> 16) }, .version = 4 },
		.digest = 77,
		.packets = { 1, 0 },
		.first_clock_ns = clock_ns,
		.last_clock_ns = clock_ns,
		.workers = 1ull << worker,
		.end = LULL_FLOW_END_EVICTED,
		.half_open = 0x81,
		.split = 1,
	};

	stand.taken_pkts += 1;
	lull_flow_merge_add(stand.merge, &part);
	stand_check();
}

/* A flood of such parts has an eighth of the room, and leaves in its order. */
TEST(half_open__bounded)
{
	stand_start(true, 1024);
	stand_part(1, 0, 100, 200, false);
	for (uint32_t i = 0; i < 1000; i++)
		stand_half_open(1000 + i, 1, 100 + i);
	assert_int_equal(stand.counters->open, 1 + 1024 / 8);
	assert_int_equal(stand.counters->evicted, 0);
	for (uint32_t i = 0; i < stand.given_count; i++)
		assert_int_equal(stand.given[i].key.port[0], 1000 + i);
	lull_flow_merge_advance(stand.merge, 1000 + IDLE_NS);
	assert_int_equal(stand.given[stand.given_count - 2].key.port[0], 1899);
	assert_int_equal(stand.given[stand.given_count - 1].key.port[0], 1);
	stand_end();
}

/* The SYN went early at one worker, whatever the flood: the rest joins it. */
TEST(half_open__stays_for_another_part)
{
	uint32_t found = 0;

	stand_start(true, 1024);
	stand_half_open(1, 0, 100);
	stand_announce(1, 1, 110); /* after it */
	stand_announce(2, 1, 90);  /* before it */
	stand_half_open(2, 0, 100);
	stand_half_open(3, 0, 100); /* joined at once */
	stand_part(3, 1, 110, 300, false);
	for (uint32_t i = 0; i < 1000; i++)
		stand_half_open(1000 + i, 1, 100 + i);
	stand_part(1, 1, 110, 300, true);
	stand_part(2, 1, 90, 300, true);
	lull_flow_merge_advance(stand.merge, 301 + IDLE_NS);
	for (uint32_t i = 0; i < stand.given_count; i++) {
		const struct lull_flow_record *record = &stand.given[i];

		if (record->key.port[0] > 3)
			continue;
		assert_int_equal(record->packets[0], 3);
		assert_int_equal(record->workers, 3);
		assert_int_equal(record->half_open, 0);
		found++;
	}
	assert_int_equal(found, 3);
	stand_end();
}
