/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <lull/bundle.h>

#include "case.h"
#include "base/bytes.h"
#include "base/prng.h"
#include "base/crc32c.h"

#define HEADER 28
#define PACKET 1460

static const struct lull_bundle_security *const security = &lull_bundle_open_security;
static const uint8_t prologue[] = "prologue of both sides";
static const uint8_t question[] = "payload of the hello", reply[] = "that of the answer";

struct side {
	struct lull_prng prng;
	struct lull_bundle_open open;
	uint64_t handshake[8], keys[8];
	uint8_t message[256], payload[256];
	int len;
};

static void
draw(void *arg, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(arg);
}

static void
side_init(struct side *side, uint64_t seed)
{
	memset(side, 0, sizeof(*side));
	lull_prng_init(&side->prng, seed, 0);
	side->open.random = draw;
	side->open.arg = &side->prng;
	assert_true(security->handshake_bytes <= sizeof(side->handshake));
	assert_true(security->keys_bytes <= sizeof(side->keys));
}

static void
say_hello(struct side *side)
{
	side->len = security->hello_write(&side->open, side->handshake, prologue, sizeof(prologue),
					  question, sizeof(question), side->message,
					  sizeof(side->message));
	assert_int_equal(side->len, sizeof(question) + security->hello_bytes);
}

static int
hear_hello(struct side *side, const struct side *from)
{
	return security->hello_read(&side->open, side->handshake, security->key_id(&side->open),
				    prologue, sizeof(prologue), from->message, (uint32_t)from->len,
				    side->payload, sizeof(side->payload));
}

static void
say_answer(struct side *side)
{
	side->len = security->answer_write(&side->open, side->handshake, side->keys, reply,
					   sizeof(reply), side->message, sizeof(side->message));
	assert_int_equal(side->len, sizeof(reply) + security->hello_bytes);
}

static int
hear_answer(struct side *side, const struct side *from)
{
	return security->answer_read(&side->open, side->handshake, side->keys, from->message,
				     (uint32_t)from->len, side->payload, sizeof(side->payload));
}

static void
agree(struct side *asks, struct side *answers, uint64_t seed)
{
	side_init(asks, seed);
	side_init(answers, seed + 1000);
	say_hello(asks);
	assert_int_equal(hear_hello(answers, asks), sizeof(question));
	assert_memory_equal(answers->payload, question, sizeof(question));
	say_answer(answers);
	assert_int_equal(hear_answer(asks, answers), sizeof(reply));
	assert_memory_equal(asks->payload, reply, sizeof(reply));
}

static bool
opens(struct side *side, const struct lull_bundle_nonce *nonce, const uint8_t *packet)
{
	uint8_t copy[PACKET + 16];

	memcpy(copy, packet, sizeof(copy));
	return security->open(side->keys, nonce, copy, HEADER, PACKET);
}

TEST(handshake__agrees_in_both_directions)
{
	struct lull_bundle_nonce nonce = { .psn = 7, .path = 0x12 };
	uint8_t packet[PACKET + 16], before[PACKET];
	struct side asks, answers;

	agree(&asks, &answers, 1);
	draw(&asks.prng, packet, sizeof(packet));
	memcpy(before, packet, sizeof(before));
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	assert_memory_equal(packet, before, sizeof(before)); /* anyone may read it */
	assert_true(opens(&answers, &nonce, packet));
	assert_false(opens(&asks, &nonce, packet));
	security->seal(answers.keys, &nonce, packet, HEADER, PACKET);
	assert_true(opens(&asks, &nonce, packet));
	assert_false(opens(&answers, &nonce, packet));
}

TEST(open__notices_each_changed_bit_of_packet_and_tag)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[PACKET + 16] = { 0 };
	struct side asks, answers;

	agree(&asks, &answers, 2);
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	for (uint32_t bit = 0; bit < 8 * (PACKET + security->tag_bytes); bit++) {
		packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(opens(&answers, &nonce, packet));
		packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(opens(&answers, &nonce, packet));
}

