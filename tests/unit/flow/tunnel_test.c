/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "frame.h"

#define RAW 101
#define OUTER_SOURCE 0xc0000202
#define OUTER_TARGET 0xc0000201

/*
 * The outer packet is IPv4 of protocol @p proto, to UDP port @p port if that is not 0, with @p hex
 * before the inner packet. Its lengths follow from what is inside.
 */
static struct frame
tunnel(uint8_t proto, uint16_t port, const char *hex, uint8_t inner_version)
{
	uint32_t hex_bytes = (uint32_t)strlen(hex) / 2;
	uint32_t inner_bytes = inner_version == 4 ? 32 : 52;
	uint32_t bytes = 20 + (port != 0 ? 8 : 0) + hex_bytes + inner_bytes;
	struct frame frame = { .len = 0 };

	put_ipv4_between(&frame, proto, (uint16_t)bytes, 0, OUTER_SOURCE, OUTER_TARGET);
	if (port != 0)
		put_udp(&frame, 50000, port, (uint16_t)(bytes - 28));
	for (; hex[0] != '\0'; hex += 2) {
		char byte[3] = { hex[0], hex[1], '\0' };

		put(&frame, strtoul(byte, NULL, 16), 1);
	}
	if (inner_version == 4)
		put_datagram(&frame);
	else
		put_datagram6(&frame);
	return frame;
}

static const struct {
	uint8_t proto, version;
	uint16_t port, vlan_id;
	const char *hex;
} rows[] = {
	{ 4, 4, 0, 0, "" },
	{ 41, 6, 0, 0, "" },
	{ 47, 4, 0, 0, "00000800" },
	{ 47, 6, 0, 0, "b00086dd000000000000000100000002" }, /* checksum, key, number */
	{ 47, 4, 0, 0, "20006558000001010001020304050001020304050800" },
	{ 47, 4, 0, 0, "0000884700010140" },
	{ 47, 4, 0, 0, "3081880b00400001000000070000000221" },   /* PPTP */
	{ 47, 4, 0, 0, "000088be0001020304050001020304050800" }, /* ERSPAN I */
	{ 47, 4, 0, 5, "100088be000000011000000000000000000102030405000102030405810000050800" },
	{ 47, 4, 0, 0,
	  "100022eb000000012000000000000000000000010000000000000000000102030405000102030405"
	  "0800" }, /* ERSPAN III */
	{ 17, 4, 4789, 0, "08000000000001000001020304050001020304050800" },
	{ 17, 6, 4789, 9, "08000000000001000001020304050001020304058100000986dd" },
	{ 17, 4, 8472, 0, "08000000000001000001020304050001020304050800" },
	{ 17, 4, 6081, 0, "00006558000001000001020304050001020304050800" },
	{ 17, 6, 6081, 0, "010086dd0000010000000000" },
	{ 17, 4, 2152, 0, "30ff002000000001" },
	{ 17, 6, 2152, 0, "36ff003c000000010000008501100500" },
	{ 47, 4, 0, 0, "0000880b0021" }, /* PPP */
	{ 47, 6, 0, 0, "2000880b00000007ff030057" },
	{ 17, 4, 4790, 0, "0c00000100000100" },
	{ 17, 6, 4790, 0, "0c00000200000100" },
	{ 17, 4, 4790, 0,
	  "0c00000300000100"
	  "0001020304050001020304050800" },
	{ 17, 4, 4790, 0,
	  "0800000000000100"
	  "0001020304050001020304050800" },
	{ 17, 4, 4790, 0,
	  "0400000500000000"
	  "00010140" },
	{ 17, 6, 3544, 0, "" },
	{ 17, 6, 3544, 0, "000100000000000000000000000000c3500a000001" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct frame
row_frame(unsigned int i)
{
	return tunnel(rows[i].proto, rows[i].port, rows[i].hex, rows[i].version);
}

TEST(enter__every_tunnel)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		struct frame frame = row_frame(i);
		struct lull_flow_packet packet;

		print_message("%u: %u %u %s\n", i, rows[i].proto, rows[i].port, rows[i].hex);
		assert_int_equal(parse(RAW, true, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(packet.flags, LULL_FLOW_TUNNEL);
		assert_datagram(&packet, rows[i].version,
				frame.len - (rows[i].version == 4 ? 32 : 52), rows[i].vlan_id);
	}
}

TEST(enter__only_by_option)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		struct frame frame = row_frame(i);
		struct lull_flow_packet packet;

		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(packet.flags, 0);
		assert_int_equal(packet.key.proto, rows[i].proto);
		assert_int_equal(packet.ip_bytes, frame.len);
	}
}

