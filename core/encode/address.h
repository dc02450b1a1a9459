/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Address: IPv4 and IPv6 addresses as text, one spelling each (RFC 5952).
 */
#ifndef LULL_ENCODE_ADDRESS_H
#define LULL_ENCODE_ADDRESS_H

#include "text.h"

/** Most bytes of an address. */
#define LULL_ENCODE_ADDRESS_MAX 39

/**
 * @param version  4: the first 4 bytes of @p address count; 6: all 16
 */
void lull_encode_text_address(struct lull_encode_text *text, unsigned int version,
			      const uint8_t *address);

#endif
