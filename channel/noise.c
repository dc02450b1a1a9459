/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After "The Noise Protocol Framework", revision 34, by Trevor Perrin: sections 5.1, 5.2 and 9. The
 * names in comments are those of the specification.
 */
#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "channel/noise.h"

#define NOISE_BYTES CHANNEL_NOISE_BYTES
#define NOISE_TAG_BYTES 16
#define NOISE_NONCE_BYTES 12

/* ---- what libcrypto does ---- */

static int
noise_hmac(const uint8_t key[NOISE_BYTES], const uint8_t *data, size_t count,
	   uint8_t out[NOISE_BYTES])
{
	return HMAC(EVP_sha256(), key, NOISE_BYTES, data, count, out, NULL) != NULL ? 0 : -EIO;
}

int
channel_noise_hkdf(const uint8_t chain[NOISE_BYTES], const uint8_t *input, uint32_t input_bytes,
		   uint8_t *first, uint8_t *second, uint8_t *third)
{
	uint8_t temp[NOISE_BYTES], text[NOISE_BYTES + 1];
	uint8_t *outputs[] = { first, second, third };
	int rc = noise_hmac(chain, input, input_bytes, temp);

	for (uint8_t i = 0; i < 3 && outputs[i] != NULL && rc == 0; i++) {
		size_t before = i == 0 ? 0 : NOISE_BYTES;

		text[before] = (uint8_t)(i + 1);
		rc = noise_hmac(temp, text, before + 1, outputs[i]);
		memcpy(text, outputs[i], NOISE_BYTES);
	}
	OPENSSL_cleanse(temp, sizeof(temp));
	OPENSSL_cleanse(text, sizeof(text));
	return rc;
}

/* The public half of a secret. */
static int
noise_public(const uint8_t secret[NOISE_BYTES], uint8_t out[NOISE_BYTES])
{
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, NOISE_BYTES);
	size_t len = NOISE_BYTES;
	int rc = key != NULL && EVP_PKEY_get_raw_public_key(key, out, &len) == 1 ? 0 : -EIO;

	EVP_PKEY_free(key);
	return rc;
}

/* DH. A public half that gives the same number with every secret is refused. */
static int
noise_shared(const uint8_t secret[NOISE_BYTES], const uint8_t foreign[NOISE_BYTES],
	     uint8_t out[NOISE_BYTES])
{
	EVP_PKEY *ours = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, NOISE_BYTES);
	EVP_PKEY *theirs = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, foreign, NOISE_BYTES);
	EVP_PKEY_CTX *context = ours != NULL ? EVP_PKEY_CTX_new(ours, NULL) : NULL;
	size_t len = NOISE_BYTES;
	int rc = -EIO;

	if (context != NULL && theirs != NULL && EVP_PKEY_derive_init(context) == 1 &&
	    EVP_PKEY_derive_set_peer(context, theirs) == 1)
		rc = EVP_PKEY_derive(context, out, &len) == 1 ? 0 : -EACCES;
	EVP_PKEY_CTX_free(context);
	EVP_PKEY_free(theirs);
	EVP_PKEY_free(ours);
	return rc;
}

/* ---- the symmetric state ---- */

/* MixHash. */
static int
noise_digest(struct channel_noise *noise, const uint8_t *data, size_t count)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	int rc = -EIO;

	if (context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
	    EVP_DigestUpdate(context, noise->digest, NOISE_BYTES) == 1 &&
	    EVP_DigestUpdate(context, data, count) == 1 &&
	    EVP_DigestFinal_ex(context, noise->digest, NULL) == 1)
		rc = 0;
	EVP_MD_CTX_free(context);
	return rc;
}

/* MixKey. */
static int
noise_mix(struct channel_noise *noise, const uint8_t input[NOISE_BYTES])
{
	return channel_noise_hkdf(noise->chain, input, NOISE_BYTES, noise->chain, noise->key, NULL);
}

/* What the token e does after the number was written or read, where there is a shared key. */
static int
noise_mix_public(struct channel_noise *noise, const uint8_t number[NOISE_BYTES])
{
	int rc = noise_digest(noise, number, NOISE_BYTES);

	return rc == 0 ? noise_mix(noise, number) : rc;
}

/* EncryptAndHash. */
static int
noise_encrypt(struct channel_noise *noise, const uint8_t *text, uint32_t count, uint8_t *out)
{
	static const uint8_t nonce[NOISE_NONCE_BYTES];
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int len, rc = -EIO;

	if (context != NULL &&
	    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, noise->key, nonce) == 1 &&
	    EVP_EncryptUpdate(context, NULL, &len, noise->digest, NOISE_BYTES) == 1 &&
	    EVP_EncryptUpdate(context, out, &len, text, (int)count) == 1 &&
	    EVP_EncryptFinal_ex(context, out + count, &len) == 1 &&
	    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, NOISE_TAG_BYTES, out + count) == 1)
		rc = noise_digest(noise, out, count + NOISE_TAG_BYTES);
	EVP_CIPHER_CTX_free(context);
	return rc;
}

/* DecryptAndHash; @p count without the tag. */
static int
noise_decrypt(struct channel_noise *noise, const uint8_t *in, uint32_t count, uint8_t *text)
{
	static const uint8_t nonce[NOISE_NONCE_BYTES];
	uint8_t tag[NOISE_TAG_BYTES];
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int len, rc = -EIO;

	memcpy(tag, in + count, sizeof(tag));
	if (context != NULL &&
	    EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, noise->key, nonce) == 1 &&
	    EVP_DecryptUpdate(context, NULL, &len, noise->digest, NOISE_BYTES) == 1 &&
	    EVP_DecryptUpdate(context, text, &len, in, (int)count) == 1 &&
	    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1)
		rc = EVP_DecryptFinal_ex(context, text + count, &len) == 1 ? 0 : -EACCES;
	EVP_CIPHER_CTX_free(context);
	if (rc == 0)
		rc = noise_digest(noise, in, count + NOISE_TAG_BYTES);
	else
		OPENSSL_cleanse(text, count); /* nobody vouches for it */
	return rc;
}

