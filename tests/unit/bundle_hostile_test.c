/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that are nonsense, of strangers and of one who has the key; and what can be looked at. */
#include <errno.h>
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

static void
hear(struct stand *stand, uint8_t *bytes, uint32_t len_bytes)
{
	const struct lull_bundle_address from = stand_rail(1, 0).address;

	lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, 0, bytes, len_bytes, &from);
}

/* A packet that node 1 protects and node 0 hears; the body is behind the header. */
static void
say(struct stand *stand, struct bundle_header header, uint8_t *packet, uint32_t body_bytes)
{
	struct bundle_path *path = stand_path(stand, 1, 0);
	uint32_t len = bundle_tx_seal(stand->nodes[1].bundle, stand_slot(stand, 1), path, &header,
				      packet, body_bytes);

	path->psn_next++;
	path->psn_base = path->psn_next;
	hear(stand, packet, len);
}

TEST(rx__counts_what_is_no_packet)
{
	struct stand *stand = stand_open(2, 1, NULL);
	const struct lull_bundle_counters *counters;
	uint8_t bytes[STAND_PACKET_BYTES] = { 0 };

	stand_join(stand, 0, 1);
	counters = stand_counters(stand, 0);
	hear(stand, bytes, 27);
	assert_int_equal(counters->short_pkts, 1);
	bytes[0] = 2 << 4 | BUNDLE_DATA;
	hear(stand, bytes, 100);
	assert_int_equal(counters->bad_version, 1);
	bytes[0] = 1 << 4 | 15;
	hear(stand, bytes, 100);
	assert_int_equal(counters->bad_type, 1);
	bytes[0] = 1 << 4 | BUNDLE_DATA;
	hear(stand, bytes, 30);
	assert_int_equal(counters->short_pkts, 2);
	bytes[2] = 3;
	hear(stand, bytes, 100);
	assert_int_equal(counters->bad_path, 1);
	bytes[2] = 0;
	memset(bytes + 4, 0xff, 4);
	hear(stand, bytes, 100);
	assert_int_equal(counters->strangers, 1);
	for (uint32_t type = BUNDLE_HELLO; type <= BUNDLE_RETRY; type++) {
		bytes[0] = (uint8_t)(1 << 4 | type);
		hear(stand, bytes, 100);
		assert_int_equal(counters->bad_range, type);
	}
	memcpy(bytes + 4, &stand_slot(stand, 0)->index, 4);
	bytes[0] = 1 << 4 | BUNDLE_DATA;
	bytes[8] = 0xf0;
	hear(stand, bytes, 100);
	assert_int_equal(counters->forged, 1);
	bytes[2] = 5 << 4;
	hear(stand, bytes, 100);
	assert_int_equal(counters->bad_path, 2);
	stand_bring(stand, 0, 1, 50000);
	stand_close(stand);
}

