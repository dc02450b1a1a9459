/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "resequence_stand.h"

#define DELAY_NS (100 * LULL_NS_PER_US)

/* The handles given are numbers first, first + 1 ... of the bucket. */
static void
expect_run(const struct stand *stand, uint32_t count, uint32_t bucket, uint32_t first,
	   uint32_t expected)
{
	assert_int_equal(count, expected);
	for (uint32_t i = 0; i < count; i++)
		assert_ptr_equal(stand->out[i], handle_of(bucket, first + i));
}

TEST(config_check__names_field_and_range)
{
	struct lull_resequence_config config = { 0 };
	struct lull_range error;

	assert_int_equal(lull_resequence_config_check(&config, NULL), 0);
	config.bucket_bits = 23;
	assert_int_equal(lull_resequence_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "bucket_bits");
	assert_int_equal(error.value, 23);
	assert_int_equal(error.low, 8);
	assert_int_equal(error.high, 22);
	config.bucket_bits = 0;
	config.window_pkts = 65537;
	assert_int_equal(lull_resequence_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "window_pkts");
	config.window_pkts = 65536;
	config.delay_ns = 999;
	assert_int_equal(lull_resequence_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "delay_ns");
	config.delay_ns = LULL_NS_PER_S;
	assert_int_equal(lull_resequence_config_check(&config, NULL), 0);
}

TEST(init__refuses_memory_that_is_not_aligned)
{
	const struct lull_resequence_config config = { .bucket_bits = 8, .window_pkts = 4 };
	struct lull_resequence *resequence;
	uint8_t *memory = aligned_alloc(LULL_CACHE_LINE, 64 + lull_resequence_size(&config));

	assert_non_null(memory);
	assert_int_equal(lull_resequence_init(memory + 8, &config, &resequence), -EINVAL);
	assert_int_equal(lull_resequence_init(NULL, &config, &resequence), -EINVAL);
	free(memory);
}

TEST(add__passes_what_is_in_order)
{
	struct stand stand;

	stand_open(&stand, 4, DELAY_NS);
	for (uint32_t seq = 0; seq < 100; seq++)
		for (uint32_t bucket = 0; bucket < BUCKETS; bucket += 17)
			expect_run(&stand, stand_add(&stand, seq, bucket, seq), bucket, seq, 1);
	assert_int_equal(stand.counters->held, 0);
	assert_true(lull_resequence_deadline_ns(stand.resequence) == UINT64_MAX);
	free(stand.memory);
}

TEST(add__holds_until_the_gap_is_filled)
{
	static const uint32_t order[] = { 3, 1, 5, 2, 4 };
	struct stand stand;

	stand_open(&stand, 8, DELAY_NS);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(stand_add(&stand, 10 + i, 7, order[i]), 0);
	/* buckets do not know of each other */
	expect_run(&stand, stand_add(&stand, 20, 8, 0), 8, 0, 1);
	assert_int_equal(lull_resequence_deadline_ns(stand.resequence), 10 + DELAY_NS);
	expect_run(&stand, stand_add(&stand, 21, 7, 0), 7, 0, 6);
	assert_int_equal(stand.counters->pkts, 7);
	assert_int_equal(stand.counters->held, 5);
	assert_int_equal(stand.counters->missing + stand.counters->late, 0);
	assert_true(lull_resequence_deadline_ns(stand.resequence) == UINT64_MAX);
	free(stand.memory);
}

TEST(add__gives_up_the_gap_of_the_oldest_when_full)
{
	struct stand stand;

	stand_open(&stand, 3, DELAY_NS);
	assert_int_equal(stand_add(&stand, 0, 1, 2), 0); /* waits for 0 and 1 */
	assert_int_equal(stand_add(&stand, 1, 2, 5), 0);
	assert_int_equal(stand_add(&stand, 2, 1, 3), 0);
	/* the fourth: bucket 1 goes on without 0, and with the newcomer in its place */
	expect_run(&stand, stand_add(&stand, 3, 1, 1), 1, 1, 3);
	assert_int_equal(stand.counters->overflows, 1);
	assert_int_equal(stand.counters->missing, 1);
	/* what was given up passes at once when it comes after all */
	expect_run(&stand, stand_add(&stand, 4, 1, 0), 1, 0, 1);
	assert_int_equal(stand.counters->late, 1);
	expect_run(&stand, stand_add(&stand, 5, 1, 4), 1, 4, 1);
	assert_int_equal(lull_resequence_deadline_ns(stand.resequence), 1 + DELAY_NS);
	free(stand.memory);
}

