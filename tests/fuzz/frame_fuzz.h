/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frame fuzz: packets of one camera protocol, one after the other, through one reader.
 *
 * Four bytes configure it, then packets: two bytes of length and the packet.
 */
#ifndef LULL_FRAME_FUZZ_H
#define LULL_FRAME_FUZZ_H

#include <lull/frame.h>

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "fuzz.h"

#define FRAGMENTS_MAX 65536

static volatile uint8_t touched;

static inline void
check_fragment(const struct lull_frame_fragment *fragment)
{
	FUZZ_CHECK(fragment->range_count <= LULL_FRAME_RANGES_MAX);
	for (uint32_t i = 0; i < fragment->range_count; i++) {
		FUZZ_CHECK(fragment->ranges[i].bytes > 0);
		FUZZ_CHECK(fragment->ranges[i].offset < 1ULL << 49);
		for (uint32_t k = 0; k < fragment->ranges[i].bytes; k++)
			touched = fragment->ranges[i].data[k];
	}
	if ((fragment->flags & LULL_FRAME_GEOMETRY) != 0)
		FUZZ_CHECK(lull_frame_bytes(&fragment->geometry) != 0);
}

static inline void
feed_packet(const struct lull_frame_protocol *protocol, void *state, const uint8_t *packet,
	    size_t len)
{
	for (uint32_t i = 0; i < FRAGMENTS_MAX; i++) {
		struct lull_frame_fragment fragment;
		enum lull_frame_verdict verdict = protocol->parse(state, packet, len, &fragment);

		FUZZ_CHECK((unsigned int)verdict < LULL_FRAME_VERDICT_COUNT);
		if (verdict != LULL_FRAME_FRAGMENT)
			return;
		check_fragment(&fragment);
		if ((fragment.flags & LULL_FRAME_MORE) == 0)
			return;
	}
	FUZZ_CHECK(false); /* fragments without end */
}

static inline int
feed(const char *name, const uint8_t *data, size_t size)
{
	const struct lull_frame_protocol *protocol = lull_frame_protocol_find(name);
	struct lull_reader reader = lull_reader_over(data, size);
	uint8_t flags = lull_reader_u8(&reader);
	struct lull_frame_protocol_config config = {
		.interlaced = (flags & 1) != 0,
		.field_rows = (flags & 2) != 0,
		.packet_bytes = (flags & 4) != 0 ? 100 : 0,
		.geometry = { .pixel =
				      (enum lull_pixel)(lull_reader_u8(&reader) % LULL_PIXEL_COUNT),
			      .width = lull_reader_u8(&reader),
			      .height = lull_reader_u8(&reader) },
	};
	void *state = calloc(1, protocol->state_size);

	if (state == NULL)
		abort();
	if (protocol->init(state, &config) == 0)
		while (lull_reader_left(&reader) >= 2) {
			size_t len = lull_reader_u16be(&reader);
			uint8_t *packet;

			len = LULL_MIN(len, lull_reader_left(&reader));
			packet = malloc(len + (len == 0)); /* just its size */
			if (packet == NULL)
				abort();
			if (len > 0)
				memcpy(packet, data + reader.offset, len);
			reader.offset += len;
			feed_packet(protocol, state, packet, len);
			free(packet);
		}
	free(state);
	return 0;
}

#endif
