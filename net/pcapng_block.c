/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcapng_block.h"

#include <string.h>

#include "frame.h"

#define SECTION 0x0a0d0d0aU
#define SECTION_MAGIC 0x1a2b3c4dU
#define INTERFACE 1
#define PACKET 6
#define LINK_ETHERNET 1
#define OPTION_COMMENT 1
#define OPTION_PROGRAM 4 /* of a section */
#define OPTION_NAME 2    /* of an interface */
#define OPTION_TSRESOL 9
#define PACKET_HEAD 28 /* before the data of a packet block; 4 bytes follow them */

/* ---- pieces ---- */

/* Blocks are in the byte order of who wrote the file. */
static uint8_t *
put_own(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *
put_own16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *
put_bytes(uint8_t *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

static size_t
padding(size_t bytes)
{
	return -bytes & 3;
}

static uint8_t *
put_option(uint8_t *at, uint16_t code, const void *value, size_t length)
{
	at = put_own16(at, code);
	at = put_own16(at, (uint16_t)length);
	at = put_bytes(at, value, length);
	memset(at, 0, padding(length));
	return at + padding(length);
}

/* ---- file ---- */

/* Options have an end, and a block its length at both ends. */
static uint8_t *
block_end(uint8_t *block, uint8_t *at)
{
	at = put_own(at, 0);
	put_own(block + 4, (uint32_t)(at + 4 - block));
	return put_own(at, (uint32_t)(at + 4 - block));
}

size_t
lull_net_pcapng_start(uint8_t *bytes, const char *program, const char *interface)
{
	static const char comment[] = "Ethernet, IP and UDP headers are made by lull";
	static const uint8_t nanoseconds = 9;
	uint8_t *at = put_own(bytes, SECTION), *block;

	at = put_own(at + 4, SECTION_MAGIC);
	at = put_own16(put_own16(at, 1), 0);
	memset(at, 0xff, 8); /* length of the section: not told */
	at = put_option(at + 8, OPTION_PROGRAM, program, strnlen(program, 64));
	at = put_option(at, OPTION_COMMENT, comment, sizeof(comment) - 1);
	block = block_end(bytes, at);
	at = put_own(block, INTERFACE);
	at = put_own16(put_own16(at + 4, LINK_ETHERNET), 0);
	at = put_own(at, 0); /* packets are not cut */
	at = put_option(at, OPTION_NAME, interface, strnlen(interface, 128));
	at = put_option(at, OPTION_TSRESOL, &nanoseconds, 1);
	return (size_t)(block_end(block, at) - bytes);
}

/* ---- packets ---- */

size_t
lull_net_pcapng_size(const struct lull_net_outgoing *packet)
{
	size_t bytes = lull_net_frame_head(packet) + packet->len_bytes;

	return PACKET_HEAD + bytes + padding(bytes) + 4;
}

void
lull_net_pcapng_write(uint8_t *bytes, const struct lull_net_outgoing *packet, uint64_t time_ns)
{
	uint32_t size = (uint32_t)lull_net_pcapng_size(packet);
	uint32_t length = (uint32_t)(lull_net_frame_head(packet) + packet->len_bytes);
	uint8_t *at = put_own(bytes, PACKET);

	at = put_own(at, size);
	at = put_own(at, 0); /* interface */
	at = put_own(at, (uint32_t)(time_ns >> 32));
	at = put_own(at, (uint32_t)time_ns);
	at = put_own(put_own(at, length), length);
	lull_net_frame_write(at, packet, true);
	at += lull_net_frame_head(packet);
	at = put_bytes(at, packet->data, packet->len_bytes);
	memset(at, 0, padding(length));
	put_own(at + padding(length), size);
}
