/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap-write:FILE: what is sent becomes a pcapng file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/error.h"
#include "frame.h"
#include "pcapng_block.h"

#define MTU 65535
#define BLOCK_BYTES_MAX (MTU + LULL_NET_ETHERNET_BYTES + 64)

struct pcap_write {
	FILE *file;
	struct lull_net_sent sent;
	uint8_t block[BLOCK_BYTES_MAX];
};

static void
write_close(void *state)
{
	struct pcap_write *out = state;

	fclose(out->file);
	free(out);
}

static int
write_open(const struct lull_net_config *config, const char *argument, void **state,
	   struct lull_error *error)
{
	const char *program = config->program != NULL ? config->program : "lull";
	struct pcap_write *out = calloc(1, sizeof(*out));
	size_t size;

	if (out == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a capture");
	out->file = fopen(argument, "we");
	if (out->file == NULL) {
		free(out);
		return lull_error_set(error, -errno, "pcap-write:%s: %s", argument,
				      strerror(errno));
	}
	size = lull_net_pcapng_start(out->block, program, argument);
	if (fwrite(out->block, size, 1, out->file) != 1 || fflush(out->file) != 0) {
		int rc = -errno;

		write_close(out);
		return lull_error_set(error, rc, "pcap-write:%s: %s", argument, strerror(-rc));
	}
	*state = out;
	return 0;
}

static int
write_start(void *state, struct lull_error *error)
{
	(void)state;
	(void)error;
	return 0;
}

static uint32_t
write_send(void *state, const struct lull_net_outgoing *packets, uint32_t count)
{
	struct pcap_write *out = state;
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	now_ns = (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
	for (uint32_t i = 0; i < count; i++) {
		if (lull_net_frame_mtu(&packets[i]) > MTU) {
			LULL_COUNTER_ADD(out->sent.too_long, 1);
			continue;
		}
		lull_net_pcapng_write(out->block, &packets[i], now_ns);
		if (fwrite(out->block, lull_net_pcapng_size(&packets[i]), 1, out->file) != 1) {
			LULL_COUNTER_ADD(out->sent.full, count - i);
			return i;
		}
		LULL_COUNTER_ADD(out->sent.pkts, 1);
		LULL_COUNTER_ADD(out->sent.bytes, packets[i].len_bytes);
	}
	return count;
}

static void
write_sent(void *state, struct lull_net_sent *sent)
{
	const struct pcap_write *out = state;

	lull_net_sent_read(&out->sent, sent);
}

static void
write_link(void *state, struct lull_net_link *link)
{
	(void)state;
	*link = (struct lull_net_link){ .mtu = MTU, .up = true };
}

const struct lull_net_backend lull_net_pcap_write = {
	.name = "pcap-write",
	.summary = "a capture file, for sending only",
	.polled = true,
	.file = true,
	.clock = LULL_NET_CLOCK_FILE,
	.open = write_open,
	.start = write_start,
	.send = write_send,
	.sent = write_sent,
	.link = write_link,
	.close = write_close,
};
