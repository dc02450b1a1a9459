/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bytes: numbers into a packet, most significant first.
 */
#ifndef LULL_BYTES_H
#define LULL_BYTES_H

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

#endif
