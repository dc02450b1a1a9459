/* SPDX-License-Identifier: BSD-3-Clause */
#include "siphash.h"

static uint64_t
sip_word(const uint8_t *at, size_t count)
{
	uint64_t word = 0;

	for (size_t i = 0; i < count; i++)
		word |= (uint64_t)at[i] << 8 * i;
	return word;
}

static uint64_t
sip_turn(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static void
sip_rounds(uint64_t *v, unsigned int count)
{
	for (; count > 0; count--) {
		v[0] += v[1];
		v[1] = sip_turn(v[1], 13) ^ v[0];
		v[0] = sip_turn(v[0], 32);
		v[2] += v[3];
		v[3] = sip_turn(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = sip_turn(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = sip_turn(v[1], 17) ^ v[2];
		v[2] = sip_turn(v[2], 32);
	}
}

uint64_t
bundle_siphash(const uint8_t *key, const uint8_t *bytes, size_t count)
{
	uint64_t k0 = sip_word(key, 8), k1 = sip_word(key + 8, 8), word;
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
			  k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL };
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		word = sip_word(bytes + i, 8);
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	word = sip_word(bytes + i, count - i) | (uint64_t)count << 56;
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
