/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hellos that are replayed or made up, many of them. Whoever sends them listens at the address of
 * node 2, which does nothing else.
 */
#include <string.h>

#include "bundle_stand.h"
#include "case.h"

#define ATTACKER 2
#define RECORDED 300
#define COOKIE_AT BUNDLE_HEADER_BYTES

struct recorded {
	uint64_t node_id;
	uint32_t len_bytes;
	uint8_t bytes[BUNDLE_HELLO_BYTES_MIN];
};
static struct recorded recorded[RECORDED];

/* Hellos of many nodes, which all hold the key; recorded once, without cookies. */
static void
record(struct stand *stand)
{
	static struct recorded first[RECORDED];
	struct lull_bundle_target target = { .name = "a" };

	for (uint32_t i = 0; i < RECORDED && first[i].len_bytes == 0; i++) {
		struct lull_bundle_packet packet = { .bytes = first[i].bytes,
						     .room_bytes = BUNDLE_HELLO_BYTES_MIN };
		struct lull_bundle *bundle;

		stand_node_end(stand, ATTACKER);
		stand_node_begin(stand, ATTACKER, 1);
		bundle = stand->nodes[ATTACKER].bundle;
		assert_true(lull_bundle_connect(bundle, stand->now_ns, &target, LULL_NS_PER_S) >=
			    0);
		lull_bundle_run(bundle, stand->now_ns);
		assert_int_equal(lull_bundle_tx(bundle, stand->now_ns, 0, &packet, 1), 1);
		first[i].node_id = stand->nodes[ATTACKER].config.node_id;
		first[i].len_bytes = packet.len_bytes;
	}
	memcpy(recorded, first, sizeof(recorded));
	stand->nodes[ATTACKER].away = true;
}

/* A cookie for one of the recorded hellos goes into it. */
static bool
takes_cookies(struct stand *stand, struct stand_packet *packet)
{
	struct bundle_header header;
	struct bundle_retry retry;

	(void)stand;
	if (packet->to != ATTACKER)
		return true;
	if (!bundle_header_read(&header, packet->bytes, packet->len_bytes) ||
	    !bundle_retry_read(&retry, &header, packet->bytes, packet->len_bytes))
		return false;
	for (uint32_t i = 0; i < RECORDED; i++) {
		if (recorded[i].node_id == retry.node_id)
			memcpy(recorded[i].bytes + COOKIE_AT, retry.cookie, BUNDLE_COOKIE_BYTES);
	}
	return false;
}

static bool
keeps_quiet(struct stand *stand, struct stand_packet *packet)
{
	(void)stand;
	return packet->to != ATTACKER;
}

/* The hellos come to node 0, each so long behind the one before, from one of so many addresses. */
static void
flood(struct stand *stand, uint64_t gap_ns, uint64_t for_ns, uint32_t addresses)
{
	uint64_t end_ns = stand->now_ns + for_ns;

	while (stand->now_ns < end_ns && stand->nodes[1].ups == 0) {
		if (stand->now_ns % gap_ns == 0) {
			struct recorded *hello = &recorded[stand->kept++ % RECORDED];
			struct lull_bundle_address from = stand_rail(ATTACKER, 0).address;
			uint8_t bytes[BUNDLE_HELLO_BYTES_MIN];

			from.bytes[1] = (uint8_t)(stand->kept % addresses);
			memcpy(bytes, hello->bytes, sizeof(bytes));
			lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, 0, bytes,
				       hello->len_bytes, &from);
		}
		stand_step(stand);
	}
}

/* After three seconds of it somebody else comes; how long it takes him to connect. */
static uint64_t
connects_ns(struct stand *stand, uint64_t gap_ns, uint32_t addresses)
{
	uint64_t begin_ns;

	flood(stand, gap_ns, 3 * LULL_NS_PER_S, addresses);
	(void)stand_ask(stand, 1, 0);
	begin_ns = stand->now_ns;
	flood(stand, gap_ns, LULL_NS_PER_S, addresses);
	assert_int_equal(stand->nodes[1].ups, 1);
	return stand->now_ns - begin_ns;
}

TEST(hello__of_an_honest_peer_passes_a_slow_replay)
{
	struct stand *stand = stand_open(3, 1, NULL);

	record(stand);
	stand->judge = keeps_quiet;
	assert_in_range(connects_ns(stand, LULL_NS_PER_S / 16, 1), 0, 20 * LULL_NS_PER_MS);
	assert_int_equal(stand_counters(stand, 0)->retries, 0);
	assert_true(stand_counters(stand, 0)->halves_full > 0);
	stand_close(stand);
}

/* He proves his address, and they do not. */
TEST(hello__of_an_honest_peer_passes_a_fast_replay)
{
	struct stand *stand = stand_open(3, 1, NULL);

	record(stand);
	stand->judge = keeps_quiet;
	assert_in_range(connects_ns(stand, LULL_NS_PER_MS, 1), 0, 100 * LULL_NS_PER_MS);
	assert_true(stand_counters(stand, 0)->retries > 1000);
	stand_close(stand);
}

