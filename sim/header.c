/* SPDX-License-Identifier: BSD-3-Clause */
#include "header.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define TCP_BYTES 20
#define UDP_BYTES 8

static void
header_put16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* Addresses: 10.x.y.z to 192.168.1.n, or in 2001:db8::/32. */
static uint32_t
header_ip(uint8_t *ip, bool six, uint8_t proto, uint32_t payload, uint64_t bits)
{
	if (!six) {
		ip[0] = 0x45;
		header_put16(ip + 2, IPV4_BYTES + payload);
		ip[8] = 64;
		ip[9] = proto;
		ip[12] = 10;
		memcpy(ip + 13,
		       (const uint8_t[]){ (uint8_t)bits, (uint8_t)(bits >> 8),
					  (uint8_t)(bits >> 16) },
		       3);
		memcpy(ip + 16, (const uint8_t[]){ 192, 168, 1, (uint8_t)(bits >> 24) }, 4);
		return IPV4_BYTES;
	}
	ip[0] = 0x60;
	header_put16(ip + 4, payload);
	ip[6] = proto;
	ip[7] = 64;
	for (uint32_t end = 0; end < 2; end++)
		memcpy(ip + 8 + 16 * end, (const uint8_t[]){ 0x20, 0x01, 0x0d, 0xb8 }, 4);
	for (uint32_t i = 0; i < 3; i++)
		ip[8 + 13 + i] = (uint8_t)(bits >> (8 * i));
	ip[24 + 15] = (uint8_t)(bits >> 24);
	return IPV6_BYTES;
}

uint32_t
lull_sim_header_draw(struct lull_prng *prng, uint8_t *frame)
{
	static const uint16_t known[] = { 53, 80, 123, 443, 443, 993, 8080, 8443 };
	uint64_t bits = lull_prng_u64(prng), more = lull_prng_u64(prng);
	bool six = (more & 7) == 0, tcp = (more >> 3 & 1) != 0;
	uint32_t transport_bytes = tcp ? TCP_BYTES : UDP_BYTES, at = ETHERNET_BYTES;
	uint8_t proto = tcp ? LULL_FLOW_PROTO_TCP : LULL_FLOW_PROTO_UDP;
	uint8_t *transport;

	memset(frame, 0, LULL_SIM_HEADER_BYTES_MAX);
	header_put16(frame + 12, six ? 0x86dd : 0x0800);
	at += header_ip(frame + at, six, proto, transport_bytes, bits);
	transport = frame + at;
	/* The ports of clients: 32768 and up, as Linux has them. */
	header_put16(transport, 0x8000u | (uint32_t)(bits >> 48));
	header_put16(transport + 2, known[more >> 4 & 7]);
	if (tcp) {
		transport[12] = TCP_BYTES / 4 << 4;
		transport[13] = 0x10; /* ACK */
	} else {
		header_put16(transport + 4, UDP_BYTES);
	}
	return at + transport_bytes;
}

/* ---- parser ---- */

struct lull_flow_parser *
lull_sim_parser_create(uint64_t seed)
{
	const struct lull_flow_parser_config config = {
		.seed = (uint32_t)seed,
		.fragment_bits = 4,
	};
	size_t size = (lull_flow_parser_size(&config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
		      LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);
	struct lull_flow_parser *parser;
	int rc;

	if (memory == NULL)
		return NULL;
	rc = lull_flow_parser_init(memory, &config, &parser);
	LULL_ASSERT(rc == 0 && (void *)parser == memory);
	return parser;
}

void
lull_sim_parser_free(struct lull_flow_parser *parser)
{
	free(parser);
}
