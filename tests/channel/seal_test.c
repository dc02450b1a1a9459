/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "case.h"
#include "channel/noise.h"
#include "channel/seal.h"

#define HEADER 28
#define TAG 16
#define LONGEST 1500

static const struct lull_bundle_security *const both[] = {
	&lull_channel_sealed_security,
	&lull_channel_signed_security,
};
static const uint8_t prologue[] = "prologue of both sides";
static const uint8_t question[] = "payload of the hello", reply[] = "that of the answer";

struct side {
	const struct lull_bundle_security *security;
	struct channel_keys keys;
	uint8_t *handshake, *epoch; /* of just the size that the table says */
	uint8_t message[256], payload[256];
	int len;
};

static void
side_init(struct side *side, const struct lull_bundle_security *security, uint8_t secret)
{
	uint8_t key[CHANNEL_KEY_BYTES];

	memset(key, secret, sizeof(key));
	memset(side, 0, sizeof(*side));
	side->security = security;
	channel_keys_set(&side->keys, key);
	side->handshake = calloc(1, security->handshake_bytes);
	side->epoch = calloc(1, security->keys_bytes);
	assert_true(side->handshake != NULL && side->epoch != NULL);
}

static void
side_done(struct side *side)
{
	side->security->forget(&side->keys, side->handshake, side->epoch);
	free(side->handshake);
	free(side->epoch);
}

static void
say_hello(struct side *side)
{
	side->len = side->security->hello_write(&side->keys, side->handshake, prologue,
						sizeof(prologue), question, sizeof(question),
						side->message, sizeof(side->message));
	assert_int_equal(side->len, sizeof(question) + side->security->hello_bytes);
}

static int
hear_hello(struct side *side, const struct side *from)
{
	return side->security->hello_read(
		&side->keys, side->handshake, from->keys.keys[0].id, prologue, sizeof(prologue),
		from->message, (uint32_t)from->len, side->payload, sizeof(side->payload));
}

static void
say_answer(struct side *side)
{
	side->len =
		side->security->answer_write(&side->keys, side->handshake, side->epoch, reply,
					     sizeof(reply), side->message, sizeof(side->message));
	assert_int_equal(side->len, sizeof(reply) + side->security->hello_bytes);
}

static int
hear_answer(struct side *side, const struct side *from)
{
	return side->security->answer_read(&side->keys, side->handshake, side->epoch, from->message,
					   (uint32_t)from->len, side->payload,
					   sizeof(side->payload));
}

static void
agree(const struct lull_bundle_security *security, struct side *asks, struct side *answers)
{
	side_init(asks, security, 7);
	side_init(answers, security, 7);
	say_hello(asks);
	assert_int_equal(hear_hello(answers, asks), sizeof(question));
	assert_memory_equal(answers->payload, question, sizeof(question));
	say_answer(answers);
	assert_int_equal(hear_answer(asks, answers), sizeof(reply));
	assert_memory_equal(asks->payload, reply, sizeof(reply));
}

static void
done(struct side *asks, struct side *answers)
{
	side_done(asks);
	side_done(answers);
}

/* A packet with a pattern of @p len bytes; the same each time. */
static void
pattern(uint8_t *packet, uint32_t len)
{
	for (uint32_t i = 0; i < len + TAG; i++)
		packet[i] = (uint8_t)(i * 7 + i / 256);
}

static void
seal(struct side *side, const struct lull_bundle_nonce *nonce, uint8_t *packet, uint32_t len)
{
	pattern(packet, len);
	side->security->seal(side->epoch, nonce, packet, HEADER, len);
}

/* Opened in place, in a copy of just its size; what comes out has to be the pattern. */
static bool
opens(struct side *side, const struct lull_bundle_nonce *nonce, const uint8_t *packet, uint32_t len)
{
	uint8_t *copy = malloc(len + TAG), right[LONGEST + TAG];
	bool opened;

	assert_non_null(copy);
	memcpy(copy, packet, len + TAG);
	pattern(right, len);
	opened = side->security->open(side->epoch, nonce, copy, HEADER, len);
	if (opened)
		assert_memory_equal(copy, right, len);
	free(copy);
	return opened;
}

