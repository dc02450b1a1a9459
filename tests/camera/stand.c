/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/rest.h>

#define FRAME_NS (33 * LULL_NS_PER_MS)
#define PACKET_NS (10 * LULL_NS_PER_US)
#define PACE_PKTS 16

/* ---- sender ---- */

uint8_t
sender_byte(uint64_t frame, uint64_t offset)
{
	return (uint8_t)((frame * 131 + offset * 7 + offset / 251) % 233);
}

void
sender_init(struct sender *sender, const char *protocol, enum lull_pixel pixel, uint32_t width,
	    uint32_t height)
{
	struct lull_packet_format format = {
		.geometry = { .width = width, .height = height, .pixel = pixel },
		.packet_bytes = STAND_PACKET_BYTES,
		.stream_id = 0x102,
		.payload_type = 96,
	};

	memset(sender, 0, sizeof(*sender));
	sender->writer = lull_packet_writer_find(protocol);
	assert_non_null(sender->writer);
	assert_int_equal(sender->writer->plan(&sender->plan, &format), 0);
	sender->picture_bytes = lull_frame_bytes(&format.geometry);
	sender->picture = malloc(sender->picture_bytes);
	assert_non_null(sender->picture);
	sender->frame_step = strcmp(protocol, "rfc4175") == 0 ? 3000 : 1;
}

void
sender_free(struct sender *sender)
{
	free(sender->picture);
}

struct lull_packet_frame
sender_frame(struct sender *sender, uint64_t number)
{
	struct lull_packet_frame frame = {
		.key = number * sender->frame_step,
		.first_packet = sender->packets,
		.device_time = number * FRAME_NS,
		.data = sender->picture,
	};

	for (uint64_t i = 0; i < sender->picture_bytes; i++)
		sender->picture[i] = sender_byte(number, i);
	sender->packets += sender->plan.count;
	return frame;
}

size_t
sender_packet(struct sender *sender, const struct lull_packet_frame *frame, uint32_t index)
{
	return sender->writer->write(&sender->plan, frame, index, sender->packet);
}

/* ---- recording ---- */

static void
recording_word(struct recording *recording, uint32_t word)
{
	fwrite(&word, sizeof(word), 1, recording->file);
}

void
recording_open(struct recording *recording)
{
	int fd;

	memset(recording, 0, sizeof(*recording));
	strcpy(recording->path, "/tmp/lull-camera-test-XXXXXX");
	fd = mkstemp(recording->path);
	assert_true(fd >= 0);
	recording->file = fdopen(fd, "wb");
	recording->now_ns = LULL_NS_PER_S;
	recording->source = 1;
	recording_word(recording, 0xa1b23c4d); /* nanoseconds */
	recording_word(recording, 4u << 16 | 2);
	recording_word(recording, 0);
	recording_word(recording, 0);
	recording_word(recording, 65535);
	recording_word(recording, 1);
}

void
recording_raw(struct recording *recording, const uint8_t *data, size_t size)
{
	recording->now_ns += PACKET_NS;
	recording_word(recording, (uint32_t)(recording->now_ns / LULL_NS_PER_S));
	recording_word(recording, (uint32_t)(recording->now_ns % LULL_NS_PER_S));
	recording_word(recording, (uint32_t)size);
	recording_word(recording, (uint32_t)size);
	fwrite(data, size, 1, recording->file);
}

static void
put_16(uint8_t **at, uint32_t value)
{
	*(*at)++ = (uint8_t)(value >> 8);
	*(*at)++ = (uint8_t)value;
}

static uint8_t *
recording_header(const struct recording *recording, uint8_t *at, uint16_t type)
{
	static const uint8_t macs[] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0 };

	memcpy(at, macs, sizeof(macs));
	at += sizeof(macs);
	*at++ = recording->source;
	for (uint32_t i = 0; i < recording->vlan; i++) {
		put_16(&at, 0x8100);
		put_16(&at, 5);
	}
	put_16(&at, type);
	return at;
}

void
recording_ethernet(struct recording *recording, uint16_t type, const uint8_t *data, size_t size)
{
	uint8_t frame[LULL_PACKET_BYTES_MAX + 64], *at = recording_header(recording, frame, type);

	memcpy(at, data, size);
	at += size;
	while (at < frame + 60) /* what Ethernet pads */
		*at++ = 0xff;
	recording_raw(recording, frame, (size_t)(at - frame));
}

void
recording_udp(struct recording *recording, uint16_t port, const uint8_t *data, size_t size)
{
	uint32_t header = 20 + 4 * recording->options;
	uint8_t packet[LULL_PACKET_BYTES_MAX + 128] = { 0 }, *at = packet;

	put_16(&at, (0x40u + header / 4) << 8);
	put_16(&at, header + 8 + (uint32_t)size);
	at += 4;
	put_16(&at, 64 << 8 | 17);
	at += 2;
	memcpy(at, (const uint8_t[]){ 192, 0, 2, recording->source, 192, 0, 2, 9 }, 8);
	at = packet + header;
	put_16(&at, 4000);
	put_16(&at, port);
	put_16(&at, 8 + (uint32_t)size);
	put_16(&at, 0);
	memcpy(at, data, size);
	recording_ethernet(recording, 0x0800, packet, header + 8 + size);
}

