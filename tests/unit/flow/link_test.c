/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "case.h"
#include "frame.h"

/* A datagram behind what stands in @p frame already. */
static void
assert_carries(uint16_t link_type, const struct frame *header, uint8_t version, uint16_t vlan_id)
{
	struct frame frame = *header;
	struct lull_flow_packet packet;

	if (version == 4)
		put_datagram(&frame);
	else
		put_datagram6(&frame);
	assert_int_equal(parse(link_type, false, &frame, &packet), LULL_FLOW_OK);
	assert_datagram(&packet, version, header->len, vlan_id);
	/* Padding is nobody's. */
	put_fill(&frame, 14);
	assert_int_equal(parse(link_type, false, &frame, &packet), LULL_FLOW_OK);
	assert_datagram(&packet, version, header->len, vlan_id);
}

static struct frame
frame_of(const char *hex)
{
	struct frame frame = { .len = 0 };

	for (; hex[0] != '\0'; hex += hex[0] == ' ' ? 1 : 2)
		if (hex[0] != ' ') {
			char byte[3] = { hex[0], hex[1], '\0' };

			put(&frame, strtoul(byte, NULL, 16), 1);
		}
	return frame;
}

static const char *const addresses = "000102030405 060708090a0b";

static struct frame
ethernet_of(const char *hex)
{
	char text[256];

	snprintf(text, sizeof(text), "%s %s", addresses, hex);
	return frame_of(text);
}

