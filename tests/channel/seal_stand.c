/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "seal_stand.h"

const struct lull_bundle_security *const both[2] = {
	&lull_channel_sealed_security,
	&lull_channel_signed_security,
};
const uint8_t prologue[23] = "prologue of both sides";
const uint8_t question[21] = "payload of the hello", reply[19] = "that of the answer";

void
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

void
side_done(struct side *side)
{
	side->security->forget(&side->keys, side->handshake, side->epoch);
	free(side->handshake);
	free(side->epoch);
}

void
say_hello(struct side *side)
{
	side->len = side->security->hello_write(&side->keys, side->handshake, prologue,
						sizeof(prologue), question, sizeof(question),
						side->message, sizeof(side->message));
	assert_int_equal(side->len, sizeof(question) + side->security->hello_bytes);
}

int
hear_hello(struct side *side, const struct side *from)
{
	return side->security->hello_read(
		&side->keys, side->handshake, from->keys.keys[0].id, prologue, sizeof(prologue),
		from->message, (uint32_t)from->len, side->payload, sizeof(side->payload));
}

void
say_answer(struct side *side)
{
	side->len =
		side->security->answer_write(&side->keys, side->handshake, side->epoch, reply,
					     sizeof(reply), side->message, sizeof(side->message));
	assert_int_equal(side->len, sizeof(reply) + side->security->hello_bytes);
}

int
hear_answer(struct side *side, const struct side *from)
{
	return side->security->answer_read(&side->keys, side->handshake, side->epoch, from->message,
					   (uint32_t)from->len, side->payload,
					   sizeof(side->payload));
}

void
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

void
done(struct side *asks, struct side *answers)
{
	side_done(asks);
	side_done(answers);
}

/* A packet with a pattern of @p len bytes; the same each time. */
void
pattern(uint8_t *packet, uint32_t len)
{
	for (uint32_t i = 0; i < len + TAG; i++)
		packet[i] = (uint8_t)(i * 7 + i / 256);
}

void
seal(struct side *side, const struct lull_bundle_nonce *nonce, uint8_t *packet, uint32_t len)
{
	pattern(packet, len);
	side->security->seal(side->epoch, nonce, packet, HEADER, len);
}

/* Opened in place, in a copy of just its size; what comes out has to be the pattern. */
bool
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
