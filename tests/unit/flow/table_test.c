/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "case.h"

#define IDLE_NS LULL_NS_PER_S
#define ACTIVE_NS (10 * LULL_NS_PER_S)
#define KEPT_BYTES 4
#define HANDED_MAX 256

struct handed {
	struct lull_flow_record record;
	uint8_t payload[2 * KEPT_BYTES];
};
struct stand {
	void *memory;
	struct lull_flow_table *table;
	const struct lull_flow_table_counters *counters;
	bool refuse;
	uint32_t handed_count, announced_count, left_out_count;
	struct handed handed[HANDED_MAX];
};
static struct stand stand;

static bool
stand_hand(void *arg, struct lull_flow_record *record, void *extra)
{
	struct stand *to = arg;

	assert_true((extra == NULL) == (record->message == LULL_FLOW_ANNOUNCE));
	if (record->message == LULL_FLOW_LEFT_OUT) {
		to->left_out_count++;
		return true;
	}
	if (to->refuse)
		return false;
	if (record->message == LULL_FLOW_ANNOUNCE) {
		to->announced_count++;
		return true;
	}
	assert_true(to->handed_count < HANDED_MAX);
	memcpy(&to->handed[to->handed_count++], record, lull_flow_record_bytes(KEPT_BYTES));
	return true;
}

static struct lull_flow_table_config
stand_config(void)
{
	return (struct lull_flow_table_config){ .entries_max = 16,
						.idle_ns = IDLE_NS,
						.payload_bytes = KEPT_BYTES,
						.extra_bytes = 24,
						.worker_index = 3 };
}

static void
stand_start(const struct lull_flow_table_config *config)
{
	size_t bytes = (lull_flow_table_size(config) + 63) / 64 * 64;

	memset(&stand, 0, sizeof(stand));
	stand.memory = aligned_alloc(LULL_CACHE_LINE, bytes);
	memset(stand.memory, 0xa5, bytes);
	assert_int_equal(
		lull_flow_table_init(stand.memory, config, stand_hand, &stand, &stand.table), 0);
	stand.counters = lull_flow_table_counters(stand.table);
}

static void
stand_check(void)
{
	const struct lull_flow_table_counters *counters = stand.counters;

	assert_int_equal(counters->pkts,
			 counters->entry_pkts + counters->handed_pkts + counters->left_out_pkts);
	assert_int_equal(counters->created, counters->entries + counters->ended_idle +
						    counters->ended_active + counters->ended_flush +
						    counters->ended_closed + counters->evicted +
						    counters->left_out);
}

static void
stand_end(void)
{
	stand.refuse = false;
	assert_true(lull_flow_table_flush(stand.table));
	assert_int_equal(stand.counters->entries + stand.counters->entry_pkts, 0);
	stand_check();
	free(stand.memory);
}

static uint16_t stand_connection;
static uint8_t stand_flags;

static struct lull_flow_record *
stand_add(uint32_t flow, uint64_t clock_ns, uint16_t mark_flags)
{
	static const uint8_t payload[] = { 1, 2, 3, 4, 5, 6 };
	struct lull_flow_packet packet = {
		.key = { .port = { (uint16_t)flow }, .version = 4 },
		.digest = 77,
		.clock_ns = clock_ns,
		.time_ns = clock_ns + 7,
		.number = clock_ns,
		.ip_bytes = 46,
		.payload_bytes = 6,
		.payload_captured = 6,
		.mark_flags = mark_flags,
		.connection = stand_connection,
		.flags = stand_flags,
	};
	struct lull_flow_record *record = lull_flow_table_add(stand.table, &packet, payload);

	stand_check();
	return record;
}