void
recording_frame(struct recording *recording, struct sender *sender, uint16_t port, uint64_t number,
		bool (*lost)(uint32_t index))
{
	struct lull_packet_frame frame = sender_frame(sender, number);
	const struct lull_frame_protocol *protocol = lull_frame_protocol_find(sender->writer->name);

	recording->now_ns = LULL_MAX(recording->now_ns, LULL_NS_PER_S + number * FRAME_NS);
	for (uint32_t i = 0; i < sender->plan.count; i++) {
		size_t size = sender_packet(sender, &frame, i);

		if (lost != NULL && lost(i))
			continue;
		if (protocol->ethernet)
			recording_ethernet(recording, protocol->ether_type, sender->packet, size);
		else
			recording_udp(recording, port, sender->packet, size);
	}
}

void
recording_close(struct recording *recording)
{
	assert_int_equal(fclose(recording->file), 0);
}

void
recording_remove(struct recording *recording)
{
	unlink(recording->path);
}

/* ---- camera ---- */

struct lull_camera_stream
stand_stream(const struct sender *sender, uint16_t port)
{
	return (struct lull_camera_stream){
		.protocol = sender->writer->name,
		.port = port,
		.settings = { .geometry = sender->plan.format.geometry },
	};
}

struct lull_receiver *
stand_open(const struct lull_receiver_config *config)
{
	struct lull_error error = { "" };
	struct lull_receiver *receiver;

	if (lull_receiver_open(config, &receiver, &error) != 0)
		fail_msg("open %s: %s", config->backend, error.text);
	return receiver;
}

void
stand_add(struct lull_receiver *receiver, const struct lull_camera_stream *stream)
{
	struct lull_error error = { "" };

	if (lull_receiver_stream_add(receiver, stream, &error) < 0)
		fail_msg("add: %s", error.text);
}

void
stand_start(struct lull_receiver *receiver)
{
	struct lull_error error = { "" };

	if (lull_receiver_start(receiver, &error) != 0)
		fail_msg("start: %s", error.text);
}

struct lull_receiver *
stand_capture(const struct recording *recording, const struct lull_camera_stream *stream)
{
	char backend[96];
	struct lull_receiver_config config = { .backend = backend };
	struct lull_receiver *receiver;

	snprintf(backend, sizeof(backend), "pcap:%s", recording->path);
	receiver = stand_open(&config);
	stand_add(receiver, stream);
	stand_start(receiver);
	return receiver;
}

struct lull_camera_image *
stand_get(struct lull_receiver *receiver, uint32_t stream)
{
	struct lull_camera_image *image;

	assert_int_equal(lull_receiver_get(receiver, stream, &image, STAND_WAIT_NS), 0);
	assert_non_null(image);
	return image;
}

void
stand_check_pixels(const struct lull_camera_image *image, uint64_t number)
{
	const struct lull_frame *frame = &image->frame;
	uint32_t hole = 0;

	for (uint64_t i = 0; i < frame->bytes; i++) {
		if (hole < frame->missing_count && i == frame->missing[hole].offset) {
			i += frame->missing[hole++].bytes - 1;
			continue;
		}
		if (frame->data[i] != sender_byte(number, i))
			fail_msg("frame %llu: byte %llu is %u", (unsigned long long)number,
				 (unsigned long long)i, frame->data[i]);
	}
}

struct lull_camera_counters
stand_counters(struct lull_receiver *receiver, uint32_t stream)
{
	struct lull_camera_counters counters;

	assert_int_equal(lull_receiver_counters(receiver, stream, &counters, NULL), 0);
	return counters;
}

struct lull_assembler_counters
stand_assembler(struct lull_receiver *receiver, uint32_t stream)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;

	assert_int_equal(lull_receiver_counters(receiver, stream, &counters, &assembler), 0);
	return assembler;
}

/* ---- sockets ---- */

static socklen_t
stand_address(const char *text, uint16_t port, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (strchr(text, ':') == NULL) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		assert_int_equal(inet_pton(AF_INET, text, &in->sin_addr), 1);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
	return sizeof(*in6);
}

int
stand_socket(const char *from, const char *to, uint16_t port)
{
	struct sockaddr_storage address;
	socklen_t size = stand_address(from, 0, &address);
	int fd = socket(address.ss_family, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	size = stand_address(to, port, &address);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	return fd;
}

void
stand_send(int fd, struct sender *sender, uint64_t number, bool (*lost)(uint32_t index))
{
	struct lull_packet_frame frame = sender_frame(sender, number);

	for (uint32_t i = 0; i < sender->plan.count; i++) {
		size_t size = sender_packet(sender, &frame, i);

		if (lost == NULL || !lost(i))
			assert_int_equal(send(fd, sender->packet, size, 0), size);
		if (i % PACE_PKTS == PACE_PKTS - 1)
			usleep(100);
	}
}

void
stand_wait_pkts(struct lull_receiver *receiver, uint32_t stream, uint64_t least)
{
	uint64_t begin_ns = lull_clock_ns();

	while (stand_counters(receiver, stream).pkts < least) {
		if (lull_clock_ns() - begin_ns > STAND_WAIT_NS)
			fail_msg("only %llu of %llu packets came",
				 (unsigned long long)stand_counters(receiver, stream).pkts,
				 (unsigned long long)least);
		usleep(1000);
	}
}

uint16_t
stand_free_port(void)
{
	int fd = stand_socket("127.0.0.1", "127.0.0.1", 1);
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	close(fd);
	return ntohs(address.sin_port);
}