TEST(handshake__agrees_in_both_directions)
{
	static const uint32_t lengths[] = { HEADER, HEADER + 1, HEADER + 8, 600, 1484, LONGEST };

	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		for (uint64_t j = 0; j < COUNT(lengths); j++) {
			struct lull_bundle_nonce nonce = { .psn = j + 1, .path = 0x12 };
			uint8_t packet[LONGEST + TAG];

			seal(&asks, &nonce, packet, lengths[j]);
			assert_true(opens(&answers, &nonce, packet, lengths[j]));
			assert_false(opens(&asks, &nonce, packet, lengths[j]));
			seal(&answers, &nonce, packet, lengths[j]);
			assert_true(opens(&asks, &nonce, packet, lengths[j]));
			assert_false(opens(&answers, &nonce, packet, lengths[j]));
		}
		done(&asks, &answers);
	}
}

TEST(seal__hides_the_body_and_signed_does_not)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[LONGEST + TAG], plain[LONGEST + TAG];

	pattern(plain, LONGEST);
	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;
		uint32_t same = 0;

		agree(both[i], &asks, &answers);
		seal(&asks, &nonce, packet, LONGEST);
		assert_memory_equal(packet, plain, HEADER);
		for (uint32_t j = HEADER; j < LONGEST; j++)
			same += packet[j] == plain[j];
		if (both[i] == &lull_channel_signed_security)
			assert_int_equal(same, LONGEST - HEADER);
		else
			assert_true(same < 40); /* 1 of 256 by chance */
		done(&asks, &answers);
	}
}

TEST(handshake__hides_its_payloads)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		for (int j = 0; j + 8 <= asks.len; j++)
			assert_memory_not_equal(asks.message + j, question, 8);
		for (int j = 0; j + 8 <= answers.len; j++)
			assert_memory_not_equal(answers.message + j, reply, 8);
		done(&asks, &answers);
	}
}

TEST(open__notices_each_changed_byte_of_packet_and_tag)
{
	const uint32_t len = 200;
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[LONGEST + TAG];

	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		seal(&asks, &nonce, packet, len);
		for (uint32_t bit = 0; bit < 8 * (len + TAG); bit++) {
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(opens(&answers, &nonce, packet, len));
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		for (uint32_t shorter = HEADER; shorter < len; shorter++)
			assert_false(opens(&answers, &nonce, packet, shorter));
		assert_true(opens(&answers, &nonce, packet, len));
		done(&asks, &answers);
	}
}

TEST(open__refuses_another_nonce)
{
	struct lull_bundle_nonce nonce = { .psn = 5, .path = 0x21 };
	struct lull_bundle_nonce others[] = {
		{ .psn = 5 + (1ULL << 32), .path = 0x21 },
		{ .psn = 5 + (1ULL << 63), .path = 0x21 },
		{ .psn = 6, .path = 0x21 },
		{ .psn = 5, .path = 0x12 },
		{ .psn = 5, .path = 0x20 },
		{ .psn = 5, .path = 0x21, .generation = 1 },
		{ .psn = 5, .path = 0x21, .generation = 2 },
		{ .psn = 5, .path = 0x21, .generation = 3 },
		{ .psn = 5, .path = 0x21, .generation = UINT32_MAX },
	};
	uint8_t packet[LONGEST + TAG];

	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		seal(&asks, &nonce, packet, 100);
		for (size_t j = 0; j < COUNT(others); j++)
			assert_false(opens(&answers, &others[j], packet, 100));
		assert_true(opens(&answers, &nonce, packet, 100));
		done(&asks, &answers);
	}
}

/* ---- generations ---- */