TEST(advance__idle_to_the_ns)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	stand_add(1, 100 + IDLE_NS, 0); /* joins: the silence is not longer */
	assert_int_equal(stand.counters->created, 1);
	assert_int_equal(lull_flow_table_advance(stand.table, 100 + 2 * IDLE_NS, 0),
			 100 + 2 * IDLE_NS);
	assert_int_equal(stand.handed_count, 0);
	lull_flow_table_advance(stand.table, 101 + 2 * IDLE_NS, 0);
	assert_int_equal(stand.handed_count, 1);
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_IDLE);
	assert_int_equal(stand.handed[0].record.packets[0], 2);
	assert_int_equal(stand.handed[0].record.workers, 8);
	assert_int_equal(lull_flow_table_deadline_ns(stand.table), UINT64_MAX);
	stand_end();
}

TEST(add__one_ns_later_is_another_record)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	stand_add(1, 101 + IDLE_NS, 0);
	assert_int_equal(stand.counters->created, 2);
	assert_int_equal(stand.counters->ended_idle, 1);
	stand_end();
}

TEST(advance__cut_to_the_ns)
{
	struct lull_flow_table_config config = stand_config();
	const struct lull_flow_key key = { .port = { 1 }, .version = 4 };
	uint64_t cut_ns = ACTIVE_NS - lull_flow_digest(0, &key) * (ACTIVE_NS / 65536) / 32768;

	config.active_ns = ACTIVE_NS;
	stand_start(&config);
	stand_add(1, cut_ns - 1, 0);
	lull_flow_table_advance(stand.table, cut_ns - 1, 0);
	assert_int_equal(stand.handed_count, 0);
	stand_add(1, cut_ns, 0);
	assert_int_equal(stand.handed_count, 1);
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_ACTIVE);
	assert_int_equal(stand.handed[0].record.cut, 0);
	lull_flow_table_advance(stand.table, cut_ns + IDLE_NS + 1, 0);
	assert_int_equal(stand.handed[1].record.cut, 1);
	assert_int_equal(stand.handed[1].record.end, LULL_FLOW_END_IDLE);
	stand_end();
}

/* Closed by its second packet: after closed_ns it is gone, and a late packet puts that off. */
TEST(advance__closed_to_the_ns)
{
	struct lull_flow_table_config config = stand_config();

	config.closed_ns = IDLE_NS / 10;
	stand_start(&config);
	stand_add(1, 100, 0);
	stand_flags = LULL_FLOW_ENDING | LULL_FLOW_CLOSED;
	stand_add(1, 200, 0);
	stand_add(1, 300, 0);
	stand_flags = 0;
	lull_flow_table_advance(stand.table, 300 + IDLE_NS / 10, 0);
	assert_int_equal(stand.handed_count, 0);
	lull_flow_table_advance(stand.table, 301 + IDLE_NS / 10, 0);
	assert_int_equal(stand.handed_count, 1);
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_CLOSED);
	assert_int_equal(stand.handed[0].record.packets[0], 3);
	assert_int_equal(stand.counters->ended_closed, 1);
	stand_end();
}

/* A packet of the next one takes its place at once. */
TEST(add__next_connection_takes_the_place)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	for (uint16_t i = 0; i < 40; i++) {
		stand_connection = i;
		stand_flags = 0;
		stand_add(1, 100 + i, 0);
		stand_flags = LULL_FLOW_ENDING;
		stand_add(1, 100 + i, 0);
		assert_int_equal(stand.counters->entries, 1);
		assert_int_equal(stand.handed_count, i);
	}
	stand_connection = 0;
	stand_flags = 0;
	for (uint16_t i = 0; i < 39; i++) {
		assert_int_equal(stand.handed[i].record.connection, i);
		assert_int_equal(stand.handed[i].record.end, LULL_FLOW_END_CLOSED);
		assert_int_equal(stand.handed[i].record.exact, 1);
	}
	stand_end();
}

TEST(advance__refused_keeps_the_watermark)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	stand.refuse = true;
	assert_true(lull_flow_table_advance(stand.table, 5 * IDLE_NS, 0) <= 100 + IDLE_NS);
	assert_true(stand.counters->deferred > 0);
	assert_int_equal(stand.counters->entries, 1);
	stand.refuse = false;
	assert_int_equal(lull_flow_table_advance(stand.table, 5 * IDLE_NS, 0), 5 * IDLE_NS);
	assert_int_equal(stand.handed_count, 1);
	stand_end();
}

