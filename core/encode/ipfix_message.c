/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipfix_message.h"

#include <string.h>

#include "base/assert.h"

#define VERSION 10
#define PADDING_MAX 3

static void
message_write(uint8_t *at, uint64_t value, unsigned int count)
{
	for (unsigned int i = count; i > 0; i--) {
		at[i - 1] = (uint8_t)value;
		value >>= 8;
	}
}

void
lull_ipfix_message_bytes(struct lull_ipfix_message *message, const void *bytes, uint32_t count)
{
	LULL_ASSERT(message->len + count <= message->room);
	memcpy(message->bytes + message->len, bytes, count);
	message->len += count;
}

void
lull_ipfix_message_number(struct lull_ipfix_message *message, uint64_t value, unsigned int count)
{
	LULL_ASSERT(message->len + count <= message->room);
	message_write(message->bytes + message->len, value, count);
	message->len += count;
}

/* Sets end at multiples of 4: padding is shorter than any record, so nobody takes it for one. */
static void
message_end_set(struct lull_ipfix_message *message)
{
	if (message->set_at == 0)
		return;
	while (message->len % 4 != 0)
		lull_ipfix_message_number(message, 0, 1);
	message_write(message->bytes + message->set_at + 2, message->len - message->set_at, 2);
	message->set_at = 0;
}

bool
lull_ipfix_message_fits(const struct lull_ipfix_message *message, uint16_t set_id, uint32_t count)
{
	uint32_t len = message->len == 0 ? LULL_IPFIX_HEADER_BYTES : message->len;

	if (message->set_at == 0 || message->set_id != set_id)
		len += PADDING_MAX + LULL_IPFIX_SET_HEADER_BYTES;
	return len + count + PADDING_MAX <= message->room;
}

void
lull_ipfix_message_set(struct lull_ipfix_message *message, uint16_t set_id)
{
	if (message->len == 0)
		message->len = LULL_IPFIX_HEADER_BYTES;
	if (message->set_at != 0 && message->set_id == set_id)
		return;
	message_end_set(message);
	message->set_at = message->len;
	message->set_id = set_id;
	lull_ipfix_message_number(message, set_id, 2);
	lull_ipfix_message_number(message, 0, 2);
}

void
lull_ipfix_message_close(struct lull_ipfix_message *message, uint32_t time_s, uint32_t seq,
			 uint32_t domain_id)
{
	message_end_set(message);
	message_write(message->bytes, VERSION, 2);
	message_write(message->bytes + 2, message->len, 2);
	message_write(message->bytes + 4, time_s, 4);
	message_write(message->bytes + 8, seq, 4);
	message_write(message->bytes + 12, domain_id, 4);
}
