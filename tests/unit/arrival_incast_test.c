/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "traffic/arrival.h"

static struct lull_arrival_config
incast(uint32_t sender_count, uint32_t sender_pkts, uint64_t jitter_ns)
{
	return (struct lull_arrival_config){
		.kind = LULL_ARRIVAL_INCAST,
		.sender_count = sender_count,
		.sender_pkts = sender_pkts,
		.period_ns = LULL_NS_PER_MS,
		.jitter_ns = jitter_ns,
		.size_count = 1,
		.size_bytes = { 60 },
		.size_weight = { 1 },
		.seed = 1,
	};
}

/* Every period has its packets, those of a sender all at once, within the jitter, in order. */
TEST(incast__counts_and_order)
{
	struct lull_arrival_config config = incast(32, 8, 50 * LULL_NS_PER_US);
	struct lull_arrival arrival;
	uint64_t last_ns = 0;

	lull_arrival_init(&arrival, &config, 777);
	for (uint64_t period = 0; period < 1000; period++) {
		uint64_t begin_ns = 777 + period * LULL_NS_PER_MS;

		for (uint32_t sender = 0; sender < 32; sender++) {
			uint64_t due_ns = lull_arrival_next_ns(&arrival);

			assert_true(due_ns >= last_ns && due_ns >= begin_ns);
			assert_true(due_ns < begin_ns + config.jitter_ns);
			last_ns = due_ns;
			for (uint32_t i = 0; i < 8; i++) {
				assert_true(lull_arrival_next_ns(&arrival) == due_ns);
				assert_int_equal(lull_arrival_take(&arrival), 60);
			}
		}
	}
	assert_true(lull_arrival_next_ns(&arrival) >= 777 + 1000 * LULL_NS_PER_MS);
}

/* Sorted or not, senders are spread evenly; the k-th of n begins at k / (n + 1) in the mean. */
TEST(incast__jitter_is_uniform)
{
	struct lull_arrival_config config = incast(9, 1, LULL_NS_PER_MS);
	uint32_t tenths[10] = { 0 };
	struct lull_arrival arrival;
	double sums[9] = { 0 };
	const uint32_t periods = 10000;

	lull_arrival_init(&arrival, &config, 0);
	for (uint64_t period = 0; period < periods; period++) {
		for (uint32_t k = 0; k < 9; k++) {
			uint64_t at_ns = lull_arrival_next_ns(&arrival) - period * LULL_NS_PER_MS;

			tenths[at_ns * 10 / LULL_NS_PER_MS]++;
			sums[k] += (double)at_ns / LULL_NS_PER_MS;
			lull_arrival_take(&arrival);
		}
	}
	for (uint32_t i = 0; i < 10; i++)
		assert_in_range(tenths[i], 9000 - 450, 9000 + 450);
	for (uint32_t k = 0; k < 9; k++)
		assert_in_range(sums[k] * 1000 / periods, 100 * (k + 1) - 8, 100 * (k + 1) + 8);
}

TEST(incast__without_jitter_all_at_once)
{
	struct lull_arrival_config config = incast(LULL_ARRIVAL_SENDERS_MAX, 3, 0);
	struct lull_arrival arrival;

	config.period_ns = LULL_NS_PER_S;
	lull_arrival_init(&arrival, &config, 5);
	for (uint64_t period = 0; period < 3; period++)
		for (uint32_t i = 0; i < 3 * LULL_ARRIVAL_SENDERS_MAX; i++) {
			assert_true(lull_arrival_next_ns(&arrival) == 5 + period * LULL_NS_PER_S);
			lull_arrival_take(&arrival);
		}
}

TEST(incast__one_sender)
{
	struct lull_arrival_config config = incast(1, 1, 1);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, 0);
	for (uint64_t period = 0; period < 100; period++) {
		assert_true(lull_arrival_next_ns(&arrival) == period * LULL_NS_PER_MS);
		lull_arrival_take(&arrival);
	}
}

TEST(incast__clock_at_its_end)
{
	struct lull_arrival_config config = incast(1, 2, 0);
	struct lull_arrival arrival;

	lull_arrival_init(&arrival, &config, UINT64_MAX - 10);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX - 10);
	lull_arrival_take(&arrival);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX - 10);
	lull_arrival_take(&arrival);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}