static const struct {
	uint16_t link_type;
	uint8_t version;
	uint16_t vlan_id;
	bool ethernet; /* two addresses stand before it */
	const char *hex;
} ways[] = {
	{ 1, 4, 0, true, "0800" },
	{ 1, 6, 0, true, "86dd" },
	{ 1, 4, 5, true, "8100 a005 0800" },
	{ 1, 6, 4095, true, "8100 0fff 86dd" },
	{ 1, 4, 7, true, "88a8 0007 8100 0009 0800" },
	{ 1, 4, 7, true, "9100 0007 9200 0008 9300 0009 0800" },
	{ 1, 4, 0, true, "8100 e000 8100 0009 0800" }, /* priority tag: VLAN 0 */
	{ 1, 4, 0, true, "8847 00010140" },
	{ 1, 6, 0, true, "8847 00010040 00020040 00030140" },
	{ 1, 4, 3, true, "8100 0003 8848 00010140" },
	{ 1, 4, 0, true, "8864 11000001 0022 0021" },
	{ 1, 6, 0, true, "8864 11000001 0036 0057" },
	{ 1, 4, 9, true, "8100 0009 8864 11000001 0026 0281 00010140" },
	{ 1, 4, 0, true, "0028 aaaa03 000000 0800" },
	{ 1, 6, 0, true, "0040 aaaa03 0000f8 86dd" },
	{ 1, 4, 0, true, "0023 060603" },
	{ 1, 4, 2, true, "8100 0002 0028 aaaa03 000000 0800" },
	{ 12, 4, 0, false, "" },
	{ 14, 6, 0, false, "" },
	{ 101, 4, 0, false, "" },
	{ 101, 6, 0, false, "" },
	{ 228, 4, 0, false, "" },
	{ 229, 6, 0, false, "" },
	{ 113, 4, 0, false, "0000 0001 0006 000102030405 0000 0800" },
	{ 113, 6, 8, false, "0000 0001 0006 000102030405 0000 8100 0008 86dd" },
	{ 113, 4, 0, false, "0000 0001 0006 000102030405 0000 0004 aaaa03 000000 0800" },
	{ 276, 4, 0, false, "0800 0000 00000002 0001 00 06 000102030405 0000" },
	{ 0, 4, 0, false, "02000000" },
	{ 0, 4, 0, false, "00000002" },
	{ 0, 6, 0, false, "1e000000" },
	{ 0, 6, 0, false, "1c000000" },
	{ 0, 6, 0, false, "18000000" },
	{ 108, 4, 0, false, "00000002" },
	{ 108, 6, 0, false, "00000018" },
	{ 9, 4, 0, false, "ff03 0021" },
	{ 9, 4, 0, false, "0021" },
	{ 9, 4, 0, false, "21" },
	{ 9, 6, 0, false, "ff03 57" },
	{ 50, 4, 0, false, "ff03 0021" },
	{ 50, 4, 0, false, "0f00 0800" },
	{ 51, 4, 0, false, "11000001 0022 0021" },
	{ 104, 4, 0, false, "0f00 0800" },
	{ 104, 6, 0, false, "8f00 86dd" },
	{ 105, 4, 0, false,
	  "0801 0000 000102030405 000102030405 000102030405 1000 aaaa03000000 0800" },
	{ 105, 6, 0, false,
	  "8802 0000 000102030405 000102030405 000102030405 1000 0000 aaaa03000000 86dd" },
	{ 105, 4, 0, false,
	  "8803 0000 000102030405 000102030405 000102030405 1000 000102030405 0000 "
	  "aaaa03000000 0800" },
	{ 105, 4, 0, false,
	  "8881 0000 000102030405 000102030405 000102030405 1000 0000 00000000 "
	  "aaaa03000000 0800" },
	{ 127, 4, 0, false,
	  "00000800 00000000 "
	  "0801 0000 000102030405 000102030405 000102030405 1000 aaaa03000000 0800" },
	/* Two present words, time and flags: padding behind the header. */
	{ 127, 4, 0, false,
	  "00001a00 03000080 00000000 00000000 0000000000000000 20 00 "
	  "8801 0000 000102030405 000102030405 000102030405 1000 0000 0000 "
	  "aaaa03000000 0800" },
	/* Cisco's framing on a line of PPP. */
	{ 9, 4, 0, false, "0f00 0800" },
	{ 9, 6, 0, false, "8f00 86dd" },
	{ 204, 4, 0, false, "01 ff03 0021" },
	{ 205, 4, 0, false, "00 0f00 0800" },
	/* Token ring, with a way of three bridges too; FDDI. */
	{ 6, 4, 0, false, "1040 000102030405 000102030405 aaaa03 000000 0800" },
	{ 6, 4, 0, false, "1040 000102030405 800102030405 06b0 0011 0022 aaaa03 000000 0800" },
	{ 10, 4, 0, false, "50 000102030405 000102030405 aaaa03 000000 0800" },
	{ 10, 6, 0, false, "d7 000102030405 000102030405 aaaa03 000000 86dd" },
	/* ARCnet: of BSD, of Linux, with padding, by RFC 1051. */
	{ 7, 4, 0, false, "0102 d4 00 0001" },
	{ 7, 6, 0, false, "0102 c4 00 0001" },
	{ 7, 4, 0, false, "0102 d4 ff ffff d4 00 0001" },
	{ 7, 4, 0, false, "0102 f0" },
	{ 129, 4, 0, false, "0102 0000 d4 00 0001" },
	/* Frame Relay: RFC 2427, Cisco's, longer addresses, PPP, a bridged frame. */
	{ 107, 4, 0, false, "1841 03 cc" },
	{ 107, 6, 0, false, "1841 03 8e" },
	{ 107, 4, 0, false, "18404041 03 cc" },
	{ 107, 4, 0, false, "1841 0300 80 000000 0800" },
	{ 107, 4, 5, false, "1841 0300 80 0080c2 0007 000102030405 060708090a0b 8100 0005 0800" },
	{ 107, 4, 0, false, "1841 03 cf 0021" },
	{ 107, 4, 0, false, "1841 0800" },
	{ 206, 4, 0, false, "01 1841 03 cc" },
	/* NFLOG in both byte orders: a prefix, a mark, the packet. */
	{ 239, 4, 0, false, "02000001 0600 0a00 41000000 0800 0300 00000001 2400 0900" },
	{ 239, 6, 0, false, "0a000001 0006 000a 41000000 0008 0003 00000001 0038 0009" },
	{ 242, 4, 0, false,
	  "6000000000000000 0001020304050607 08090a0b0c0d0e0f 0001020304050607 08090a0b0c0d0e0f "
	  "0800 0000" },
	{ 226, 4, 0, false, "0102 0000 00000020 00000001 00000000 00000000 00000000" },
	{ 226, 6, 0, false, "011a 0000 00000020 00000001 00000000 00000000 00000000" },
	/* PPI: before Ethernet, and before 802.11 with a field of its own. */
	{ 192, 4, 0, false, "00000800 01000000 000102030405 060708090a0b 0800" },
	{ 192, 4, 0, false,
	  "00001000 69000000 0200 0400 00000000 "
	  "0801 0000 000102030405 000102030405 000102030405 1000 aaaa03000000 0800" },
	/* Tags and carriers that are passed over. */
	{ 1, 4, 0, true, "8926 80000001 0800" },
	{ 1, 4, 5, true, "8926 80000001 8100 0005 0800" },
	{ 1, 6, 0, true, "893f 000000010000 86dd" },
	{ 1, 4, 0, true, "8903 0100 000102030405 060708090a0b 0800" },
	{ 1, 4, 7, true, "88a8 0007 88e7 00123456 000102030405 060708090a0b 0800" },
	{ 1, 4, 9, true, "88e7 00123456 000102030405 060708090a0b 8100 0009 0800" },
	{ 1, 4, 0, true, "88e5 0000 00000001 0800" },
	{ 1, 6, 3, true, "88e5 2000 00000001 0001020304050001 8100 0003 86dd" },
	{ 1, 4, 0, true, "894f 0fc6 0101 00000aff 00000000 00000000 00000000 00000000" },
	{ 1, 6, 0, true, "894f 0fc2 0202 00000aff" },
	{ 1, 4, 0, true, "894f 0fc2 0203 00000aff 000102030405 060708090a0b 0800" },
	{ 1, 4, 0, true, "894f 0fc2 0204 00000aff 0fc2 0201 00000aff" },
	{ 1, 4, 0, true, "894f 0fc2 0205 00000aff 00010140" },
	/* Pseudowires: with a control word, without, to an address that begins like IP. */
	{ 1, 4, 0, true, "8847 00010140 00000007 000102030405 060708090a0b 0800" },
	{ 1, 4, 5, true, "8847 00010140 000102030405 060708090a0b 8100 0005 0800" },
	{ 1, 4, 0, true, "8847 00010140 6c0102030405 060708090a0b 0800" },
	{ 1, 6, 0, true, "8847 00010140 48ff02030405 060708090a0b 86dd" },
};

