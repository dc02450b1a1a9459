/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hello and answer: random:64, the payload, check:32. The check of a hello begins with the prologue
 * and that of an answer with the hello's, so an answer fits one hello. The tokens of an epoch come
 * of both: packets of another epoch or of the other direction do not pass.
 */
#include <errno.h>
#include <string.h>

#include <lull/bundle.h>

#include "base/bytes.h"
#include "base/crc32c.h"

#define OPEN_RANDOM_BYTES 8
#define OPEN_CHECK_BYTES 4
#define OPEN_BYTES (OPEN_RANDOM_BYTES + OPEN_CHECK_BYTES)
#define OPEN_KEY_ID 0x6e65706fu /* "open" */

struct open_handshake {
	uint32_t check; /* that of the hello; with it behind what it checks, it would be constant */
};

struct open_keys {
	uint32_t tx_token, rx_token;
};

static uint32_t
open_key_id(void *arg)
{
	(void)arg;
	return OPEN_KEY_ID;
}

static void
open_random(void *arg, uint8_t *bytes, uint32_t count)
{
	const struct lull_bundle_open *open = arg;

	open->random(open->arg, bytes, count);
}

static uint32_t
open_check_at(const uint8_t *message, uint32_t len)
{
	return lull_bytes_little32(message + len - OPEN_CHECK_BYTES);
}

static int
open_write(void *arg, uint32_t begin, const uint8_t *payload, uint32_t payload_bytes, uint8_t *out,
	   uint32_t room_bytes)
{
	uint32_t len = OPEN_RANDOM_BYTES + payload_bytes;

	if (room_bytes < OPEN_BYTES || payload_bytes > room_bytes - OPEN_BYTES)
		return -EMSGSIZE;
	open_random(arg, out, OPEN_RANDOM_BYTES);
	lull_bytes_copy(out + OPEN_RANDOM_BYTES, payload, payload_bytes);
	lull_bytes_put_little(out + len, lull_crc32c(begin, out, len), OPEN_CHECK_BYTES);
	return (int)(len + OPEN_CHECK_BYTES);
}

static int
open_read(uint32_t begin, const uint8_t *in, uint32_t in_bytes, uint8_t *payload,
	  uint32_t room_bytes)
{
	uint32_t len;

	if (in_bytes < OPEN_BYTES || in_bytes - OPEN_BYTES > room_bytes)
		return -EACCES;
	len = in_bytes - OPEN_CHECK_BYTES;
	if (open_check_at(in, in_bytes) != lull_crc32c(begin, in, len))
		return -EACCES;
	lull_bytes_copy(payload, in + OPEN_RANDOM_BYTES, len - OPEN_RANDOM_BYTES);
	return (int)(len - OPEN_RANDOM_BYTES);
}

/* The answer's check follows from both messages. */
static void
open_agree(struct open_keys *keys, const uint8_t *answer, uint32_t len, bool asked)
{
	static const uint8_t asking[] = "asking", answering[] = "answering";
	uint32_t both = open_check_at(answer, len);
	uint32_t asks = lull_crc32c(both, asking, sizeof(asking));
	uint32_t answers = lull_crc32c(both, answering, sizeof(answering));

	keys->tx_token = asked ? asks : answers;
	keys->rx_token = asked ? answers : asks;
}

static int
open_hello_write(void *arg, void *handshake, const uint8_t *prologue, uint32_t prologue_bytes,
		 const uint8_t *payload, uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes)
{
	struct open_handshake *state = handshake;
	uint32_t begin = lull_crc32c(0, prologue, prologue_bytes);
	int len = open_write(arg, begin, payload, payload_bytes, out, room_bytes);

	if (len > 0)
		state->check = open_check_at(out, (uint32_t)len);
	return len;
}

static int
open_hello_read(void *arg, void *handshake, uint32_t key_id, const uint8_t *prologue,
		uint32_t prologue_bytes, const uint8_t *in, uint32_t in_bytes, uint8_t *payload,
		uint32_t room_bytes)
{
	struct open_handshake *state = handshake;
	int len;

	(void)arg;
	if (key_id != OPEN_KEY_ID)
		return -EACCES;
	len = open_read(lull_crc32c(0, prologue, prologue_bytes), in, in_bytes, payload,
			room_bytes);
	if (len >= 0)
		state->check = open_check_at(in, in_bytes);
	return len;
}

static int
open_answer_write(void *arg, void *handshake, void *keys, const uint8_t *payload,
		  uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes)
{
	const struct open_handshake *state = handshake;
	int len = open_write(arg, state->check, payload, payload_bytes, out, room_bytes);

	if (len > 0)
		open_agree(keys, out, (uint32_t)len, false);
	return len;
}

static int
open_answer_read(void *arg, void *handshake, void *keys, const uint8_t *in, uint32_t in_bytes,
		 uint8_t *payload, uint32_t room_bytes)
{
	const struct open_handshake *state = handshake;
	int len = open_read(state->check, in, in_bytes, payload, room_bytes);

	(void)arg;
	if (len >= 0)
		open_agree(keys, in, in_bytes, true);
	return len;
}

/* What is not in the packet goes before it. */
static uint32_t
open_packet_check(uint32_t token, const struct lull_bundle_nonce *nonce, const uint8_t *packet,
		  uint32_t len_bytes)
{
	uint8_t before[16] = { 0 };

	lull_bytes_put_little(before, token, 4);
	lull_bytes_put_little(before + 4, nonce->psn, 8);
	lull_bytes_put_little(before + 12, (uint64_t)nonce->generation << 8 | nonce->path, 4);
	return lull_crc32c(lull_crc32c(0, before, sizeof(before)), packet, len_bytes);
}

static void
open_seal(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet, uint32_t header_bytes,
	  uint32_t len_bytes)
{
	const struct open_keys *state = keys;

	(void)header_bytes;
	lull_bytes_put_little(packet + len_bytes,
			      open_packet_check(state->tx_token, nonce, packet, len_bytes),
			      OPEN_CHECK_BYTES);
}

static bool
open_open(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet, uint32_t header_bytes,
	  uint32_t len_bytes)
{
	const struct open_keys *state = keys;

	(void)header_bytes;
	return lull_bytes_little32(packet + len_bytes) ==
	       open_packet_check(state->rx_token, nonce, packet, len_bytes);
}

static void
open_forget(void *arg, void *handshake, void *keys)
{
	(void)arg;
	if (handshake != NULL)
		memset(handshake, 0, sizeof(struct open_handshake));
	if (keys != NULL)
		memset(keys, 0, sizeof(struct open_keys));
}

const struct lull_bundle_security lull_bundle_open_security = {
	.name = "open",
	.tag_bytes = OPEN_CHECK_BYTES,
	.handshake_bytes = sizeof(struct open_handshake),
	.keys_bytes = sizeof(struct open_keys),
	.hello_bytes = OPEN_BYTES,
	.key_id = open_key_id,
	.random = open_random,
	.hello_write = open_hello_write,
	.hello_read = open_hello_read,
	.answer_write = open_answer_write,
	.answer_read = open_answer_read,
	.seal = open_seal,
	.open = open_open,
	.forget = open_forget,
};
