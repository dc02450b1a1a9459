/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "seal_stand.h"

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

TEST(handshake__the_key_has_to_be_that_of_its_id)
{
	struct side asks, answers;

	side_init(&asks, both[0], 6);
	side_init(&answers, both[0], 6);
	say_hello(&asks);
	asks.keys.keys[0].id++;
	assert_int_equal(hear_hello(&answers, &asks), -EACCES);
	answers.keys.count = 0;
	asks.keys.keys[0].id--;
	assert_int_equal(hear_hello(&answers, &asks), -EACCES);
	done(&asks, &answers);
}

TEST(handshake__what_fails_leaves_neither_state_nor_keys)
{
	static const uint8_t zeros[512];
	struct side asks, answers;

	side_init(&asks, both[0], 6);
	side_init(&answers, both[0], 6);
	say_hello(&asks);
	asks.message[asks.len - 1] ^= 1;
	assert_int_equal(hear_hello(&answers, &asks), -EACCES);
	assert_memory_equal(answers.handshake, zeros, both[0]->handshake_bytes);
	asks.message[asks.len - 1] ^= 1;
	assert_int_equal(hear_hello(&answers, &asks), sizeof(question));
	assert_int_equal(both[0]->answer_write(&answers.keys, answers.handshake, answers.epoch,
					       reply, sizeof(reply), answers.message,
					       sizeof(reply) + 47),
			 -EMSGSIZE);
	assert_memory_equal(answers.epoch, zeros, both[0]->keys_bytes);
	say_answer(&answers);
	answers.message[0] ^= 1;
	assert_int_equal(hear_answer(&asks, &answers), -EACCES);
	assert_memory_equal(asks.epoch, zeros, both[0]->keys_bytes);
	done(&asks, &answers);
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
	say_answer(&answers); /* in place of the keys it had */
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
