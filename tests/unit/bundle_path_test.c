/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that fail again and again, and what is counted and shared on them. */
#include <errno.h>
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

#define MS LULL_NS_PER_MS

static bool
silent_1(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return packet->from_rail != 1;
}

/* Path 1 fails, and is there again at once; how long until it is used. */
static uint64_t
held_ns(struct stand *stand)
{
	uint64_t begin_ns = stand->now_ns;

	stand->judge = silent_1;
	while (stand_path(stand, 0, 1)->state != LULL_BUNDLE_PATH_DOWN) {
		if (stand_slot(stand, 0)->store->out_count < 2)
			assert_int_equal(stand_send(stand, 0, 1000000, false), 0);
		stand_step(stand);
		assert_true(stand->now_ns - begin_ns < 4 * LULL_NS_PER_S);
	}
	stand->judge = NULL;
	begin_ns = stand->now_ns;
	while (stand_path(stand, 0, 1)->state != LULL_BUNDLE_PATH_UP) {
		stand_step(stand);
		assert_true(stand->now_ns - begin_ns < 12 * LULL_NS_PER_S);
	}
	return stand->now_ns - begin_ns;
}

/* 100 ms the first time, twice as long each time, 10 s at most; as at first once it was steady. */
TEST(path__that_flaps_is_held_down_longer)
{
	struct stand *stand = stand_open(2, 2, NULL);
	uint64_t expected_ns = 100 * MS;

	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 9; i++) {
		assert_in_range(held_ns(stand), expected_ns, expected_ns + 110 * MS);
		expected_ns = LULL_MIN(2 * expected_ns, 10 * LULL_NS_PER_S);
	}
	stand_run(stand, 10 * LULL_NS_PER_S);
	assert_in_range(held_ns(stand), 100 * MS, 210 * MS);
	stand_close(stand);
}

static bool
silent_1_both(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return packet->from_rail != 1 && packet->to_rail != 1;
}

/*
 * Messages one by one: when what the silent rail had is all that is missing, nobody has anything
 * to say on the others.
 */
TEST(path__that_falls_silent_under_the_last_message_is_told_from_a_silent_peer)
{
	for (uint64_t phase = 0; phase < 40; phase++) {
		struct stand *stand = stand_open(2, 3, NULL);
		uint64_t begin_ns;

		stand_join(stand, 0, 1);
		for (uint32_t i = 0; i < 4; i++)
			stand_bring(stand, 0, 1, 1000000);
		assert_int_equal(stand_send(stand, 0, 1000000, false), 0);
		stand_run(stand, phase * 50 * LULL_NS_PER_US);
		stand->judge = silent_1_both;
		begin_ns = stand->now_ns;
		while (stand_slot(stand, 0)->store->out_count > 0) {
			stand_step(stand);
			assert_true(stand->now_ns - begin_ns < 50 * MS);
		}
		stand_close(stand);
	}
}

static bool
loses_the_9th(struct stand *stand, struct stand_packet *packet)
{
	return packet->from != 0 || (packet->bytes[0] & 15) != BUNDLE_DATA || ++stand->judged != 9;
}

TEST(path__counts_what_is_sent_again)
{
	struct stand *stand = stand_open(2, 1, NULL);
	const struct lull_bundle_path_counters *counters;

	stand_join(stand, 0, 1);
	stand->judge = loses_the_9th;
	stand_bring(stand, 0, 1, 60000);
	counters = &stand_path(stand, 0, 0)->counters;
	assert_int_equal(counters->lost_pkts, 1);
	assert_int_equal(counters->resent_pkts, 1);
	assert_int_equal(counters->late_pkts, 0);
	assert_int_equal(counters->delivered_bytes, 60000);
	stand_close(stand);
}

/* The absence of a rail is the time between two looks. */
TEST(look__measures_from_the_look_before)
{
	struct stand *stand = stand_open(1, 1, NULL);
	struct lull_bundle *bundle = stand->nodes[0].bundle;

	for (uint64_t i = 1; i < 5; i++) {
		stand->now_ns += i * MS;
		lull_bundle_look(bundle, stand->now_ns, 0);
		assert_int_equal(bundle->rails[0].absent_ns, i * MS);
		assert_int_equal(bundle->rails[0].absent_ns_max, i * MS);
	}
	stand->now_ns += MS;
	lull_bundle_look(bundle, stand->now_ns, 0);
	assert_int_equal(bundle->rails[0].absent_ns_max, 4 * MS);
	stand_close(stand);
}

static uint32_t to_node[STAND_NODES];

static bool
counts_data(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	if (packet->from == 0 && (packet->bytes[0] & 15) == BUNDLE_DATA)
		to_node[packet->to]++;
	return true;
}

/* A rail that is full is shared by the peers that want it. */
TEST(tx__serves_peers_in_turn)
{
	struct stand *stand = stand_open(3, 1, NULL);
	uint32_t peers[2];

	stand->burst = 4;
	for (uint32_t i = 0; i < 2; i++) {
		stand_join(stand, 0, 1 + i);
		peers[i] = stand->nodes[0].peer;
	}
	stand->judge = counts_data;
	for (uint32_t i = 0; i < 2; i++) {
		stand->nodes[0].peer = peers[i];
		assert_int_equal(stand_send(stand, 0, 8000000, false), 0);
	}
	stand_run(stand, 20 * MS);
	assert_true(to_node[1] + to_node[2] > 1000);
	assert_in_range(to_node[1], to_node[2] / 2, to_node[2] * 2);
	stand_close(stand);
}

