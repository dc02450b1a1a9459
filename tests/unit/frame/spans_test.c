/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <lull/base.h>

#include "case.h"
#include "base/prng.h"
#include "frame/spans.h"

#define BYTES 4000
#define HOLES 700

static struct lull_spans_node nodes[HOLES + 1];

/* Take a range; how many bytes of it were missing and are noted now. */
static uint64_t
take(struct lull_spans *spans, uint64_t begin, uint64_t end)
{
	struct lull_spans_part part;
	uint64_t bytes = 0;

	while (lull_spans_take(spans, &begin, end, &part))
		bytes += part.kept ? part.end - part.begin : 0;
	return bytes;
}

static void
check(const struct lull_spans *spans, const bool *missing)
{
	uint64_t at = 0, bytes = 0;
	uint32_t count = 0;

	for (uint32_t node = lull_spans_first(spans); node != 0; node = nodes[node].next[0]) {
		assert_true(count == 0 || nodes[node].begin > at); /* none touches another */
		for (; at < nodes[node].begin; at++)
			assert_false(missing[at]);
		assert_true(nodes[node].begin < nodes[node].end);
		for (; at < nodes[node].end; at++, bytes++)
			assert_true(missing[at]);
		count++;
	}
	for (; at < BYTES; at++)
		assert_false(missing[at]);
	assert_int_equal(spans->count, count);
	assert_true(spans->missing == bytes);
}

TEST(take__like_a_byte_map)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint64_t at = 0, size = 2 + seed % 60;
		struct lull_spans spans;
		struct lull_prng prng;
		bool missing[BYTES];

		printf("seed %llu\r", (unsigned long long)seed);
		lull_prng_init(&prng, seed, 0);
		lull_spans_init(&spans, nodes, HOLES, BYTES);
		memset(missing, true, sizeof(missing));
		for (uint32_t i = 0; i < 600; i++) {
			uint64_t end, bytes = 0;

			at = lull_prng_below(&prng, 4) == 0 ? lull_prng_below(&prng, BYTES) :
							      at + lull_prng_below(&prng, 3);
			at = LULL_MIN(at, BYTES);
			end = at + lull_prng_below(&prng, size);
			end = LULL_MIN(end, BYTES);
			for (uint64_t j = at; j < end; j++) {
				bytes += missing[j];
				missing[j] = false;
			}
			assert_true(take(&spans, at, end) == bytes);
			check(&spans, missing);
			at = end;
		}
		take(&spans, 0, BYTES);
		assert_int_equal(lull_spans_first(&spans), 0);
		assert_true(spans.missing == 0);
		assert_false(spans.full);
	}
	printf("\n");
}

/* All holes there may be, opened and closed in scattered order, twice. */
TEST(take__uses_nodes_again)
{
	struct lull_spans spans;

	/* halves of the picture one after the other need the same nodes */
	lull_spans_init(&spans, nodes, HOLES, 8 * HOLES - 8);
	for (uint64_t half = 0; half < 8 * HOLES - 8; half += 4 * HOLES - 4) {
		for (uint64_t i = 0; i < HOLES - 1; i++)
			take(&spans, half + 4 * (i * 11 % (HOLES - 1)) + 2,
			     half + 4 * (i * 11 % (HOLES - 1)) + 4);
		assert_int_equal(spans.count, half == 0 ? HOLES : HOLES - 1);
		for (uint64_t i = 0; i < HOLES - 1; i++)
			assert_true(take(&spans, half + 4 * (i * 13 % (HOLES - 1)),
					 half + 4 * (i * 13 % (HOLES - 1)) + 2) == 2);
	}
	assert_true(spans.missing == 0);
	assert_false(spans.full);
}

TEST(take__leaves_missing_what_does_not_fit)
{
	struct lull_spans spans;

	lull_spans_init(&spans, nodes, 2, 100);
	assert_true(take(&spans, 10, 20) == 10);
	assert_true(take(&spans, 30, 40) == 0);
	assert_true(spans.full);
	assert_true(spans.missing == 90);
	assert_true(take(&spans, 90, 100) == 10); /* at an edge there is no need to part */
	assert_true(take(&spans, 0, 10) == 10);
	assert_true(take(&spans, 30, 40) == 10);
	assert_true(take(&spans, 20, 90) == 60);
	assert_true(spans.missing == 0);
}