TEST(open__takes_the_generation_before_the_present_and_the_next)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		uint8_t packets[8][HEADER + 72 + TAG];
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		for (uint32_t g = 0; g < COUNT(packets); g++) {
			struct lull_bundle_nonce nonce = { .psn = g + 1, .generation = g };

			seal(&asks, &nonce, packets[g], 100);
		}
		for (uint32_t present = 0; present + 1 < COUNT(packets); present++) {
			for (uint32_t g = 0; g < COUNT(packets); g++) {
				struct lull_bundle_nonce nonce = { .psn = g + 1, .generation = g };

				if (g == present + 1) /* opening it would move on */
					continue;
				assert_int_equal(opens(&answers, &nonce, packets[g], 100),
						 g <= present && g + 1 >= present);
			}
			/* What is forged does not move on, however often. */
			for (uint32_t j = 0; j < 10; j++) {
				struct lull_bundle_nonce next = { .psn = present + 2,
								  .generation = present + 1 };

				packets[present + 1][50] ^= 1;
				assert_false(opens(&answers, &next, packets[present + 1], 100));
				packets[present + 1][50] ^= 1;
				if (j == 9)
					assert_true(
						opens(&answers, &next, packets[present + 1], 100));
			}
		}
		done(&asks, &answers);
	}
}

TEST(seal__each_generation_has_a_key_of_its_own)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		uint8_t tags[20][TAG];
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		for (uint32_t g = 0; g < COUNT(tags); g++) {
			struct lull_bundle_nonce nonce = { .psn = 1, .generation = g };
			uint8_t packet[HEADER + TAG];

			seal(&asks, &nonce, packet, HEADER);
			memcpy(tags[g], packet + HEADER, TAG);
			for (uint32_t j = 0; j < g; j++)
				assert_memory_not_equal(tags[j], tags[g], TAG);
			assert_true(opens(&answers, &nonce, packet, HEADER));
		}
		done(&asks, &answers);
	}
}

/* What stands in docs/channel.md, done once more by the library of libcrypto alone. */
static void
seal_plainly(const uint8_t key[32], const uint8_t nonce[12], uint8_t *packet, int len)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int count;

	assert_non_null(context);
	assert_int_equal(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce), 1);
	assert_int_equal(EVP_EncryptUpdate(context, NULL, &count, packet, HEADER), 1);
	assert_int_equal(
		EVP_EncryptUpdate(context, packet + HEADER, &count, packet + HEADER, len - HEADER),
		1);
	assert_int_equal(EVP_EncryptFinal_ex(context, packet + len, &count), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, packet + len), 1);
	EVP_CIPHER_CTX_free(context);
}

TEST(seal__is_aes_gcm_with_these_keys_and_nonces)
{
	static const uint8_t nonce_bytes[12] = { 8, 7, 6, 5, 4, 3, 2, 1, 0xab, 1, 0, 0 };
	struct lull_bundle_nonce nonce = { .psn = 0x0102030405060708,
					   .path = 0xab,
					   .generation = 1 };
	static const uint8_t label[] = "lull channel generation";
	uint8_t chain[32], ours[32], key[32], packet[100 + TAG], plain[100 + TAG];
	struct channel_noise noise;
	struct side asks, answers;

	agree(&lull_channel_sealed_security, &asks, &answers);
	memcpy(&noise, asks.handshake, sizeof(noise));
	assert_int_equal(channel_noise_split(&noise, chain, ours), 0);
	for (int g = 0; g < 2; g++)
		assert_int_equal(channel_noise_hkdf(chain, label, sizeof(label), chain, key, NULL),
				 0);
	seal(&asks, &nonce, packet, 100);
	pattern(plain, 100);
	seal_plainly(key, nonce_bytes, plain, 100);
	assert_memory_equal(packet, plain, sizeof(packet));
	done(&asks, &answers);
}

/* ---- who may connect ---- */

