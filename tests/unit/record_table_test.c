/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search of Algorithm 3 on the three layouts of the table. The figure with its six cases is not
 * in the text we have; they are numbered here as the text names them.
 */
#include <stdio.h>

#include <lull/base.h>

#include "case.h"
#include "base/prng.h"
#include "idle/record_table.h"

#define STEP_NS (10 * LULL_NS_PER_US)
#define TOLERANCE_PPM 10000
#define LAYOUTS 3
#define SEED 815

static struct lull_record_table tables[LAYOUTS];

static void
tables_init(uint32_t row_bytes)
{
	for (uint32_t i = 0; i < LAYOUTS; i++)
		lull_record_table_init(&tables[i], (enum lull_record_layout)i, row_bytes);
}

/* In all layouts, which must agree. */
static uint64_t
tables_search(uint32_t bytes, double speed, uint64_t rest_ns)
{
	uint64_t found_ns =
		lull_record_table_search(&tables[0], bytes, speed, rest_ns, STEP_NS, TOLERANCE_PPM);

	for (uint32_t i = 1; i < LAYOUTS; i++)
		assert_int_equal(lull_record_table_search(&tables[i], bytes, speed, rest_ns,
							  STEP_NS, TOLERANCE_PPM),
				 found_ns);
	return found_ns;
}

/* What the arrays say; looking at the list would insert a node. */
static uint64_t
tables_rest(uint32_t bytes)
{
	uint64_t rest_ns = lull_record_table_find(&tables[LULL_RECORD_SEGMENTS], bytes)->rest_ns;

	assert_int_equal(lull_record_table_find(&tables[LULL_RECORD_ARRAY], bytes)->rest_ns,
			 rest_ns);
	return rest_ns;
}

static void
tables_assert_speed(uint32_t bytes, double speed)
{
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		double seen = lull_record_table_find(&tables[i], bytes)->speed_max;

		assert_true(seen >= speed && seen <= speed);
	}
}

/* Nothing recorded yet: the row and all after it grow by a step, those before do not. */
TEST(record_table_search__case_1_first_record)
{
	tables_init(10);
	assert_int_equal(tables_search(128, 500.0, 0), STEP_NS);
	assert_int_equal(tables_rest(64), 0);
	assert_int_equal(tables_rest(256), STEP_NS);
	assert_int_equal(tables_rest(512), STEP_NS);
	assert_int_equal(tables_rest(1500), STEP_NS);
	tables_assert_speed(128, 500.0);
	tables_assert_speed(256, 0.0);
}

/* Faster than ever: the record is replaced, the rest grows from the one used last. */
TEST(record_table_search__case_2_more_speed)
{
	tables_init(10);
	tables_search(128, 500.0, 0);
	assert_int_equal(tables_search(128, 600.0, STEP_NS), 2 * STEP_NS);
	tables_assert_speed(128, 600.0);
	assert_int_equal(tables_rest(512), 2 * STEP_NS);
}

/* Slower within the tolerance: the same, and the record falls. */
TEST(record_table_search__case_3_less_speed_within_tolerance)
{
	tables_init(10);
	tables_search(128, 500.0, 0);
	assert_int_equal(tables_search(128, 495.1, STEP_NS), 2 * STEP_NS);
	tables_assert_speed(128, 495.1);
	/* and again: what the tolerance is reckoned from has fallen with it */
	assert_int_equal(tables_search(128, 490.2, 2 * STEP_NS), 3 * STEP_NS);
}

/* Larger sizes that rest longer already stay as they are. */
TEST(record_table_search__case_4_longer_rests_stay)
{
	tables_init(10);
	assert_int_equal(tables_search(512, 500.0, 70 * LULL_NS_PER_US), 80 * LULL_NS_PER_US);
	assert_int_equal(tables_search(256, 300.0, 0), STEP_NS);
	assert_int_equal(tables_rest(300), STEP_NS);
	assert_int_equal(tables_rest(512), 80 * LULL_NS_PER_US);
	assert_int_equal(tables_rest(1500), 80 * LULL_NS_PER_US);
	/* the row itself, too */
	assert_int_equal(tables_search(512, 500.0, 0), 80 * LULL_NS_PER_US);
}

