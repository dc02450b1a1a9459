/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gvcp message: the messages of the GigE Vision control protocol, byte by byte.
 *
 * For both ends: client (gvcp.h) and sender program. Numbers are the most significant byte first.
 */
#ifndef LULL_GVCP_MESSAGE_H
#define LULL_GVCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LULL_GVCP_PORT 3956
#define LULL_GVCP_HEADER_BYTES 8
#define LULL_GVCP_BYTES_MAX 548  /* of a message */
#define LULL_GVCP_MEMORY_MAX 512 /* read at once */

#define LULL_GVCP_DISCOVERY 0x0002
#define LULL_GVCP_RESEND 0x0040
#define LULL_GVCP_READREG 0x0080
#define LULL_GVCP_WRITEREG 0x0082
#define LULL_GVCP_READMEM 0x0084
#define LULL_GVCP_WRITEMEM 0x0086
#define LULL_GVCP_PENDING 0x0088 /* answers are command + 1 */

#define LULL_GVCP_REG_XML_URL 0x0200
#define LULL_GVCP_REG_CAPABILITY 0x0934
#define LULL_GVCP_REG_HEARTBEAT 0x0938 /* ms */
#define LULL_GVCP_REG_TICKS_HIGH 0x093c
#define LULL_GVCP_REG_TICKS_LOW 0x0940
#define LULL_GVCP_REG_STREAM_CONFIG 0x0960
#define LULL_GVCP_REG_CONTROL 0x0a00
#define LULL_GVCP_REG_STREAM_PORT 0x0d00
#define LULL_GVCP_REG_PACKET_SIZE 0x0d04
#define LULL_GVCP_REG_STREAM_ADDRESS 0x0d18
#define LULL_GVCP_REG_STREAM_SOURCE 0x0d1c /* UDP port that the camera sends from */
#define LULL_GVCP_CHANNEL_STEP 0x40        /* from one stream channel's registers to the next */

#define LULL_GVCP_CAN_RESEND 0x4u
#define LULL_GVCP_CONTROL_EXCLUSIVE 0x1u
#define LULL_GVCP_CONTROL_ACCESS 0x2u
#define LULL_GVCP_DO_NOT_FRAGMENT 0x40000000u
#define LULL_GVCP_EXTENDED_IDS 0x40000000u

struct lull_gvcp_header {
	bool command;    /* else an answer */
	uint8_t flags;   /* of a command */
	uint16_t status; /* of an answer */
	uint16_t code, bytes, id;
};
/** false: no GVCP message, or shorter than it says. */
bool lull_gvcp_header_read(const uint8_t *message, size_t len, struct lull_gvcp_header *header);

struct lull_gvcp_register {
	uint32_t address, value;
};
/* Each returns the length of the message. */
size_t lull_gvcp_write_answer(uint8_t *message, uint16_t status, uint16_t code, uint16_t id,
			      const uint8_t *data, uint16_t bytes);
size_t lull_gvcp_write_readreg(uint8_t *message, uint16_t id, uint32_t address);
size_t lull_gvcp_write_writereg(uint8_t *message, uint16_t id, struct lull_gvcp_register reg);
size_t lull_gvcp_write_readmem(uint8_t *message, uint16_t id, uint32_t address, uint16_t bytes);
/** @p bytes: a multiple of 4 up to LULL_GVCP_MEMORY_MAX. */
size_t lull_gvcp_write_writemem(uint8_t *message, uint16_t id, uint32_t address,
				const uint8_t *data, uint16_t bytes);
/** To all (@p broadcast: cameras of other subnets may answer by broadcast) or to one. */
size_t lull_gvcp_write_discovery(uint8_t *message, uint16_t id, bool broadcast);

/** Packets @p first to @p last of a block. */
struct lull_gvcp_resend {
	uint16_t channel;
	bool extended; /* 64 bit ids */
	uint64_t block;
	uint32_t first, last;
};
size_t lull_gvcp_write_resend(uint8_t *message, uint16_t id, const struct lull_gvcp_resend *resend);
/** false: no request for packets, or first is above last. */
bool lull_gvcp_read_resend(const uint8_t *message, size_t len, struct lull_gvcp_resend *resend);

/** What a camera says of itself; texts end with 0. */
struct lull_gvcp_device {
	uint8_t mac[6];
	uint32_t address;
	char maker[33], model[33], version[33], serial[17], name[17];
};
/** false: not the answer to a discovery. */
bool lull_gvcp_read_discovery(const uint8_t *message, size_t len, struct lull_gvcp_device *device);

#endif
