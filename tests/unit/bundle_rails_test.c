/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails that come, go and change while peers are connected. */
#include <errno.h>
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

static int
add_small(struct stand *stand, uint32_t node, uint32_t number, uint32_t packet_bytes)
{
	struct lull_bundle_rail rail = stand_rail(node, number);

	rail.packet_bytes = packet_bytes;
	return lull_bundle_rail_add(stand->nodes[node].bundle, stand->now_ns, &rail);
}

static bool
holds_answers(struct stand *stand, struct stand_packet *packet)
{
	if ((packet->bytes[0] & 15) == BUNDLE_ANSWER)
		stand->judged++;
	return true;
}

/* What both sides agreed on stands in the answer, whatever rails came meanwhile. */
TEST(rail__that_comes_during_the_handshake_does_no_harm)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->judge = holds_answers;
	(void)stand_ask(stand, 0, 1);
	stand_wait(stand, &stand->judged, 1, LULL_NS_PER_S);
	assert_int_equal(add_small(stand, 0, 1, 700), 1);
	stand_wait(stand, &stand->nodes[0].ups, 1, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[1].ups, 1, LULL_NS_PER_S);
	stand_bring(stand, 0, 1, 100000);
	stand_bring(stand, 1, 0, 100000);
	stand_close(stand);
}

/* Nothing can be said any more, and nobody turns for it. */
TEST(rail__that_was_the_last_leaves_the_thread_at_rest)
{
	static const uint8_t stranger[STAND_PACKET_BYTES] = { 1 << 4 | BUNDLE_DATA };
	struct lull_bundle_address from = { .len_bytes = 2, .bytes = { 2, 0 } };
	struct stand *stand = stand_open(2, 1, NULL);
	uint8_t bytes[STAND_PACKET_BYTES];

	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(stand_send(stand, 0, 100, true), 0);
	stand_wait(stand, &stand->nodes[1].head_count, 3, LULL_NS_PER_S);
	/* A record, a RESET, and messages that want to leave. */
	stand_take_all(stand, 1);
	memcpy(bytes, stranger, sizeof(bytes));
	bytes[4] = 5;
	lull_bundle_rx(stand->nodes[1].bundle, stand->now_ns, 0, bytes, 200, &from);
	assert_int_equal(stand_counters(stand, 1)->strangers, 1);
	assert_int_equal(stand_send(stand, 1, 300000, false), 0);
	assert_int_equal(lull_bundle_rail_remove(stand->nodes[1].bundle, stand->now_ns, 0), 0);
	stand_rests(stand, 1);
	assert_int_equal(lull_bundle_rail_remove(stand->nodes[0].bundle, stand->now_ns, 0), 0);
	stand_rests(stand, 0);
	/* All goes on when one comes back in time. */
	assert_int_equal(stand_rail_add(stand, 0, 0), 0);
	assert_int_equal(stand_rail_add(stand, 1, 0), 0);
	stand->nodes[0].policy = STAND_ACCEPT;
	stand_wait(stand, &stand->nodes[0].sent, 3, 5 * LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[0].received, 1, 5 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].downs, 0);
	stand_close(stand);
}

/* Another port in the place of one, with shorter packets: the other side goes by them. */
TEST(rail__of_another_size_in_the_same_place_is_used)
{
	struct stand *stand = stand_open(2, 0, NULL);
	uint32_t paths_up = 0;

	for (uint32_t node = 0; node < 2; node++) {
		assert_int_equal(add_small(stand, node, 0, 1000), 0);
		assert_int_equal(add_small(stand, node, 1, 1400), 1);
	}
	stand_join(stand, 0, 1);
	stand_bring(stand, 0, 1, 500000);
	assert_int_equal(lull_bundle_rail_remove(stand->nodes[1].bundle, stand->now_ns, 1), 0);
	assert_int_equal(add_small(stand, 1, 1, 1200), 1);
	stand_run(stand, 50 * LULL_NS_PER_MS);
	for (uint32_t i = 0; i < 2; i++) {
		assert_in_range(stand_path(stand, 0, i)->packet_bytes, 1000, 1200);
		paths_up += stand_path(stand, 0, i)->state == LULL_BUNDLE_PATH_UP;
	}
	assert_int_equal(paths_up, 2);
	stand_close(stand);
}

