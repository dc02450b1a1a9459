/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin and end, and what becomes of messages then. */
#include <errno.h>
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

static bool
is_from(const struct stand_packet *packet, uint32_t node, enum bundle_type type)
{
	return packet->from == node && (packet->bytes[0] & 15) == type;
}

/* All of a message and CLOSE come in one burst. */
TEST(close__behind_a_message_lets_it_come)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->burst = 64;
	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(stand_send(stand, 0, 20000 * (i % 2), false), 0);
	assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, stand->now_ns,
						stand->nodes[0].peer, LULL_NS_PER_S),
			 0);
	assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, stand->now_ns,
						stand->nodes[0].peer, LULL_NS_PER_S),
			 -ENOTCONN);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[1].downs, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].sent, 20);
	assert_int_equal(stand->nodes[1].received, 20);
	assert_int_equal(stand->nodes[0].errors[0] + stand->nodes[1].errors[0], 40);
	assert_int_equal(stand->nodes[0].down_error, 0);
	assert_int_equal(stand->nodes[1].down_error, -ECONNRESET);
	stand_close(stand);
}

TEST(close__without_time_to_linger_ends_what_is_pending)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(stand_send(stand, 0, 3000000, true), 0);
	assert_int_equal(stand_send(stand, 1, 3000000, true), 0);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, stand->now_ns,
						stand->nodes[0].peer, 0),
			 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[1].downs, 1, LULL_NS_PER_S);
	/* Each operation ends once. */
	assert_int_equal(stand->nodes[0].errors[ECONNRESET], 5 + 1);
	assert_int_equal(stand->nodes[1].sent, 1);
	assert_int_equal(stand_send(stand, 0, 1, false), -ENOTCONN);
	stand_close(stand);
}

static bool
drops_close(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return (packet->bytes[0] & 15) != BUNDLE_CLOSE;
}

TEST(close__that_is_lost_ends_all_the_same)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	stand->judge = drops_close;
	assert_int_equal(lull_bundle_disconnect(stand->nodes[0].bundle, stand->now_ns,
						stand->nodes[0].peer, LULL_BUNDLE_NEVER),
			 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[1].downs, 0);
	stand_wait(stand, &stand->nodes[1].downs, 1, 12 * LULL_NS_PER_S);
	stand_close(stand);
}

TEST(peer__that_is_gone_ends_after_its_time)
{
	struct lull_bundle_config config = { .peer_timeout_ns = LULL_NS_PER_S };
	struct stand *stand = stand_open(2, 2, &config);
	uint64_t gone_ns;

	stand_join(stand, 0, 1);
	assert_int_equal(stand_send(stand, 0, 3000000, false), 0);
	stand_run(stand, LULL_NS_PER_MS);
	stand->nodes[1].away = true;
	gone_ns = stand->now_ns;
	stand_wait(stand, &stand->nodes[0].downs, 1, 2 * LULL_NS_PER_S);
	assert_in_range(stand->now_ns - gone_ns, 900 * LULL_NS_PER_MS, 1200 * LULL_NS_PER_MS);
	assert_int_equal(stand->nodes[0].down_error, -ECONNRESET);
	assert_int_equal(stand->nodes[0].errors[ECONNRESET], 1);
	stand_close(stand);
}

/* Who begins anew is known at once, by his question or by what is sent to him. */
TEST(peer__that_began_anew_is_reached_again)
{
	struct stand *stand = stand_open(2, 2, NULL);

	stand_join(stand, 0, 1);
	stand_node_end(stand, 1);
	stand_node_begin(stand, 1, 2);
	assert_int_equal(stand_send(stand, 0, 300000, false), 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, 3 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].errors[ECONNRESET], 1);
	stand_wait(stand, &stand->nodes[0].ups, 2, LULL_NS_PER_S);
	stand_bring(stand, 0, 1, 100000);
	stand_close(stand);
}

TEST(connect__from_both_sides_makes_one_connection)
{
	for (uint32_t i = 0; i < 20; i++) {
		struct stand *stand = stand_open(2, 1 + i % 3, NULL);

		(void)stand_ask(stand, 0, 1);
		for (uint32_t steps = 0; steps < i / 3; steps++)
			stand_step(stand);
		(void)stand_ask(stand, 1, 0);
		stand_run(stand, 100 * LULL_NS_PER_MS);
		assert_int_equal(stand->nodes[0].ups, 1);
		assert_int_equal(stand->nodes[1].ups, 1);
		assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
		stand_bring(stand, 0, 1, 100000);
		stand_bring(stand, 1, 0, 100000);
		stand_close(stand);
	}
}

