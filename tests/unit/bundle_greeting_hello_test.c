/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "bundle/packet.h"

/* A copy of exactly so many bytes, so that the sanitizer sees any step behind them. */
static uint8_t *
exactly(const uint8_t *bytes, uint32_t count)
{
	uint8_t *copy = malloc(count + (count == 0));

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	return copy;
}

static bool
hello_reads(struct bundle_hello *read, const uint8_t *packet, uint32_t len)
{
	uint8_t *copy = exactly(packet, len);
	struct bundle_header header;
	bool right = bundle_header_read(&header, copy, len) &&
		     bundle_hello_read(read, &header, copy, len);

	if (right)
		read->body = packet + (read->body - copy);
	free(copy);
	return right;
}

TEST(hello__comes_back_with_any_body)
{
	static uint8_t body[2000], packet[2100];

	memset(body, 0x77, sizeof(body));
	for (int type = BUNDLE_HELLO; type <= BUNDLE_ANSWER; type++) {
		uint32_t before = type == BUNDLE_HELLO ? 44 : 28;

		for (uint32_t count = 1; count < sizeof(body); count += 9) {
			struct bundle_hello read, hello = {
				.rail = (uint8_t)(count % 16),
				.to = type == BUNDLE_HELLO ? 0 : 0xdeadbeef,
				.key_id = UINT32_MAX - count,
				.node_id = 0x8877665544332211,
				.cookie = { 1, 2, 3, [15] = 16 },
				.body = body,
				.body_bytes = count,
			};
			uint32_t len = before + count;

			if (type == BUNDLE_HELLO && len < 512)
				len = 512;
			assert_int_equal(bundle_hello_write(&hello, type, packet, len - 1), 0);
			memset(packet, 0xee, sizeof(packet));
			assert_int_equal(bundle_hello_write(&hello, type, packet, len), len);
			assert_int_equal(packet[len], 0xee);
			assert_true(hello_reads(&read, packet, len));
			assert_int_equal(read.rail, hello.rail);
			assert_int_equal(read.to, hello.to);
			assert_int_equal(read.key_id, hello.key_id);
			assert_true(read.node_id == hello.node_id);
			assert_ptr_equal(read.body, packet + before);
			assert_int_equal(read.body_bytes, count);
			assert_memory_equal(read.body, body, count);
			if (type == BUNDLE_HELLO)
				assert_memory_equal(read.cookie, hello.cookie, 16);
			assert_false(hello_reads(&read, packet, len - 1));
			packet[len] = 0; /* a HELLO may be longer, an ANSWER not */
			assert_int_equal(hello_reads(&read, packet, len + 1), type == BUNDLE_HELLO);
		}
	}
}

TEST(hello__stands_byte_by_byte_as_written)
{
	static const uint8_t expected[] = {
		0x11, 0,    0x50, 0,    0,    0,    0,    0,    4, 3, 2, 1, 0,   0,   0, 0,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 2, 0, 0, 0, 9,   0,   0, 0,
		0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 8, 'x', 'y', 0,
	};
	uint8_t packet[512];
	struct bundle_hello hello = {
		.rail = 5,
		.to = 77, /* nothing that a hello could say */
		.key_id = 0x01020304,
		.node_id = 0x8877665544332211,
		.cookie = { 9, [15] = 8 },
		.body = (const uint8_t *)"xy",
		.body_bytes = 2,
	};

	assert_int_equal(bundle_hello_write(&hello, BUNDLE_HELLO, packet, sizeof(packet)), 512);
	assert_memory_equal(packet, expected, sizeof(expected));
	for (uint32_t i = sizeof(expected); i < 512; i++)
		assert_int_equal(packet[i], 0);
}

static void
write_hello(uint8_t packet[512], enum bundle_type type)
{
	struct bundle_hello hello = {
		.rail = 1, .node_id = 1, .body = (const uint8_t *)"body", .body_bytes = 4
	};

	assert_true(bundle_hello_write(&hello, type, packet, 512) > 0);
}

