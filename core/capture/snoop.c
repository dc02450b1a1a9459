/* SPDX-License-Identifier: BSD-3-Clause */
/* Snoop files, RFC 1761; link numbers beyond it are those of Solaris, as Wireshark reads them. */
#include <string.h>

#include <lull/base.h>

#include "pcap.h"

#define SNOOP_VERSION 2
#define RECORD_BYTES 24

/* The link of a file's number as a LINKTYPE_. */
static uint16_t
snoop_link(uint32_t number)
{
	static const struct {
		uint32_t number;
		uint16_t link_type;
	} rows[] = {
		{ 0, LULL_CAPTURE_LINK_ETHERNET }, /* IEEE 802.3 */
		{ 2, 6 },                          /* token ring */
		{ 4, LULL_CAPTURE_LINK_ETHERNET }, /* Ethernet */
		{ 8, 10 },                         /* FDDI */
		{ 0x80000005, 226 },               /* ipnet(7D) */
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].number == number)
			return rows[i].link_type;
	}
	return LULL_CAPTURE_LINK_UNKNOWN;
}

enum lull_capture_result
lull_snoop_open(struct lull_capture *capture)
{
	static const uint8_t magic[8] = "snoop\0\0";
	struct lull_reader reader = lull_capture_rest(capture);
	const uint8_t *begin = lull_reader_bytes(&reader, sizeof(magic));
	uint32_t version, link;

	if (!reader.failed && memcmp(begin, magic, sizeof(magic)) != 0) {
		capture->foreign = true;
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "neither pcap nor pcapng nor snoop");
	}
	version = lull_reader_u32be(&reader);
	link = lull_reader_u32be(&reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside its header");
	if (version != SNOOP_VERSION)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "snoop, but of another version than 2");
	capture->kinds[0].link_type = snoop_link(link);
	capture->offset += reader.offset;
	return LULL_CAPTURE_PACKET;
}

enum lull_capture_result
lull_snoop_next(struct lull_capture *capture, struct lull_capture_packet *packet)
{
	struct lull_reader reader = lull_capture_rest(capture);
	uint64_t seconds, micros;
	uint32_t record_bytes;

	if (lull_reader_left(&reader) == 0)
		return LULL_CAPTURE_END;
	packet->original_bytes = lull_reader_u32be(&reader);
	packet->captured_bytes = lull_reader_u32be(&reader);
	record_bytes = lull_reader_u32be(&reader);
	lull_reader_skip(&reader, 4); /* drops so far */
	seconds = lull_reader_u32be(&reader);
	micros = lull_reader_u32be(&reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a packet header");
	if (packet->captured_bytes > LULL_CAPTURE_PACKET_BYTES_MAX)
		return lull_capture_fail(capture, LULL_CAPTURE_MALFORMED,
					 "captured length is beyond all reason");
	if (record_bytes < RECORD_BYTES + packet->captured_bytes)
		return lull_capture_fail(capture, LULL_CAPTURE_MALFORMED,
					 "packet is longer than its record");
	packet->data = reader.data + reader.offset;
	lull_reader_skip(&reader, record_bytes - RECORD_BYTES);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a packet");
	packet->timestamp_ns = seconds * LULL_NS_PER_S + micros * LULL_NS_PER_US;
	packet->timed = true;
	packet->link_type = capture->kinds[0].link_type;
	capture->offset += reader.offset;
	return LULL_CAPTURE_PACKET;
}
