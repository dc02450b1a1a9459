/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "pcap.h"

const char *
lull_capture_result_name(enum lull_capture_result result)
{
	switch (result) {
	case LULL_CAPTURE_PACKET:
		return "packet";
	case LULL_CAPTURE_END:
		return "end";
	case LULL_CAPTURE_TRUNCATED:
		return "truncated";
	case LULL_CAPTURE_MALFORMED:
		return "malformed";
	case LULL_CAPTURE_UNSUPPORTED:
		return "unsupported";
	}
	return "?";
}

void
lull_capture_open(struct lull_capture *capture, const uint8_t *data, size_t len)
{
	struct lull_reader reader = lull_reader_over(data, len);
	uint32_t first;

	/* What follows is written before it is read. */
	memset(capture, 0, offsetof(struct lull_capture, interfaces));
	capture->data = data;
	capture->len = len;
	first = lull_reader_u32be(&reader);
	if (reader.failed) {
		capture->result = lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
						    "file ends inside its header");
	} else if (first == LULL_PCAPNG_SECTION) {
		capture->read = lull_pcapng_next;
		capture->result = lull_pcapng_open(capture);
	} else if (first == LULL_SNOOP_FIRST) {
		capture->read = lull_snoop_next;
		capture->result = lull_snoop_open(capture);
	} else {
		capture->read = lull_pcap_next;
		capture->result = lull_pcap_open(capture);
	}
}

void
lull_capture_describe(struct lull_capture *capture, lull_capture_described *described, void *arg)
{
	capture->described = described;
	capture->described_arg = arg;
}

enum lull_capture_result
lull_capture_next(struct lull_capture *capture, struct lull_capture_packet *packet)
{
	struct lull_capture_packet found = { 0 };

	if (capture->result != LULL_CAPTURE_PACKET)
		return capture->result;
	capture->result = capture->read(capture, &found);
	if (capture->result == LULL_CAPTURE_PACKET)
		*packet = found;
	return capture->result;
}