TEST(handshake__another_key_is_refused)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, stranger;

		side_init(&asks, both[i], 1);
		side_init(&stranger, both[i], 2);
		say_hello(&asks);
		assert_int_equal(hear_hello(&stranger, &asks), -EACCES);
		/* Also with a key id that is right: nothing but the key decides. */
		stranger.keys.keys[0].id = asks.keys.keys[0].id;
		assert_int_equal(hear_hello(&stranger, &asks), -EACCES);
		done(&asks, &stranger);
	}
}

TEST(handshake__any_key_of_the_file_answers)
{
	for (uint32_t place = 0; place < 3; place++) {
		uint8_t key[CHANNEL_KEY_BYTES];
		struct side asks, answers;

		side_init(&asks, both[0], 3);
		side_init(&answers, both[0], 3);
		memset(key, 9, sizeof(key));
		answers.keys.count = 3;
		for (uint32_t i = 0; i < 3; i++)
			answers.keys.keys[i] = asks.keys.keys[0];
		for (uint32_t i = 0; i < 3; i++) {
			if (i != place) /* two keys may even have one id */
				memset(answers.keys.keys[i].bytes, (int)(40 + i), 32);
		}
		say_hello(&asks);
		assert_int_equal(hear_hello(&answers, &asks), sizeof(question));
		say_answer(&answers);
		assert_int_equal(hear_answer(&asks, &answers), sizeof(reply));
		done(&asks, &answers);
	}
}

TEST(handshake__sealed_and_signed_do_not_agree)
{
	struct side asks, answers;

	side_init(&asks, &lull_channel_sealed_security, 4);
	side_init(&answers, &lull_channel_signed_security, 4);
	say_hello(&asks);
	assert_int_equal(hear_hello(&answers, &asks), -EACCES);
	done(&asks, &answers);
}

TEST(handshake__notices_each_changed_byte)
{
	struct side asks, answers, fresh;

	agree(both[0], &asks, &answers);
	for (int i = 0; i < asks.len; i++) {
		side_init(&fresh, both[0], 7);
		asks.message[i] ^= 0x10;
		assert_int_equal(hear_hello(&fresh, &asks), -EACCES);
		asks.message[i] ^= 0x10;
		side_done(&fresh);
	}
	side_init(&fresh, both[0], 7);
	say_hello(&fresh);
	assert_int_equal(hear_hello(&answers, &fresh), sizeof(question));
	both[0]->forget(&answers.keys, NULL, answers.epoch);
	say_answer(&answers);
	for (int i = 0; i < answers.len; i++) {
		answers.message[i] ^= 0x10;
		assert_int_equal(hear_answer(&fresh, &answers), -EACCES);
		answers.message[i] ^= 0x10;
	}
	assert_int_equal(hear_answer(&fresh, &answers), sizeof(reply));
	side_done(&fresh);
	done(&asks, &answers);
}

TEST(handshake__prologue_is_bound_and_has_a_bound)
{
	static const uint8_t zeros[CHANNEL_PROLOGUE_BYTES_MAX + 1];
	struct side asks, answers;

	side_init(&asks, both[0], 5);
	side_init(&answers, both[0], 5);
	for (uint32_t len = 0; len <= sizeof(zeros); len++) {
		int rc = both[0]->hello_write(&asks.keys, asks.handshake, zeros, len, question,
					      sizeof(question), asks.message, 256);

		assert_int_equal(rc > 0, len < sizeof(zeros));
		if (rc < 0) {
			assert_int_equal(rc, -EMSGSIZE);
			continue;
		}
		asks.len = rc;
		assert_int_equal(hear_hello(&answers, &asks), -EACCES); /* another prologue */
		rc = both[0]->hello_read(&answers.keys, answers.handshake, asks.keys.keys[0].id,
					 zeros, len, asks.message, (uint32_t)asks.len,
					 answers.payload, 256);
		assert_int_equal(rc, sizeof(question));
	}
	done(&asks, &answers);
}

