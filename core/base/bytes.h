/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bytes: numbers into a packet and out of it, most significant first unless a name says "little".
 */
#ifndef LULL_BYTES_H
#define LULL_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Write @p count (1..8) bytes at @p at; where the next go. */
static inline uint8_t *
lull_bytes_put(uint8_t *at, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		at[i] = (uint8_t)(value >> 8 * (count - 1 - i));
	return at + count;
}

/** The same, least significant first. */
static inline uint8_t *
lull_bytes_put_little(uint8_t *at, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		at[i] = (uint8_t)(value >> 8 * i);
	return at + count;
}

static inline uint8_t *
lull_bytes_copy(uint8_t *at, const uint8_t *data, size_t count)
{
	memcpy(at, data, count);
	return at + count;
}

static inline uint8_t *
lull_bytes_fill(uint8_t *at, size_t count)
{
	memset(at, 0, count);
	return at + count;
}

static inline uint16_t
lull_bytes_little16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t
lull_bytes_little32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t
lull_bytes_little64(const uint8_t *at)
{
	return lull_bytes_little32(at) | (uint64_t)lull_bytes_little32(at + 4) << 32;
}

/** Are these @p count bytes all zero? */
static inline bool
lull_bytes_zero(const uint8_t *at, size_t count)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum |= at[i];
	return sum == 0;
}

#endif