TEST(advance__so_many_at_most)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	for (uint32_t i = 0; i < 8; i++)
		stand_add(i, 100, 0);
	assert_true(lull_flow_table_advance(stand.table, 5 * IDLE_NS, 3) <= 100 + IDLE_NS);
	assert_int_equal(stand.handed_count, 3);
	for (uint32_t i = 0; i < 10; i++)
		lull_flow_table_advance(stand.table, 5 * IDLE_NS, 3);
	assert_int_equal(stand.handed_count, 8);
	stand_end();
}

TEST(add__full_evicts_the_oldest)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	for (uint32_t i = 0; i < 16; i++)
		stand_add(i, 100 + i, 0);
	stand_add(0, 200, 0);
	stand_add(16, 201, 0);
	assert_int_equal(stand.counters->evicted, 1);
	assert_int_equal(stand.handed[0].record.key.port[0], 1);
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_EVICTED);
	assert_int_equal(stand.handed[0].record.exact, 0);
	stand.refuse = true;
	assert_null(stand_add(17, 202, 0));
	assert_int_equal(stand.counters->unrecorded, 1);
	stand_end();
	for (uint32_t i = 1; i < stand.handed_count; i++)
		assert_int_equal(stand.handed[i].record.exact, 1);
}

/* Three packets are an answer. Of 16 entries 2 are for half-open flows in any case. */
TEST(add__half_open_ones_go_first)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	for (uint32_t i = 0; i < 10; i++) {
		stand_add(i, 100, 0);
		assert_true(lull_flow_table_half_open(stand.table, stand_add(i, 101, 0)));
		assert_false(lull_flow_table_half_open(stand.table, stand_add(i, 102, 0)));
	}
	for (uint32_t i = 0; i < 100; i++)
		stand_add(1000 + i, 200 + i, 0);
	assert_int_equal(stand.counters->evicted, 94);
	assert_int_equal(stand.counters->half_open_evicted, 94);
	for (uint32_t i = 0; i < 94; i++) {
		assert_int_equal(stand.handed[i].record.key.port[0], 1000 + i);
		assert_int_not_equal(stand.handed[i].record.half_open, 0);
		assert_int_equal(stand.handed[i].record.sampling, 0);
	}
	for (uint32_t i = 10; i < 20;
	     i++) { /* now these have answered, and take the others' room */
		stand_add(i, 400 + i, 0);
		stand_add(i, 400 + i, 0);
		stand_add(i, 400 + i, 0);
	}
	assert_int_equal(stand.counters->evicted, 104);
	assert_in_range(stand.counters->half_open_evicted, 98, 103);
	stand_end();
}

/* A sampler never keeps its callers waiting for a half-open one, nor lets go of announced ones. */
TEST(add__leaves_out_what_finds_no_room)
{
	struct lull_flow_table_config config = stand_config();

	config.half_open_rate = 1000000;
	stand_start(&config);
	for (uint32_t i = 0; i < 16; i++)
		stand_add(i, 100 + i, i == 0 ? LULL_FLOW_MARK_SHARED : 0);
	stand.refuse = true;
	assert_null(stand_add(100, 200, 0)); /* the first one was announced */
	stand_add(0, 200, 0);
	assert_non_null(stand_add(101, 201, 0));
	assert_int_equal(stand.left_out_count, 1);
	assert_int_equal(stand.counters->left_out, 1);
	assert_int_equal(stand.counters->left_out_pkts, 1);
	assert_int_equal(stand.counters->unrecorded, 1);
	stand.refuse = false;
	stand_add(102, 202, 0);
	assert_int_equal(stand.counters->half_open_evicted, 1);
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_EVICTED);
	assert_int_equal(stand.handed[0].record.sampling, 0);
	stand_end();
	for (uint32_t i = 1; i < stand.handed_count; i++)
		assert_int_equal(stand.handed[i].record.half_open, 0);
}

