/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPFIX message: header, sets and what is put into them (RFC 7011, 3).
 */
#ifndef LULL_IPFIX_MESSAGE_H
#define LULL_IPFIX_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LULL_IPFIX_HEADER_BYTES 16
#define LULL_IPFIX_SET_HEADER_BYTES 4

struct lull_ipfix_message {
	uint8_t *bytes;
	uint32_t len; /**< 0: nothing is begun */
	uint32_t room;
	uint32_t set_at; /**< offset of the set that is open; 0: none */
	uint16_t set_id; /**< of that set */
};

/** Is there room for @p count bytes more in set @p set_id, its end and its padding included? */
bool lull_ipfix_message_fits(const struct lull_ipfix_message *message, uint16_t set_id,
			     uint32_t count);
/** Go on with a set of this id; the header's place is left free. */
void lull_ipfix_message_set(struct lull_ipfix_message *message, uint16_t set_id);
/** A number of @p count bytes, the most significant first. */
void lull_ipfix_message_number(struct lull_ipfix_message *message, uint64_t value,
			       unsigned int count);
void lull_ipfix_message_bytes(struct lull_ipfix_message *message, const void *bytes,
			      uint32_t count);
/** Close the set and write the header. */
void lull_ipfix_message_close(struct lull_ipfix_message *message, uint32_t time_s, uint32_t seq,
			      uint32_t domain_id);

#endif
