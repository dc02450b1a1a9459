/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "base/reader.h"
#include "probe.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100
#define IPV4_BYTES 20
#define IPV4_PROTOCOL_UDP 17
#define IPV4_DONT_FRAGMENT 0x4000
#define IPV4_FRAGMENT_BITS 0x3fff /* more fragments, and the offset */
#define UDP_BYTES 8
#define FLOW_PORT_FIRST 49152

static const uint8_t probe_ethernet[LULL_PROBE_IPV4_OFFSET] = {
	0x02, 'l', 'u', 'l', 'l', 2, 0x02, 'l', 'u', 'l', 'l', 1, ETHERTYPE_IPV4 >> 8, 0,
};
static const uint8_t probe_addresses[8] = { 198, 18, 0, 1, 198, 19, 0, 1 };

static void
store_u16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static void
store_u32(uint8_t *bytes, uint32_t value)
{
	store_u16(bytes, (uint16_t)(value >> 16));
	store_u16(bytes + 2, (uint16_t)value);
}

static void
store_u64(uint8_t *bytes, uint64_t value)
{
	store_u32(bytes, (uint32_t)(value >> 32));
	store_u32(bytes + 4, (uint32_t)value);
}

static uint16_t
ipv4_checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4_BYTES; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static void
ipv4_write(uint8_t *header, uint16_t total_bytes)
{
	memset(header, 0, IPV4_BYTES);
	header[0] = 0x45;
	store_u16(header + 2, total_bytes);
	store_u16(header + 6, IPV4_DONT_FRAGMENT);
	header[8] = 64;
	header[9] = IPV4_PROTOCOL_UDP;
	memcpy(header + 12, probe_addresses, sizeof(probe_addresses));
	store_u16(header + 10, ipv4_checksum(header));
}

static void
udp_write(uint8_t *header, uint16_t len_bytes, uint16_t flow)
{
	store_u16(header, (uint16_t)(FLOW_PORT_FIRST + flow));
	store_u16(header + 2, LULL_PROBE_PORT);
	store_u16(header + 4, len_bytes);
	store_u16(header + 6, 0);
}

void
lull_probe_write(uint8_t *frame, uint16_t len_bytes, const struct lull_probe *probe, uint16_t flow)
{
	LULL_ASSERT(len_bytes >= LULL_PROBE_FRAME_MIN);
	memcpy(frame, probe_ethernet, sizeof(probe_ethernet));
	ipv4_write(frame + LULL_PROBE_IPV4_OFFSET, (uint16_t)(len_bytes - LULL_PROBE_IPV4_OFFSET));
	udp_write(frame + LULL_PROBE_UDP_OFFSET, (uint16_t)(len_bytes - LULL_PROBE_UDP_OFFSET),
		  flow);
	store_u16(frame + LULL_PROBE_OFFSET, LULL_PROBE_MAGIC);
	lull_probe_update(frame, probe);
	memset(frame + LULL_PROBE_FRAME_MIN, 0, len_bytes - LULL_PROBE_FRAME_MIN);
}

void
lull_probe_update(uint8_t *frame, const struct lull_probe *probe)
{
	store_u16(frame + LULL_PROBE_OFFSET + 2, probe->run);
	store_u16(frame + LULL_PROBE_OFFSET + 4, probe->stream);
	store_u32(frame + LULL_PROBE_OFFSET + 6, probe->seq);
	store_u64(frame + LULL_PROBE_OFFSET + 10, probe->stamp_ns);
}

/* Up to the IPv4 header; false when there is none. */
static bool
read_ethernet(struct lull_reader *reader)
{
	uint16_t type;

	lull_reader_skip(reader, 12);
	type = lull_reader_u16be(reader);
	for (int tags = 0; tags < LULL_PROBE_VLAN_TAGS_MAX; tags++) {
		if (type != ETHERTYPE_VLAN && type != ETHERTYPE_QINQ && type != ETHERTYPE_QINQ_OLD)
			break;
		lull_reader_skip(reader, 2);
		type = lull_reader_u16be(reader);
	}
	return type == ETHERTYPE_IPV4;
}