/* Too slow: nothing is recorded, the row's rest is taken. "Equal or smaller": equal is, too. */
TEST(record_table_search__case_5_speed_lost)
{
	tables_init(10);
	tables_search(128, 500.0, 0);
	assert_int_equal(tables_search(128, 495.0, 90 * LULL_NS_PER_US), STEP_NS);
	assert_int_equal(tables_search(128, 0.0, 90 * LULL_NS_PER_US), STEP_NS);
	tables_assert_speed(128, 500.0);
	/* nothing moved and nothing recorded: 0 is not more than 0 */
	assert_int_equal(tables_search(64, 0.0, 90 * LULL_NS_PER_US), 0);
}

/* The packet size changed: the rest grows from the one used last, which another row gave. */
TEST(record_table_search__case_6_other_size)
{
	tables_init(10);
	tables_search(512, 500.0, 40 * LULL_NS_PER_US);
	assert_int_equal(tables_search(64, 100.0, 50 * LULL_NS_PER_US), 60 * LULL_NS_PER_US);
	assert_int_equal(tables_rest(128), 60 * LULL_NS_PER_US);
	assert_int_equal(tables_rest(512), 60 * LULL_NS_PER_US);
}

TEST(record_table_find__sizes_share_their_segment)
{
	tables_init(10);
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		struct lull_record_table *table = &tables[i];

		assert_ptr_equal(lull_record_table_find(table, 64),
				 lull_record_table_find(table, 73));
		assert_ptr_not_equal(lull_record_table_find(table, 73),
				     lull_record_table_find(table, 74));
		assert_ptr_equal(lull_record_table_find(table, 0),
				 lull_record_table_find(table, 64));
		assert_ptr_equal(lull_record_table_find(table, 65535),
				 lull_record_table_find(table, 1500));
	}
}

TEST(record_table_lower__takes_back_what_it_gave)
{
	tables_init(10);
	tables_search(64, 1.0, 20 * LULL_NS_PER_US);   /* 30 us from 64 on */
	tables_search(512, 1.0, 50 * LULL_NS_PER_US);  /* 60 us from 512 on */
	tables_search(1024, 1.0, 80 * LULL_NS_PER_US); /* 90 us from 1024 on */
	for (uint32_t i = 0; i < LAYOUTS; i++)
		lull_record_table_lower(&tables[i], 512, 25 * LULL_NS_PER_US);
	assert_int_equal(tables_search(64, 0.0, 0), 25 * LULL_NS_PER_US);
	assert_int_equal(tables_search(256, 0.0, 0), 25 * LULL_NS_PER_US);
	assert_int_equal(tables_search(512, 0.0, 0), 25 * LULL_NS_PER_US);
	assert_int_equal(tables_search(800, 0.0, 0), 25 * LULL_NS_PER_US);
	assert_int_equal(tables_search(1024, 0.0, 0), 90 * LULL_NS_PER_US);
}

TEST(record_table_fade__takes_an_eighth)
{
	tables_init(10);
	tables_search(512, 800.0, 70 * LULL_NS_PER_US);
	for (uint32_t i = 0; i < LAYOUTS; i++)
		lull_record_table_fade(&tables[i]);
	tables_assert_speed(512, 700.0);
	assert_int_equal(tables_search(512, 0.0, 0), 70 * LULL_NS_PER_US);
	assert_int_equal(tables_search(600, 0.0, 0), 70 * LULL_NS_PER_US);
}

/* Any sequence of calls: every layout says the same of every size. */
TEST(record_table__layouts_agree)
{
	static const uint32_t widths[] = { 1, 2, 10, 13, 64, 1000, 1437 };
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		tables_init(widths[w]);
		for (uint32_t i = 0; i < 20000; i++) {
			uint32_t bytes = 50 + (uint32_t)lull_prng_below(&prng, 1500);
			uint64_t rest_ns = lull_prng_below(&prng, 500000);
			uint64_t choice = lull_prng_below(&prng, 100);

			if (choice < 10)
				for (uint32_t k = 0; k < LAYOUTS; k++)
					lull_record_table_lower(&tables[k], bytes, rest_ns);
			else if (choice < 11)
				for (uint32_t k = 0; k < LAYOUTS; k++)
					lull_record_table_fade(&tables[k]);
			else
				tables_search(bytes, (double)lull_prng_below(&prng, 100000),
					      rest_ns);
		}
		/* at last all sizes, which also fills the list */
		for (uint32_t bytes = 64; bytes <= 1500; bytes++)
			tables_search(bytes, 0.0, 0);
	}
}
