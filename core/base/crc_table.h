/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CRC tables for slicing by 8, written out by the compiler, and one step through them.
 *
 * Entry i of a table is the sum of the entries of its bits, so eight numbers give all 256. Row n is
 * for a byte that n more bytes follow.
 */
#ifndef LULL_BASE_CRC_TABLE_H
#define LULL_BASE_CRC_TABLE_H

#include <stdint.h>

#define LULL_CRC_BIT(i, n, number) (((i) >> (n)&1) != 0 ? (number) : 0u)
#define LULL_CRC_ENTRY(i, a, b, c, d, e, f, g, h)                                                  \
	(LULL_CRC_BIT(i, 0, a) ^ LULL_CRC_BIT(i, 1, b) ^ LULL_CRC_BIT(i, 2, c) ^                   \
	 LULL_CRC_BIT(i, 3, d) ^ LULL_CRC_BIT(i, 4, e) ^ LULL_CRC_BIT(i, 5, f) ^                   \
	 LULL_CRC_BIT(i, 6, g) ^ LULL_CRC_BIT(i, 7, h))
#define LULL_CRC_4(i, ...)                                                                         \
	LULL_CRC_ENTRY((i), __VA_ARGS__), LULL_CRC_ENTRY((i) + 1, __VA_ARGS__),                    \
		LULL_CRC_ENTRY((i) + 2, __VA_ARGS__), LULL_CRC_ENTRY((i) + 3, __VA_ARGS__)
#define LULL_CRC_16(i, ...)                                                                        \
	LULL_CRC_4((i), __VA_ARGS__), LULL_CRC_4((i) + 4, __VA_ARGS__),                            \
		LULL_CRC_4((i) + 8, __VA_ARGS__), LULL_CRC_4((i) + 12, __VA_ARGS__)
#define LULL_CRC_64(i, ...)                                                                        \
	LULL_CRC_16((i), __VA_ARGS__), LULL_CRC_16((i) + 16, __VA_ARGS__),                         \
		LULL_CRC_16((i) + 32, __VA_ARGS__), LULL_CRC_16((i) + 48, __VA_ARGS__)
#define LULL_CRC_ROW(...)                                                                          \
	{                                                                                          \
		LULL_CRC_64(0u, __VA_ARGS__), LULL_CRC_64(64u, __VA_ARGS__),                       \
			LULL_CRC_64(128u, __VA_ARGS__), LULL_CRC_64(192u, __VA_ARGS__)             \
	}

/**
 * The register after 8 more bytes, the lowest of @p word first. The register is a CRC before all
 * its bits are turned.
 */
static inline uint32_t
lull_crc_word(const uint32_t table[8][256], uint32_t crc, uint64_t word)
{
	uint32_t low = crc ^ (uint32_t)word, high = (uint32_t)(word >> 32);

	return table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^
	       table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
	       table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
}

#endif
