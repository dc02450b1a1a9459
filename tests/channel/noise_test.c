/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <openssl/evp.h>

#include "case.h"
#include "channel/noise.h"

#define BYTES 32

/*
 * Noise_NNpsk0_25519_AESGCM_SHA256 of the vectors of cacophony, which other implementations test
 * themselves against too: vectors/cacophony.txt of github.com/haskell-cryptography/cacophony at
 * 8ee9d41e34a1a596cfa3ab12aa4069ff87dc1247.
 */
static const char prologue_hex[] = "4a6f686e2047616c74";
static const char key_hex[] = "54686973206973206d7920417573747269616e20706572737065637469766521";
static const char asks_hex[] = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
static const char answers_hex[] =
	"bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";
static const char digest_hex[] = "9f3b1f9afd7767767b5b9d1069844a6154fdbdcc36dfb3e31c0fffc5c973d530";
static const struct {
	const char *payload, *text;
} messages[] = {
	{ "4c756477696720766f6e204d69736573",
	  "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
	  "7c37a89fc17813788d30df2d59501d6066f5f8aecc3406bbd9829f2d24a531b1" },
	{ "4d757272617920526f746862617264",
	  "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
	  "2f29d79368ef9de4e1ae7a362fb05bf0ad668e026bf5714554497b3a720461" },
	{ "462e20412e20486179656b", "7c01e898a6201f36aecee532e29cd0b7f8ffa29d3366ad0dce39a6" },
	{ "4361726c204d656e676572", "a9ff535aace3db6a1da1a7fb00fe2de2622bb373abad9fb42c00e0" },
	{ "4a65616e2d426170746973746520536179",
	  "6cfc49a3e65472edc2d0152abe5ce950170a8a47c959f30bd48b5f0aacf29adbfd" },
	{ "457567656e2042f6686d20766f6e2042617765726b",
	  "9bc86e6d974ed21ba04604a94aa68de21677eb409ead070c0cd569b069ee19ba142aa4c1a9" },
};

static uint32_t
from_hex(const char *hex, uint8_t *out)
{
	uint32_t count = (uint32_t)strlen(hex) / 2;

	for (uint32_t i = 0; i < 2 * count; i++) {
		uint32_t digit = (uint32_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);

		out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
	}
	return count;
}

struct vector {
	uint8_t prologue[BYTES], key[BYTES], asks[BYTES], answers[BYTES];
	uint32_t prologue_bytes;
	uint8_t payload[2][64], text[2][128];
	uint32_t payload_bytes[2], text_bytes[2];
};

static void
vector_read(struct vector *vector)
{
	vector->prologue_bytes = from_hex(prologue_hex, vector->prologue);
	from_hex(key_hex, vector->key);
	from_hex(asks_hex, vector->asks);
	from_hex(answers_hex, vector->answers);
	for (uint32_t i = 0; i < 2; i++) {
		vector->payload_bytes[i] = from_hex(messages[i].payload, vector->payload[i]);
		vector->text_bytes[i] = from_hex(messages[i].text, vector->text[i]);
	}
}

static void
begin(struct channel_noise *noise, const struct vector *vector)
{
	assert_int_equal(
		channel_noise_begin(noise, vector->key, vector->prologue, vector->prologue_bytes),
		0);
}

/* Both sides through the whole handshake; each message is compared. */
static void
shake(const struct vector *vector, struct channel_noise *asks, struct channel_noise *answers)
{
	uint8_t out[128];

	begin(asks, vector);
	begin(answers, vector);
	assert_int_equal(channel_noise_hello_write(asks, vector->asks, vector->payload[0],
						   vector->payload_bytes[0], out, sizeof(out)),
			 vector->text_bytes[0]);
	assert_memory_equal(out, vector->text[0], vector->text_bytes[0]);
	assert_int_equal(channel_noise_hello_read(answers, vector->text[0], vector->text_bytes[0],
						  out, sizeof(out)),
			 vector->payload_bytes[0]);
	assert_memory_equal(out, vector->payload[0], vector->payload_bytes[0]);
	assert_int_equal(channel_noise_answer_write(answers, vector->answers, vector->payload[1],
						    vector->payload_bytes[1], out, sizeof(out)),
			 vector->text_bytes[1]);
	assert_memory_equal(out, vector->text[1], vector->text_bytes[1]);
	assert_int_equal(channel_noise_answer_read(asks, vector->text[1], vector->text_bytes[1],
						   out, sizeof(out)),
			 vector->payload_bytes[1]);
	assert_memory_equal(out, vector->payload[1], vector->payload_bytes[1]);
}

