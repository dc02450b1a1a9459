/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys move on after 2^24 packets, each direction by itself. A stand reaches that by counting its
 * packets on.
 */
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

#define KEY_PKTS (1ULL << 24)
#define HELD 64

static struct stand_packet held[HELD];

/* Data from node 0 to node 1 is kept, as many packets as are wanted, and goes on its way. */
static bool
copies(struct stand *stand, struct stand_packet *packet)
{
	if (packet->from == 0 && (packet->bytes[0] & 15) == BUNDLE_DATA && stand->kept < HELD)
		held[stand->kept++] = *packet;
	return true;
}

/* The same, and it does not arrive. */
static bool
takes(struct stand *stand, struct stand_packet *packet)
{
	uint32_t before = stand->kept;

	(void)copies(stand, packet);
	return stand->kept == before;
}

static void
hear(struct stand *stand, const struct stand_packet *packet)
{
	uint8_t bytes[STAND_PACKET_BYTES];

	memcpy(bytes, packet->bytes, packet->len_bytes);
	lull_bundle_rx(stand->nodes[1].bundle, stand->now_ns, packet->to_rail, bytes,
		       packet->len_bytes, &packet->source);
}

static uint32_t
phase_of(const struct stand_packet *packet)
{
	return packet->bytes[1] & BUNDLE_FLAG_PHASE;
}

static struct stand *
keys_open(void)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	stand_bring(stand, 0, 1, 100000);
	stand_bring(stand, 1, 0, 100000);
	return stand;
}

/* So many packets before node's next key. */
static void
keys_near(struct stand *stand, uint32_t node, uint64_t pkts)
{
	struct bundle_slot *slot = stand_slot(stand, node);

	slot->tx_pkts = (slot->tx_pkts / KEY_PKTS + 1) * KEY_PKTS - pkts;
}

/* What went under the old key and comes behind some under the new one is taken, once. */
TEST(keys__of_before_are_taken_for_a_while)
{
	struct stand *stand = keys_open();
	const struct lull_bundle_counters *counters = stand_counters(stand, 1);
	uint32_t before, late;

	keys_near(stand, 0, 8);
	stand->judge = takes;
	stand->kept = HELD - 4; /* four packets are late */
	assert_int_equal(stand_send(stand, 0, 40000, false), 0);
	stand_wait(stand, &stand->kept, HELD, 10 * LULL_NS_PER_MS);
	stand_run(stand, 6 * STAND_STEP_NS);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 1);
	before = stand_path(stand, 1, 0)->rx_count;
	for (late = HELD - 4; late < HELD; late++) {
		assert_int_equal(phase_of(&held[late]), 0);
		hear(stand, &held[late]);
		assert_int_equal(stand_path(stand, 1, 0)->rx_count, ++before);
	}
	assert_int_equal(counters->forged, 0);
	for (late = HELD - 4; late < HELD; late++)
		hear(stand, &held[late]);
	assert_int_equal(counters->replayed, 4);
	assert_int_equal(stand_path(stand, 1, 0)->rx_count, before);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 1);
	stand_wait(stand, &stand->nodes[1].received, 2, LULL_NS_PER_S);
	stand_close(stand);
}

/* Later it is not, and has no effect on the keys; nor have replays of any time. */
TEST(keys__of_long_ago_are_forgotten)
{
	struct stand *stand = keys_open();
	const struct lull_bundle_counters *counters = stand_counters(stand, 1);
	struct stand_packet late[2];

	for (uint32_t generation = 0; generation < 2; generation++) {
		stand->judge = takes;
		stand->kept = HELD - 1;
		stand_bring(stand, 0, 1, 40000);
		late[generation] = held[HELD - 1];
		assert_int_equal(phase_of(&late[generation]), generation);
		stand->judge = copies;
		stand->kept = 0;
		stand_bring(stand, 0, 1, 40000);
		keys_near(stand, 0, 1);
		stand_bring(stand, 0, 1, 40000);
		stand_run(stand, 50 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 1)->rx_generation, generation + 1);
		assert_int_equal(counters->forged, generation);
		hear(stand, &late[generation]); /* lost under the key of before */
		assert_int_equal(counters->forged, generation + 1);
		for (uint32_t i = 0; i < stand->kept; i++)
			hear(stand, &held[i]); /* replays of what came under it */
		assert_int_equal(counters->forged, generation + 1);
		assert_int_equal(stand_slot(stand, 1)->rx_generation, generation + 1);
	}
	assert_true(counters->replayed > 50);
	hear(stand, &late[0]); /* of the same phase as the present key */
	assert_int_equal(counters->forged, 3);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 2);
	stand_bring(stand, 0, 1, 400000);
	stand_bring(stand, 1, 0, 400000);
	assert_int_equal(counters->forged, 3);
	stand_close(stand);
}

/* A packet that says it is of the next key, and is not, moves nothing. */
TEST(keys__move_on_for_true_packets_alone)
{
	struct stand *stand = keys_open();
	struct stand_packet packet;

	stand->judge = takes;
	stand->kept = HELD - 1;
	assert_int_equal(stand_send(stand, 0, 1000, false), 0);
	stand_wait(stand, &stand->kept, HELD, 10 * LULL_NS_PER_MS);
	packet = held[HELD - 1];
	packet.bytes[1] ^= BUNDLE_FLAG_PHASE;
	hear(stand, &packet);
	assert_int_equal(stand_counters(stand, 1)->forged, 1);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 0);
	stand_wait(stand, &stand->nodes[1].received, 2, LULL_NS_PER_S);
	stand_close(stand);
}

/* One side uses up keys while the other one says hardly anything, and then it does. */
TEST(keys__of_one_direction_are_its_own)
{
	struct stand *stand = keys_open();

	for (uint32_t generation = 1; generation <= 5; generation++) {
		keys_near(stand, 0, 20);
		for (uint32_t i = 0; i < 4; i++)
			stand_bring(stand, 0, 1, 100000);
		stand_run(stand, 100 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 1)->rx_generation, generation);
		assert_int_equal(stand_slot(stand, 0)->rx_generation, 0);
	}
	for (uint32_t generation = 1; generation <= 3; generation++) {
		keys_near(stand, 1, 20);
		stand_bring(stand, 1, 0, 100000);
		stand_bring(stand, 0, 1, 100000);
		stand_run(stand, 100 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 0)->rx_generation, generation);
		assert_int_equal(stand_slot(stand, 1)->rx_generation, 5);
	}
	for (uint32_t node = 0; node < 2; node++)
		assert_int_equal(stand_counters(stand, node)->forged, 0);
	stand_close(stand);
}

/* The other direction is dead meanwhile: no acknowledgement comes, for a whole key. */
static bool
mute(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return packet->from != 1;
}

TEST(keys__move_on_while_nothing_comes_back)
{
	struct stand *stand = keys_open();

	stand->judge = mute;
	assert_int_equal(stand_send(stand, 0, 300000, false), 0);
	stand_run(stand, 5 * LULL_NS_PER_MS);
	keys_near(stand, 0, 2);
	stand_run(stand, 200 * LULL_NS_PER_MS);
	assert_int_equal(stand_slot(stand, 1)->rx_generation, 1);
	stand->judge = NULL;
	stand_wait(stand, &stand->nodes[1].received, 2, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[0].sent, 2, LULL_NS_PER_S);
	assert_int_equal(stand_counters(stand, 0)->forged + stand_counters(stand, 1)->forged, 0);
	stand_close(stand);
}