/* Nothing of what one with the key says wrong has an effect. */
TEST(rx__counts_what_contradicts_itself)
{
	struct stand *stand = stand_open(2, 1, NULL);
	const struct lull_bundle_counters *counters;
	struct bundle_header data = { .type = BUNDLE_DATA, .flags = BUNDLE_FLAG_HEAD };
	struct bundle_head head = { .len_bytes = 100, .eager_pieces = 2 };
	uint8_t packet[STAND_PACKET_BYTES], *body = packet + BUNDLE_HEADER_BYTES;

	stand_join(stand, 0, 1);
	stand_bring(stand, 1, 0, 100);
	counters = stand_counters(stand, 0);
	memset(packet, 0, sizeof(packet));
	for (uint32_t type = BUNDLE_ACK; type <= BUNDLE_CLOSE; type++)
		say(stand, (struct bundle_header){ .type = (uint8_t)type }, packet, 3);
	assert_int_equal(counters->bad_ack, 1);
	assert_int_equal(counters->bad_range, 2);
	/* More eager pieces than it has. */
	data.msg = 1;
	bundle_head_write(&head, body);
	say(stand, data, packet, BUNDLE_HEAD_BYTES + 100);
	assert_int_equal(counters->bad_head, 1);
	/* A head that is cut, a block that is cut, and one that is none. */
	say(stand, data, packet, 20);
	assert_int_equal(counters->bad_head, 2);
	data.flags = BUNDLE_FLAG_BLOCK;
	say(stand, data, packet, BUNDLE_BLOCK_BYTES - 1);
	memset(body, 0, BUNDLE_BLOCK_BYTES);
	say(stand, data, packet, BUNDLE_BLOCK_BYTES);
	assert_int_equal(counters->bad_ack, 3);
	/* Numbers far ahead, offsets within a piece, and beyond what may be open. */
	data.flags = 0;
	data.msg = 100000;
	say(stand, data, packet, 100);
	data.msg = 2;
	data.off = 1;
	say(stand, data, packet, 100);
	data.off = UINT32_MAX;
	say(stand, data, packet, 100);
	assert_true(counters->bad_range >= 5);
	/* Grants that nobody gives. */
	stand_slot(stand, 1)->store->released += 1000000;
	say(stand, (struct bundle_header){ .type = BUNDLE_REST }, packet, 0);
	assert_int_equal(counters->bad_grant, 1);
	stand_slot(stand, 1)->store->released -= 1000000;
	assert_int_equal(stand->nodes[0].received, 1);
	stand_bring(stand, 0, 1, 100000);
	stand_close(stand);
}

/* What was recorded comes again, at once and later. */
static bool
doubles(struct stand *stand, struct stand_packet *packet)
{
	if (packet->to == 0 && (packet->bytes[0] & 15) > BUNDLE_RESET &&
	    stand->packet_count < 3000) {
		struct stand_packet *twin =
			&stand->packets[(stand->packet_first + stand->packet_count + 1) %
					STAND_PACKETS];

		*twin = *packet;
		stand->packet_count++;
	}
	return true;
}

TEST(rx__takes_nothing_twice)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	stand->judge = doubles;
	for (uint32_t i = 0; i < 20; i++)
		stand_bring(stand, 1, 0, 50000);
	assert_true(stand_counters(stand, 0)->replayed > 500);
	assert_int_equal(stand->nodes[0].received, 20);
	stand_close(stand);
}

/* A RESET can be said by anybody: it is asked whether it is true. */
TEST(reset__that_is_a_lie_ends_nothing)
{
	struct stand *stand = stand_open(2, 1, NULL);
	uint8_t bytes[64];

	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 50; i++) {
		uint32_t len = bundle_reset_write(stand_slot(stand, 0)->remote_index, i, bytes);

		hear(stand, bytes, len);
		stand_run(stand, 5 * LULL_NS_PER_MS);
	}
	assert_int_equal(stand_counters(stand, 0)->resets_rx, 50);
	assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	stand_bring(stand, 0, 1, 100000);
	stand_close(stand);
}