TEST(connect__to_nobody_ends_in_time)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct lull_bundle_target target = { .name = "nobody" };
	struct lull_bundle *bundle = stand->nodes[0].bundle;

	assert_true(lull_bundle_connect(bundle, stand->now_ns, &target, LULL_NS_PER_S / 2) >= 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].down_error, -ETIMEDOUT);
	assert_int_equal(bundle->peer_count, 0);
	target.name[0] = '\0';
	assert_int_equal(lull_bundle_connect(bundle, stand->now_ns, &target, 0), -EINVAL);
	memcpy(target.name, "a", 2);
	assert_int_equal(lull_bundle_connect(bundle, stand->now_ns, &target, 0), -EINVAL);
	memcpy(target.name, "b", 2);
	target.address_count = LULL_BUNDLE_TARGETS_MAX + 1;
	assert_int_equal(lull_bundle_connect(bundle, stand->now_ns, &target, 0), -EINVAL);
	target.address_count = 1;
	target.addresses[0].kind = 7;
	assert_int_equal(lull_bundle_connect(bundle, stand->now_ns, &target, 0), -ENODEV);
	target.address_count = 0;
	for (uint32_t i = 0; i < 4; i++) {
		target.name[0] = (char)('k' + i);
		assert_true(lull_bundle_connect(bundle, stand->now_ns, &target, 0) >= 0);
	}
	target.name[0] = 'z';
	assert_int_equal(lull_bundle_connect(bundle, stand->now_ns, &target, 0), -ENOBUFS);
	stand_close(stand);
}

TEST(connect__by_address_to_a_known_node_changes_nothing)
{
	struct stand *stand = stand_open(2, 2, NULL);
	struct lull_bundle_target target = { .address_count = 1 };

	stand_join(stand, 0, 1);
	target.addresses[0].kind = 1;
	target.addresses[0].address = stand_rail(1, 1).address;
	assert_true(lull_bundle_connect(stand->nodes[0].bundle, stand->now_ns, &target,
					LULL_NS_PER_S) >= 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].down_error, -EISCONN);
	stand_bring(stand, 0, 1, 100000);
	assert_int_equal(stand->nodes[1].downs, 0);
	stand_close(stand);
}

/* More ask than are answered without a cookie. */
TEST(connect__comes_again_with_a_cookie)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].bundle->reset_ns = stand->now_ns;
	stand->nodes[1].bundle->hello_count = 1000;
	stand_join(stand, 0, 1);
	assert_true(stand_counters(stand, 1)->retries > 0);
	assert_in_range(stand->now_ns, LULL_NS_PER_S, LULL_NS_PER_S + 100 * LULL_NS_PER_MS);
	stand_close(stand);
}

static bool
breaks_hellos(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	if (is_from(packet, 0, BUNDLE_HELLO))
		packet->bytes[100] ^= 1;
	if (is_from(packet, 0, BUNDLE_ANSWER))
		packet->bytes[60] ^= 1;
	return true;
}

TEST(connect__takes_no_greeting_that_is_damaged)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->judge = breaks_hellos;
	(void)stand_ask(stand, 0, 1);
	stand_wait(stand, &stand->nodes[0].downs, 1, 2 * LULL_NS_PER_S);
	assert_true(stand_counters(stand, 1)->hellos_refused > 0);
	(void)stand_ask(stand, 1, 0);
	stand_wait(stand, &stand->nodes[1].downs, 1, 2 * LULL_NS_PER_S);
	assert_true(stand_counters(stand, 1)->forged > 0);
	assert_int_equal(stand->nodes[0].ups + stand->nodes[1].ups, 0);
	stand_close(stand);
}

/* A clock that stands or goes back, and a machine that slept. */
TEST(clock__that_goes_back_or_leaps_loses_nothing)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 20; i++) {
		stand_run(stand, 3 * LULL_NS_PER_MS);
		stand->now_ns -= LULL_NS_PER_MS;
		stand_bring(stand, 0, 1, 50000);
		assert_in_range(stand_path(stand, 0, 0)->meter.srtt_ns, 1, LULL_NS_PER_S);
	}
	assert_int_equal(stand_send(stand, 0, 500000, false), 0);
	stand_run(stand, LULL_NS_PER_MS);
	stand->now_ns += 5 * LULL_NS_PER_S;
	stand_wait(stand, &stand->nodes[0].sent, 21, 15 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	stand_close(stand);
}

static bool
drops_all(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	(void)packet;
	return false;
}

