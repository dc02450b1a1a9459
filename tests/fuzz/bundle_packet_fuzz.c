/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <lull/bundle.h>

#include "bundle/packet.h"
#include "fuzz.h"

#define ROOM 4096

/* What a reader takes, its writer writes the same. */
static void
fuzz_body(uint8_t kind, const uint8_t *at, uint32_t len)
{
	static union {
		struct bundle_head head;
		struct bundle_ack ack;
		struct bundle_probe probe;
		struct bundle_close close;
		struct bundle_greeting greeting;
	} is;
	static uint8_t out[UINT16_MAX];
	uint32_t written = 0;

	if (kind == 0 && bundle_head_read(&is.head, at, len)) {
		bundle_head_write(&is.head, out);
		written = BUNDLE_HEAD_BYTES;
	} else if (kind == 1 && bundle_ack_read(&is.ack, at, len)) {
		FUZZ_CHECK(bundle_ack_write(&is.ack, out, sizeof(out)) == len);
		written = len;
	} else if (kind == 2 && bundle_probe_read(&is.probe, at, len)) {
		FUZZ_CHECK(bundle_probe_write(&is.probe, out, sizeof(out), len) == len);
		written = len;
	} else if (kind == 3 && bundle_close_read(&is.close, at, len)) {
		FUZZ_CHECK(bundle_close_write(&is.close, out) == len);
		written = len;
	} else if (kind == 4 && bundle_greeting_read(&is.greeting, at, len)) {
		FUZZ_CHECK(len <= BUNDLE_GREETING_BYTES_MAX);
		FUZZ_CHECK(bundle_greeting_write(&is.greeting, out) == len);
		written = len;
	}
	FUZZ_CHECK(written == 0 || memcmp(at, out, written) == 0);
}

/* A whole packet: its header, and what may stand outside of epochs. */
static void
fuzz_packet(const uint8_t *packet, uint32_t len)
{
	static uint8_t out[UINT16_MAX];
	struct bundle_header header;
	struct bundle_hello hello;
	struct bundle_retry retry;

	if (!bundle_header_read(&header, packet, len))
		return;
	FUZZ_CHECK(!bundle_header_foreign(packet, len));
	bundle_header_write(&header, out);
	FUZZ_CHECK(memcmp(packet, out, BUNDLE_HEADER_BYTES) == 0);
	FUZZ_CHECK(bundle_rest_encode(bundle_rest_decode(header.rest)) == header.rest);
	FUZZ_CHECK((uint32_t)bundle_psn_expand((uint64_t)header.msg << 32 | header.off,
					       header.psn) == header.psn);
	if (bundle_hello_read(&hello, &header, packet, len)) {
		uint32_t written = bundle_hello_write(&hello, header.type, out, sizeof(out));

		FUZZ_CHECK(hello.body >= packet + BUNDLE_HEADER_BYTES &&
			   hello.body + hello.body_bytes <= packet + len);
		FUZZ_CHECK(written <= len && memcmp(packet, out, written) == 0);
	}
	if (bundle_retry_read(&retry, &header, packet, len)) {
		FUZZ_CHECK(bundle_retry_write(&retry, out) == len);
		FUZZ_CHECK(retry.key_id == header.psn);
	}
}

static void
fuzz_draw(void *arg, uint8_t *bytes, uint32_t count)
{
	(void)arg;
	memset(bytes, 0x5a, count);
}

/* The handshake and a packet of an epoch, with security `open`. */
static void
fuzz_open(uint8_t *bytes, uint32_t len)
{
	const struct lull_bundle_security *security = &lull_bundle_open_security;
	struct lull_bundle_open open = { .random = fuzz_draw };
	struct lull_bundle_nonce nonce = { .psn = 1 };
	static uint64_t handshake[8], keys[8];
	static uint8_t payload[ROOM];
	uint32_t key_id = security->key_id(&open);
	int got = security->hello_read(&open, handshake, key_id, bytes, len % 7, bytes, len,
				       payload, sizeof(payload));

	FUZZ_CHECK(got < 0 || (uint32_t)got + security->hello_bytes == len);
	got = security->answer_read(&open, handshake, keys, bytes, len, payload, sizeof(payload));
	FUZZ_CHECK(got < 0 || (uint32_t)got + security->hello_bytes == len);
	if (len >= security->tag_bytes)
		(void)security->open(keys, &nonce, bytes, 0, len - security->tag_bytes);
}

/* A byte that chooses the reader, then what it reads, in memory of just this size. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t len = (uint32_t)size - 1;
	uint8_t *bytes;

	if (size == 0 || size > UINT16_MAX)
		return 0;
	bytes = malloc(len + (len == 0));
	if (bytes == NULL)
		abort();
	memcpy(bytes, data + 1, len);
	if (data[0] % 8 < 5)
		fuzz_body(data[0] % 8, bytes, len);
	else if (data[0] % 8 == 5)
		fuzz_open(bytes, len);
	else
		fuzz_packet(bytes, len);
	free(bytes);
	return 0;
}
