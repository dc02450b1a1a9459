/* SPDX-License-Identifier: BSD-3-Clause */
/* Every number that stands in 32 bits goes round, and every key is used up. */
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

#define NEAR (UINT32_MAX - 20)

static void
bring_both_ways(struct stand *stand)
{
	static const uint64_t lengths[] = { 0, 1, 1000, 3000, 90000, 400000 };

	for (uint32_t i = 0; i < 60; i++) {
		stand_bring(stand, 0, 1, lengths[i % COUNT(lengths)]);
		stand_bring(stand, 1, 0, lengths[(i + 3) % COUNT(lengths)]);
	}
	for (uint32_t node = 0; node < 2; node++) {
		assert_int_equal(stand->nodes[node].downs, 0);
		assert_int_equal(stand_counters(stand, node)->forged, 0);
		assert_int_equal(stand_counters(stand, node)->replayed, 0);
		assert_int_equal(stand_counters(stand, node)->bad_ack, 0);
		assert_int_equal(stand_counters(stand, node)->bad_range, 0);
		assert_int_equal(stand_counters(stand, node)->bad_grant, 0);
		assert_int_equal(stand_path(stand, node, 0)->counters.lost_pkts, 0);
	}
}

static struct stand *
stand_still(void)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	stand_bring(stand, 0, 1, 10000);
	stand_bring(stand, 1, 0, 10000);
	stand_run(stand, 20 * LULL_NS_PER_MS);
	assert_int_equal(stand->packet_count, 0);
	return stand;
}

TEST(wrap__of_packet_numbers)
{
	struct stand *stand = stand_still();

	for (uint32_t node = 0; node < 2; node++) {
		struct bundle_path *path = stand_path(stand, node, 0);
		struct bundle_path *other = stand_path(stand, 1 - node, 0);

		path->psn_next = path->psn_base = NEAR;
		path->largest_acked = path->psn_next - 1;
		path->psn_data = path->psn_now = path->psn_next - 1;
		memset(path->flights, 0, sizeof(*path->flights) * 1024);
		memset(&other->seen.bits, 0xff, sizeof(other->seen.bits));
		other->seen.largest = path->psn_next - 1;
	}
	bring_both_ways(stand);
	assert_true(stand_path(stand, 0, 0)->psn_next > UINT32_MAX);
	assert_true(stand_path(stand, 1, 0)->psn_next > UINT32_MAX);
	stand_close(stand);
}

TEST(wrap__of_message_numbers)
{
	struct stand *stand = stand_still();

	for (uint32_t node = 0; node < 2; node++) {
		struct bundle_store *store = stand_slot(stand, node)->store;

		assert_int_equal(store->out_count + store->in_count, 0);
		store->out_number = store->in_next = NEAR;
	}
	bring_both_ways(stand);
	assert_true(stand_slot(stand, 0)->store->in_next < 100);
	stand_close(stand);
}

TEST(wrap__of_grants)
{
	struct stand *stand = stand_still();

	for (uint32_t node = 0; node < 2; node++) {
		struct bundle_store *store = stand_slot(stand, node)->store;
		uint32_t more = NEAR - store->charged;

		store->charged += more;
		store->grant += more;
		stand_slot(stand, 1 - node)->store->released += more;
	}
	bring_both_ways(stand);
	assert_true(stand_slot(stand, 0)->store->charged < 10000);
	stand_close(stand);
}

/* The clock in units of 64 ns goes round each 275 s. */
TEST(wrap__of_the_clock)
{
	struct stand *stand = stand_still();
	uint64_t round_ns = 64ULL << 32;

	while (stand->now_ns < round_ns - 5 * LULL_NS_PER_MS)
		stand_run(stand, 100 * LULL_NS_PER_MS);
	bring_both_ways(stand);
	assert_true(stand->now_ns > round_ns);
	stand_close(stand);
}

TEST(wrap__of_keys)
{
	struct stand *stand = stand_still();

	for (uint32_t round = 1; round <= 4; round++) {
		for (uint32_t node = 0; node < 2; node++)
			stand_slot(stand, node)->tx_pkts = ((uint64_t)round << 24) - 100;
		bring_both_ways(stand);
		for (uint32_t node = 0; node < 2; node++)
			assert_int_equal(stand_slot(stand, node)->rx_generation, round);
		stand_run(stand, 100 * LULL_NS_PER_MS);
	}
	stand_close(stand);
}

static bool
loses_some(struct stand *stand, struct stand_packet *packet)
{
	(void)packet;
	return ++stand->judged % 50 != 0;
}

TEST(wrap__of_keys_while_packets_are_lost)
{
	struct stand *stand = stand_still();

	stand->judge = loses_some;
	stand_slot(stand, 0)->tx_pkts = (1u << 24) - 300;
	for (uint32_t i = 0; i < 10; i++)
		stand_bring(stand, 0, 1, 400000);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 1);
	assert_int_equal(stand_counters(stand, 1)->forged, 0);
	stand_close(stand);
}

/* A machine stands still for some seconds, with packets under way: it is as fast as before. */
TEST(clock__leaps)
{
	struct stand *stand = stand_still();

	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(stand_send(stand, 0, 200000, false), 0);
		stand_run(stand, 5 * STAND_STEP_NS);
		assert_true(stand_path(stand, 0, 0)->under_way > 0);
		stand->now_ns += 5 * LULL_NS_PER_S;
		stand_wait(stand, &stand->nodes[1].received, 2 + i, 100 * LULL_NS_PER_MS);
		assert_in_range(stand_path(stand, 0, 0)->meter.srtt_ns, 1, 5 * LULL_NS_PER_MS);
		assert_in_range(bundle_meter_tail_ns(&stand_path(stand, 0, 0)->meter), 1,
				50 * LULL_NS_PER_MS);
	}
	assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	stand_close(stand);
}
