/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "frame.h"

#define RAW 101

TEST(read__lengths_of_the_header_count)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv4(&frame, LULL_FLOW_PROTO_UDP, 400); /* more than there is */
	put_udp(&frame, 4000, 53, 372);
	put_fill(&frame, 10);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_bytes, 400);
	assert_int_equal(packet.payload_bytes, 372);
	assert_int_equal(packet.payload_captured, 10);
	assert_int_equal(packet.flags, LULL_FLOW_CUT);
}

TEST(read__v4_options)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv4(&frame, LULL_FLOW_PROTO_UDP, 40);
	frame.bytes[0] = 0x47;
	put_fill(&frame, 8);
	put_udp(&frame, 4000, 53, 4);
	put_fill(&frame, 4);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.key.port[1], 4000);
	assert_int_equal(packet.ip_bytes, 40);
	assert_int_equal(packet.payload_offset, 36);
	assert_int_equal(packet.payload_bytes, 4);
}

TEST(read__v4_length_left_to_the_card)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ethernet(&frame, 0x0800);
	put_ipv4(&frame, LULL_FLOW_PROTO_TCP, 0);
	put_tcp(&frame, 4000, 80, 5, 0x10);
	put_fill(&frame, 900);
	assert_int_equal(parse(ETHERNET, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_bytes, 940);
	assert_int_equal(packet.payload_bytes, 900);
}

TEST(read__v4_refused)
{
	static const struct {
		uint32_t offset;
		uint8_t value;
	} rows[] = {
		{ 0, 0x44 }, /* header too short */
		{ 0, 0x4f }, /* longer than the packet */
		{ 0, 0x55 }, /* version */
		{ 3, 19 },   /* total shorter than the header */
		{ 3, 23 },   /* no room for ports */
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame frame = { .len = 0 };
		struct lull_flow_packet packet;

		put_datagram(&frame);
		frame.bytes[rows[i].offset] = rows[i].value;
		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_MALFORMED);
	}
}

/* @p length as the header says it, @p bytes as it is. */
static void
put_extension(struct frame *frame, uint8_t next, uint8_t length, uint32_t bytes)
{
	put(frame, next, 1);
	put(frame, length, 1);
	for (uint32_t i = 2; i < bytes; i++)
		put(frame, 0, 1);
}

TEST(read__v6_extension_headers)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv6(&frame, 0, 8 + 16 + 8 + 12 + 8 + 12);
	put_extension(&frame, 43, 0, 8);  /* hop by hop */
	put_extension(&frame, 60, 1, 16); /* routing */
	put_extension(&frame, 51, 0, 8);  /* destination */
	put_extension(&frame, 44, 1, 12); /* authentication: words of 4, less 2 */
	put_extension(&frame, 17, 0, 8);  /* fragment, the only one */
	put_udp(&frame, 4000, 53, 4);
	put_fill(&frame, 4);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.key.proto, 17);
	assert_int_equal(packet.key.port[1], 4000);
	assert_int_equal(packet.ip_bytes, 104);
	assert_int_equal(packet.payload_offset, 100);
	assert_int_equal(packet.flags, 0);
}

TEST(read__v6_endless_headers_refused)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv6(&frame, 60, 8 * 17 + 8);
	for (unsigned int i = 0; i < 17; i++)
		put_extension(&frame, i < 16 ? 60 : 17, 0, 8);
	put_udp(&frame, 4000, 53, 0);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_MALFORMED);
	/* A header that leaves the packet. */
	frame.len = 0;
	put_ipv6(&frame, 60, 8);
	put_extension(&frame, 17, 9, 8);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_MALFORMED);
}

TEST(read__v6_length_zero)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	/* A jumbogram that says how long it is, in 100 bytes of frame. */
	put_ipv6(&frame, 0, 0);
	put(&frame, 0x1100c204, 4);
	put(&frame, 20, 4);
	put_udp(&frame, 4000, 53, 4);
	put_fill(&frame, 60);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_bytes, 60);
	assert_int_equal(packet.key.port[1], 4000);
	assert_int_equal(packet.payload_bytes, 4);
	frame.bytes[44] = 1; /* longer than the frame */
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_MALFORMED);
	/* Left to the card. */
	frame.len = 0;
	put_ipv6(&frame, 6, 0);
	put_tcp(&frame, 4000, 80, 5, 0x10);
	put_fill(&frame, 100);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_bytes, 160);
	/* Nothing at all, and padding. */
	frame.len = 0;
	put_ipv6(&frame, 59, 0);
	put_fill(&frame, 6);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_bytes, 40);
	assert_int_equal(packet.key.proto, 59);
}

TEST(transport__tcp_header_that_lies)
{
	static const uint8_t words[] = { 0, 4, 9, 15 };

	for (unsigned int i = 0; i < sizeof(words); i++) {
		struct frame frame = { .len = 0 };
		struct lull_flow_packet packet;

		put_ipv4(&frame, LULL_FLOW_PROTO_TCP, 50);
		put_tcp(&frame, 4000, 80, words[i], 0x12);
		put_fill(&frame, 10);
		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(packet.key.port[1], 4000);
		assert_int_equal(packet.ip_bytes, 50);
		assert_int_equal(packet.tcp_flags, 0x12);
		assert_int_equal(packet.payload_bytes, 0);
		assert_int_equal(packet.payload_offset, 50);
	}
}

TEST(transport__tcp_payload)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv4(&frame, LULL_FLOW_PROTO_TCP, 60);
	put_tcp(&frame, 4000, 80, 7, 0x18);
	put_fill(&frame, 20);
	assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.tcp_flags, 0x18);
	assert_int_equal(packet.payload_offset, 48);
	assert_int_equal(packet.payload_bytes, 12);
}

TEST(transport__udp_length_below_and_above)
{
	static const struct {
		uint8_t length;
		uint16_t payload_bytes;
	} rows[] = { { 12, 4 }, { 10, 2 }, { 8, 0 }, { 7, 4 }, { 0, 4 }, { 13, 4 }, { 255, 4 } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame frame = { .len = 0 };
		struct lull_flow_packet packet;

		put_datagram(&frame);
		frame.bytes[25] = rows[i].length;
		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(packet.payload_bytes, rows[i].payload_bytes);
	}
}

TEST(transport__others_have_no_ports)
{
	static const uint8_t protos[] = { 1, 2, 47, 50, 58, 89, 132 };

	for (unsigned int i = 0; i < sizeof(protos); i++) {
		struct frame frame = { .len = 0 };
		struct lull_flow_packet packet;

		put_ipv4(&frame, protos[i], 28);
		put(&frame, 0x0807060504030201, 8);
		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(packet.key.port[0] | packet.key.port[1], 0);
		assert_int_equal(packet.key.proto, protos[i]);
		assert_int_equal(packet.payload_offset, 20);
		assert_int_equal(packet.payload_bytes, 8);
		assert_int_equal(packet.tcp_flags, 0);
	}
}
