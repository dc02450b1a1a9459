/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "channel/noise.h"
#include "channel/seal.h"

#define SEAL_TAG_BYTES 16
#define SEAL_NONCE_BYTES 12
#define SEAL_NAME_BYTES_MAX 8
#define SEAL_READY 3 /* generations: the one before, the present, the next */

struct seal_direction {
	EVP_CIPHER_CTX *contexts[SEAL_READY]; /* generation g at g % 3 */
	uint8_t chain[CHANNEL_NOISE_BYTES];   /* of the generation after the next */
	uint32_t generation;
};

struct seal_keys {
	struct seal_direction tx, rx;
};

/* ---- generations ---- */

/* The key of a generation and the chain of the one after it, which does not tell the key. */
static int
direction_step(struct seal_direction *direction, uint32_t generation)
{
	static const uint8_t label[] = "lull channel generation";
	EVP_CIPHER_CTX *context = direction->contexts[generation % SEAL_READY];
	uint8_t key[CHANNEL_NOISE_BYTES];
	int rc = channel_noise_hkdf(direction->chain, label, sizeof(label), direction->chain, key,
				    NULL);

	if (rc == 0 && EVP_CipherInit_ex(context, NULL, NULL, key, NULL, -1) != 1)
		rc = -EIO;
	OPENSSL_cleanse(key, sizeof(key));
	return rc;
}

static void
direction_forget(struct seal_direction *direction)
{
	for (uint32_t i = 0; i < SEAL_READY; i++)
		EVP_CIPHER_CTX_free(direction->contexts[i]); /* wipes it */
	OPENSSL_cleanse(direction, sizeof(*direction));
}

static int
direction_init(struct seal_direction *direction, const uint8_t key[CHANNEL_NOISE_BYTES], bool seals)
{
	int rc = 0;

	memset(direction, 0, sizeof(*direction));
	memcpy(direction->chain, key, CHANNEL_NOISE_BYTES);
	for (uint32_t i = 0; i < SEAL_READY && rc == 0; i++) {
		direction->contexts[i] = EVP_CIPHER_CTX_new();
		if (direction->contexts[i] == NULL)
			rc = -ENOMEM;
		else if (EVP_CipherInit_ex(direction->contexts[i], EVP_aes_256_gcm(), NULL, NULL,
					   NULL, seals) != 1)
			rc = -EIO;
	}
	for (uint32_t generation = 0; generation < 2 && rc == 0; generation++)
		rc = direction_step(direction, generation);
	if (rc != 0)
		direction_forget(direction);
	return rc;
}

/* The next generation is the present one. Each 2^24 packets: libcrypto allocates here. */
static void
direction_advance(struct seal_direction *direction)
{
	int rc;

	direction->generation++;
	rc = direction_step(direction, direction->generation + 1);
	LULL_ASSERT(rc == 0); /* a wrong key would be worse */
}

/* NULL: a generation whose key is not ready. */
static EVP_CIPHER_CTX *
direction_context(const struct seal_direction *direction, uint32_t generation)
{
	uint32_t before = direction->generation == 0 ? 0 : direction->generation - 1;

	if (generation < before || generation > direction->generation + 1)
		return NULL;
	return direction->contexts[generation % SEAL_READY];
}

static int
keys_init(struct seal_keys *keys, const struct channel_noise *noise, bool asked)
{
	uint8_t asks[CHANNEL_NOISE_BYTES], answers[CHANNEL_NOISE_BYTES];
	int rc = channel_noise_split(noise, asks, answers);

	direction_forget(&keys->tx);
	direction_forget(&keys->rx);
	if (rc == 0)
		rc = direction_init(&keys->tx, asked ? asks : answers, true);
	if (rc == 0)
		rc = direction_init(&keys->rx, asked ? answers : asks, false);
	if (rc != 0)
		direction_forget(&keys->tx);
	OPENSSL_cleanse(asks, sizeof(asks));
	OPENSSL_cleanse(answers, sizeof(answers));
	return rc;
}

/* ---- packets ---- */

static void
nonce_write(const struct lull_bundle_nonce *nonce, uint8_t out[SEAL_NONCE_BYTES])
{
	out = lull_bytes_put_little(out, nonce->psn, 8);
	out = lull_bytes_put_little(out, nonce->path, 1);
	lull_bytes_put_little(out, nonce->generation, 3);
}

