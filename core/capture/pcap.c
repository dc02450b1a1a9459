/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "pcap.h"

#define MAGIC_US 0xa1b2c3d4U
#define MAGIC_NS 0xa1b23c4dU
#define VERSION_MAJOR 2
#define VERSION_MINOR_MIN 3 /* before, the two lengths of a record stood the other way round */
#define EXPONENT_US 6
#define EXPONENT_NS 9

enum lull_capture_result
lull_pcap_open(struct lull_capture *capture)
{
	struct lull_reader reader = lull_capture_rest(capture);
	struct lull_capture_interface *interface = &capture->interfaces[0];
	struct lull_reader swapped = reader;
	uint32_t magic = lull_reader_u32le(&reader);
	uint32_t magic_big = lull_reader_u32be(&swapped);
	uint16_t major, minor;

	capture->big_endian = magic_big == MAGIC_US || magic_big == MAGIC_NS;
	if (capture->big_endian)
		magic = magic_big;
	if (magic != MAGIC_US && magic != MAGIC_NS)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "neither pcap nor pcapng");
	major = lull_capture_u16(capture, &reader);
	minor = lull_capture_u16(capture, &reader);
	lull_reader_skip(&reader, 8); /* time zone and accuracy: zero in practice */
	interface->snap_bytes = lull_capture_u32(capture, &reader);
	interface->link_type = (uint16_t)lull_capture_u32(capture, &reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside its header");
	if (major != VERSION_MAJOR || minor < VERSION_MINOR_MIN)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "pcap version is not 2.3 or 2.4");
	interface->exponent = magic == MAGIC_NS ? EXPONENT_NS : EXPONENT_US;
	capture->interface_count = 1;
	capture->offset += reader.offset;
	return LULL_CAPTURE_PACKET;
}

enum lull_capture_result
lull_pcap_next(struct lull_capture *capture, struct lull_capture_packet *packet)
{
	const struct lull_capture_interface *interface = &capture->interfaces[0];
	struct lull_reader reader = lull_capture_rest(capture);
	uint64_t seconds, fraction;

	if (lull_reader_left(&reader) == 0)
		return LULL_CAPTURE_END;
	seconds = lull_capture_u32(capture, &reader);
	fraction = lull_capture_u32(capture, &reader);
	packet->captured_bytes = lull_capture_u32(capture, &reader);
	packet->original_bytes = lull_capture_u32(capture, &reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a packet header");
	if (packet->captured_bytes > LULL_CAPTURE_PACKET_BYTES_MAX)
		return lull_capture_fail(capture, LULL_CAPTURE_MALFORMED,
					 "captured length is beyond all reason");
	packet->data = reader.data + reader.offset;
	lull_reader_skip(&reader, packet->captured_bytes);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a packet");
	packet->timestamp_ns = seconds * LULL_NS_PER_S +
			       (interface->exponent == EXPONENT_NS ? fraction : fraction * 1000);
	packet->timed = true;
	packet->link_type = interface->link_type;
	packet->interface_index = 0;
	capture->offset += reader.offset;
	return LULL_CAPTURE_PACKET;
}
