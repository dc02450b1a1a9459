/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "case.h"
#include "base/prng.h"

#define OFFERED 500
#define SEED 11

static struct lull_flow_top top;

static struct lull_flow_record
record_of(uint64_t bytes, uint64_t back_bytes, uint64_t first_ns)
{
	return (struct lull_flow_record){
		.bytes = { bytes, back_bytes },
		.first_ns = first_ns,
		.payload_len = { 3, 4 },
	};
}

static int
heavier_first(const void *a, const void *b)
{
	const struct lull_flow_record *left = a, *right = b;
	uint64_t left_bytes = left->bytes[0] + left->bytes[1];
	uint64_t right_bytes = right->bytes[0] + right->bytes[1];

	if (left_bytes != right_bytes)
		return left_bytes > right_bytes ? -1 : 1;
	return (left->first_ns > right->first_ns) - (left->first_ns < right->first_ns);
}

/* Beside sorting all of them; few sizes, so that many are alike. */
TEST(top_offer__keeps_the_heaviest_in_order)
{
	static struct lull_flow_record all[OFFERED];
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	for (uint32_t count = 0; count <= OFFERED; count += count < 40 ? 1 : 115) {
		lull_flow_top_clear(&top);
		for (uint32_t i = 0; i < count; i++) {
			all[i] = record_of(lull_prng_below(&prng, 20), lull_prng_below(&prng, 20),
					   i);
			lull_flow_top_offer(&top, &all[i]);
		}
		qsort(all, count, sizeof(all[0]), heavier_first);
		assert_int_equal(top.count, LULL_MIN(count, (uint32_t)LULL_FLOW_TOP_MAX));
		for (uint32_t i = 0; i < top.count; i++) {
			assert_int_equal(top.records[i].first_ns, all[i].first_ns);
			assert_int_equal(top.records[i].bytes[0], all[i].bytes[0]);
		}
	}
}

TEST(top_offer__does_not_depend_on_the_order_offered)
{
	struct lull_flow_top forth;

	lull_flow_top_clear(&top);
	for (uint64_t i = 0; i < 100; i++) {
		struct lull_flow_record record = record_of(i / 3, 1, i);

		lull_flow_top_offer(&top, &record);
	}
	forth = top;
	lull_flow_top_clear(&top);
	for (uint64_t i = 100; i-- > 0;) {
		struct lull_flow_record record = record_of(i / 3, 1, i);

		lull_flow_top_offer(&top, &record);
	}
	assert_int_equal(top.count, forth.count);
	assert_memory_equal(top.records, forth.records, sizeof(top.records));
}

TEST(top_offer__leaves_payload_behind)
{
	struct lull_flow_record record = record_of(1, 2, 3);

	lull_flow_top_clear(&top);
	lull_flow_top_offer(&top, &record);
	assert_int_equal(top.records[0].payload_len[0] + top.records[0].payload_len[1], 0);
	assert_int_equal(record.payload_len[0], 3);
}