/* Whatever is cut off or wrong inside: the packet stays one of the outer flow. */
TEST(enter__outer_flow_where_inner_fails)
{
	struct lull_flow_parser_config config = { .inner = true, .fragment_bits = 4 };
	struct lull_flow_parser *parser = parser_new(&config);

	for (unsigned int i = 0; i < ROWS; i++) {
		struct frame frame = row_frame(i);
		uint32_t inner = frame.len - (rows[i].version == 4 ? 32 : 52);
		struct lull_flow_packet packet;

		for (uint32_t captured = 28; captured < inner + 20; captured++) {
			assert_int_equal(parse_cut(parser, RAW, &frame, captured, 0, &packet),
					 LULL_FLOW_OK);
			assert_int_equal(packet.flags, LULL_FLOW_CUT);
			assert_int_equal(packet.key.proto, rows[i].proto);
			assert_int_equal(packet.ip_bytes, frame.len);
		}
		frame.bytes[inner + (rows[i].version == 4 ? 3 : 5)]++; /* longer than the outer */
		assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &packet),
				 LULL_FLOW_OK);
		assert_int_equal(packet.flags, 0);
	}
	free(parser);
}

/* Behind an authentication header the packet is the same, and all its bytes count. */
TEST(enter__behind_ipv4_authentication)
{
	struct lull_flow_parser_config config = { .inner = true, .fragment_bits = 4 };
	struct lull_flow_parser *parser = parser_new(&config);
	struct frame frame = { .len = 0 }, later = { .len = 0 };
	struct lull_flow_packet packet;

	put_ipv4(&frame, 51, 20 + 24 + 8 + 12);
	put(&frame, 0x11040000, 4); /* UDP behind 24 bytes */
	put_fill(&frame, 20);
	put_udp(&frame, 50000, 53, 20);
	put_fill(&frame, 12);
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.flags, LULL_FLOW_TUNNEL);
	assert_int_equal(packet.key.proto, LULL_FLOW_PROTO_UDP);
	assert_int_equal(packet.key.port[0], 53);
	assert_int_equal(packet.ip_bytes, frame.len);
	assert_int_equal(packet.payload_bytes, 12);
	frame.bytes[6] = 0x20; /* the first of two fragments */
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &packet), LULL_FLOW_OK);
	put_ipv4_between(&later, 51, 24, 5, 0x0a000002, 0x0a000001);
	put(&later, 0, 4);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.key.port[0], 53);
	assert_int_equal(packet.ip_bytes, 24);
	frame.bytes[6] = 0;
	frame.bytes[21] = 200; /* longer than the packet */
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.key.proto, 51);
	free(parser);
}

/* Two packets that differ in a part of the key alone. */
static const struct {
	uint32_t part;
	uint8_t proto, version;
	uint16_t port;
	const char *one, *two;
	uint32_t id_one, id_two;
} parts[] = {
	{ LULL_FLOW_KEY_VNI, 17, 4, 4789, "08000000000007000001020304050001020304050800",
	  "08000000000008000001020304050001020304050800", 7, 8 },
	{ LULL_FLOW_KEY_VNI, 17, 4, 4790, "0c00000100000700", "0c00000100000800", 7, 8 },
	{ LULL_FLOW_KEY_VNI, 17, 6, 6081, "000086dd00000700", "000086dd00000800", 7, 8 },
	{ LULL_FLOW_KEY_TEID, 17, 4, 2152, "30ff002000000007", "30ff002000000008", 7, 8 },
	{ LULL_FLOW_KEY_GRE, 47, 4, 0, "2000080000000007", "2000080000000008", 7, 8 },
	{ LULL_FLOW_KEY_GRE, 47, 4, 0, "a00008000000000000000007", "a00008000000000000000008", 7,
	  8 },
	{ LULL_FLOW_KEY_MPLS, 47, 4, 0, "000088470001004000007140", "000088470001004000008140", 0,
	  0 },
	{ LULL_FLOW_KEY_MPLS, 47, 4, 0, "0000884700007140", "0000884700008140", 0, 0 },
	/* A network in a network: the outer one counts too. */
	{ LULL_FLOW_KEY_VNI, 17, 4, 4789,
	  "08000000000007000001020304050001020304050800"
	  "45000044000000004011000001010101020202020b5812b600300000"
	  "0c00000100000900",
	  "08000000000008000001020304050001020304050800"
	  "45000044000000004011000001010101020202020b5812b600300000"
	  "0c00000100000900",
	  9, 9 },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static struct lull_flow_packet
part_packet(size_t i, const char *hex, uint32_t key_parts)
{
	struct lull_flow_parser_config config = { .inner = true,
						  .fragment_bits = 4,
						  .key_parts = key_parts };
	struct frame frame = tunnel(parts[i].proto, parts[i].port, hex, parts[i].version);
	struct lull_flow_parser *parser = parser_new(&config);
	struct lull_flow_packet packet;

	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.flags, LULL_FLOW_TUNNEL);
	free(parser);
	return packet;
}

