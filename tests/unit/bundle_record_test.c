/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements and records, where there is little room or many are lost. */
#include <errno.h>

#include "bundle_stand.h"
#include "case.h"

#define SMALL_BYTES LULL_BUNDLE_PACKET_BYTES_MIN

static bool
counts_resent(struct stand *stand, struct stand_packet *packet)
{
	stand->kept += (packet->bytes[1] & BUNDLE_FLAG_RESENT) != 0;
	return true;
}

static struct stand *
stand_small(uint32_t rails)
{
	struct stand *stand = stand_open(2, 0, NULL);

	for (uint32_t node = 0; node < 2; node++) {
		for (uint32_t i = 0; i < rails; i++) {
			struct lull_bundle_rail rail = stand_rail(node, i);

			rail.packet_bytes = SMALL_BYTES;
			assert_int_equal(lull_bundle_rail_add(stand->nodes[node].bundle,
							      stand->now_ns, &rail),
					 (int)i);
		}
	}
	return stand;
}

/* Blocks of 16 paths do not fit into one packet of the least MTU. */
TEST(ack__of_many_small_rails_tells_of_all)
{
	struct stand *stand = stand_small(16);

	stand_join(stand, 0, 1);
	stand->judge = counts_resent;
	for (uint32_t i = 0; i < 20; i++)
		stand_bring(stand, 0, 1, 300000);
	assert_int_equal(stand->kept, 0);
	for (uint32_t i = 0; i < 16; i++) {
		struct bundle_path *path = stand_path(stand, 0, i);

		assert_true(path->counters.tx_pkts > 100);
		assert_int_equal(path->counters.lost_pkts, 0);
	}
	stand_close(stand);
}

/* Records of many messages leave soon on a small rail, and do not count as said before. */
TEST(record__of_many_messages_leaves_soon)
{
	struct stand *stand = stand_small(9);
	uint64_t begin_ns;

	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 250; i++)
		assert_int_equal(stand_send(stand, 0, 64, true), 0);
	stand_wait(stand, &stand->nodes[1].head_count, 250, LULL_NS_PER_S);
	stand_run(stand, 10 * LULL_NS_PER_S);
	stand_take_all(stand, 1);
	begin_ns = stand->now_ns;
	stand_wait(stand, &stand->nodes[0].sent, 250, LULL_NS_PER_S);
	assert_in_range(stand->now_ns - begin_ns, 0, 5 * LULL_NS_PER_MS);
	stand_close(stand);
}

/* Three times, each later than the one before: a short silence does not swallow all of them. */
static bool
drops_for_a_while(struct stand *stand, struct stand_packet *packet)
{
	bool ack = packet->from == 1 && (packet->bytes[0] & 15) == BUNDLE_ACK;

	stand->judged += ack;
	return !ack || stand->now_ns >= LULL_NS_PER_S + stand->kept * LULL_NS_PER_US;
}

TEST(record__is_said_again_after_a_short_silence)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint64_t begin_ns;

	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(stand_send(stand, 0, 64, true), 0);
	stand_wait(stand, &stand->nodes[1].head_count, 40, LULL_NS_PER_S);
	stand_run(stand, 10 * LULL_NS_PER_MS);
	stand_take_all(stand, 1);
	begin_ns = stand->now_ns;
	stand->judge = drops_for_a_while;
	stand->kept = (uint32_t)((begin_ns + 100 * LULL_NS_PER_US - LULL_NS_PER_S) / 1000);
	stand_wait(stand, &stand->nodes[0].sent, 40, LULL_NS_PER_S);
	assert_in_range(stand->now_ns - begin_ns, 0, 3 * LULL_NS_PER_MS);
	stand_close(stand);
}