/* ---- replay ---- */

/* A recorder says the hello once more. It gets an answer, and can do nothing with it. */
TEST(replay__a_hello_heard_twice_gives_other_keys)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[LONGEST + TAG];

	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers, again;

		agree(both[i], &asks, &answers);
		seal(&asks, &nonce, packet, 100);
		side_init(&again, both[i], 7);
		assert_int_equal(hear_hello(&again, &asks), sizeof(question));
		say_answer(&again);
		assert_memory_not_equal(again.message, answers.message, 32);
		assert_false(opens(&again, &nonce, packet, 100));
		assert_true(opens(&answers, &nonce, packet, 100));
		side_done(&again);
		done(&asks, &answers);
	}
}

TEST(replay__an_answer_to_another_hello_is_refused)
{
	struct side asks, answers, other;

	agree(both[0], &asks, &answers);
	side_init(&other, both[0], 7);
	say_hello(&other);
	assert_int_equal(hear_answer(&other, &answers), -EACCES);
	side_done(&other);
	done(&asks, &answers);
}

TEST(replay__packets_of_an_older_epoch_are_refused)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[LONGEST + TAG];
	struct side asks, answers, newer[2];

	agree(both[0], &asks, &answers);
	agree(both[0], &newer[0], &newer[1]);
	seal(&asks, &nonce, packet, 100);
	assert_false(opens(&newer[1], &nonce, packet, 100));
	done(&newer[0], &newer[1]);
	done(&asks, &answers);
}

/* ---- memory ---- */

TEST(forget__wipes_and_takes_zeros_and_nothing)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct side asks, answers;

		agree(both[i], &asks, &answers);
		both[i]->forget(&asks.keys, NULL, NULL);
		both[i]->forget(&asks.keys, asks.handshake, asks.epoch);
		for (uint32_t j = 0; j < both[i]->handshake_bytes; j++)
			assert_int_equal(asks.handshake[j], 0);
		for (uint32_t j = 0; j < both[i]->keys_bytes; j++)
			assert_int_equal(asks.epoch[j], 0);
		both[i]->forget(&asks.keys, asks.handshake, asks.epoch);
		done(&asks, &answers);
	}
}

/* The bundle moves keys from a handshake under way to the peer. */
TEST(keys__may_be_copied_elsewhere)
{
	struct lull_bundle_nonce nonce = { .psn = 1 };
	uint8_t packet[LONGEST + TAG];
	struct side asks, answers;
	uint8_t *moved;

	agree(both[0], &asks, &answers);
	moved = malloc(both[0]->keys_bytes);
	assert_non_null(moved);
	memcpy(moved, answers.epoch, both[0]->keys_bytes);
	memset(answers.epoch, 0, both[0]->keys_bytes);
	free(answers.epoch);
	answers.epoch = moved;
	seal(&asks, &nonce, packet, 100);
	assert_true(opens(&answers, &nonce, packet, 100));
	done(&asks, &answers);
}

TEST(table__is_what_the_bundle_allows)
{
	struct channel_keys keys = { .count = 2, .keys = { { .id = 11 }, { .id = 12 } } };

	for (size_t i = 0; i < COUNT(both); i++) {
		uint8_t first[64], second[64];

		assert_int_equal(both[i]->tag_bytes, TAG);
		assert_int_equal(both[i]->hello_bytes, 48);
		assert_true(both[i]->keys_bytes <= 256 && both[i]->handshake_bytes <= 256);
		both[i]->random(NULL, first, sizeof(first));
		both[i]->random(NULL, second, sizeof(second));
		assert_memory_not_equal(first, second, sizeof(first));
	}
	assert_int_equal(both[0]->key_id(&keys), keys.keys[0].id);
	assert_string_equal(lull_channel_sealed_security.name, "sealed");
	assert_string_equal(lull_channel_signed_security.name, "signed");
}
