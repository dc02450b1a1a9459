/* SPDX-License-Identifier: BSD-3-Clause */
#include "registers.h"

#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "base/bytes.h"
#include "gige/gvsp.h"
#include "pixel/pfnc.h"
#include "registers_xml.h"

#define VERSION 0x00020000
#define MODE_BIG_ENDIAN_UTF8 0x80000001u
#define IP_CONFIG 0x6
#define CAPABILITY (LULL_GVCP_CAN_RESEND | 0x2u | 0x1u | 0x40000000u)
#define HEARTBEAT_MS 3000
#define TICKS_PER_S 1000000000

uint32_t
registers_get(const struct registers *registers, uint32_t address)
{
	const uint8_t *bytes = registers_read(registers, address, 4);
	struct lull_reader reader = lull_reader_over(bytes, bytes != NULL ? 4 : 0);

	return lull_reader_u32be(&reader);
}

void
registers_set(struct registers *registers, uint32_t address, uint32_t value)
{
	if (address <= REGISTERS_BYTES - 4)
		(void)lull_bytes_put(registers->memory + address, value, 4);
}

static void
registers_text(struct registers *registers, uint32_t address, uint32_t bytes, const char *text)
{
	snprintf((char *)registers->memory + address, bytes, "%.*s", (int)bytes - 1, text);
}

static void
registers_device(struct registers *registers, uint32_t ip, uint32_t number, const char *version)
{
	char text[32];

	registers_set(registers, 0x0000, VERSION);
	registers_set(registers, 0x0004, MODE_BIG_ENDIAN_UTF8);
	/* a locally administered Ethernet address that tells the IPv4 address */
	registers_set(registers, 0x0008, 0x024c);
	registers_set(registers, 0x000c, ip);
	registers_set(registers, 0x0010, IP_CONFIG);
	registers_set(registers, 0x0014, IP_CONFIG);
	registers_set(registers, 0x0024, ip);
	registers_set(registers, 0x0034, 0xffffff00u);
	registers_text(registers, 0x0048, 32, "lull");
	registers_text(registers, 0x0068, 32, "cam-source");
	registers_text(registers, 0x0088, 32, version);
	registers_text(registers, 0x00a8, 48, "exists only in software");
	snprintf(text, sizeof(text), "%08x-%u", ip, number);
	registers_text(registers, 0x00d8, 16, text);
	snprintf(text, sizeof(text), "camera %u", number);
	registers_text(registers, 0x00e8, 16, text);
}

static void
registers_camera(struct registers *registers, const struct lull_packet_plan *plan, double rate)
{
	const struct lull_frame_geometry *geometry = &plan->format.geometry;
	float rate_single = (float)rate;
	uint32_t bits;

	memcpy(&bits, &rate_single, sizeof(bits));
	registers_set(registers, REGISTERS_WIDTH, geometry->width);
	registers_set(registers, REGISTERS_HEIGHT, geometry->height);
	registers_set(registers, REGISTERS_PIXEL, lull_pfnc_code(geometry->pixel));
	registers_set(registers, REGISTERS_PAYLOAD, (uint32_t)plan->rows.bytes);
	registers_set(registers, REGISTERS_RATE, bits);
	registers_set(registers, 0x0600, 1); /* interfaces */
	registers_set(registers, 0x0904, 1); /* stream channels */
	registers_set(registers, LULL_GVCP_REG_CAPABILITY, CAPABILITY);
	registers_set(registers, LULL_GVCP_REG_HEARTBEAT, HEARTBEAT_MS);
	registers_set(registers, LULL_GVCP_REG_TICKS_LOW, TICKS_PER_S);
	registers_set(registers, LULL_GVCP_REG_STREAM_CONFIG,
		      plan->format.extended ? LULL_GVCP_EXTENDED_IDS : 0);
	registers_set(registers, LULL_GVCP_REG_PACKET_SIZE,
		      plan->format.packet_bytes + GVSP_IP_UDP_BYTES);
}

void
registers_init(struct registers *registers, const struct lull_packet_plan *plan, uint32_t ip,
	       uint32_t number, double rate, const char *version)
{
	char url[64];

	memset(registers, 0, sizeof(*registers));
	registers_device(registers, ip, number, version);
	registers_camera(registers, plan, rate);
	registers->xml_bytes = registers_xml_write(registers->xml, sizeof(registers->xml),
						   plan->format.geometry.pixel);
	snprintf(url, sizeof(url), "Local:lull.xml;%x;%x", REGISTERS_XML, registers->xml_bytes);
	registers_text(registers, LULL_GVCP_REG_XML_URL, 512, url);
}

const uint8_t *
registers_read(const struct registers *registers, uint32_t address, uint32_t bytes)
{
	uint32_t xml_end = REGISTERS_XML + ((registers->xml_bytes + 3) & ~3u);

	if (address <= REGISTERS_BYTES && bytes <= REGISTERS_BYTES - address)
		return registers->memory + address;
	if (address >= REGISTERS_XML && address <= xml_end && bytes <= xml_end - address)
		return (const uint8_t *)registers->xml + (address - REGISTERS_XML);
	return NULL;
}

bool
registers_writable(uint32_t address)
{
	switch (address) {
	case REGISTERS_MODE:
	case REGISTERS_LOCKED:
	case REGISTERS_ACQUISITION:
	case LULL_GVCP_REG_HEARTBEAT:
	case LULL_GVCP_REG_STREAM_CONFIG:
	case LULL_GVCP_REG_CONTROL:
	case LULL_GVCP_REG_STREAM_PORT:
	case LULL_GVCP_REG_PACKET_SIZE:
	case LULL_GVCP_REG_PACKET_SIZE + 4: /* delay between packets: kept, not heeded */
	case LULL_GVCP_REG_STREAM_ADDRESS:
		return true;
	default:
		return false;
	}
}