/* Longer than a silent peer is given, with messages under way and without, also twice. */
TEST(clock__that_leaps_far_gives_nobody_up)
{
	struct lull_bundle_config config = { .peer_timeout_ns = LULL_NS_PER_S };
	struct stand *stand = stand_open(2, 2, &config);

	stand_join(stand, 0, 1);
	for (uint32_t i = 0; i < 8; i++) {
		if (i % 2 == 0)
			assert_int_equal(stand_send(stand, 0, 500000, false), 0);
		stand_run(stand, (1 + i) * LULL_NS_PER_MS);
		stand->judge = i % 4 < 2 ? drops_all : NULL; /* of what leaves next */
		stand_step(stand);
		stand->judge = NULL;
		stand->now_ns += (1 + 7 * i) * LULL_NS_PER_S;
		stand_run(stand, 300 * LULL_NS_PER_MS);
		assert_int_equal(stand->nodes[0].downs + stand->nodes[1].downs, 0);
	}
	stand_wait(stand, &stand->nodes[0].sent, 4, 5 * LULL_NS_PER_S);
	stand_bring(stand, 1, 0, 100000);
	stand_close(stand);
}

/* A peer that is gone is given up all the same, in a time of its own behind the leap. */
TEST(clock__that_leaps_keeps_nobody_who_is_gone)
{
	struct lull_bundle_config config = { .peer_timeout_ns = LULL_NS_PER_S };
	struct stand *stand = stand_open(2, 2, &config);

	stand_join(stand, 0, 1);
	stand->nodes[1].away = true;
	stand_run(stand, 500 * LULL_NS_PER_MS);
	stand->now_ns += 30 * LULL_NS_PER_S;
	stand_run(stand, 300 * LULL_NS_PER_MS);
	assert_int_equal(stand->nodes[0].downs, 0);
	stand_wait(stand, &stand->nodes[0].downs, 1, 300 * LULL_NS_PER_MS);
	assert_int_equal(stand->nodes[0].down_error, -ECONNRESET);
	stand_close(stand);
}

/* Who comes late each time gives it up too. */
TEST(clock__that_leaps_each_time_ends_who_is_gone)
{
	struct lull_bundle_config config = { .peer_timeout_ns = LULL_NS_PER_S };
	struct stand *stand = stand_open(2, 1, &config);
	uint64_t gone_ns;

	stand_join(stand, 0, 1);
	stand->nodes[1].away = true;
	gone_ns = stand->now_ns;
	while (stand->nodes[0].downs == 0) {
		stand->now_ns += 400 * LULL_NS_PER_MS;
		stand_step(stand);
		assert_in_range(stand->now_ns - gone_ns, 0, 2 * LULL_NS_PER_S);
	}
	stand_close(stand);
}

TEST(cancel__ends_what_has_not_left)
{
	struct stand *stand = stand_open(2, 1, NULL);

	stand->nodes[1].policy = STAND_HOLD;
	stand_join(stand, 0, 1);
	assert_int_equal(lull_bundle_cancel(stand->nodes[0].bundle, stand->now_ns,
					    stand->nodes[0].peer, stand->bytes),
			 -ENOENT);
	assert_int_equal(stand_send(stand, 0, 100, true), 0);
	assert_int_equal(stand_send(stand, 0, 100, true), 0);
	assert_int_equal(lull_bundle_cancel(stand->nodes[0].bundle, stand->now_ns,
					    stand->nodes[0].peer, stand->bytes + 1),
			 0);
	stand_wait(stand, &stand->nodes[0].sent, 1, LULL_NS_PER_S);
	assert_int_equal(stand->nodes[0].errors[ECANCELED], 1);
	stand_wait(stand, &stand->nodes[1].head_count, 1, LULL_NS_PER_S);
	assert_int_equal(lull_bundle_cancel(stand->nodes[0].bundle, stand->now_ns,
					    stand->nodes[0].peer, stand->bytes),
			 -ENOENT);
	assert_int_equal(lull_bundle_cancel(stand->nodes[0].bundle, stand->now_ns, 77, NULL),
			 -ENOENT);
	stand_close(stand);
}

/* What was sent is what arrived, with all of it, where nothing is lost. */
TEST(counters__of_both_ends_are_the_same)
{
	struct stand *stand = stand_open(2, 2, NULL);

	stand_join(stand, 0, 1);
	stand_bring(stand, 0, 1, 300000);
	stand_bring(stand, 1, 0, 300000);
	while (stand->packet_count > 0)
		stand_step(stand);
	for (uint32_t i = 0; i < 2; i++) {
		const struct lull_bundle_path_counters *here = &stand_path(stand, 0, i)->counters;
		const struct lull_bundle_path_counters *there = &stand_path(stand, 1, i)->counters;

		assert_int_equal(here->tx_pkts, there->rx_pkts);
		assert_int_equal(here->tx_bytes, there->rx_bytes);
		assert_int_equal(there->tx_bytes, here->rx_bytes);
		assert_int_equal(here->lost_pkts, 0);
	}
	stand_close(stand);
}
