/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CRC-32 of IEEE 802.3, polynomial 0x04c11db7 reflected: the FCS of Ethernet, and what zlib has.
 */
#ifndef LULL_BASE_CRC32_H
#define LULL_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/** CRC of @p count more bytes after those of which @p crc is the result; at first 0. */
uint32_t lull_crc32(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