/* What the packet does not say, or only half of it. */
TEST(open__refuses_another_nonce)
{
	struct lull_bundle_nonce nonce = { .psn = 5, .generation = 3, .path = 0x21 };
	struct lull_bundle_nonce others[] = {
		{ .psn = 5 + (1ULL << 32), .generation = 3, .path = 0x21 },
		{ .psn = 6, .generation = 3, .path = 0x21 },
		{ .psn = 5, .generation = 4, .path = 0x21 },
		{ .psn = 5, .generation = 2, .path = 0x21 },
		{ .psn = 5, .generation = 3, .path = 0x12 },
	};
	uint8_t packet[PACKET + 16] = { 0 };
	struct side asks, answers;

	agree(&asks, &answers, 3);
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	assert_true(opens(&answers, &nonce, packet));
	for (uint32_t i = 0; i < COUNT(others); i++)
		assert_false(opens(&answers, &others[i], packet));
}

TEST(open__refuses_packets_of_an_older_epoch)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[PACKET + 16] = { 0 };
	struct side asks, answers, again;

	agree(&asks, &answers, 4);
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	for (uint64_t seed = 5; seed < 200; seed++) {
		agree(&again, &answers, seed);
		assert_false(opens(&answers, &nonce, packet));
	}
}

/* The same hello once more: the answering side alone makes new keys. */
TEST(handshake__replayed_hello_gives_other_keys)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[PACKET + 16] = { 0 };
	struct side asks, answers, once_more;

	agree(&asks, &answers, 6);
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	once_more = answers;
	assert_int_equal(hear_hello(&once_more, &asks), sizeof(question));
	say_answer(&once_more);
	assert_false(opens(&once_more, &nonce, packet));
	assert_true(opens(&answers, &nonce, packet));
}

TEST(handshake__an_answer_fits_its_hello_alone)
{
	struct side asks, answers, other;

	agree(&asks, &answers, 7);
	side_init(&other, 8);
	say_hello(&other);
	assert_int_equal(hear_answer(&other, &answers), -EACCES);
	assert_int_equal(hear_answer(&asks, &answers), sizeof(reply));
}

