/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "case.h"
#include "channel/noise.h"
#include "seal_stand.h"

TEST(seal__both_directions_have_a_key)
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
	static const uint8_t label[] = "lull channel generation";
	uint8_t nonce_bytes[12] = { 8, 7, 6, 5, 4, 3, 2, 1, 0xab };
	uint8_t chain[32], ours[32], key[32], packet[100 + TAG], plain[100 + TAG];
	struct channel_noise noise;
	struct side asks, answers;

	agree(&lull_channel_sealed_security, &asks, &answers);
	memcpy(&noise, asks.handshake, sizeof(noise));
	assert_int_equal(channel_noise_split(&noise, chain, ours), 0);
	for (uint32_t g = 0; g < 300; g++) {
		struct lull_bundle_nonce nonce = { .psn = 0x0102030405060708,
						   .path = 0xab,
						   .generation = g };

		assert_int_equal(channel_noise_hkdf(chain, label, sizeof(label), chain, key, NULL),
				 0);
		nonce_bytes[9] = (uint8_t)g;
		nonce_bytes[10] = (uint8_t)(g >> 8);
		seal(&asks, &nonce, packet, 100);
		pattern(plain, 100);
		seal_plainly(key, nonce_bytes, plain, 100);
		assert_memory_equal(packet, plain, sizeof(packet));
	}
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
