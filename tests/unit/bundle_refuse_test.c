/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are refused, taken in part, or not taken for long. */
#include <errno.h>

#include "bundle_stand.h"
#include "case.h"

static bool
drops_acks(struct stand *stand, struct stand_packet *packet)
{
	return packet->from != 1 || stand->kept == 0 || (packet->bytes[0] & 15) != BUNDLE_ACK;
}

TEST(refuse__tells_each_of_many_senders)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].policy = STAND_REFUSE;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(stand_send(stand, 0, 100, true), 0);
	stand_wait(stand, &stand->nodes[0].sent, 200, 10 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].errors[ECONNREFUSED], 200);
	stand_close(stand);
}

TEST(refuse__tells_all_that_wait_at_once)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].policy = STAND_HOLD;
	stand->judge = drops_acks;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(stand_send(stand, 0, i % 3 * 100000, true), 0);
	stand_wait(stand, &stand->nodes[1].head_count, 200, 10 * LULL_NS_PER_S);
	stand->kept = 1;
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(lull_bundle_refuse(stand->nodes[1].bundle, stand->now_ns,
						    stand->nodes[1].heads[i].peer,
						    stand->nodes[1].heads[i].handle),
				 0);
	stand_run(stand, 100 * LULL_NS_PER_MS);
	stand->kept = 0;
	stand_wait(stand, &stand->nodes[0].sent, 200, 10 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].errors[ECONNREFUSED], 200);
	stand_close(stand);
}

TEST(accept__takes_the_first_bytes_of_a_longer_message)
{
	static const uint64_t lengths[] = { 1, 100, 5000, 90000, 200000, 5000000 };
	static const uint64_t rooms[] = { 1, 1000, 4096, 100000, 4000000 };

	for (uint32_t i = 0; i < COUNT(lengths); i++) {
		for (uint32_t k = 0; k < COUNT(rooms); k++) {
			struct stand *stand = stand_open(2, 1, NULL);
			bool shorter = rooms[k] < lengths[i];

			stand->nodes[1].accept_bytes = rooms[k];
			stand_join(stand, 0, 1);
			assert_int_equal(stand_send(stand, 0, lengths[i], k % 2 == 0), 0);
			stand_wait(stand, &stand->nodes[1].received, 1, LULL_NS_PER_S);
			stand_wait(stand, &stand->nodes[0].sent, 1, LULL_NS_PER_S);
			assert_int_equal(stand->nodes[0].errors[0], 1);
			assert_int_equal(stand->nodes[1].errors[EMSGSIZE], shorter);
			/* All that was set aside is free again. */
			stand_run(stand, 100 * LULL_NS_PER_MS);
			assert_int_equal(stand_slot(stand, 1)->store->in_count, 0);
			assert_int_equal(stand_slot(stand, 1)->store->in_accepted, 0);
			assert_int_equal(stand_slot(stand, 1)->store->in_partly, 0);
			assert_int_equal(stand_slot(stand, 1)->store->chunk_count,
					 stand->nodes[1].bundle->config.unexpected_pieces);
			assert_int_equal(stand_slot(stand, 1)->store->block_count,
					 2 * BUNDLE_BITS_BLOCKS);
			assert_int_equal(stand_slot(stand, 0)->store->block_count,
					 2 * BUNDLE_BITS_BLOCKS);
			assert_int_equal(stand_slot(stand, 0)->store->sendable, 0);
			stand_close(stand);
		}
	}
}

/* A receiver with little memory: what it has no place for does not come, again and again. */
TEST(accept__is_waited_for_in_quiet)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct lull_bundle_path_look look;

	stand->nodes[1].config.messages_max = 16;
	stand->nodes[1].config.unexpected_pieces = 64;
	stand_node_end(stand, 1);
	stand_node_begin(stand, 1, 1);
	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 250; i++)
		assert_int_equal(stand_send(stand, 0, 200000, false), 0);
	stand_run(stand, LULL_NS_PER_S);
	assert_int_equal(
		lull_bundle_path_look(stand->nodes[0].bundle, stand->nodes[0].peer, 0, &look), 0);
	assert_in_range(look.counters.resent_pkts, 0, 200);
	assert_int_equal(stand_counters(stand, 1)->bad_range, 0);
	stand->nodes[1].policy = STAND_ACCEPT;
	stand_take_all(stand, 1);
	stand_wait(stand, &stand->nodes[1].received, 250, 20 * LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[0].sent, 250, LULL_NS_PER_S);
	stand_close(stand);
}

/* Heads that wait do not keep short messages from coming, and are all taken at last. */
TEST(accept__of_many_that_wait_is_heard_soon)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint64_t begin_ns;

	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(stand_send(stand, 0, 64, true), 0);
	assert_int_equal(stand_send(stand, 0, 64, true), -EAGAIN);
	stand_wait(stand, &stand->nodes[1].head_count, 256, LULL_NS_PER_S);
	stand_run(stand, 2 * LULL_NS_PER_S);
	stand_take_all(stand, 1);
	begin_ns = stand->now_ns;
	stand_wait(stand, &stand->nodes[0].sent, 256, LULL_NS_PER_S);
	assert_in_range(stand->now_ns - begin_ns, 0, 20 * LULL_NS_PER_MS);
	stand_close(stand);
}