TEST(enter__every_way_to_ip)
{
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct frame frame =
			ways[i].ethernet ? ethernet_of(ways[i].hex) : frame_of(ways[i].hex);

		print_message("%u: %u %s\n", i, ways[i].link_type, ways[i].hex);
		assert_carries(ways[i].link_type, &frame, ways[i].version, ways[i].vlan_id);
	}
}

static const struct {
	uint16_t link_type;
	enum lull_flow_cause cause;
	bool ethernet;
	const char *hex;
} others[] = {
	{ 1, LULL_FLOW_NOT_IP, true, "0806" },
	{ 1, LULL_FLOW_NOT_IP, true, "88cc" },
	{ 1, LULL_FLOW_NOT_IP, true, "8100 0005 0806" },
	{ 1, LULL_FLOW_NOT_IP, true, "0026 424203" },
	{ 1, LULL_FLOW_NOT_IP, true, "0026 aaaa03 00000c 2000" },
	{ 1, LULL_FLOW_NOT_IP, true, "0026 aaaa03 000000 0026" },
	{ 1, LULL_FLOW_NOT_IP, true, "05dd" },
	{ 1, LULL_FLOW_NOT_IP, true, "8847 00010140 00000000" },
	{ 1, LULL_FLOW_NOT_IP, true, "8864 11000001 0022 c021" },
	{ 1, LULL_FLOW_NOT_IP, true, "8864 11090001 0022 0021" },
	{ 1, LULL_FLOW_MALFORMED, true,
	  "8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 "
	  "8100 0001 0800" },
	{ 1, LULL_FLOW_MALFORMED, true, "86dd" }, /* but IPv4 */
	{ 229, LULL_FLOW_MALFORMED, false, "" },
	{ 0, LULL_FLOW_NOT_IP, false, "07000000" },
	{ 9, LULL_FLOW_NOT_IP, false, "ff03 c021" },
	{ 104, LULL_FLOW_NOT_IP, false, "8f00 8035" },
	{ 105, LULL_FLOW_NOT_IP, false, /* a beacon */
	  "8000 0000 000102030405 000102030405 000102030405 1000" },
	{ 105, LULL_FLOW_NOT_IP, false, /* encrypted */
	  "0841 0000 000102030405 000102030405 000102030405 1000 aaaa03000000 0800" },
	{ 105, LULL_FLOW_NOT_IP, false, /* a second piece */
	  "0801 0000 000102030405 000102030405 000102030405 1100 aaaa03000000 0800" },
	{ 105, LULL_FLOW_NOT_IP, false, /* several in one */
	  "8801 0000 000102030405 000102030405 000102030405 1000 8000 aaaa03000000 0800" },
	{ 127, LULL_FLOW_MALFORMED, false, "01000800 00000000" },
	{ 127, LULL_FLOW_MALFORMED, false, "00000700 00000000" },
	{ 127, LULL_FLOW_MALFORMED, false, "00000800 00000080" },
	{ 127, LULL_FLOW_MALFORMED, false, "0000ffff 00000000" },
	{ 6, LULL_FLOW_NOT_IP, false, "1000 000102030405 000102030405 aaaa03 000000 0800" },
	{ 10, LULL_FLOW_NOT_IP, false, "c3 000102030405 000102030405 aaaa03 000000 0800" },
	{ 7, LULL_FLOW_NOT_IP, false, "0102 d4 02 0001" }, /* a later piece */
	{ 7, LULL_FLOW_NOT_IP, false, "0102 d5 00 0001" },
	{ 107, LULL_FLOW_NOT_IP, false, "1841 03 81" },
	{ 107, LULL_FLOW_NOT_IP, false, "1841 7f 08" },
	{ 107, LULL_FLOW_NOT_IP, false, "1841 0300 80 0080c2 000e 0000" },
	{ 107, LULL_FLOW_MALFORMED, false, "1840404040 03 cc" },
	{ 239, LULL_FLOW_NOT_IP, false, "02010001 2400 0900" },
	{ 239, LULL_FLOW_MALFORMED, false, "02000001 0300 0100 2400 0900" },
	{ 242, LULL_FLOW_NOT_IP, false,
	  "6000000000000000 0001020304050607 08090a0b0c0d0e0f 0001020304050607 08090a0b0c0d0e0f "
	  "0806 0000" },
	{ 226, LULL_FLOW_NOT_IP, false, "0107 0000 00000020 00000001 00000000 00000000 00000000" },
	{ 192, LULL_FLOW_MALFORMED, false, "01000800 01000000 000102030405 060708090a0b 0800" },
	{ 192, LULL_FLOW_MALFORMED, false, "00000700 01000000 000102030405 060708090a0b 0800" },
	{ 192, LULL_FLOW_LINK, false, "00000800 c0000000 00000800 01000000" }, /* in itself */
	{ 1, LULL_FLOW_NOT_IP, true, "88e5 0c00 00000001 0800" },              /* encrypted */
	{ 1, LULL_FLOW_NOT_IP, true, "88e5 0400 00000001 0800" },              /* changed */
	{ 1, LULL_FLOW_NOT_IP, true, "894f 4fc2 0201 00000aff" },
	{ 1, LULL_FLOW_NOT_IP, true, "894f 0fc1 0201 00000aff" },
	{ 1, LULL_FLOW_NOT_IP, true, "894f 0fc2 0206 00000aff" },
	{ 1, LULL_FLOW_NOT_IP, true, "8847 00010140 10000021" }, /* of the wire itself */
	{ 147, LULL_FLOW_LINK, false, "" },
	{ 65535, LULL_FLOW_LINK, false, "" },
};