/* The first @p plain_bytes are authenticated, the others encrypted too. */
static void
packet_seal(struct seal_direction *direction, const struct lull_bundle_nonce *nonce,
	    uint8_t *packet, uint32_t plain_bytes, uint32_t len_bytes)
{
	EVP_CIPHER_CTX *context = direction_context(direction, nonce->generation);
	uint8_t number[SEAL_NONCE_BYTES];
	int len, text_bytes = (int)(len_bytes - plain_bytes);
	bool right;

	LULL_ASSERT(context != NULL);
	nonce_write(nonce, number);
	right = EVP_EncryptInit_ex(context, NULL, NULL, NULL, number) == 1 &&
		EVP_EncryptUpdate(context, NULL, &len, packet, (int)plain_bytes) == 1;
	if (right && text_bytes > 0)
		right = EVP_EncryptUpdate(context, packet + plain_bytes, &len, packet + plain_bytes,
					  text_bytes) == 1;
	right = right && EVP_EncryptFinal_ex(context, packet + len_bytes, &len) == 1 &&
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG_BYTES,
				    packet + len_bytes) == 1;
	LULL_ASSERT(right); /* nothing leaves in the clear */
	if (nonce->generation > direction->generation)
		direction_advance(direction);
}

static bool
packet_open(struct seal_direction *direction, const struct lull_bundle_nonce *nonce,
	    uint8_t *packet, uint32_t plain_bytes, uint32_t len_bytes)
{
	EVP_CIPHER_CTX *context = direction_context(direction, nonce->generation);
	uint8_t number[SEAL_NONCE_BYTES];
	int len, text_bytes = (int)(len_bytes - plain_bytes);

	if (context == NULL)
		return false;
	nonce_write(nonce, number);
	if (EVP_DecryptInit_ex(context, NULL, NULL, NULL, number) != 1 ||
	    EVP_DecryptUpdate(context, NULL, &len, packet, (int)plain_bytes) != 1)
		return false;
	if (text_bytes > 0 && EVP_DecryptUpdate(context, packet + plain_bytes, &len,
						packet + plain_bytes, text_bytes) != 1)
		return false;
	if (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG_BYTES,
				packet + len_bytes) != 1 ||
	    EVP_DecryptFinal_ex(context, packet + len_bytes, &len) != 1)
		return false;
	if (nonce->generation > direction->generation)
		direction_advance(direction);
	return true;
}

static void
sealed_seal(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	    uint32_t header_bytes, uint32_t len_bytes)
{
	packet_seal(&((struct seal_keys *)keys)->tx, nonce, packet, header_bytes, len_bytes);
}

static bool
sealed_open(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	    uint32_t header_bytes, uint32_t len_bytes)
{
	return packet_open(&((struct seal_keys *)keys)->rx, nonce, packet, header_bytes, len_bytes);
}

static void
signed_seal(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	    uint32_t header_bytes, uint32_t len_bytes)
{
	(void)header_bytes;
	packet_seal(&((struct seal_keys *)keys)->tx, nonce, packet, len_bytes, len_bytes);
}

static bool
signed_open(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	    uint32_t header_bytes, uint32_t len_bytes)
{
	(void)header_bytes;
	return packet_open(&((struct seal_keys *)keys)->rx, nonce, packet, len_bytes, len_bytes);
}

/* ---- handshake ---- */

static uint32_t
seal_key_id(void *arg)
{
	const struct channel_keys *keys = arg;

	return keys->keys[0].id;
}

static void
seal_random(void *arg, uint8_t *bytes, uint32_t count)
{
	(void)arg;
	LULL_ASSERT(RAND_bytes(bytes, (int)count) == 1);
}

/* Who seals does not agree with who signs: the name goes before the prologue. */
static int
seal_begin(struct channel_noise *noise, const struct channel_key *key, const char *name,
	   const uint8_t *prologue, uint32_t prologue_bytes)
{
	uint8_t both[SEAL_NAME_BYTES_MAX + CHANNEL_PROLOGUE_BYTES_MAX] = { 0 };

	if (prologue_bytes > CHANNEL_PROLOGUE_BYTES_MAX)
		return -EMSGSIZE;
	memcpy(both, name, strlen(name));
	lull_bytes_copy(both + SEAL_NAME_BYTES_MAX, prologue, prologue_bytes);
	return channel_noise_begin(noise, key->bytes, both, SEAL_NAME_BYTES_MAX + prologue_bytes);
}