/* ---- closing ---- */

/* The answer to CLOSE ends it at once. */
TEST(close__is_answered)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint64_t begin_ns;

	stand_join(stand, 0, 1);
	begin_ns = stand->now_ns;
	assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, begin_ns,
						stand->nodes[0].peer, LULL_NS_PER_S),
			 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	assert_in_range(stand->now_ns - begin_ns, 0, 5 * MS);
	assert_int_equal(stand->nodes[1].downs, 1);
	stand_close(stand);
}

/* ---- messages with few places ---- */

static bool
loses_first_heads(struct stand *stand, struct stand_packet *packet)
{
	struct bundle_header header;

	(void)bundle_header_read(&header, packet->bytes, packet->len_bytes);
	return packet->from != 0 || header.type != BUNDLE_DATA || header.msg != 5 ||
	       ++stand->judged > 3;
}

/* A head that is lost again and again: no head is sent that the receiver has no place for. */
TEST(head__that_is_lost_bounds_those_behind_it)
{
	struct lull_bundle_config config = { .messages_max = 16 };
	struct stand *stand = stand_open(2, 1, &config);
	uint32_t sent = 0;

	stand->nodes[0].config.messages_max = 256;
	stand_node_end(stand, 0);
	stand_node_begin(stand, 0, 1);
	stand_join(stand, 0, 1);
	stand->judge = loses_first_heads;
	while (sent < 100) {
		sent += stand_send(stand, 0, 100, false) == 0;
		if (sent % 8 == 0)
			stand_step(stand);
	}
	stand_wait(stand, &stand->nodes[1].received, 100, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[0].sent, 100, LULL_NS_PER_S);
	assert_int_equal(stand_counters(stand, 1)->bad_range, 0);
	stand_close(stand);
}

static bool
loses_records(struct stand *stand, struct stand_packet *packet)
{
	return packet->from != 1 || (packet->bytes[0] & 15) != BUNDLE_ACK ||
	       stand->nodes[1].received == 0 || ++stand->judged > 40;
}

/* A message whose buffer is too short is done; where nobody hears that, the sender asks. */
TEST(record__that_a_short_message_is_done_is_asked_for)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].accept_bytes = 1000;
	stand_join(stand, 0, 1);
	stand->judge = loses_records;
	assert_int_equal(stand_send(stand, 0, 500000, false), 0);
	stand_wait(stand, &stand->nodes[1].received, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[1].errors[EMSGSIZE], 1);
	stand_wait(stand, &stand->nodes[0].sent, 1, 5 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].errors[0], 1);
	stand_close(stand);
}

/* One that is said once more takes no second place; without a path it waits for one. */
TEST(record__has_one_place)
{
	struct bundle_record record = { .kind = BUNDLE_RECORD_GRANT };
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_slot *slot;

	stand_join(stand, 0, 1);
	stand_run(stand, 20 * MS);
	slot = stand_slot(stand, 0);
	assert_int_equal(slot->store->repeat_count, 0);
	for (uint32_t round = 0; round < 3; round++) {
		for (record.msg = 10; record.msg < 14; record.msg++)
			bundle_record_say(stand->nodes[0].bundle, slot, record);
		assert_int_equal(slot->store->repeat_count, 4);
	}
	assert_int_equal(slot->store->repeats[0].gap_ns,
			 bundle_meter_tail_ns(&stand_path(stand, 0, 0)->meter));
	assert_int_equal(lull_bundle_rail_remove(stand->nodes[0].bundle, stand->now_ns, 0), 0);
	record.msg = 14;
	bundle_record_say(stand->nodes[0].bundle, slot, record);
	assert_int_equal(slot->store->repeat_count, 5);
	assert_int_equal(slot->store->repeats[4].gap_ns, MS);
	stand_rests(stand, 0);
	stand_close(stand);
}

/* An answer to a question that nobody asked, for every place there could be. */
TEST(answer__to_no_question_does_nothing)
{
	struct stand *stand = stand_open(1, 1, NULL);
	struct lull_bundle_address from = stand_rail(1, 0).address;
	struct bundle_hello hello = { .node_id = 7, .body_bytes = 40 };
	uint8_t body[40] = { 1 }, packet[STAND_PACKET_BYTES];
	uint32_t len;

	hello.body = body;
	for (hello.to = 0; hello.to < 1u << (BUNDLE_PLACE_BITS + 1); hello.to++) {
		len = bundle_hello_write(&hello, BUNDLE_ANSWER, packet, sizeof(packet));
		lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, 0, packet, len, &from);
	}
	assert_int_equal(stand_counters(stand, 0)->forged, 0);
	assert_int_equal(stand_counters(stand, 0)->bad_range, 0);
	assert_int_equal(stand->nodes[0].bundle->slot_high, 0);
	stand_close(stand);
}
