/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frame: packets written by hand, header by header, and read by the parser.
 *
 * IPv4 goes from 10.0.0.2 to 10.0.0.1, IPv6 from fd00::2 to fd00::1: the
 * sender is endpoint 1 of the key.
 */
#ifndef LULL_TEST_FRAME_H
#define LULL_TEST_FRAME_H

#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "case.h"

#define ETHERNET 1

struct frame {
	uint32_t len;
	uint8_t bytes[2048];
};

static inline void
put(struct frame *frame, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		frame->bytes[frame->len++] = (uint8_t)(value >> 8 * (count - 1 - i));
}

static inline void
put_fill(struct frame *frame, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put(frame, i, 1);
}

static inline void
put_ethernet(struct frame *frame, uint16_t type)
{
	put_fill(frame, 12);
	put(frame, type, 2);
}

/* @p fragment: flags and offset. @p total: of the header and what follows. */
static inline void
put_ipv4_between(struct frame *frame, uint8_t proto, uint16_t total, uint16_t fragment,
		 uint32_t source, uint32_t target)
{
	put(frame, 0x4500, 2);
	put(frame, total, 2);
	put(frame, 0x1234, 2);
	put(frame, fragment, 2);
	put(frame, 64, 1);
	put(frame, proto, 1);
	put(frame, 0, 2);
	put(frame, source, 4);
	put(frame, target, 4);
}

static inline void
put_ipv4(struct frame *frame, uint8_t proto, uint16_t total)
{
	put_ipv4_between(frame, proto, total, 0, 0x0a000002, 0x0a000001);
}

static inline void
put_ipv6(struct frame *frame, uint8_t next, uint16_t payload_bytes)
{
	put(frame, 0x60000000, 4);
	put(frame, payload_bytes, 2);
	put(frame, next, 1);
	put(frame, 64, 1);
	for (unsigned int end = 2; end >= 1; end--) {
		put(frame, 0xfd00, 2);
		put(frame, 0, 6);
		put(frame, end, 8);
	}
}

static inline void
put_udp(struct frame *frame, uint16_t source, uint16_t target, uint16_t payload_bytes)
{
	put(frame, source, 2);
	put(frame, target, 2);
	put(frame, payload_bytes + 8u, 2);
	put(frame, 0, 2);
}

/* @p header_words: 5 without options. */
static inline void
put_tcp(struct frame *frame, uint16_t source, uint16_t target, uint8_t header_words, uint8_t flags)
{
	put(frame, source, 2);
	put(frame, target, 2);
	put(frame, 0, 8);
	put(frame, (uint64_t)header_words << 4, 1);
	put(frame, flags, 1);
	put(frame, 0, 6);
}

/* IPv4, UDP from port 4000 to port 53, 4 bytes of payload: 32 bytes. */
static inline void
put_datagram(struct frame *frame)
{
	put_ipv4(frame, LULL_FLOW_PROTO_UDP, 32);
	put_udp(frame, 4000, 53, 4);
	put_fill(frame, 4);
}

/* The same over IPv6: 52 bytes. */
static inline void
put_datagram6(struct frame *frame)
{
	put_ipv6(frame, LULL_FLOW_PROTO_UDP, 12);
	put_udp(frame, 4000, 53, 4);
	put_fill(frame, 4);
}

static inline struct lull_flow_parser *
parser_new(const struct lull_flow_parser_config *config)
{
	void *memory = malloc(lull_flow_parser_size(config));
	struct lull_flow_parser *parser = NULL;

	assert_non_null(memory);
	assert_int_equal(lull_flow_parser_init(memory, config, &parser), 0);
	return parser;
}

/* Read @p captured bytes in memory of just that size. */
static inline enum lull_flow_cause
parse_cut(struct lull_flow_parser *parser, uint16_t link_type, const struct frame *frame,
	  uint32_t captured, uint64_t time_ns, struct lull_flow_packet *packet)
{
	uint8_t *data = malloc(captured + (captured == 0));
	enum lull_flow_cause cause;

	assert_non_null(data);
	memcpy(data, frame->bytes, captured);
	cause = lull_flow_parse(parser, link_type, data, captured, frame->len, time_ns, packet);
	free(data);
	if (cause == LULL_FLOW_OK) {
		assert_true(packet->ip_offset < captured);
		assert_true(packet->payload_offset + packet->payload_captured <= captured);
		assert_true(packet->payload_captured <= packet->payload_bytes);
		assert_true(packet->digest <= 0x7fffffff);
	}
	return cause;
}

/* By a parser of its own. */
static inline enum lull_flow_cause
parse(uint16_t link_type, bool inner, const struct frame *frame, struct lull_flow_packet *packet)
{
	struct lull_flow_parser_config config = { .inner = inner, .fragment_bits = 4 };
	struct lull_flow_parser *parser = parser_new(&config);
	enum lull_flow_cause cause = parse_cut(parser, link_type, frame, frame->len, 0, packet);

	free(parser);
	return cause;
}

/* What put_datagram() and put_datagram6() wrote has been read, its IP header at @p ip_offset. */
static inline void
assert_datagram(const struct lull_flow_packet *packet, uint8_t version, uint32_t ip_offset,
		uint16_t vlan_id)
{
	uint32_t header_bytes = version == 4 ? 20 : 40;

	assert_int_equal(packet->key.version, version);
	assert_int_equal(packet->key.proto, LULL_FLOW_PROTO_UDP);
	assert_int_equal(packet->key.port[0], 53);
	assert_int_equal(packet->key.port[1], 4000);
	assert_int_equal(packet->key.vlan_id, vlan_id);
	assert_int_equal(packet->key.addr[0][version == 4 ? 3 : 15], 1);
	assert_int_equal(packet->key.addr[1][version == 4 ? 3 : 15], 2);
	assert_int_equal(packet->direction, 1);
	assert_int_equal(packet->ip_offset, ip_offset);
	assert_int_equal(packet->ip_bytes, header_bytes + 12);
	assert_int_equal(packet->payload_offset, ip_offset + header_bytes + 8);
	assert_int_equal(packet->payload_bytes, 4);
	assert_int_equal(packet->payload_captured, 4);
}

#endif
