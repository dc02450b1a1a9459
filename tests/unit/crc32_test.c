/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/flow.h>

#include "case.h"
#include "base/crc32.h"
#include "base/prng.h"

/* Bit by bit, as the polynomial says. */
static uint32_t
slow_crc32(uint32_t crc, const uint8_t *bytes, size_t count)
{
	crc = ~crc;
	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* The check value of the catalogue of CRC algorithms, and what zlib gives for the others. */
TEST(crc32__matches_published_vectors)
{
	static const struct {
		const char *text;
		uint32_t crc;
	} vectors[] = {
		{ "123456789", 0xcbf43926 },
		{ "", 0 },
		{ "a", 0xe8b7be43 },
		{ "The quick brown fox jumps over the lazy dog", 0x414fa339 },
	};

	for (size_t i = 0; i < COUNT(vectors); i++)
		assert_int_equal(
			lull_crc32(0, (const uint8_t *)vectors[i].text, strlen(vectors[i].text)),
			vectors[i].crc);
}

TEST(crc32__is_right_for_every_length_and_goes_on_where_it_stopped)
{
	uint8_t bytes[100];
	struct lull_prng prng;

	lull_prng_init(&prng, 1, 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)lull_prng_u64(&prng);
	for (size_t count = 0; count <= 90; count++) {
		size_t shift = count % 9;
		uint32_t crc = slow_crc32((uint32_t)count, bytes + shift, count), half;

		assert_int_equal(lull_crc32((uint32_t)count, bytes + shift, count), crc);
		half = lull_crc32((uint32_t)count, bytes + shift, count / 3);
		assert_int_equal(lull_crc32(half, bytes + shift + count / 3, count - count / 3),
				 crc);
	}
}

/* Bytes as they are on the wire; computed by zlib. */
TEST(flow_key__is_the_5_tuple_in_network_order)
{
	struct lull_flow_key v4 = {
		.addr = { { 10, 0, 0, 1 }, { 192, 168, 1, 2 } },
		.port = { 40000, 443 },
		.version = 4,
		.proto = 6,
	};
	struct lull_flow_key v6 = v4;

	assert_int_equal(lull_flow_key_crc32(&v4), 0x904b3409);
	v4.vlan_id = 5; /* not of the 5-tuple */
	assert_int_equal(lull_flow_key_crc32(&v4), 0x904b3409);
	v6.version = 6;
	assert_int_equal(lull_flow_key_crc32(&v6), 0x9ea47c12);
}