TEST(add__chain_of_a_flood_is_bounded)
{
	struct lull_flow_table_config config = stand_config();

	config.entries_max = 1024;
	stand_start(&config);
	for (uint32_t i = 0; i < 200; i++)
		stand_add(i, 100 + i, 0);
	assert_int_equal(stand.counters->entries, 64);
	assert_int_equal(stand.counters->evicted, 136);
	stand_end();
}

TEST(add__keeps_payload_and_zeroes_extra)
{
	static const uint8_t zeros[24];
	struct lull_flow_table_config config = stand_config();
	struct lull_flow_record *record;

	stand_start(&config);
	for (uint64_t round = 0; round < 2; round++) { /* the second in used memory */
		record = stand_add(1, 100 + round * 5 * IDLE_NS, 0);
		assert_memory_equal(lull_flow_table_extra(stand.table, record), zeros, 24);
		memset(lull_flow_table_extra(stand.table, record), 0xff, 24);
		assert_int_equal(record->payload_len[0], KEPT_BYTES);
		assert_memory_equal(lull_flow_record_payload(record, KEPT_BYTES, 0), "\1\2\3\4", 4);
		assert_int_equal(record->payload_total[0], 6);
		lull_flow_table_advance(stand.table, (5 * round + 4) * IDLE_NS, 0);
	}
	assert_int_equal(stand.handed_count, 2);
	stand_end();
}

TEST(add__announces_shared_ones_once)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	assert_int_equal(stand.announced_count, 0);
	stand.refuse = true;
	stand_add(1, 101, LULL_FLOW_MARK_SHARED);
	assert_int_equal(lull_flow_table_advance(stand.table, 102, 0), 0);
	stand.refuse = false;
	assert_int_equal(lull_flow_table_advance(stand.table, 102, 0), 102);
	stand_add(1, 103, LULL_FLOW_MARK_SHARED | LULL_FLOW_MARK_MOVED);
	assert_int_equal(stand.announced_count, 1);
	stand_end();
	assert_int_equal(stand.handed[0].record.announced, 1);
	assert_int_equal(stand.handed[0].record.moves, 1);
}

TEST(add__announce_all)
{
	struct lull_flow_table_config config = stand_config();

	config.announce_all = true;
	stand_start(&config);
	stand_add(1, 100, 0);
	stand_add(2, 100, 0);
	assert_int_equal(stand.announced_count, 2);
	stand_end();
}

TEST(flush__says_what_ended_before)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	stand_add(2, 200 + IDLE_NS, 0);
	stand.refuse = true;
	assert_false(lull_flow_table_flush(stand.table));
	stand_end();
	assert_int_equal(stand.handed[0].record.end, LULL_FLOW_END_IDLE);
	assert_int_equal(stand.handed[1].record.end, LULL_FLOW_END_FLUSH);
}

TEST(timeouts__apply_to_what_is_here)
{
	struct lull_flow_table_config config = stand_config();

	stand_start(&config);
	stand_add(1, 100, 0);
	lull_flow_table_timeouts(stand.table, IDLE_NS / 10);
	lull_flow_table_advance(stand.table, 100 + IDLE_NS / 10, 0);
	assert_int_equal(stand.handed_count, 0);
	lull_flow_table_advance(stand.table, 101 + IDLE_NS / 10, 0);
	assert_int_equal(stand.handed_count, 1);
	stand_end();
}

static void
visit_one(void *arg, const struct lull_flow_record *record)
{
	*(uint32_t *)arg |= 1u << record->key.port[0];
}

TEST(visit__all_in_steps)
{
	struct lull_flow_table_config config = stand_config();
	uint32_t cursor = 0, seen = 0, steps = 0;

	stand_start(&config);
	for (uint32_t i = 0; i < 10; i++)
		stand_add(i, 100, 0);
	do {
		lull_flow_table_visit(stand.table, &cursor, 3, visit_one, &seen);
		assert_true(++steps < 6);
	} while (cursor != 0);
	assert_int_equal(seen, 1023);
	stand_end();
}
