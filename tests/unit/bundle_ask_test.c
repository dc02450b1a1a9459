/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that begin with bad luck, and those that nobody uses. */
#include <errno.h>
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

#define MS LULL_NS_PER_MS

static enum bundle_type
type_of(const struct stand_packet *packet)
{
	return (enum bundle_type)(packet->bytes[0] & 15);
}

/* Nothing of what node 0 sends under keys arrives. */
static bool
hears_no_keys(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return packet->from != 0 || type_of(packet) <= BUNDLE_RESET;
}

/* Keys are agreed, and the other side has forgotten them before it was told so: ask anew. */
TEST(ask__again_when_the_half_is_gone)
{
	struct lull_bundle_target target = { .address_count = 1, .addresses[0].kind = 1 };
	struct stand *stand = stand_open(2, 1, NULL);

	for (uint32_t by_address = 0; by_address < 2; by_address++) {
		uint32_t ups = stand->nodes[0].ups;

		target.name[0] = by_address > 0 ? '\0' : 'b';
		target.address_count = by_address;
		target.addresses[0].address = stand_rail(1, 0).address;
		stand->judge = hears_no_keys;
		assert_true(lull_bundle_connect(stand->nodes[0].bundle, stand->now_ns, &target,
						9 * LULL_NS_PER_S) >= 0);
		stand_run(stand, 2500 * MS);
		assert_int_equal(stand->nodes[0].ups, ups);
		stand->judge = NULL;
		stand_wait(stand, &stand->nodes[0].ups, ups + 1, 1500 * MS);
		stand_wait(stand, &stand->nodes[1].ups, ups + 1, 1500 * MS);
		stand_bring(stand, 0, 1, 100000);
		stand_bring(stand, 1, 0, 100000);
		assert_int_equal(stand->nodes[0].downs, by_address);
		assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, stand->now_ns,
							stand->nodes[0].peer, 0),
				 0);
		stand_wait(stand, &stand->nodes[0].downs, by_address + 1, LULL_NS_PER_S);
		stand_run(stand, 2500 * MS);
		assert_int_equal(stand->nodes[1].bundle->half_count, 0);
		assert_int_equal(stand->nodes[0].bundle->peer_count, 0);
		assert_int_equal(stand->nodes[0].bundle->store_free, 4);
	}
	stand_close(stand);
}

/* What was still to be sent of the first question is not sent before there is a new one. */
TEST(ask__again_sends_nothing_of_before)
{
	struct stand *stand = stand_open(2, 2, NULL);
	struct bundle_slot *slot;

	stand->judge = hears_no_keys;
	slot = &stand->nodes[0].bundle->slots[stand_ask(stand, 0, 1)];
	slot->limit_ns = LULL_BUNDLE_NEVER;
	stand_run(stand, 20 * MS);
	assert_int_equal(slot->state, PEER_JOIN);
	slot->limit_ns = LULL_BUNDLE_NEVER;
	slot->hello_rails = 3;
	slot->retry_wanted = true;
	slot->doubt_ns = stand->now_ns;
	bundle_ask_anew(stand->nodes[0].bundle, slot);
	assert_int_equal(slot->state, PEER_HELLO);
	assert_false(bundle_ask_wants(slot, 0) || bundle_ask_wants(slot, 1));
	stand->judge = NULL;
	stand_wait(stand, &stand->nodes[0].ups, 1, LULL_NS_PER_S);
	stand_close(stand);
}

/* Who is told by a stranger that nobody knows him does not go and ask the stranger. */
TEST(ask__goes_on_where_it_was_told_to)
{
	struct lull_bundle_target target = { .address_count = 1, .addresses[0].kind = 1 };
	struct lull_bundle_address stranger = { .len_bytes = 2, .bytes = { 77, 0 } };
	struct stand *stand = stand_open(2, 1, NULL);
	uint8_t bytes[64];
	struct bundle_slot *slot;
	uint32_t len;
	int peer;

	target.addresses[0].address = stand_rail(1, 0).address;
	stand->judge = hears_no_keys;
	peer = lull_bundle_connect(stand->nodes[0].bundle, stand->now_ns, &target,
				   9 * LULL_NS_PER_S);
	assert_true(peer >= 0);
	slot = &stand->nodes[0].bundle->slots[peer];
	stand_run(stand, 5 * MS);
	assert_int_equal(slot->state, PEER_JOIN);
	len = bundle_reset_write(slot->remote_index, 1, bytes);
	lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, 0, bytes, len, &stranger);
	stand_run(stand, 500 * MS);
	stand->judge = NULL;
	stand_wait(stand, &stand->nodes[0].ups, 1, LULL_NS_PER_S);
	stand_close(stand);
}

