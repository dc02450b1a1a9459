/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: a sender of known pictures, into a capture file or a socket, and a camera that reads it.
 */
#ifndef LULL_TEST_CAMERA_STAND_H
#define LULL_TEST_CAMERA_STAND_H

#include <stdio.h>
#include <string.h>

#include <lull/camera.h>

#include "case.h"
#include "frame/packet_write.h"

#define STAND_PACKET_BYTES 1400
#define STAND_WAIT_NS (20 * LULL_NS_PER_S) /* generous: the machine may be busy */

/** Pictures that a test can tell: each byte by frame and offset. */
struct sender {
	struct lull_packet_plan plan;
	const struct lull_packet_writer *writer;
	uint64_t picture_bytes, packets, frame_step;
	uint8_t *picture;
	uint8_t packet[LULL_PACKET_BYTES_MAX];
};
void sender_init(struct sender *sender, const char *protocol, enum lull_pixel pixel, uint32_t width,
		 uint32_t height);
void sender_free(struct sender *sender);
uint8_t sender_byte(uint64_t frame, uint64_t offset);
/** Prepare frame @p number: 1, 2 ... */
struct lull_packet_frame sender_frame(struct sender *sender, uint64_t number);
/** Of the frame prepared last; length of the packet in sender->packet. */
size_t sender_packet(struct sender *sender, const struct lull_packet_frame *frame, uint32_t index);

/** A capture being written. */
struct recording {
	FILE *file;
	char path[64];
	uint64_t now_ns;
	uint32_t vlan;    /* tags per frame */
	uint32_t options; /* words of IPv4 options */
	uint8_t source;   /* last byte of the sender's address 192.0.2.x */
};
void recording_open(struct recording *recording);
void recording_udp(struct recording *recording, uint16_t port, const uint8_t *data, size_t size);
void recording_ethernet(struct recording *recording, uint16_t type, const uint8_t *data,
			size_t size);
void recording_raw(struct recording *recording, const uint8_t *data, size_t size);
/** Send a frame; packets of which @p lost says so are left out. NULL: none. */
void recording_frame(struct recording *recording, struct sender *sender, uint16_t port,
		     uint64_t number, bool (*lost)(uint32_t index));
void recording_close(struct recording *recording);
void recording_remove(struct recording *recording);

/** A stream as @p sender sends it to UDP @p port. */
struct lull_camera_stream stand_stream(const struct sender *sender, uint16_t port);
/** Open, fails the test with the reason. */
struct lull_receiver *stand_open(const struct lull_receiver_config *config);
void stand_add(struct lull_receiver *receiver, const struct lull_camera_stream *stream);
void stand_start(struct lull_receiver *receiver);
struct lull_receiver *stand_capture(const struct recording *recording,
				    const struct lull_camera_stream *stream);
/** The next image, which must come. */
struct lull_camera_image *stand_get(struct lull_receiver *receiver, uint32_t stream);
/** Every byte that is not missing is that of frame @p number. */
void stand_check_pixels(const struct lull_camera_image *image, uint64_t number);
struct lull_camera_counters stand_counters(struct lull_receiver *receiver, uint32_t stream);
struct lull_assembler_counters stand_assembler(struct lull_receiver *receiver, uint32_t stream);

/** A UDP socket that sends from an address of loopback ("127.0.0.1", "::1") to the same. */
int stand_socket(const char *from, const char *to, uint16_t port);
/** Send a frame; packets of which @p lost says so are left out. NULL: none. */
void stand_send(int fd, struct sender *sender, uint64_t number, bool (*lost)(uint32_t index));
/** Until @p counter of a stream is at least @p least. */
void stand_wait_pkts(struct lull_receiver *receiver, uint32_t stream, uint64_t least);
/** A UDP port of 127.0.0.1 that was free a moment ago. */
uint16_t stand_free_port(void);

#endif