/* Every rail has a path, however the rails came. */
TEST(rail__that_comes_last_has_a_path)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint32_t used = 0;

	for (uint32_t i = 1; i < LULL_BUNDLE_RAILS_MAX; i++)
		assert_int_equal(stand_rail_add(stand, 1, i), (int)i);
	stand_join(stand, 0, 1);
	for (uint32_t i = 1; i < LULL_BUNDLE_RAILS_MAX; i++) {
		assert_int_equal(stand_rail_add(stand, 0, i), (int)i);
		stand_bring(stand, 0, 1, 100000);
		stand_bring(stand, 1, 0, 100000);
	}
	stand_run(stand, 300 * LULL_NS_PER_MS);
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++) {
		if (stand_path(stand, 0, i)->state == LULL_BUNDLE_PATH_UP)
			used |= 1u << stand_path(stand, 0, i)->local |
				1u << (16 + stand_path(stand, 0, i)->remote);
	}
	assert_int_equal(used, UINT32_MAX);
	stand_bring(stand, 0, 1, 1000000);
	stand_close(stand);
}

/* Also where no path is ever at rest. */
TEST(rail__that_comes_under_load_is_used)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint64_t begin_ns;

	stand->burst = 1;
	stand_join(stand, 0, 1);
	assert_int_equal(stand_send(stand, 0, stand->message_bytes_max, false), 0);
	assert_int_equal(stand_send(stand, 0, stand->message_bytes_max, false), 0);
	stand_run(stand, 5 * LULL_NS_PER_MS);
	assert_int_equal(stand_rail_add(stand, 0, 1), 1);
	stand_run(stand, 5 * LULL_NS_PER_MS);
	assert_int_equal(stand_rail_add(stand, 1, 1), 1);
	begin_ns = stand->now_ns;
	while (stand_slot(stand, 0)->store->path_count < 3 ||
	       stand_path(stand, 0, 2)->state != LULL_BUNDLE_PATH_UP) {
		stand_step(stand);
		assert_in_range(stand->now_ns - begin_ns, 0, 30 * LULL_NS_PER_MS);
		assert_int_equal(stand->nodes[0].sent, 0); /* while it is busy */
	}
	stand_close(stand);
}

/* No number of a path comes twice under the keys of a connection, and nothing old is taken. */
static bool numbers[2][256][1 << 16];

static bool
notes_numbers(struct stand *stand, struct stand_packet *packet)
{
	struct bundle_header header;

	(void)stand;
	if (!bundle_header_read(&header, packet->bytes, packet->len_bytes) ||
	    header.type < BUNDLE_DATA)
		return true;
	assert_true(header.psn < 1 << 16);
	assert_false(numbers[packet->from][header.path][header.psn]);
	numbers[packet->from][header.path][header.psn] = true;
	return true;
}

TEST(rail__that_comes_and_goes_repeats_no_number)
{
	struct stand *stand = stand_open(2, 4, NULL);
	struct lull_prng prng;

	lull_prng_init(&prng, 3, 0);
	stand->judge = notes_numbers;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t node = (uint32_t)lull_prng_below(&prng, 2);
		uint32_t rail = 1 + (uint32_t)lull_prng_below(&prng, 15);

		if (lull_prng_below(&prng, 2) == 0)
			(void)lull_bundle_rail_remove(stand->nodes[node].bundle, stand->now_ns,
						      rail);
		else
			(void)stand_rail_add(stand, node, rail);
		stand_bring(stand, node, 1 - node, 20000);
	}
	assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	stand_close(stand);
}