TEST(enter__what_is_no_ip)
{
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct frame frame =
			others[i].ethernet ? ethernet_of(others[i].hex) : frame_of(others[i].hex);
		struct lull_flow_packet packet;

		print_message("%u: %u %s\n", i, others[i].link_type, others[i].hex);
		put_datagram(&frame);
		assert_int_equal(parse(others[i].link_type, false, &frame, &packet),
				 others[i].cause);
	}
}

/* The length of NSH counts words, up to 63 of them. */
TEST(enter__nsh_of_any_length)
{
	struct lull_flow_packet packet;

	for (uint32_t words = 2; words < 64; words++) {
		struct frame frame = { .len = 0 };

		put_ethernet(&frame, 0x894f);
		put(&frame, 0x0fc00201 | words << 16, 4);
		put_fill(&frame, 4 * words - 4);
		put_datagram(&frame);
		assert_int_equal(parse(ETHERNET, false, &frame, &packet), LULL_FLOW_OK);
		assert_datagram(&packet, 4, 14 + 4 * words, 0);
	}
}

/* A frame may carry a frame; no number of bytes makes the parser go deeper than 32. */
TEST(enter__frames_in_frames_have_an_end)
{
	struct lull_flow_packet packet;
	struct frame frame;

	for (unsigned int depth = 30; depth <= 34; depth++) {
		frame = (struct frame){ .len = 0 };
		for (unsigned int i = 0; i < depth; i++) {
			put_ethernet(&frame, 0x88e7);
			put(&frame, 0, 4);
		}
		put_ethernet(&frame, 0x0800);
		put_datagram(&frame);
		assert_int_equal(parse(ETHERNET, false, &frame, &packet),
				 depth <= 32 ? LULL_FLOW_OK : LULL_FLOW_MALFORMED);
	}
}
