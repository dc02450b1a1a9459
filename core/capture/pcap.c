/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "pcap.h"

#define MAGIC_US 0xa1b2c3d4U
#define MAGIC_NS 0xa1b23c4dU
/* Kuznetzov's: behind the lengths of a packet stand its interface, protocol and kind. */
#define MAGIC_MODIFIED 0xa1b2cd34U
#define MODIFIED_BYTES 8
#define VERSION_MAJOR 2
#define VERSION_MINOR_ORDERED 4 /* before, the two lengths of a packet may change places */
#define VERSION_MINOR_AIX 2
#define EXPONENT_US 6
#define EXPONENT_NS 9

static bool
pcap_knows(uint32_t magic)
{
	return magic == MAGIC_US || magic == MAGIC_NS || magic == MAGIC_MODIFIED;
}

/* AIX writes version 2.2 with numbers of RFC 1573 for links, and nanoseconds. */
static void
pcap_read_aix(struct lull_capture_interface *interface)
{
	static const struct {
		uint16_t written, link_type;
	} rows[] = { { 6, LULL_CAPTURE_LINK_ETHERNET }, { 9, 6 }, { 15, 10 }, { 24, 0 } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (interface->link_type != rows[i].written)
			continue;
		interface->link_type = rows[i].link_type;
		interface->exponent = EXPONENT_NS;
		return;
	}
}

enum lull_capture_result
lull_pcap_open(struct lull_capture *capture)
{
	struct lull_reader reader = lull_capture_rest(capture);
	struct lull_capture_interface *interface = &capture->kinds[0];
	struct lull_reader swapped = reader;
	uint32_t magic = lull_reader_u32le(&reader);
	uint32_t magic_big = lull_reader_u32be(&swapped);
	uint16_t major, minor;

	capture->big_endian = pcap_knows(magic_big);
	if (capture->big_endian)
		magic = magic_big;
	capture->foreign = !pcap_knows(magic);
	if (capture->foreign)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "neither pcap nor pcapng nor snoop");
	major = lull_capture_u16(capture, &reader);
	minor = lull_capture_u16(capture, &reader);
	lull_reader_skip(&reader, 8); /* time zone and accuracy: zero in practice */
	interface->snap_bytes = lull_capture_u32(capture, &reader);
	interface->link_type = (uint16_t)lull_capture_u32(capture, &reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside its header");
	if (major != VERSION_MAJOR)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "pcap, but of another version than 2");
	interface->exponent = magic == MAGIC_NS ? EXPONENT_NS : EXPONENT_US;
	if (magic == MAGIC_US && minor == VERSION_MINOR_AIX)
		pcap_read_aix(interface);
	capture->modified = magic == MAGIC_MODIFIED;
	capture->unordered = minor < VERSION_MINOR_ORDERED;
	capture->interface_count = 1;
	capture->offset += reader.offset;
	return LULL_CAPTURE_PACKET;
}

/* Of an old file the smaller length is what was captured, wherever it stands. */
static void
pcap_lengths(const struct lull_capture *capture, struct lull_capture_packet *packet)
{
	uint32_t captured = packet->captured_bytes, original = packet->original_bytes;

	if (!capture->unordered)
		return;
	packet->captured_bytes = LULL_MIN(captured, original);
	packet->original_bytes = LULL_MAX(captured, original);
}

enum lull_capture_result
lull_pcap_next(struct lull_capture *capture, struct lull_capture_packet *packet)
{
	const struct lull_capture_interface *interface = &capture->kinds[0];
	struct lull_reader reader = lull_capture_rest(capture);
	uint64_t seconds, fraction;

	if (lull_reader_left(&reader) == 0)
		return LULL_CAPTURE_END;
	seconds = lull_capture_u32(capture, &reader);
	fraction = lull_capture_u32(capture, &reader);
	packet->captured_bytes = lull_capture_u32(capture, &reader);
	packet->original_bytes = lull_capture_u32(capture, &reader);
	lull_reader_skip(&reader, capture->modified ? MODIFIED_BYTES : 0);
	pcap_lengths(capture, packet);
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