TEST(hello_read__refuses_what_is_out_of_range)
{
	for (int type = BUNDLE_HELLO; type <= BUNDLE_ANSWER; type++) {
		uint32_t len = type == BUNDLE_HELLO ? 512 : 32;
		uint32_t zeros[] = { 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7 };
		uint8_t packet[600] = { 0 };
		struct bundle_hello read;

		write_hello(packet, type);
		assert_true(hello_reads(&read, packet, len));
		for (uint32_t other = 0; other < len; other++)
			assert_false(hello_reads(&read, packet, other));
		for (uint32_t i = 0; i < COUNT(zeros); i++) {
			bool right = type == BUNDLE_ANSWER && zeros[i] / 4 == 1;

			packet[zeros[i]] ^= 1;
			assert_int_equal(hello_reads(&read, packet, len), right);
			packet[zeros[i]] ^= 1;
		}
		packet[16] = 0; /* node id 0 */
		assert_false(hello_reads(&read, packet, len));
		packet[16] = 1;
		for (uint32_t byte = type == BUNDLE_HELLO ? 25 : 24; byte < 28; byte++) {
			packet[byte] ^= 0xff;
			assert_false(hello_reads(&read, packet, len));
			packet[byte] ^= 0xff;
		}
		packet[24] = 0;
		assert_false(hello_reads(&read, packet, len));
	}
}

TEST(hello_read__padding_is_zeros_and_the_body_inside)
{
	uint8_t packet[512];
	struct bundle_hello read;

	write_hello(packet, BUNDLE_HELLO);
	for (uint32_t i = 48; i < 512; i++) {
		packet[i] = 1;
		assert_false(hello_reads(&read, packet, 512));
		packet[i] = 0;
	}
	packet[24] = (uint8_t)(512 - 44);
	packet[25] = (512 - 44) >> 8;
	assert_true(hello_reads(&read, packet, 512));
	packet[24]++;
	assert_false(hello_reads(&read, packet, 512));
}

TEST(hello_read__is_for_its_types_alone)
{
	for (uint32_t type = 1; type <= 9; type++) {
		uint8_t packet[512];
		struct bundle_hello read;

		write_hello(packet, BUNDLE_HELLO);
		packet[0] = (uint8_t)(0x10 | type);
		assert_int_equal(hello_reads(&read, packet, 512), type == BUNDLE_HELLO);
		write_hello(packet, BUNDLE_ANSWER);
		packet[0] = (uint8_t)(0x10 | type);
		assert_int_equal(hello_reads(&read, packet, 32), type == BUNDLE_ANSWER);
	}
}

TEST(retry__comes_back)
{
	struct bundle_retry retry = { .key_id = 0x01020304,
				      .node_id = 0x1122334455667788,
				      .cookie = { 5, [15] = 6 } };
	struct bundle_retry read;
	struct bundle_header header;
	uint8_t packet[46] = { 0 };

	assert_int_equal(bundle_retry_write(&retry, packet), 44);
	for (uint32_t len = BUNDLE_HEADER_BYTES; len <= sizeof(packet); len++) {
		assert_true(bundle_header_read(&header, packet, len));
		assert_int_equal(bundle_retry_read(&read, &header, packet, len), len == 44);
	}
	assert_int_equal(header.type, BUNDLE_RETRY);
	assert_int_equal(read.key_id, retry.key_id);
	assert_true(read.node_id == retry.node_id);
	assert_memory_equal(read.cookie, retry.cookie, 16);
	header.type = BUNDLE_HELLO;
	assert_false(bundle_retry_read(&read, &header, packet, 44));
}

TEST(reset__is_a_header_alone)
{
	struct bundle_header header;
	uint8_t packet[BUNDLE_HEADER_BYTES];

	assert_int_equal(bundle_reset_write(0xfedcba98, 0x12345678, packet), sizeof(packet));
	assert_true(bundle_header_read(&header, packet, sizeof(packet)));
	assert_int_equal(header.type, BUNDLE_RESET);
	assert_int_equal(header.msg, 0xfedcba98);
	assert_int_equal(header.psn, 0x12345678);
	assert_true(header.to == 0 && header.off == 0 && header.grant == 0 && header.path == 0);
}
