/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All numbers stay in registers up to the digest: reading the key back right after writing it in
 * smaller pieces costs more than everything else here.
 */
#include "plain.h"

#include "digest.h"
#include "link.h"

#define TCP_BYTES 20
#define UDP_BYTES 8
#define IPV4_BYTES 20
#define IPV6_BYTES 40

/* Where the headers are, and how long what they head is. */
struct plain_place {
	uint32_t ip;        /* offset of the IP header */
	uint32_t transport; /* offset behind it */
	uint32_t end;       /* of the IP packet */
	uint16_t vlan_id;
	uint8_t proto;
};

static inline uint32_t
plain_u16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static inline uint64_t
plain_u32(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 | (uint64_t)bytes[2] << 8 |
	       bytes[3];
}

static inline uint64_t
plain_u64(const uint8_t *bytes)
{
	return plain_u32(bytes) << 32 | plain_u32(bytes + 4);
}

static inline void
plain_put_u32(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 24);
	bytes[1] = (uint8_t)(value >> 16);
	bytes[2] = (uint8_t)(value >> 8);
	bytes[3] = (uint8_t)value;
}

static inline void
plain_put_u64(uint8_t *bytes, uint64_t value)
{
	plain_put_u32(bytes, (uint32_t)(value >> 32));
	plain_put_u32(bytes + 4, (uint32_t)value);
}

/* Lengths and payload; false: the transport header is not as simple as that. */
static inline bool
plain_transport(const uint8_t *data, uint32_t captured_bytes, const struct plain_place *place,
		struct lull_flow_packet *packet)
{
	const uint8_t *transport = data + place->transport;
	uint32_t readable = LULL_MIN(captured_bytes, place->end);
	uint32_t payload, bytes, rest;

	if (place->proto == LULL_FLOW_PROTO_TCP) {
		if (place->transport + TCP_BYTES > readable)
			return false;
		payload = place->transport + (transport[12] >> 4) * 4u;
		if (payload < place->transport + TCP_BYTES || payload > place->end)
			return false;
		bytes = place->end - payload;
		packet->tcp_flags = transport[13];
	} else {
		if (place->proto != LULL_FLOW_PROTO_UDP || place->transport + UDP_BYTES > readable)
			return false;
		payload = place->transport + UDP_BYTES;
		rest = place->end - payload;
		bytes = plain_u16(transport + 4) - UDP_BYTES;
		bytes = LULL_MIN(bytes, rest); /* a length below 8 has become a huge one */
	}
	payload = LULL_MIN(payload, readable);
	packet->payload_offset = (uint16_t)payload;
	packet->payload_bytes = (uint16_t)bytes;
	packet->payload_captured = (uint16_t)LULL_MIN(readable - payload, bytes);
	packet->ip_offset = (uint16_t)place->ip;
	packet->ip_bytes = place->end - place->ip;
	packet->key.vlan_id = place->vlan_id;
	packet->key.proto = place->proto;
	return true;
}

static inline uint64_t
plain_ends(const struct plain_place *place, uint8_t version, uint64_t low_port, uint64_t high_port)
{
	return low_port | high_port << 16 | (uint64_t)place->vlan_id << 32 |
	       (uint64_t)version << 48 | (uint64_t)place->proto << 56;
}

static inline bool
plain_v4(uint32_t seed, const uint8_t *data, uint32_t captured_bytes, struct plain_place *place,
	 struct lull_flow_packet *packet)
{
	const uint8_t *ip = data + place->ip;
	uint64_t source, target, low, high, words[2];
	uint32_t total;