TEST(expire__gives_what_waited_and_what_follows)
{
	struct stand stand;

	stand_open(&stand, 16, DELAY_NS);
	assert_int_equal(stand_add(&stand, 100, 1, 4), 0);
	assert_int_equal(stand_add(&stand, 200, 1, 2), 0); /* younger, smaller: leaves before */
	assert_int_equal(stand_add(&stand, 300, 1, 5), 0); /* younger, follows */
	assert_int_equal(stand_add(&stand, 400, 1, 8), 0); /* behind another gap: stays */
	assert_int_equal(lull_resequence_expire(stand.resequence, 99 + DELAY_NS, stand.out), 0);
	assert_int_equal(lull_resequence_expire(stand.resequence, 100 + DELAY_NS, stand.out), 3);
	assert_ptr_equal(stand.out[0], handle_of(1, 2));
	assert_ptr_equal(stand.out[1], handle_of(1, 4));
	assert_ptr_equal(stand.out[2], handle_of(1, 5));
	assert_int_equal(stand.counters->missing, 3); /* 0, 1, 3 */
	assert_int_equal(lull_resequence_deadline_ns(stand.resequence), 400 + DELAY_NS);
	expect_run(&stand, lull_resequence_expire(stand.resequence, UINT64_MAX, stand.out), 1, 8,
		   1);
	assert_int_equal(stand.counters->missing, 5);
	assert_int_equal(lull_resequence_expire(stand.resequence, UINT64_MAX, stand.out), 0);
	free(stand.memory);
}

TEST(add__numbers_wrap)
{
	struct stand stand;

	stand_open(&stand, 16, DELAY_NS);
	/* two steps of almost half the numbers lead to the end of them */
	assert_int_equal(stand_add(&stand, 0, 0, 0x7ffffffe), 0);
	expect_run(&stand, lull_resequence_expire(stand.resequence, DELAY_NS, stand.out), 0,
		   0x7ffffffe, 1);
	assert_int_equal(stand_add(&stand, DELAY_NS, 0, 0xfffffffd), 0);
	expect_run(&stand, lull_resequence_expire(stand.resequence, 2 * DELAY_NS, stand.out), 0,
		   0xfffffffd, 1);
	assert_int_equal(stand.counters->missing, 0xfffffffcu);
	assert_int_equal(stand_add(&stand, 0, 0, 1), 0);
	assert_int_equal(stand_add(&stand, 0, 0, 0xffffffff), 0);
	assert_int_equal(stand_add(&stand, 0, 0, 0), 0);
	expect_run(&stand, stand_add(&stand, 0, 0, 0xfffffffe), 0, 0xfffffffe, 4);
	expect_run(&stand, stand_add(&stand, 0, 0, 0xfffffff0), 0, 0xfffffff0, 1);
	assert_int_equal(stand.counters->late, 1);
	free(stand.memory);
}

TEST(add__a_number_that_comes_twice_does_not_stay)
{
	struct stand stand;

	stand_open(&stand, 16, DELAY_NS);
	assert_int_equal(stand_add(&stand, 0, 3, 1), 0);
	assert_int_equal(stand_add(&stand, 0, 3, 1), 0);
	assert_int_equal(stand_add(&stand, 0, 3, 2), 0);
	assert_int_equal(stand_add(&stand, 0, 3, 0), 4);
	assert_int_equal(stand.counters->late, 1);
	assert_true(lull_resequence_deadline_ns(stand.resequence) == UINT64_MAX);
	free(stand.memory);
}
