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

TEST(enter__not_into_fragments)
{
	struct frame frame = tunnel(4, 0, "", 4);
	struct lull_flow_packet packet;

	frame.bytes[6] = 0x20;
	assert_int_equal(parse(RAW, true, &frame, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.flags, LULL_FLOW_FRAGMENT);
	assert_int_equal(packet.key.proto, 4);
}