static int
seal_hello_write(const char *name, void *arg, void *handshake, const uint8_t *prologue,
		 uint32_t prologue_bytes, const uint8_t *payload, uint32_t payload_bytes,
		 uint8_t *out, uint32_t room_bytes)
{
	const struct channel_keys *keys = arg;
	uint8_t secret[CHANNEL_NOISE_BYTES];
	int rc = seal_begin(handshake, &keys->keys[0], name, prologue, prologue_bytes);

	if (rc != 0)
		return rc;
	if (RAND_priv_bytes(secret, sizeof(secret)) != 1)
		return -EIO;
	rc = channel_noise_hello_write(handshake, secret, payload, payload_bytes, out, room_bytes);
	OPENSSL_cleanse(secret, sizeof(secret));
	return rc;
}

static int
seal_hello_read(const char *name, void *arg, void *handshake, uint32_t key_id,
		const uint8_t *prologue, uint32_t prologue_bytes, const uint8_t *in,
		uint32_t in_bytes, uint8_t *payload, uint32_t room_bytes)
{
	const struct channel_keys *keys = arg;
	int rc = -EACCES;

	for (uint32_t i = 0; i < keys->count && rc == -EACCES; i++) {
		if (keys->keys[i].id != key_id)
			continue;
		rc = seal_begin(handshake, &keys->keys[i], name, prologue, prologue_bytes);
		if (rc == 0)
			rc = channel_noise_hello_read(handshake, in, in_bytes, payload, room_bytes);
	}
	if (rc < 0)
		channel_noise_wipe(handshake);
	return rc;
}

static int
seal_answer_write(void *arg, void *handshake, void *keys, const uint8_t *payload,
		  uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes)
{
	uint8_t secret[CHANNEL_NOISE_BYTES];
	int len = -EIO, rc;

	(void)arg;
	if (RAND_priv_bytes(secret, sizeof(secret)) == 1)
		len = channel_noise_answer_write(handshake, secret, payload, payload_bytes, out,
						 room_bytes);
	OPENSSL_cleanse(secret, sizeof(secret));
	if (len < 0)
		return len;
	rc = keys_init(keys, handshake, false);
	return rc == 0 ? len : rc;
}

static int
seal_answer_read(void *arg, void *handshake, void *keys, const uint8_t *in, uint32_t in_bytes,
		 uint8_t *payload, uint32_t room_bytes)
{
	int len = channel_noise_answer_read(handshake, in, in_bytes, payload, room_bytes);
	int rc;

	(void)arg;
	if (len < 0)
		return len;
	rc = keys_init(keys, handshake, true);
	return rc == 0 ? len : rc;
}

static void
seal_forget(void *arg, void *handshake, void *keys)
{
	struct seal_keys *both = keys;

	(void)arg;
	if (handshake != NULL)
		channel_noise_wipe(handshake);
	if (both != NULL) {
		direction_forget(&both->tx);
		direction_forget(&both->rx);
	}
}

#define SEAL_HELLOS(security)                                                                      \
	static int security##_hello_write(                                                         \
		void *arg, void *handshake, const uint8_t *prologue, uint32_t prologue_bytes,      \
		const uint8_t *payload, uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes) \
	{                                                                                          \
		return seal_hello_write(#security, arg, handshake, prologue, prologue_bytes,       \
					payload, payload_bytes, out, room_bytes);                  \
	}                                                                                          \
	static int security##_hello_read(void *arg, void *handshake, uint32_t key_id,              \
					 const uint8_t *prologue, uint32_t prologue_bytes,         \
					 const uint8_t *in, uint32_t in_bytes, uint8_t *payload,   \
					 uint32_t room_bytes)                                      \
	{                                                                                          \
		return seal_hello_read(#security, arg, handshake, key_id, prologue,                \
				       prologue_bytes, in, in_bytes, payload, room_bytes);         \
	}
#define SEAL_TABLE(security)                                                                       \
	{                                                                                          \
		.name = #security, .tag_bytes = SEAL_TAG_BYTES,                                    \
		.handshake_bytes = sizeof(struct channel_noise),                                   \
		.keys_bytes = sizeof(struct seal_keys), .hello_bytes = CHANNEL_NOISE_MORE,         \
		.key_id = seal_key_id, .random = seal_random,                                      \
		.hello_write = security##_hello_write, .hello_read = security##_hello_read,        \
		.answer_write = seal_answer_write, .answer_read = seal_answer_read,                \
		.seal = security##_seal, .open = security##_open, .forget = seal_forget,           \
	}

SEAL_HELLOS(sealed)
SEAL_HELLOS(signed)
const struct lull_bundle_security lull_channel_sealed_security = SEAL_TABLE(sealed);
const struct lull_bundle_security lull_channel_signed_security = SEAL_TABLE(signed);
