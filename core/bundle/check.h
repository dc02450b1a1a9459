/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Check: CRC-32C (Castagnoli) of bytes, polynomial 0x1edc6f41 reflected, as in RFC 3720.
 *
 * It finds accidents, not attackers.
 */
#ifndef LULL_BUNDLE_CHECK_H
#define LULL_BUNDLE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** CRC of @p count more bytes after those of which @p crc is the result; at first 0. */
uint32_t bundle_check(uint32_t crc, const uint8_t *bytes, size_t count);
/** The same without instructions that not every CPU has. */
uint32_t bundle_check_portable(uint32_t crc, const uint8_t *bytes, size_t count);
/** Does this CPU have the instructions that bundle_check() takes where it can? */
bool bundle_check_native(void);

#endif
