/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "base/reader.h"
#include "gige/gvcp.h"
#include "fuzz.h"

#define XML_BYTES 2048

/* Say what the client wants to, and give it the number of the command under way. */
static void
drain(struct lull_gvcp_client *client, uint64_t now_ns)
{
	uint8_t message[LULL_GVCP_BYTES_MAX];
	size_t len;

	for (int i = 0; (len = lull_gvcp_output(client, now_ns, message)) > 0; i++) {
		FUZZ_CHECK(len <= sizeof(message));
		FUZZ_CHECK(i < 2); /* one command under way */
	}
}

/*
 * A byte of flags, then answers: a byte that tells how many ms pass, two bytes of length, the
 * message. Its id is set right unless the highest bit of the first byte is set.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lull_reader reader = lull_reader_over(data, size);
	uint8_t flags = lull_reader_u8(&reader);
	struct lull_gvcp_config config = { .address = 1, .port = 2, .packet_bytes = 1400 };
	struct lull_gvcp_client client;
	struct lull_gvcp_resend resend;
	struct lull_gvcp_device device;
	uint8_t *xml = malloc(XML_BYTES);
	uint64_t now_ns = 0;

	config.xml = (flags & 1) != 0 ? xml : NULL;
	config.xml_bytes_max = XML_BYTES;
	config.extended_ids = (flags & 2) != 0;
	if (xml == NULL || lull_gvcp_init(&client, &config) != 0)
		abort();
	lull_gvcp_start(&client, now_ns);
	while (lull_reader_left(&reader) >= 3) {
		uint8_t step = lull_reader_u8(&reader);
		size_t len = lull_reader_u16be(&reader);
		uint8_t *message;

		drain(&client, now_ns);
		len = LULL_MIN(len, lull_reader_left(&reader));
		message = malloc(len + (len == 0));
		if (message == NULL)
			abort();
		if (len > 0)
			memcpy(message, data + reader.offset, len);
		reader.offset += len;
		if (step < 128 && len >= LULL_GVCP_HEADER_BYTES) {
			message[6] = (uint8_t)(client.asked >> 8);
			message[7] = (uint8_t)client.asked;
		}
		lull_gvcp_input(&client, now_ns, message, len);
		(void)lull_gvcp_read_resend(message, len, &resend);
		(void)lull_gvcp_read_discovery(message, len, &device);
		free(message);
		now_ns += (step & 127) * LULL_NS_PER_MS;
		if (step == 127)
			lull_gvcp_stop(&client, now_ns);
		FUZZ_CHECK(client.xml_there <= XML_BYTES);
	}
	drain(&client, now_ns);
	free(xml);
	return 0;
}