/* Over an IPv4 header with or without options; false unless a whole UDP packet follows. */
static bool
read_ipv4(struct lull_reader *reader)
{
	size_t available = lull_reader_left(reader);
	uint8_t version = lull_reader_u8(reader);
	size_t header_bytes = (version & 15u) * 4;
	size_t total_bytes;
	uint16_t fragment;
	uint8_t protocol;

	lull_reader_skip(reader, 1);
	total_bytes = lull_reader_u16be(reader);
	lull_reader_skip(reader, 2);
	fragment = lull_reader_u16be(reader);
	lull_reader_skip(reader, 1);
	protocol = lull_reader_u8(reader);
	if (version >> 4 != 4 || header_bytes < IPV4_BYTES || protocol != IPV4_PROTOCOL_UDP)
		return false;
	lull_reader_skip(reader, header_bytes - 10);
	return (fragment & IPV4_FRAGMENT_BITS) == 0 && total_bytes <= available &&
	       total_bytes >= header_bytes + UDP_BYTES + LULL_PROBE_BYTES;
}

static uint16_t
load_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t
load_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static uint64_t
load_u64(const uint8_t *bytes)
{
	return (uint64_t)load_u32(bytes) << 32 | load_u32(bytes + 4);
}

/*
 * Nearly every frame comes as lull_probe_write() made it: no tags, no IPv4 options. Then each field
 * has its place, and nothing need be walked.
 */
static bool
read_plain(const uint8_t *frame, uint16_t len_bytes, struct lull_probe *probe)
{
	const uint8_t *ipv4 = frame + LULL_PROBE_IPV4_OFFSET;
	const uint8_t *udp = frame + LULL_PROBE_UDP_OFFSET;
	const uint8_t *bytes = frame + LULL_PROBE_OFFSET;

	if (len_bytes < LULL_PROBE_FRAME_MIN || load_u16(ipv4 - 2) != ETHERTYPE_IPV4 ||
	    ipv4[0] != 0x45 || ipv4[9] != IPV4_PROTOCOL_UDP ||
	    (load_u16(ipv4 + 6) & IPV4_FRAGMENT_BITS) != 0 ||
	    load_u16(ipv4 + 2) > len_bytes - LULL_PROBE_IPV4_OFFSET ||
	    load_u16(ipv4 + 2) < IPV4_BYTES + UDP_BYTES + LULL_PROBE_BYTES ||
	    load_u16(udp + 2) != LULL_PROBE_PORT ||
	    load_u16(udp + 4) < UDP_BYTES + LULL_PROBE_BYTES || load_u16(bytes) != LULL_PROBE_MAGIC)
		return false;
	probe->run = load_u16(bytes + 2);
	probe->stream = load_u16(bytes + 4);
	probe->seq = load_u32(bytes + 6);
	probe->stamp_ns = load_u64(bytes + 10);
	return true;
}

bool
lull_probe_read(const uint8_t *frame, uint16_t len_bytes, struct lull_probe *probe)
{
	struct lull_reader reader = lull_reader_over(frame, len_bytes);
	struct lull_probe found;

	if (read_plain(frame, len_bytes, probe))
		return true;
	if (!read_ethernet(&reader) || !read_ipv4(&reader))
		return false;
	lull_reader_skip(&reader, 2);
	if (lull_reader_u16be(&reader) != LULL_PROBE_PORT ||
	    lull_reader_u16be(&reader) < UDP_BYTES + LULL_PROBE_BYTES)
		return false;
	lull_reader_skip(&reader, 2);
	if (lull_reader_u16be(&reader) != LULL_PROBE_MAGIC)
		return false;
	found.run = lull_reader_u16be(&reader);
	found.stream = lull_reader_u16be(&reader);
	found.seq = lull_reader_u32be(&reader);
	found.stamp_ns = lull_reader_u64be(&reader);
	if (reader.failed)
		return false;
	*probe = found;
	return true;
}
