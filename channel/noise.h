/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Noise: the handshake Noise_NNpsk0_25519_AESGCM_SHA256 (revision 34 of the specification).
 *
 * Two messages, hello and answer. Who asks begins, writes the hello and reads the answer; who
 * answers begins with the same key and prologue, reads the hello and writes the answer. Then both
 * split. Whoever lacks the key cannot write a message that is taken. A later loss of the key does
 * not open what was sent under the keys of the split, but does open the payload of hellos.
 *
 * Memory: one fixed struct; whoever began wipes it.
 */
#ifndef LULL_CHANNEL_NOISE_H
#define LULL_CHANNEL_NOISE_H

#include <stdint.h>

#include "channel/keys.h"

#define CHANNEL_NOISE_BYTES 32 /* of keys and digests */
#define CHANNEL_NOISE_MORE 48  /* a message is so much longer than its payload */

struct channel_noise {
	uint8_t chain[CHANNEL_NOISE_BYTES];   /* ck */
	uint8_t digest[CHANNEL_NOISE_BYTES];  /* h */
	uint8_t key[CHANNEL_NOISE_BYTES];     /* k; each is used once, so n is 0 */
	uint8_t secret[CHANNEL_NOISE_BYTES];  /* e, of who asks */
	uint8_t foreign[CHANNEL_NOISE_BYTES]; /* re, of who answers */
};

/*
 * The functions return 0 or bytes, or -EACCES: not from one who has the key, or damaged; -EMSGSIZE:
 * no room; -EIO: libcrypto has no memory or lacks an algorithm.
 */
int channel_noise_begin(struct channel_noise *noise, const uint8_t key[CHANNEL_KEY_BYTES],
			const uint8_t *prologue, uint32_t prologue_bytes);
/** @p secret is a new random number for each handshake, from whoever calls. */
int channel_noise_hello_write(struct channel_noise *noise,
			      const uint8_t secret[CHANNEL_NOISE_BYTES], const uint8_t *payload,
			      uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes);
int channel_noise_hello_read(struct channel_noise *noise, const uint8_t *in, uint32_t in_bytes,
			     uint8_t *payload, uint32_t room_bytes);
int channel_noise_answer_write(struct channel_noise *noise,
			       const uint8_t secret[CHANNEL_NOISE_BYTES], const uint8_t *payload,
			       uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes);
/** What was refused changes nothing: the right answer may still come. */
int channel_noise_answer_read(struct channel_noise *noise, const uint8_t *in, uint32_t in_bytes,
			      uint8_t *payload, uint32_t room_bytes);
/** Keys of both directions, after the answer. */
int channel_noise_split(const struct channel_noise *noise, uint8_t asks[CHANNEL_NOISE_BYTES],
			uint8_t answers[CHANNEL_NOISE_BYTES]);
void channel_noise_wipe(struct channel_noise *noise);

/**
 * HKDF of Noise with two or three outputs; @p third may be NULL. An output may be the chain.
 * @return 0, -EIO
 */
int channel_noise_hkdf(const uint8_t chain[CHANNEL_NOISE_BYTES], const uint8_t *input,
		       uint32_t input_bytes, uint8_t *first, uint8_t *second, uint8_t *third);

#endif
