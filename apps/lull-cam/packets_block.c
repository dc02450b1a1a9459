/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets_block.h"

#include <string.h>

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

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define HOPS 64
#define PROTOCOL_UDP 17

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

/* Headers are in that of the network. */
static uint8_t *
put_16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
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
packets_block_start(uint8_t *bytes, const char *program, const char *interface)
{
	static const char comment[] = "Ethernet, IP and UDP headers are made again";
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

static bool
packet_is6(const struct lull_camera_packet *packet)
{
	return packet->ip_version == 6;
}

static size_t
packet_head(const struct lull_camera_packet *packet)
{
	if (packet->ip_version == 0)
		return ETHERNET_BYTES;
	return ETHERNET_BYTES + (packet_is6(packet) ? IPV6_BYTES : IPV4_BYTES) + UDP_BYTES;
}

size_t
packets_block_size(const struct lull_camera_packet *packet)
{
	size_t bytes = packet_head(packet) + packet->len_bytes;

	return PACKET_HEAD + bytes + padding(bytes) + 4;
}

static uint8_t *
put_ipv4(uint8_t *at, const struct lull_camera_packet *packet)
{
	uint8_t *begin = at;
	uint32_t sum = 0;

	at = put_16(at, 0x4500);
	at = put_16(at, IPV4_BYTES + UDP_BYTES + packet->len_bytes);
	at = put_16(at, 0);
	at = put_16(at, 0x4000); /* not to be cut into fragments */
	at = put_16(at, HOPS << 8 | PROTOCOL_UDP);
	at = put_16(at, 0);
	at = put_bytes(at, packet->source, 4);
	at = put_bytes(at, packet->destination, 4);
	for (const uint8_t *word = begin; word < at; word += 2)
		sum += (uint32_t)word[0] << 8 | word[1];
	sum = (sum & 0xffff) + (sum >> 16);
	put_16(begin + 10, ~(sum + (sum >> 16)) & 0xffff);
	return at;
}

static uint8_t *
put_ipv6(uint8_t *at, const struct lull_camera_packet *packet)
{
	at = put_16(at, 0x6000);
	at = put_16(at, 0);
	at = put_16(at, UDP_BYTES + packet->len_bytes);
	at = put_16(at, PROTOCOL_UDP << 8 | HOPS);
	at = put_bytes(at, packet->source, 16);
	return put_bytes(at, packet->destination, 16);
}

static uint8_t *
put_headers(uint8_t *at, const struct lull_camera_packet *packet)
{
	static const uint8_t unknown[6];

	at = put_bytes(at, unknown, sizeof(unknown));
	at = put_bytes(at, packet->mac != NULL ? packet->mac : unknown, sizeof(unknown));
	if (packet->ip_version == 0)
		return put_16(at, packet->ether_type);
	at = put_16(at, packet_is6(packet) ? TYPE_IPV6 : TYPE_IPV4);
	at = packet_is6(packet) ? put_ipv6(at, packet) : put_ipv4(at, packet);
	at = put_16(at, 0);
	at = put_16(at, packet->port);
	at = put_16(at, UDP_BYTES + packet->len_bytes);
	return put_16(at, 0);
}

void
packets_block_write(uint8_t *bytes, const struct lull_camera_packet *packet, uint64_t time_ns)
{
	uint32_t size = (uint32_t)packets_block_size(packet);
	uint32_t length = (uint32_t)(packet_head(packet) + packet->len_bytes);
	uint8_t *at = put_own(bytes, PACKET);

	at = put_own(at, size);
	at = put_own(at, 0); /* interface */
	at = put_own(at, (uint32_t)(time_ns >> 32));
	at = put_own(at, (uint32_t)time_ns);
	at = put_own(put_own(at, length), length);
	at = put_headers(at, packet);
	at = put_bytes(at, packet->data, packet->len_bytes);
	memset(at, 0, padding(length));
	put_own(at + padding(length), size);
}