TEST(handshake__notices_each_changed_bit)
{
	struct side asks, answers, fresh;

	agree(&asks, &answers, 9);
	for (int bit = 0; bit < 8 * answers.len; bit++) {
		answers.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(hear_answer(&asks, &answers), -EACCES);
		answers.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	side_init(&fresh, 10);
	for (int bit = 0; bit < 8 * asks.len; bit++) {
		asks.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(hear_hello(&fresh, &asks), -EACCES);
		asks.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

TEST(handshake__another_prologue_or_key_id_is_refused)
{
	struct side asks, answers;
	uint32_t key_id;

	agree(&asks, &answers, 11);
	say_hello(&asks);
	key_id = security->key_id(&asks.open);
	assert_int_equal(security->hello_read(&answers.open, answers.handshake, key_id, prologue,
					      sizeof(prologue) - 2, asks.message,
					      (uint32_t)asks.len, answers.payload,
					      sizeof(answers.payload)),
			 -EACCES);
	assert_int_equal(security->hello_read(&answers.open, answers.handshake, key_id + 1,
					      prologue, sizeof(prologue), asks.message,
					      (uint32_t)asks.len, answers.payload,
					      sizeof(answers.payload)),
			 -EACCES);
}

TEST(handshake__every_shorter_length_and_room_is_refused)
{
	struct side asks, answers;
	uint32_t whole;

	agree(&asks, &answers, 12);
	whole = (uint32_t)asks.len;
	for (asks.len = 0; (uint32_t)asks.len < whole; asks.len++)
		assert_int_equal(hear_hello(&answers, &asks), -EACCES);
	for (uint32_t room = 0; room < sizeof(question); room++)
		assert_int_equal(security->hello_read(&answers.open, answers.handshake,
						      security->key_id(&answers.open), prologue,
						      sizeof(prologue), asks.message, whole,
						      answers.payload, room),
				 -EACCES);
	for (uint32_t room = 0; room < whole; room++)
		assert_int_equal(security->hello_write(&asks.open, asks.handshake, prologue,
						       sizeof(prologue), question, sizeof(question),
						       asks.message, room),
				 -EMSGSIZE);
}

TEST(handshake__takes_just_enough_room_and_nothing_to_say)
{
	struct side asks, answers;
	uint32_t key_id;

	agree(&asks, &answers, 15);
	key_id = security->key_id(&asks.open);
	for (uint32_t bytes = 0; bytes <= sizeof(question); bytes += sizeof(question)) {
		struct lull_bundle_nonce nonce = { .psn = 1 };
		uint8_t packet[PACKET + 16] = { 0 };
		int len = security->hello_write(&asks.open, asks.handshake, prologue,
						sizeof(prologue), question, bytes, asks.message,
						bytes + 12);

		assert_int_equal(len, bytes + 12);
		assert_int_equal(security->hello_read(&answers.open, answers.handshake, key_id,
						      prologue, sizeof(prologue), asks.message,
						      (uint32_t)len, answers.payload, bytes),
				 bytes);
		len = security->answer_write(&answers.open, answers.handshake, answers.keys,
					     question, bytes, answers.message, bytes + 12);
		assert_int_equal(len, bytes + 12);
		assert_int_equal(security->answer_read(&asks.open, asks.handshake, asks.keys,
						       answers.message, (uint32_t)len, asks.payload,
						       bytes),
				 bytes);
		security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
		assert_true(opens(&answers, &nonce, packet));
	}
}

TEST(handshake__what_is_refused_leaves_the_keys)
{
	struct side asks, answers, other;

	agree(&asks, &answers, 16);
	agree(&other, &answers, 17);
	other.len = answers.len;
	memcpy(other.message, answers.message, sizeof(other.message));
	other.message[20] ^= 1;
	memcpy(other.payload, asks.keys, security->keys_bytes);
	assert_int_equal(hear_answer(&asks, &other), -EACCES);
	assert_memory_equal(other.payload, asks.keys, security->keys_bytes);
	assert_int_equal(security->answer_write(&answers.open, answers.handshake, asks.keys, reply,
						sizeof(reply), answers.message, 5),
			 -EMSGSIZE);
	assert_memory_equal(other.payload, asks.keys, security->keys_bytes);
}

/* Other implementations have to find the same. */
TEST(seal__is_the_check_of_these_bytes)
{
	struct lull_bundle_nonce nonce = { .psn = 0x0102030405060708,
					   .generation = 0x0a0b0c,
					   .path = 0x34 };
	uint8_t packet[PACKET + 16] = { 1, 2, 3 };
	uint8_t before[16] = { [4] = 8, 7, 6, 5, 4, 3, 2, 1, 0x34, 0x0c, 0x0b, 0x0a };
	struct side asks, answers;
	uint32_t both, token, check;

	agree(&asks, &answers, 18);
	both = lull_bytes_little32(answers.message + answers.len - 4);
	token = lull_crc32c(both, (const uint8_t *)"asking", 7);
	lull_bytes_put_little(before, token, 4);
	check = lull_crc32c(lull_crc32c(0, before, 16), packet, PACKET);
	security->seal(asks.keys, &nonce, packet, HEADER, PACKET);
	assert_int_equal(lull_bytes_little32(packet + PACKET), check);
	token = lull_crc32c(both, (const uint8_t *)"answering", 10);
	lull_bytes_put_little(before, token, 4);
	check = lull_crc32c(lull_crc32c(0, before, 16), packet, PACKET);
	security->seal(answers.keys, &nonce, packet, HEADER, PACKET);
	assert_int_equal(lull_bytes_little32(packet + PACKET), check);
}

TEST(forget__leaves_nothing)
{
	static const uint64_t zeros[8];
	struct side asks, answers;

	agree(&asks, &answers, 13);
	assert_memory_not_equal(asks.keys, zeros, security->keys_bytes);
	security->forget(&asks.open, NULL, NULL);
	security->forget(&asks.open, asks.handshake, asks.keys);
	assert_memory_equal(asks.keys, zeros, sizeof(zeros));
	assert_memory_equal(asks.handshake, zeros, sizeof(zeros));
}

TEST(table__is_what_the_bundle_allows)
{
	uint8_t first[32], second[32];
	struct side side;

	assert_string_equal(security->name, "open");
	assert_in_range(security->tag_bytes, 4, 16);
	side_init(&side, 14);
	security->random(&side.open, first, sizeof(first));
	security->random(&side.open, second, sizeof(second));
	assert_memory_not_equal(first, second, sizeof(first));
}
