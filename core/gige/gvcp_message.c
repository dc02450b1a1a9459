/* SPDX-License-Identifier: BSD-3-Clause */
#include "gvcp_message.h"

#include <string.h>

#include "base/reader.h"
#include "base/bytes.h"

#define KEY 0x42
#define FLAG_ANSWER 0x01    /* the camera shall answer */
#define FLAG_EXTENDED 0x10  /* of a resend: 64 bit ids */
#define FLAG_BROADCAST 0x10 /* of a discovery */
#define DEVICE_BYTES 248

bool
lull_gvcp_header_read(const uint8_t *message, size_t len, struct lull_gvcp_header *header)
{
	struct lull_reader reader = lull_reader_over(message, len);
	uint16_t first = lull_reader_u16be(&reader);

	*header = (struct lull_gvcp_header){ .command = first >> 8 == KEY };
	header->code = lull_reader_u16be(&reader);
	header->bytes = lull_reader_u16be(&reader);
	header->id = lull_reader_u16be(&reader);
	if (header->command)
		header->flags = first & 0xff;
	else
		header->status = first;
	return !reader.failed && header->bytes <= lull_reader_left(&reader) &&
	       header->command == ((header->code & 1) == 0);
}

static uint8_t *
put_command(uint8_t *message, uint8_t flags, uint16_t code, uint16_t bytes, uint16_t id)
{
	message = lull_bytes_put(message, KEY, 1);
	message = lull_bytes_put(message, flags, 1);
	message = lull_bytes_put(message, code, 2);
	message = lull_bytes_put(message, bytes, 2);
	return lull_bytes_put(message, id, 2);
}

size_t
lull_gvcp_write_answer(uint8_t *message, uint16_t status, uint16_t code, uint16_t id,
		       const uint8_t *data, uint16_t bytes)
{
	uint8_t *at = lull_bytes_put(message, status, 2);

	at = lull_bytes_put(at, code, 2);
	at = lull_bytes_put(at, bytes, 2);
	at = lull_bytes_put(at, id, 2);
	if (bytes > 0)
		at = lull_bytes_copy(at, data, bytes);
	return (size_t)(at - message);
}

size_t
lull_gvcp_write_readreg(uint8_t *message, uint16_t id, uint32_t address)
{
	uint8_t *at = put_command(message, FLAG_ANSWER, LULL_GVCP_READREG, 4, id);

	return (size_t)(lull_bytes_put(at, address, 4) - message);
}

size_t
lull_gvcp_write_writereg(uint8_t *message, uint16_t id, struct lull_gvcp_register reg)
{
	uint8_t *at = put_command(message, FLAG_ANSWER, LULL_GVCP_WRITEREG, 8, id);

	at = lull_bytes_put(at, reg.address, 4);
	return (size_t)(lull_bytes_put(at, reg.value, 4) - message);
}

size_t
lull_gvcp_write_readmem(uint8_t *message, uint16_t id, uint32_t address, uint16_t bytes)
{
	uint8_t *at = put_command(message, FLAG_ANSWER, LULL_GVCP_READMEM, 8, id);

	at = lull_bytes_put(at, address, 4);
	return (size_t)(lull_bytes_put(at, bytes, 4) - message);
}

size_t
lull_gvcp_write_writemem(uint8_t *message, uint16_t id, uint32_t address, const uint8_t *data,
			 uint16_t bytes)
{
	uint8_t *at =
		put_command(message, FLAG_ANSWER, LULL_GVCP_WRITEMEM, (uint16_t)(4 + bytes), id);

	at = lull_bytes_put(at, address, 4);
	return (size_t)(lull_bytes_copy(at, data, bytes) - message);
}

size_t
lull_gvcp_write_discovery(uint8_t *message, uint16_t id, bool broadcast)
{
	uint8_t flags = broadcast ? FLAG_ANSWER | FLAG_BROADCAST : FLAG_ANSWER;

	return (size_t)(put_command(message, flags, LULL_GVCP_DISCOVERY, 0, id) - message);
}

size_t
lull_gvcp_write_resend(uint8_t *message, uint16_t id, const struct lull_gvcp_resend *resend)
{
	uint8_t *at = put_command(message, resend->extended ? FLAG_EXTENDED : 0, LULL_GVCP_RESEND,
				  resend->extended ? 20 : 12, id);

	at = lull_bytes_put(at, resend->channel, 2);
	at = lull_bytes_put(at, resend->extended ? 0 : resend->block & 0xffff, 2);
	at = lull_bytes_put(at, resend->first, 4);
	at = lull_bytes_put(at, resend->last, 4);
	if (resend->extended)
		at = lull_bytes_put(at, resend->block, 8);
	return (size_t)(at - message);
}

bool
lull_gvcp_read_resend(const uint8_t *message, size_t len, struct lull_gvcp_resend *resend)
{
	struct lull_gvcp_header header;
	struct lull_reader reader;

	if (!lull_gvcp_header_read(message, len, &header) || header.code != LULL_GVCP_RESEND)
		return false;
	reader = lull_reader_over(message + LULL_GVCP_HEADER_BYTES, header.bytes);
	resend->extended = (header.flags & FLAG_EXTENDED) != 0;
	resend->channel = lull_reader_u16be(&reader);
	resend->block = lull_reader_u16be(&reader);
	resend->first = lull_reader_u32be(&reader);
	resend->last = lull_reader_u32be(&reader);
	if (resend->extended)
		resend->block = lull_reader_u64be(&reader);
	else {
		resend->first &= 0xffffff;
		resend->last &= 0xffffff;
	}
	return !reader.failed && resend->first <= resend->last;
}

/* A text of @p bytes, which the 0 may be missing from; @p text has one more. */
static void
read_text(const uint8_t *data, size_t at, char *text, size_t bytes)
{
	memcpy(text, data + at, bytes);
	text[bytes] = '\0';
}

bool
lull_gvcp_read_discovery(const uint8_t *message, size_t len, struct lull_gvcp_device *device)
{
	const uint8_t *data = message + LULL_GVCP_HEADER_BYTES;
	struct lull_gvcp_header header;
	struct lull_reader reader;

	if (!lull_gvcp_header_read(message, len, &header) ||
	    header.code != LULL_GVCP_DISCOVERY + 1 || header.status != 0 ||
	    header.bytes < DEVICE_BYTES)
		return false;
	memcpy(device->mac, data + 10, sizeof(device->mac));
	reader = lull_reader_over(data + 36, 4);
	device->address = lull_reader_u32be(&reader);
	read_text(data, 72, device->maker, 32);
	read_text(data, 104, device->model, 32);
	read_text(data, 136, device->version, 32);
	read_text(data, 216, device->serial, 16);
	read_text(data, 232, device->name, 16);
	return true;
}
