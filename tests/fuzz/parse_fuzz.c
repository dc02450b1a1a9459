/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "fuzz.h"

#define LINK_COUNT 32

static volatile uint8_t touched;

static void
check_packet(const uint8_t *data, uint32_t captured, const struct lull_flow_packet *packet)
{
	FUZZ_CHECK(packet->digest <= 0x7fffffff && packet->dispatch_hash <= 0x7fffffff);
	FUZZ_CHECK(packet->direction <= 1);
	FUZZ_CHECK(packet->key.version == 4 || packet->key.version == 6);
	FUZZ_CHECK(packet->ip_offset < captured);
	FUZZ_CHECK(packet->payload_captured <= packet->payload_bytes);
	FUZZ_CHECK((uint32_t)packet->payload_offset + packet->payload_captured <= captured);
	for (uint32_t i = 0; i < packet->payload_captured; i++)
		touched = data[packet->payload_offset + i];
}

/*
 * A byte that chooses the link type, one with the options, then packets: captured length and what
 * the wire had more, two bytes each, and the frame. One parser reads them all: fragments meet.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t links[LINK_COUNT] = {
		1, 0, 9,  12,  14,  50,  51,  101, 104, 105, 108, 113, 127, 228, 229, 276,
		6, 7, 10, 107, 129, 192, 204, 205, 206, 226, 239, 242, 1,   1,   1,   1,
	};
	struct lull_reader reader = lull_reader_over(data, size);
	uint16_t link_type = links[lull_reader_u8(&reader) % LINK_COUNT];
	struct lull_flow_parser_config config = {
		.inner = (lull_reader_u8(&reader) & 1) != 0,
		.fragment_bits = 4,
	};
	struct lull_flow_parser *parser;
	void *memory = malloc(lull_flow_parser_size(&config));

	if (memory == NULL || lull_flow_parser_init(memory, &config, &parser) != 0)
		abort();
	for (uint64_t time_ns = 0; lull_reader_left(&reader) >= 4; time_ns++) {
		uint32_t captured = lull_reader_u16be(&reader);
		uint32_t more = lull_reader_u16be(&reader);
		struct lull_flow_packet packet;
		uint8_t *frame;

		captured = (uint32_t)LULL_MIN(captured, lull_reader_left(&reader));
		frame = malloc(captured + (captured == 0)); /* just its size: no read behind it */
		if (frame == NULL)
			abort();
		memcpy(frame, data + reader.offset, captured);
		reader.offset += captured;
		if (lull_flow_parse(parser, link_type, frame, captured, captured + more, time_ns,
				    &packet) == LULL_FLOW_OK)
			check_packet(frame, captured, &packet);
		free(frame);
	}
	free(memory);
	return 0;
}