TEST(noise__matches_the_published_messages)
{
	struct channel_noise asks, answers;
	struct vector vector;
	uint8_t digest[BYTES];

	vector_read(&vector);
	shake(&vector, &asks, &answers);
	from_hex(digest_hex, digest);
	assert_memory_equal(asks.digest, digest, sizeof(digest));
	assert_memory_equal(answers.digest, digest, sizeof(digest));
}

/* A transport message of the specification: the number of the message is the nonce, big endian. */
static void
transport(const uint8_t key[BYTES], uint8_t number, const uint8_t *text, int count, uint8_t *out)
{
	uint8_t nonce[12] = { [11] = number };
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int len;

	assert_non_null(context);
	assert_int_equal(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce), 1);
	assert_int_equal(EVP_EncryptUpdate(context, out, &len, text, count), 1);
	assert_int_equal(EVP_EncryptFinal_ex(context, out + count, &len), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, out + count), 1);
	EVP_CIPHER_CTX_free(context);
}

TEST(split__gives_the_keys_of_the_published_transport_messages)
{
	struct channel_noise asks, answers;
	uint8_t keys[2][BYTES], same[2][BYTES];
	struct vector vector;

	vector_read(&vector);
	shake(&vector, &asks, &answers);
	assert_int_equal(channel_noise_split(&asks, keys[0], keys[1]), 0);
	assert_int_equal(channel_noise_split(&answers, same[0], same[1]), 0);
	assert_memory_equal(keys, same, sizeof(keys));
	for (uint32_t i = 2; i < COUNT(messages); i++) {
		uint8_t payload[64], text[64], out[64];
		uint32_t count = from_hex(messages[i].payload, payload);

		assert_int_equal(from_hex(messages[i].text, text), count + 16);
		transport(keys[i % 2], (uint8_t)(i / 2 - 1), payload, (int)count, out);
		assert_memory_equal(out, text, count + 16);
	}
}

TEST(hello_read__refuses_each_changed_bit_and_length)
{
	struct channel_noise answers;
	struct vector vector;
	uint8_t out[128];

	vector_read(&vector);
	for (uint32_t bit = 0; bit < 8 * vector.text_bytes[0]; bit++) {
		uint8_t *byte = &vector.text[0][bit / 8];

		begin(&answers, &vector);
		*byte ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(channel_noise_hello_read(&answers, vector.text[0],
							  vector.text_bytes[0], out, sizeof(out)),
				 -EACCES);
		*byte ^= (uint8_t)(1u << bit % 8);
	}
	for (uint32_t len = 0; len < vector.text_bytes[0]; len++) {
		begin(&answers, &vector);
		assert_int_equal(
			channel_noise_hello_read(&answers, vector.text[0], len, out, sizeof(out)),
			-EACCES);
	}
	begin(&answers, &vector);
	assert_int_equal(channel_noise_hello_read(&answers, vector.text[0], vector.text_bytes[0],
						  out, vector.payload_bytes[0] - 1),
			 -EACCES);
}

