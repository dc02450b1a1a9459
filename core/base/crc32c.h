/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CRC-32C (Castagnoli) of bytes, polynomial 0x1edc6f41 reflected, as in RFC 3720.
 *
 * It finds accidents, not attackers.
 */
#ifndef LULL_BASE_CRC32C_H
#define LULL_BASE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crc_table.h"

/** CRC of @p count more bytes after those of which @p crc is the result; at first 0. */
uint32_t lull_crc32c(uint32_t crc, const uint8_t *bytes, size_t count);
/** The same without instructions that not every CPU has. */
uint32_t lull_crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t count);
extern const uint32_t lull_crc32c_table[8][256]; /* row n: a byte that n more bytes follow */

/**
 * The register after 8 more bytes, the lowest of @p word first. The register is a CRC before all
 * its bits are turned.
 */
static inline uint32_t
lull_crc32c_word(uint32_t crc, uint64_t word)
{
	return lull_crc_word(lull_crc32c_table, crc, word);
}

/** Does this CPU have the instructions that lull_crc32c() takes where it can? */
bool lull_crc32c_native(void);

#endif
