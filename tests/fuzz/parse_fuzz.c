/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "fuzz.h"

#define LINK_COUNT 32
#define PACKETS_MAX 512
#define WAIT_NS 20

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

/* Who comes back was given away, and waits no longer than it may. @return how many */
static uint32_t
check_released(struct lull_flow_parser *parser, const struct lull_flow_packet *packets,
	       uint64_t clock_ns)
{
	const struct lull_flow_packet *packet;
	uint64_t due_ns;
	uint32_t count = 0;

	while ((packet = lull_flow_parser_release(parser, clock_ns, &due_ns)) != NULL) {
		FUZZ_CHECK(packet >= packets && packet < packets + PACKETS_MAX);
		FUZZ_CHECK((due_ns == 0) == ((packet->flags & LULL_FLOW_ORPHAN) == 0));
		FUZZ_CHECK(due_ns == 0 || due_ns == packet->time_ns + WAIT_NS);
		count++;
	}
	FUZZ_CHECK(clock_ns == UINT64_MAX || lull_flow_parser_deadline_ns(parser) >= clock_ns);
	return count;
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
		.fragment_wait_ns = WAIT_NS,
	};
	struct lull_flow_packet packets[PACKETS_MAX];
	struct lull_flow_parser *parser;
	uint32_t held = 0;
	void *memory = malloc(lull_flow_parser_size(&config));

	if (memory == NULL || lull_flow_parser_init(memory, &config, &parser) != 0)
		abort();
	for (uint64_t time_ns = 0; lull_reader_left(&reader) >= 4 && time_ns < PACKETS_MAX;
	     time_ns++) {
		uint32_t captured = lull_reader_u16be(&reader);
		uint32_t more = lull_reader_u16be(&reader);
		struct lull_flow_packet *packet = &packets[time_ns];
		uint8_t *frame;

		captured = (uint32_t)LULL_MIN(captured, lull_reader_left(&reader));
		frame = malloc(captured + (captured == 0)); /* just its size: no read behind it */
		if (frame == NULL)
			abort();
		memcpy(frame, data + reader.offset, captured);
		reader.offset += captured;
		if (lull_flow_parse(parser, link_type, frame, captured, captured + more, time_ns,
				    packet) == LULL_FLOW_OK) {
			check_packet(frame, captured, packet);
			if ((packet->flags & LULL_FLOW_ORPHAN) != 0)
				held += lull_flow_parser_hold(parser, packet, time_ns) == NULL;
		}
		held -= check_released(parser, packets, time_ns);
		free(frame);
	}
	held -= check_released(parser, packets, UINT64_MAX);
	FUZZ_CHECK(held == 0);
	free(memory);
	return 0;
}