/* Nobody vouches for what was decrypted before its tag was wrong. */
TEST(hello_read__leaves_nothing_of_what_it_refuses)
{
	static const uint8_t zeros[128];
	struct channel_noise answers;
	struct vector vector;
	uint8_t out[128] = { 0 };

	vector_read(&vector);
	begin(&answers, &vector);
	vector.text[0][vector.text_bytes[0] - 1] ^= 1;
	assert_int_equal(channel_noise_hello_read(&answers, vector.text[0], vector.text_bytes[0],
						  out, sizeof(out)),
			 -EACCES);
	assert_memory_equal(out, zeros, sizeof(zeros));
}

/* The right answer is taken although wrong ones came before it. */
TEST(answer_read__refuses_each_changed_bit_and_then_takes_the_right_one)
{
	struct channel_noise asks;
	struct vector vector;
	uint8_t out[128];

	vector_read(&vector);
	begin(&asks, &vector);
	assert_true(channel_noise_hello_write(&asks, vector.asks, vector.payload[0],
					      vector.payload_bytes[0], out, sizeof(out)) > 0);
	for (uint32_t bit = 0; bit < 8 * vector.text_bytes[1]; bit++) {
		uint8_t *byte = &vector.text[1][bit / 8];

		*byte ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(channel_noise_answer_read(&asks, vector.text[1],
							   vector.text_bytes[1], out, sizeof(out)),
				 -EACCES);
		*byte ^= (uint8_t)(1u << bit % 8);
	}
	for (uint32_t len = 0; len < vector.text_bytes[1]; len++)
		assert_int_equal(
			channel_noise_answer_read(&asks, vector.text[1], len, out, sizeof(out)),
			-EACCES);
	assert_int_equal(channel_noise_answer_read(&asks, vector.text[1], vector.text_bytes[1], out,
						   sizeof(out)),
			 vector.payload_bytes[1]);
}

TEST(begin__another_key_or_prologue_is_another_handshake)
{
	struct channel_noise answers;
	struct vector vector;
	uint8_t out[128];

	vector_read(&vector);
	vector.key[31] ^= 1;
	begin(&answers, &vector);
	assert_int_equal(channel_noise_hello_read(&answers, vector.text[0], vector.text_bytes[0],
						  out, sizeof(out)),
			 -EACCES);
	vector.key[31] ^= 1;
	vector.prologue_bytes--;
	begin(&answers, &vector);
	assert_int_equal(channel_noise_hello_read(&answers, vector.text[0], vector.text_bytes[0],
						  out, sizeof(out)),
			 -EACCES);
}

/* A number of small order would make the shared secret known: one with the key could send it. */
TEST(answer_write__refuses_numbers_of_small_order)
{
	static const uint8_t numbers[][BYTES] = { { 0 }, { 1 } };
	struct channel_noise answers;
	struct vector vector;
	uint8_t out[128];

	vector_read(&vector);
	for (uint32_t i = 0; i < COUNT(numbers); i++) {
		begin(&answers, &vector);
		memcpy(answers.foreign, numbers[i], BYTES);
		assert_int_equal(
			channel_noise_answer_write(&answers, vector.answers, vector.payload[1],
						   vector.payload_bytes[1], out, sizeof(out)),
			-EACCES);
	}
}

TEST(write__asks_for_enough_room)
{
	struct channel_noise noise;
	struct vector vector;
	uint8_t out[128];

	vector_read(&vector);
	for (uint32_t room = 0; room < vector.text_bytes[0]; room++) {
		begin(&noise, &vector);
		assert_int_equal(channel_noise_hello_write(&noise, vector.asks, vector.payload[0],
							   vector.payload_bytes[0], out, room),
				 -EMSGSIZE);
		assert_int_equal(channel_noise_answer_write(&noise, vector.asks, vector.payload[0],
							    vector.payload_bytes[0], out, room),
				 -EMSGSIZE);
	}
}

TEST(wipe__leaves_nothing)
{
	static const struct channel_noise zeros;
	struct channel_noise noise;
	struct vector vector;

	vector_read(&vector);
	begin(&noise, &vector);
	channel_noise_wipe(&noise);
	assert_memory_equal(&noise, &zeros, sizeof(zeros));
}