/* A short time after which a peer counts as gone: a sign of life comes sooner. */
TEST(peer__that_has_nothing_to_say_stays)
{
	struct lull_bundle_config config = { .peer_timeout_ns = 300 * MS };
	struct stand *stand = stand_open(2, 2, &config);

	stand_join(stand, 0, 1);
	stand_run(stand, 3 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	stand->nodes[1].away = true;
	stand_wait(stand, &stand->nodes[0].downs, 1, 500 * MS);
	assert_int_equal(stand->nodes[0].down_error, -ECONNRESET);
	stand_close(stand);
}

/* ---- what a late packet says ---- */

static struct stand_packet late;

static bool
keeps_data(struct stand *stand, struct stand_packet *packet)
{
	if (stand->kept > 0 || packet->to != 0 || type_of(packet) != BUNDLE_DATA)
		return true;
	late = *packet;
	stand->kept++;
	return false;
}

static void
hear_late(struct stand *stand)
{
	uint8_t bytes[STAND_PACKET_BYTES];

	memcpy(bytes, late.bytes, late.len_bytes);
	lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, late.to_rail, bytes, late.len_bytes,
		       &late.source);
}

/* One that was sent before the rests grew says what was so before. */
TEST(rest__goes_by_the_newest_packet)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	stand->judge = keeps_data;
	stand_bring(stand, 1, 0, 5000);
	assert_int_equal(stand->kept, 1);
	assert_int_equal(stand_slot(stand, 0)->rest_ns, 0);
	lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, MS);
	stand_run(stand, 5 * MS);
	assert_in_range(stand_slot(stand, 0)->rest_ns, MS, 1100 * LULL_NS_PER_US);
	hear_late(stand);
	assert_in_range(stand_slot(stand, 0)->rest_ns, MS, 1100 * LULL_NS_PER_US);
	lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, 0);
	stand_bring(stand, 1, 0, 5000);
	assert_int_equal(stand_slot(stand, 0)->rest_ns, 0);
	/* After a silence of half the time that their clock takes to go round, too. */
	stand->nodes[0].away = stand->nodes[1].away = true;
	stand_slot(stand, 0)->rest_sent += UINT32_MAX / 2 + 2;
	stand->now_ns += 2 * LULL_NS_PER_S;
	stand->nodes[0].away = stand->nodes[1].away = false;
	lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, 4 * MS);
	stand_bring(stand, 1, 0, 5000);
	assert_true(stand_slot(stand, 0)->rest_ns >= 4 * MS);
	stand_close(stand);
}

/* Also from the first packet on, whatever the clock there says. */
TEST(rest__is_known_from_the_first_packet)
{
	for (uint64_t began_s = 1; began_s < 300; began_s += 60) {
		struct stand *stand = stand_open(2, 1, NULL);

		stand->now_ns = began_s * LULL_NS_PER_S;
		lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, MS);
		(void)stand_ask(stand, 0, 1);
		stand_wait(stand, &stand->nodes[0].ups, 1, LULL_NS_PER_S);
		assert_true(stand_slot(stand, 0)->rest_ns >= MS);
		stand_close(stand);
	}
}

/* ---- notes ---- */

/* What waits for a rail that sends nothing holds up no other. */
TEST(note__waits_for_its_own_rail_alone)
{
	struct stand *stand = stand_open(1, 2, NULL);
	struct lull_bundle *bundle = stand->nodes[0].bundle;
	uint8_t bytes[STAND_PACKET_BYTES], sent[STAND_PACKET_BYTES];
	struct lull_bundle_packet packet = { .bytes = sent, .room_bytes = sizeof(sent) };
	struct bundle_header header;

	for (uint32_t i = 0; i < 6; i++) {
		uint32_t rail = i % 3 == 2 ? 0 : 1;

		memset(bytes, 0, sizeof(bytes));
		bytes[0] = BUNDLE_VERSION << 4 | BUNDLE_DATA;
		bytes[2] = (uint8_t)rail;
		bytes[4] = (uint8_t)(100 + i);
		lull_bundle_rx(bundle, stand->now_ns, rail, bytes, 100,
			       &(struct lull_bundle_address){ .len_bytes = 2,
							      .bytes = { 5, (uint8_t)i } });
	}
	assert_int_equal(bundle->note_count, 6);
	for (uint32_t i = 2; i < 6; i += 3) {
		assert_int_equal(lull_bundle_tx(bundle, stand->now_ns, 0, &packet, 1), 1);
		assert_true(bundle_header_read(&header, sent, packet.len_bytes));
		assert_int_equal(header.type, BUNDLE_RESET);
		assert_int_equal(header.msg, 100 + i);
		assert_int_equal(packet.to.bytes[1], i);
	}
	assert_int_equal(lull_bundle_tx(bundle, stand->now_ns, 0, &packet, 1), 0);
	assert_int_equal(bundle->note_count, 4);
	for (uint32_t i = 0; i < 5; i++) {
		if (i % 3 == 2)
			continue;
		assert_int_equal(lull_bundle_tx(bundle, stand->now_ns, 1, &packet, 1), 1);
		assert_true(bundle_header_read(&header, sent, packet.len_bytes));
		assert_int_equal(header.msg, 100 + i);
	}
	assert_int_equal(bundle->note_count, 0);
	stand_close(stand);
}