/* ---- the handshake ---- */

int
channel_noise_begin(struct channel_noise *noise, const uint8_t key[CHANNEL_KEY_BYTES],
		    const uint8_t *prologue, uint32_t prologue_bytes)
{
	static const char name[] = "Noise_NNpsk0_25519_AESGCM_SHA256";
	uint8_t digest[NOISE_BYTES];
	int rc;

	_Static_assert(sizeof(name) == NOISE_BYTES + 1, "a name of 32 bytes is its own digest");
	memset(noise, 0, sizeof(*noise));
	memcpy(noise->digest, name, NOISE_BYTES);
	memcpy(noise->chain, name, NOISE_BYTES);
	rc = noise_digest(noise, prologue, prologue_bytes);
	/* The token psk of the first message: MixKeyAndHash. */
	if (rc == 0)
		rc = channel_noise_hkdf(noise->chain, key, CHANNEL_KEY_BYTES, noise->chain, digest,
					noise->key);
	if (rc == 0)
		rc = noise_digest(noise, digest, sizeof(digest));
	OPENSSL_cleanse(digest, sizeof(digest));
	return rc;
}

static bool
noise_fits(uint32_t payload_bytes, uint32_t room_bytes)
{
	return room_bytes >= CHANNEL_NOISE_MORE && payload_bytes <= room_bytes - CHANNEL_NOISE_MORE;
}

int
channel_noise_hello_write(struct channel_noise *noise, const uint8_t secret[NOISE_BYTES],
			  const uint8_t *payload, uint32_t payload_bytes, uint8_t *out,
			  uint32_t room_bytes)
{
	int rc;

	if (!noise_fits(payload_bytes, room_bytes))
		return -EMSGSIZE;
	memcpy(noise->secret, secret, NOISE_BYTES);
	rc = noise_public(secret, out);
	if (rc == 0)
		rc = noise_mix_public(noise, out);
	if (rc == 0)
		rc = noise_encrypt(noise, payload, payload_bytes, out + NOISE_BYTES);
	return rc == 0 ? (int)(payload_bytes + CHANNEL_NOISE_MORE) : rc;
}

int
channel_noise_hello_read(struct channel_noise *noise, const uint8_t *in, uint32_t in_bytes,
			 uint8_t *payload, uint32_t room_bytes)
{
	uint32_t count = in_bytes - CHANNEL_NOISE_MORE;
	int rc;

	if (in_bytes < CHANNEL_NOISE_MORE || count > room_bytes)
		return -EACCES;
	memcpy(noise->foreign, in, NOISE_BYTES);
	rc = noise_mix_public(noise, in);
	if (rc == 0)
		rc = noise_decrypt(noise, in + NOISE_BYTES, count, payload);
	return rc == 0 ? (int)count : rc;
}

/* The tokens e and ee of the answer, for either side. */
static int
noise_answer_keys(struct channel_noise *noise, const uint8_t number[NOISE_BYTES],
		  const uint8_t secret[NOISE_BYTES], const uint8_t foreign[NOISE_BYTES])
{
	uint8_t shared[NOISE_BYTES];
	int rc = noise_mix_public(noise, number);

	if (rc == 0)
		rc = noise_shared(secret, foreign, shared);
	if (rc == 0)
		rc = noise_mix(noise, shared);
	OPENSSL_cleanse(shared, sizeof(shared));
	return rc;
}

int
channel_noise_answer_write(struct channel_noise *noise, const uint8_t secret[NOISE_BYTES],
			   const uint8_t *payload, uint32_t payload_bytes, uint8_t *out,
			   uint32_t room_bytes)
{
	int rc;

	if (!noise_fits(payload_bytes, room_bytes))
		return -EMSGSIZE;
	rc = noise_public(secret, out);
	if (rc == 0)
		rc = noise_answer_keys(noise, out, secret, noise->foreign);
	if (rc == 0)
		rc = noise_encrypt(noise, payload, payload_bytes, out + NOISE_BYTES);
	return rc == 0 ? (int)(payload_bytes + CHANNEL_NOISE_MORE) : rc;
}

int
channel_noise_answer_read(struct channel_noise *noise, const uint8_t *in, uint32_t in_bytes,
			  uint8_t *payload, uint32_t room_bytes)
{
	uint32_t count = in_bytes - CHANNEL_NOISE_MORE;
	struct channel_noise tried = *noise;
	int rc;

	if (in_bytes < CHANNEL_NOISE_MORE || count > room_bytes)
		return -EACCES;
	rc = noise_answer_keys(&tried, in, noise->secret, in);
	if (rc == 0)
		rc = noise_decrypt(&tried, in + NOISE_BYTES, count, payload);
	if (rc == 0)
		*noise = tried;
	channel_noise_wipe(&tried);
	return rc == 0 ? (int)count : rc;
}

int
channel_noise_split(const struct channel_noise *noise, uint8_t asks[NOISE_BYTES],
		    uint8_t answers[NOISE_BYTES])
{
	static const uint8_t nothing[1];

	return channel_noise_hkdf(noise->chain, nothing, 0, asks, answers, NULL);
}

void
channel_noise_wipe(struct channel_noise *noise)
{
	OPENSSL_cleanse(noise, sizeof(*noise));
}