TEST(look__tells_what_is_there)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct lull_bundle *bundle = stand->nodes[0].bundle;
	struct lull_bundle_peer_look look;
	struct lull_bundle_path_look path;

	assert_int_equal(lull_bundle_peer_look(bundle, 0, &look), -ENOENT);
	assert_int_equal(lull_bundle_peer_look(bundle, 10000, &look), -ENOENT);
	assert_int_equal(lull_bundle_path_look(bundle, 0, 0, &path), -ENOENT);
	stand_join(stand, 0, 1);
	assert_int_equal(lull_bundle_peer_look(bundle, stand->nodes[0].peer, &look), 0);
	assert_string_equal(look.name, "b");
	assert_true(look.up && !look.busy);
	assert_int_equal(look.waits, LULL_BUNDLE_WAIT_NOTHING);
	assert_int_equal(look.path_count, 1);
	stand->nodes[1].policy = STAND_HOLD;
	assert_int_equal(stand_send(stand, 0, 1000000, false), 0);
	assert_true(lull_bundle_busy(bundle));
	stand_run(stand, 100 * LULL_NS_PER_MS);
	assert_int_equal(lull_bundle_peer_look(bundle, stand->nodes[0].peer, &look), 0);
	assert_int_equal(look.waits, LULL_BUNDLE_WAIT_CREDIT);
	assert_int_equal(look.sending, 1);
	assert_int_equal(lull_bundle_path_look(bundle, stand->nodes[0].peer, 0, &path), 0);
	assert_int_equal(path.state, LULL_BUNDLE_PATH_UP);
	assert_string_equal(lull_bundle_path_state_name(path.state), "up");
	assert_string_equal(lull_bundle_path_state_name(77), "none");
	stand_path(stand, 0, 0)->state = LULL_BUNDLE_PATH_DOWN;
	assert_int_equal(lull_bundle_peer_look(bundle, stand->nodes[0].peer, &look), 0);
	assert_int_equal(look.waits, LULL_BUNDLE_WAIT_PATH);
	assert_true(look.busy);
	stand_close(stand);
}

TEST(rest__is_told_when_it_grows)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct lull_bundle_peer_look look;

	stand_join(stand, 0, 1);
	stand_run(stand, 20 * LULL_NS_PER_MS);
	lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, LULL_NS_PER_MS);
	stand_run(stand, LULL_NS_PER_MS);
	assert_int_equal(lull_bundle_peer_look(stand->nodes[0].bundle, stand->nodes[0].peer, &look),
			 0);
	assert_in_range(look.rest_ns_max, LULL_NS_PER_MS, 11 * LULL_NS_PER_MS / 10);
	lull_bundle_rest(stand->nodes[1].bundle, stand->now_ns, 0);
	stand_bring(stand, 1, 0, 100);
	assert_int_equal(lull_bundle_peer_look(stand->nodes[0].bundle, stand->nodes[0].peer, &look),
			 0);
	assert_int_equal(look.rest_ns_max, 0);
	stand_close(stand);
}

TEST(config_check__names_what_is_wrong)
{
	struct stand *stand = stand_open(1, 1, NULL);
	struct lull_bundle_config good = stand->nodes[0].config, bad;
	struct lull_range wrong;

#define REFUSED(member, value)                                                                     \
	do {                                                                                       \
		bad = good;                                                                        \
		bad.member = (value);                                                              \
		assert_int_equal(lull_bundle_config_check(&bad, &wrong), -EINVAL);                 \
		assert_string_equal(wrong.field, #member);                                         \
		assert_int_equal(lull_bundle_init(stand->nodes[0].bundle, &bad, 0), -EINVAL);      \
	} while (0)
	assert_int_equal(lull_bundle_config_check(&good, &wrong), 0);
	REFUSED(node_id, 0);
	REFUSED(security, NULL);
	REFUSED(fixed_window_pkts, 7);
	REFUSED(peers_max, 1025);
	REFUSED(messages_max, 15);
	REFUSED(messages_max, 100);
	REFUSED(window_pkts_max, 63);
	REFUSED(window_pkts_max, 96);
	REFUSED(unexpected_pieces, 63);
	REFUSED(piece_bytes_max, 511);
	REFUSED(piece_bytes_max, 1001);
	REFUSED(peer_timeout_ns, 1);
	REFUSED(idle_probe_ns, 1);
	bad = good;
	bad.name[0] = ' ';
	assert_int_equal(lull_bundle_config_check(&bad, NULL), -EINVAL);
	memset(bad.name, 'x', sizeof(bad.name));
	assert_int_equal(lull_bundle_config_check(&bad, NULL), -EINVAL);
	assert_true(lull_bundle_peer_size(&good) < 2 << 20);
	stand_close(stand);
}