TEST(enter__parts_of_the_key)
{
	for (size_t i = 0; i < PARTS; i++) {
		const uint32_t asked[] = { parts[i].part, LULL_FLOW_KEY_NONE, 0 };

		for (size_t j = 0; j < 3; j++) {
			uint32_t full = asked[j] == 0 ? LULL_FLOW_KEY_DEFAULT : asked[j];
			bool wanted = (full & parts[i].part) != 0;
			struct lull_flow_packet one = part_packet(i, parts[i].one, asked[j]);
			struct lull_flow_packet two = part_packet(i, parts[i].two, asked[j]);

			print_message("part %zu, asked %#x\n", i, asked[j]);
			assert_int_equal(lull_flow_key_same(&one.key, &two.key), !wanted);
			assert_int_equal(one.digest == two.digest, !wanted);
			assert_int_equal(lull_flow_key_compare(&one.key, &two.key) == 0, !wanted);
			assert_int_equal(one.key.tunnel_id, wanted ? parts[i].id_one : 0);
			assert_int_equal(two.key.tunnel_id, wanted ? parts[i].id_two : 0);
			if (!wanted || parts[i].part != LULL_FLOW_KEY_MPLS)
				continue;
			assert_int_equal(one.key.mpls_label, 7);
			assert_int_equal(two.key.mpls_label, 8);
		}
	}
}

TEST(enter__tunnels_in_tunnels_end)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	for (unsigned int i = 0; i < 10; i++)
		put_ipv4_between(&frame, 4, (uint16_t)(20 * (10 - i) + 32), 0, OUTER_SOURCE + i,
				 OUTER_TARGET);
	put_datagram(&frame);
	assert_int_equal(parse(RAW, true, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.ip_offset, 8 * 20);
	assert_int_equal(packet.key.proto, 4);
}

/* Of a tunnel in fragments the first one shows the inner flow, and the others follow it. */
TEST(enter__fragments_of_tunnels)
{
	struct lull_flow_parser_config config = { .inner = true, .fragment_bits = 4 };
	struct lull_flow_parser *parser = parser_new(&config);

	for (unsigned int i = 0; i < ROWS; i++) {
		struct frame frame = row_frame(i), later = { .len = 0 };
		uint32_t inner = frame.len - (rows[i].version == 4 ? 32 : 52);
		struct lull_flow_packet first, packet;

		/* Of the inner packet the last four bytes are in the second piece. */
		frame.bytes[6] = 0x20;
		frame.len -= 4;
		frame.bytes[2] = (uint8_t)(frame.len >> 8);
		frame.bytes[3] = (uint8_t)frame.len;
		assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &first),
				 LULL_FLOW_OK);
		assert_int_equal(first.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_TUNNEL);
		assert_int_equal(first.key.proto, LULL_FLOW_PROTO_UDP);
		assert_int_equal(first.ip_offset, inner);
		assert_int_equal(first.ip_bytes, frame.len - inner);
		put_ipv4_between(&later, rows[i].proto, 24, (uint16_t)((frame.len - 20) / 8),
				 OUTER_SOURCE, OUTER_TARGET);
		put(&later, 0, 4);
		assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &packet),
				 LULL_FLOW_OK);
		assert_int_equal(packet.flags,
				 LULL_FLOW_FRAGMENT | LULL_FLOW_TUNNEL | LULL_FLOW_LATER);
		assert_true(lull_flow_key_same(&packet.key, &first.key));
		assert_int_equal(packet.digest, first.digest);
		assert_int_equal(packet.direction, first.direction);
		assert_int_equal(packet.ip_bytes, 4);
		assert_int_equal(packet.payload_bytes, 4);
	}
	free(parser);
}
