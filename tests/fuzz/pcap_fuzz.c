/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/capture.h>

#include "fuzz.h"

static volatile uint8_t touched;

/* Read all packets, touch every byte a view promises. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lull_capture capture;
	struct lull_capture_packet packet;
	uint64_t pkt_count = 0;

	lull_capture_open(&capture, data, size);
	while (lull_capture_next(&capture, &packet) == LULL_CAPTURE_PACKET) {
		for (uint32_t i = 0; i < packet.captured_bytes; i++)
			touched = packet.data[i];
		FUZZ_CHECK(++pkt_count <= size / 12);
		FUZZ_CHECK(packet.captured_bytes <= LULL_CAPTURE_PACKET_BYTES_MAX);
	}
	FUZZ_CHECK(capture.offset <= size);
	FUZZ_CHECK((capture.result == LULL_CAPTURE_END) == (capture.reason == NULL));
	return 0;
}
