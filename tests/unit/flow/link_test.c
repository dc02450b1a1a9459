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