/* They prove theirs too: each address takes its own places first. */
TEST(hello__of_an_honest_peer_passes_a_replay_with_cookies)
{
	for (uint32_t addresses = 1; addresses <= 64; addresses *= 64) {
		struct stand *stand = stand_open(3, 1, NULL);

		record(stand);
		stand->judge = takes_cookies;
		flood(stand, LULL_NS_PER_MS, LULL_NS_PER_S, addresses);
		assert_in_range(connects_ns(stand, LULL_NS_PER_MS, addresses), 0,
				200 * LULL_NS_PER_MS);
		stand_close(stand);
	}
}

static uint32_t
halves(struct stand *stand)
{
	const struct lull_bundle *bundle = stand->nodes[0].bundle;
	uint32_t count = 0;

	for (uint32_t i = 0; i < bundle->slot_high; i++)
		count += bundle->slots[i].state == PEER_HALF;
	assert_int_equal(count, bundle->half_count);
	return count;
}

static void
hear(struct stand *stand, const struct recorded *hello, uint8_t address)
{
	struct lull_bundle_address from = { .len_bytes = 2, .bytes = { ATTACKER + 1, address } };
	uint8_t bytes[BUNDLE_HELLO_BYTES_MIN];

	memcpy(bytes, hello->bytes, sizeof(bytes));
	lull_bundle_rx(stand->nodes[0].bundle, stand->now_ns, 0, bytes, hello->len_bytes, &from);
}

static bool
half_is(struct stand *stand, const struct recorded *hello)
{
	const struct lull_bundle *bundle = stand->nodes[0].bundle;

	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		if (bundle->slots[i].state == PEER_HALF &&
		    bundle->slots[i].node_id == hello->node_id)
			return true;
	}
	return false;
}

/* What was made without the key, or is for somebody else, takes nobody's place. */
TEST(hello__that_is_not_understood_takes_no_place)
{
	struct stand *stand = stand_open(3, 1, NULL);
	struct recorded wrong;

	record(stand);
	stand->judge = keeps_quiet;
	for (uint32_t i = 0; i < BUNDLE_HALVES; i++) {
		hear(stand, &recorded[i], 0);
		stand_step(stand);
	}
	assert_int_equal(halves(stand), BUNDLE_HALVES);
	wrong = recorded[BUNDLE_HALVES];
	wrong.bytes[100] ^= 1;
	hear(stand, &wrong, 0);
	assert_int_equal(stand_counters(stand, 0)->hellos_refused, 1);
	assert_int_equal(halves(stand), BUNDLE_HALVES);
	assert_true(half_is(stand, &recorded[0]));
	/* The same one again has its place; a new one takes that of the oldest. */
	hear(stand, &recorded[0], 0);
	assert_int_equal(halves(stand), BUNDLE_HALVES);
	hear(stand, &recorded[BUNDLE_HALVES], 0);
	assert_int_equal(halves(stand), BUNDLE_HALVES);
	assert_false(half_is(stand, &recorded[0]));
	for (uint32_t i = 1; i <= BUNDLE_HALVES; i++)
		assert_true(half_is(stand, &recorded[i]));
	/* Two seconds on, all are gone. */
	stand_run(stand, 2100 * LULL_NS_PER_MS);
	assert_int_equal(halves(stand), 0);
	stand_close(stand);
}

/* Who has no cookie takes no place of one who has; who has one takes that of his own address. */
TEST(hello__with_a_cookie_keeps_its_place)
{
	struct stand *stand = stand_open(3, 1, NULL);

	record(stand);
	stand->judge = takes_cookies;
	for (uint32_t i = 0; i < RECORDED; i++) { /* all get cookies, for address 0 */
		hear(stand, &recorded[i], 0);
		stand_step(stand);
	}
	stand_run(stand, 2100 * LULL_NS_PER_MS);
	assert_int_equal(halves(stand), 0);
	for (uint32_t i = 0; i < BUNDLE_HALVES; i++) {
		hear(stand, &recorded[100 + i], 0);
		stand_step(stand);
	}
	assert_int_equal(halves(stand), BUNDLE_HALVES);
	/* From another address this cookie is none: he is sent one of his own. */
	hear(stand, &recorded[299], 1);
	assert_false(half_is(stand, &recorded[299]));
	for (uint32_t i = 0; i < BUNDLE_HALVES; i++)
		assert_true(half_is(stand, &recorded[100 + i]));
	stand_step(stand);
	hear(stand, &recorded[299], 1);
	assert_true(half_is(stand, &recorded[299]));
	assert_false(half_is(stand, &recorded[100]));
	/* The one from address 1 is younger than those from address 0, and stays. */
	for (uint32_t i = 0; i < 2 * BUNDLE_HALVES; i++) {
		stand_step(stand);
		hear(stand, &recorded[200 + i], 0);
		assert_int_equal(halves(stand), BUNDLE_HALVES);
	}
	assert_true(half_is(stand, &recorded[299]));
	stand_close(stand);
}