	if (captured_bytes < place->ip + IPV4_BYTES + UDP_BYTES)
		return false;
	total = plain_u16(ip + 2);
	if (ip[0] != 0x45 || (plain_u16(ip + 6) & 0x3fff) != 0 || total < IPV4_BYTES + UDP_BYTES)
		return false;
	place->transport = place->ip + IPV4_BYTES;
	place->end = place->ip + total;
	place->proto = ip[9];
	if (!plain_transport(data, captured_bytes, place, packet))
		return false;
	source = plain_u32(ip + 12) << 16 | plain_u16(ip + 20);
	target = plain_u32(ip + 16) << 16 | plain_u16(ip + 22);
	low = LULL_MIN(source, target);
	high = LULL_MAX(source, target);
	packet->direction = source > target;
	packet->key.version = 4;
	packet->key.port[0] = (uint16_t)low;
	packet->key.port[1] = (uint16_t)high;
	plain_put_u32(packet->key.addr[0], (uint32_t)(low >> 16));
	plain_put_u32(packet->key.addr[1], (uint32_t)(high >> 16));
	words[0] = plain_ends(place, 4, low & 0xffff, high & 0xffff);
	words[1] = (uint64_t)__builtin_bswap32((uint32_t)(low >> 16)) |
		   (uint64_t)__builtin_bswap32((uint32_t)(high >> 16)) << 32;
	packet->digest = lull_flow_digest_v4(seed, words[0], words[1]);
	packet->dispatch_hash = packet->digest;
	return true;
}

static inline bool
plain_v6(uint32_t seed, const uint8_t *data, uint32_t captured_bytes, struct plain_place *place,
	 struct lull_flow_packet *packet)
{
	const uint8_t *ip = data + place->ip;
	uint64_t high[2], low[2], port[2], words[LULL_DIGEST_WORDS_MAX];
	uint32_t total;
	bool greater;

	if (captured_bytes < place->ip + IPV6_BYTES + UDP_BYTES)
		return false;
	total = plain_u16(ip + 4);
	if (ip[0] >> 4 != 6 || total < UDP_BYTES)
		return false;
	place->transport = place->ip + IPV6_BYTES;
	place->end = place->transport + total;
	place->proto = ip[6];
	if (!plain_transport(data, captured_bytes, place, packet))
		return false;
	high[0] = plain_u64(ip + 8);
	low[0] = plain_u64(ip + 16);
	port[0] = plain_u16(ip + 40);
	high[1] = plain_u64(ip + 24);
	low[1] = plain_u64(ip + 32);
	port[1] = plain_u16(ip + 42);
	greater = high[0] != high[1] ? high[0] > high[1] :
		  low[0] != low[1]   ? low[0] > low[1] :
				       port[0] > port[1];
	packet->direction = greater;
	packet->key.version = 6;
	/* Numbers are chosen, not places: those would be written and read again. */
	words[0] = plain_ends(place, 6, greater ? port[1] : port[0], greater ? port[0] : port[1]);
	words[1] = __builtin_bswap64(greater ? high[1] : high[0]);
	words[2] = __builtin_bswap64(greater ? low[1] : low[0]);
	words[3] = __builtin_bswap64(greater ? high[0] : high[1]);
	words[4] = __builtin_bswap64(greater ? low[0] : low[1]);
	packet->key.port[0] = (uint16_t)words[0];
	packet->key.port[1] = (uint16_t)(words[0] >> 16);
	for (unsigned int i = 0; i < 2; i++) {
		plain_put_u64(packet->key.addr[0] + 8 * (size_t)i, __builtin_bswap64(words[1 + i]));
		plain_put_u64(packet->key.addr[1] + 8 * (size_t)i, __builtin_bswap64(words[3 + i]));
	}
	packet->digest = lull_flow_digest_v6(seed, words);
	packet->dispatch_hash = packet->digest;
	return true;
}

bool
lull_flow_plain(uint32_t seed, const uint8_t *data, uint32_t captured_bytes,
		uint32_t original_bytes, struct lull_flow_packet *packet)
{
	struct plain_place place = { .ip = 14 };
	uint32_t type;
	bool plain = false;

	if (captured_bytes < 18 || captured_bytes > UINT16_MAX)
		return false;
	type = plain_u16(data + 12);
	if (type == LULL_ETHER_VLAN) {
		place.ip = 18;
		place.vlan_id = plain_u16(data + 14) & 0xfff;
		type = plain_u16(data + 16);
	}
	if (type == LULL_ETHER_IPV4)
		plain = plain_v4(seed, data, captured_bytes, &place, packet);
	else if (type == LULL_ETHER_IPV6)
		plain = plain_v6(seed, data, captured_bytes, &place, packet);
	if (plain && captured_bytes < LULL_MAX(original_bytes, place.end))
		packet->flags = LULL_FLOW_CUT;
	return plain;
}
