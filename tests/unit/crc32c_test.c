/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "base/crc32c.h"

#define BYTES_MAX 5000

/* Bit by bit, as the polynomial says. */
static uint32_t
slow_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
	crc = ~crc;
	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void
random_bytes(uint8_t *bytes, size_t count, uint64_t seed)
{
	struct lull_prng prng;

	lull_prng_init(&prng, seed, 0);
	for (size_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(&prng);
}

/* RFC 3720, appendix B.4, and the check value of the catalogue of CRC algorithms. */
TEST(crc32c__matches_published_vectors)
{
	static const uint8_t read_pdu[48] = {
		0x01,        0xc0,        [16] = 0x14, [22] = 0x04,
		[27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02,
	};
	uint8_t zeros[32] = { 0 }, ones[32], up[32], down[32];
	const struct {
		const uint8_t *bytes;
		size_t count;
		uint32_t crc;
	} vectors[] = {
		{ zeros, 32, 0x8a9136aa },
		{ ones, 32, 0x62a8ab43 },
		{ up, 32, 0x46dd794e },
		{ down, 32, 0x113fdb5c },
		{ read_pdu, 48, 0xd9963a56 },
		{ (const uint8_t *)"123456789", 9, 0xe3069283 },
		{ zeros, 0, 0 },
	};

	memset(ones, 0xff, sizeof(ones));
	for (uint8_t i = 0; i < 32; i++) {
		up[i] = i;
		down[i] = (uint8_t)(31 - i);
	}
	for (size_t i = 0; i < COUNT(vectors); i++) {
		assert_int_equal(lull_crc32c(0, vectors[i].bytes, vectors[i].count),
				 vectors[i].crc);
		assert_int_equal(lull_crc32c_portable(0, vectors[i].bytes, vectors[i].count),
				 vectors[i].crc);
	}
}

/* Lengths about each border of the streams, and at any alignment. */
TEST(crc32c__both_ways_are_right_for_every_length)
{
	static uint8_t bytes[BYTES_MAX];

	random_bytes(bytes, sizeof(bytes), 1);
	for (size_t count = 0; count < 3100; count++) {
		size_t shift = count % 9;
		uint32_t crc = slow_crc32c((uint32_t)count, bytes + shift, count);

		assert_int_equal(lull_crc32c((uint32_t)count, bytes + shift, count), crc);
		assert_int_equal(lull_crc32c_portable((uint32_t)count, bytes + shift, count), crc);
	}
}

TEST(crc32c__goes_on_where_it_stopped)
{
	static uint8_t bytes[BYTES_MAX];
	uint32_t whole;

	random_bytes(bytes, sizeof(bytes), 2);
	whole = lull_crc32c(0, bytes, sizeof(bytes));
	for (size_t first = 0; first <= sizeof(bytes); first += 7) {
		uint32_t crc = lull_crc32c(0, bytes, first);

		assert_int_equal(lull_crc32c(crc, bytes + first, sizeof(bytes) - first), whole);
		crc = lull_crc32c_portable(0, bytes, first);
		assert_int_equal(lull_crc32c_portable(crc, bytes + first, sizeof(bytes) - first),
				 whole);
	}
}

TEST(crc32c__notices_any_changed_bit)
{
	static uint8_t bytes[1500];
	uint32_t crc;

	random_bytes(bytes, sizeof(bytes), 3);
	crc = lull_crc32c(0, bytes, sizeof(bytes));
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(lull_crc32c(0, bytes, sizeof(bytes)), crc);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

#if defined(__x86_64__)
TEST(native__is_taken_where_the_cpu_has_it)
{
	assert_int_equal(lull_crc32c_native(),
			 __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"));
}
#endif

/* 8 bytes at once, in the register itself. */
TEST(crc32c_word__is_8_bytes)
{
	uint8_t bytes[8];
	uint64_t word;

	for (uint32_t i = 0; i < 1000; i++) {
		random_bytes(bytes, sizeof(bytes), i);
		word = 0;
		for (uint32_t k = 0; k < 8; k++)
			word |= (uint64_t)bytes[k] << 8 * k;
		assert_int_equal(lull_crc32c_word(i * 0x9e3779b9, word),
				 ~slow_crc32c(~(i * 0x9e3779b9), bytes, 8));
	}
}
