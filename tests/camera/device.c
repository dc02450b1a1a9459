/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gige/gvcp_message.h"

static uint32_t
word_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void
device_packet(struct device *device, uint64_t number, uint32_t index, bool resent)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct lull_packet_frame frame;
	size_t size;

	pthread_mutex_lock(&device->lock);
	frame = device->frame;
	frame.key = number;
	frame.resent = resent;
	size = sender_packet(&device->sender, &frame, index);
	to.sin_port = htons((uint16_t)word_at(device->registers + LULL_GVCP_REG_STREAM_PORT));
	to.sin_addr.s_addr = htonl(word_at(device->registers + LULL_GVCP_REG_STREAM_ADDRESS));
	sendto(device->stream, device->sender.packet, size, 0, (struct sockaddr *)&to, sizeof(to));
	pthread_mutex_unlock(&device->lock);
}

/* Answer one message; true: it was a request for packets. */
static void
device_answer(struct device *device, const uint8_t *message, size_t len,
	      const struct sockaddr_in *from)
{
	uint8_t answer[LULL_GVCP_BYTES_MAX], data[LULL_GVCP_MEMORY_MAX + 4] = { 0 };
	struct lull_gvcp_header header;
	struct lull_gvcp_resend resend;
	uint32_t address;
	uint16_t bytes = 4;
	size_t size;

	if (lull_gvcp_read_resend(message, len, &resend)) {
		for (uint32_t i = resend.first; i <= resend.last; i++, device->resent++)
			device_packet(device, resend.block, i, true);
		return;
	}
	if (!lull_gvcp_header_read(message, len, &header) || len < 12)
		return;
	address = word_at(message + 8) % (DEVICE_REGISTERS - LULL_GVCP_MEMORY_MAX);
	if (header.code == LULL_GVCP_WRITEREG && len >= 16) {
		pthread_mutex_lock(&device->lock);
		memcpy(device->registers + address, message + 12, 4);
		pthread_mutex_unlock(&device->lock);
		device->released |= address == LULL_GVCP_REG_CONTROL && word_at(message + 12) == 0;
		memcpy(data, (const uint8_t[]){ 0, 0, 0, 1 }, 4);
	} else if (header.code == LULL_GVCP_READREG) {
		memcpy(data, device->registers + address, 4);
	} else if (header.code == LULL_GVCP_READMEM) {
		bytes = (uint16_t)LULL_MIN(word_at(message + 12) & 0xffff, LULL_GVCP_MEMORY_MAX);
		memcpy(data, message + 8, 4);
		memcpy(data + 4, device->registers + address, bytes);
		bytes += 4;
	}
	size = lull_gvcp_write_answer(answer, 0, header.code + 1, header.id, data, bytes);
	sendto(device->control, answer, size, 0, (const struct sockaddr *)from, sizeof(*from));
}

static void *
device_run(void *arg)
{
	struct device *device = arg;
	uint8_t message[LULL_GVCP_BYTES_MAX];

	while (!__atomic_load_n(&device->stop, __ATOMIC_RELAXED)) {
		struct sockaddr_in from;
		socklen_t size = sizeof(from);
		ssize_t got = recvfrom(device->control, message, sizeof(message), 0,
				       (struct sockaddr *)&from, &size);

		if (got > 0 && !device->deaf)
			device_answer(device, message, (size_t)got, &from);
	}
	return NULL;
}

struct device *
device_open(const char *at, bool deaf)
{
	struct timeval limit = { .tv_usec = 10000 };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(LULL_GVCP_PORT) };
	struct device *device = calloc(1, sizeof(*device));
	struct sockaddr_in stream;

	device->deaf = deaf;
	pthread_mutex_init(&device->lock, NULL);
	sender_init(&device->sender, "gvsp", LULL_PIXEL_BAYER_RG12P, 640, 100);
	device->registers[LULL_GVCP_REG_PACKET_SIZE + 2] = (STAND_PACKET_BYTES + 28) >> 8;
	device->registers[LULL_GVCP_REG_PACKET_SIZE + 3] = (STAND_PACKET_BYTES + 28) & 0xff;
	inet_pton(AF_INET, at, &address.sin_addr);
	device->control = socket(AF_INET, SOCK_DGRAM, 0);
	device->stream = socket(AF_INET, SOCK_DGRAM, 0);
	stream = address; /* from elsewhere nobody would listen */
	stream.sin_port = 0;
	setsockopt(device->control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (bind(device->stream, (struct sockaddr *)&stream, sizeof(stream)) != 0 ||
	    bind(device->control, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail_msg("no camera on %s: %s", at, strerror(errno));
	assert_int_equal(pthread_create(&device->thread, NULL, device_run, device), 0);
	return device;
}

void
device_close(struct device *device)
{
	__atomic_store_n(&device->stop, true, __ATOMIC_RELAXED);
	pthread_join(device->thread, NULL);
	close(device->control);
	close(device->stream);
	sender_free(&device->sender);
	free(device);
}