TEST(rail__is_refused_where_it_makes_no_sense)
{
	struct stand *stand = stand_open(1, 1, NULL);
	struct lull_bundle *bundle = stand->nodes[0].bundle;
	struct lull_bundle_rail rail = stand_rail(0, 1);
	uint8_t bytes[STAND_PACKET_BYTES] = { 0 };
	struct lull_bundle_packet packet = { .bytes = bytes, .room_bytes = sizeof(bytes) };

	rail.ring_pkts = 15;
	assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), -EINVAL);
	rail.ring_pkts = 16;
	rail.packet_bytes = LULL_BUNDLE_PACKET_BYTES_MIN - 1;
	assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), -EINVAL);
	rail.packet_bytes = LULL_BUNDLE_PACKET_BYTES_MAX + 1;
	assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), -EINVAL);
	rail.packet_bytes = LULL_BUNDLE_PACKET_BYTES_MIN;
	rail.address.len_bytes = LULL_BUNDLE_ADDRESS_SIZE + 1;
	assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), -EINVAL);
	rail.address.len_bytes = 0;
	for (int i = 1; i < LULL_BUNDLE_RAILS_MAX; i++)
		assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), i);
	assert_int_equal(lull_bundle_rail_add(bundle, stand->now_ns, &rail), -ENOSPC);
	assert_int_equal(lull_bundle_rail_remove(bundle, stand->now_ns, 16), -ENODEV);
	assert_int_equal(lull_bundle_rail_remove(bundle, stand->now_ns, 3), 0);
	assert_int_equal(lull_bundle_rail_remove(bundle, stand->now_ns, 3), -ENODEV);
	assert_int_equal(lull_bundle_tx(bundle, stand->now_ns, 3, &packet, 1), 0);
	lull_bundle_rx(bundle, stand->now_ns, 3, bytes, 100, &rail.address);
	assert_int_equal(lull_bundle_counters(bundle)->rx_pkts, 0);
	stand_close(stand);
}

/* The first probe that node 1 sends on its rail 0 is late. */
static struct stand_packet late_probe;

static bool
keeps_a_probe(struct stand *stand, struct stand_packet *packet)
{
	if (stand->kept > 0 || packet->to != 0 || (packet->bytes[0] & 15) != BUNDLE_PROBE)
		return true;
	late_probe = *packet;
	stand->kept++;
	return false;
}

static void
hear_late(struct stand *stand)
{
	lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, late_probe.to_rail, late_probe.bytes,
		       late_probe.len_bytes, &late_probe.source);
}

/* What a probe says of the rails is not believed when a newer one has come. */
TEST(probe__that_is_late_takes_no_rail_back)
{
	struct lull_bundle_config config = { .idle_probe_ns = 10 * LULL_NS_PER_MS };
	struct stand *stand = stand_open(2, 1, &config);

	stand_join(stand, 0, 1);
	for (uint32_t number = 1; number < 3; number++) {
		stand->kept = 0;
		stand->judge = keeps_a_probe;
		stand_wait(stand, &stand->kept, 1, LULL_NS_PER_S);
		assert_int_equal(stand_rail_add(stand, 0, number), (int)number);
		assert_int_equal(stand_rail_add(stand, 1, number), (int)number);
		stand_run(stand, 50 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 0)->rails.count, number + 1);
		hear_late(stand);
		assert_int_equal(stand_slot(stand, 0)->rails.count, number + 1);
		stand_run(stand, 50 * LULL_NS_PER_MS);
		for (uint32_t i = 0; i <= number; i++) {
			assert_int_equal(stand_path(stand, 0, i)->state, LULL_BUNDLE_PATH_UP);
			assert_int_equal(stand_path(stand, 0, i)->counters.downs, 0);
			assert_int_equal(stand_path(stand, 0, i)->counters.ups, 1);
		}
	}
	stand_close(stand);
}

/* Their number wraps. */
TEST(rails__change_more_often_than_their_number_counts)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].bundle->table = UINT16_MAX - 1;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(stand_rail_add(stand, 1, 1), 1);
		stand_run(stand, 20 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 0)->rails.count, 2);
		assert_int_equal(lull_bundle_rail_remove(stand->nodes[1].bundle, stand->now_ns, 1),
				 0);
		stand_run(stand, 20 * LULL_NS_PER_MS);
		assert_int_equal(stand_slot(stand, 0)->rails.count, 1);
	}
	stand_close(stand);
}

/* A port in the place of another, as long: a path that begins anew goes to its address. */
TEST(rail__of_another_address_is_known_by_it)
{
	struct stand *stand = stand_open(2, 2, NULL);
	struct lull_bundle_rail other = stand_rail(1, 7);

	stand_join(stand, 0, 1);
	assert_int_equal(lull_bundle_rail_remove(stand->nodes[1].bundle, stand->now_ns, 1), 0);
	assert_int_equal(lull_bundle_rail_add(stand->nodes[1].bundle, stand->now_ns, &other), 1);
	stand_run(stand, 20 * LULL_NS_PER_MS);
	assert_int_equal(stand_slot(stand, 0)->rails.rails[1].address.bytes[1], 7);
	stand_close(stand);
}
