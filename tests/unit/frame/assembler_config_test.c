/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "assembler_stand.h"

TEST(config_check__names_what_is_wrong)
{
	struct lull_assembler_config good = stand_config(10, 10);
	struct lull_assembler_config bad[8] = { good, good, good, good, good, good, good, good };
	static const char *const fields[] = { "open_max",     "buffer_max", "buffer_max",
					      "buffer_bytes", "spans_max",  "order",
					      "policy",       "geometry" };
	struct lull_range error;
	struct lull_assembler *assembler;

	assert_int_equal(lull_assembler_config_check(&good, &error), 0);
	bad[0].open_max = 17;
	bad[1].buffer_max = 1;
	bad[2].buffer_max = 257;
	bad[3].buffer_bytes = 0;
	bad[4].spans_max = 15;
	bad[5].order = (enum lull_frame_order)2;
	bad[6].policy = (enum lull_frame_policy)3;
	bad[7].geometry.row_bytes = 9;
	for (uint32_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(lull_assembler_config_check(&bad[i], &error), -EINVAL);
		assert_string_equal(error.field, fields[i]);
		assert_int_equal(lull_assembler_config_check(&bad[i], NULL), -EINVAL);
		assert_int_equal(lull_assembler_init(NULL, &bad[i], &assembler), -EINVAL);
	}
}

/* The largest of everything, to the last byte: the sanitizer watches the end of the memory. */
TEST(init__needs_its_size)
{
	struct lull_assembler_config config = stand_config(64, 16);
	struct stand stand;

	config.open_max = 16;
	config.buffer_max = 256;
	stand_init(&stand, &config, 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(
			lull_assembler_supply(stand.assembler, stand.buffers[i % 16], NULL), 0);
	assert_int_equal(lull_assembler_supply(stand.assembler, stand.buffers[0], NULL), -ENOSPC);
	for (uint64_t key = 0; key < 300; key++)
		for (uint64_t at = 1; at < 1024; at += 2)
			stand_fragment(&stand, key, at, 1, 0);
	assert_int_equal(stand.counters->frames[LULL_FRAME_SUPERSEDED], 256);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	for (uint64_t key = 0; key < 256; key++) {
		assert_true(stand_next(&stand));
		assert_true(stand.frame.key == key);
		assert_int_equal(stand.frame.missing_count, 512);
	}
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

TEST(supply__counts_what_is_lent)
{
	struct lull_assembler_config config = stand_config(10, 1);
	struct stand stand;

	config.buffer_max = 2;
	stand_init(&stand, &config, 2);
	for (uint64_t key = 0; key < 20; key++) {
		assert_int_equal(lull_assembler_supply(stand.assembler, stand.buffers[5], NULL),
				 -ENOSPC);
		stand_fragment(&stand, key, 0, 10, 0);
		assert_int_equal(lull_assembler_supply(stand.assembler, stand.buffers[5], NULL),
				 -ENOSPC);
		stand_expect(&stand, key, LULL_FRAME_COMPLETE);
	}
	stand_end(&stand);
}
