/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Registers: what a GigE Vision client can read of a camera and write to it.
 *
 * A small memory with the bootstrap registers and those of the camera, and a description of them in
 * GenICam's XML behind. Knows no socket and no time.
 * Threads: one. Memory: the caller's struct.
 */
#ifndef LULL_EMULATOR_REGISTERS_H
#define LULL_EMULATOR_REGISTERS_H

#include "gige/gvcp_message.h"
#include "frame/packet_write.h"

#define REGISTERS_BYTES 0x1000
#define REGISTERS_XML 0x10000 /* address */
#define REGISTERS_XML_MAX 8192

/* The camera's own, as the description tells. */
#define REGISTERS_WIDTH 0x100
#define REGISTERS_HEIGHT 0x104
#define REGISTERS_PIXEL 0x108
#define REGISTERS_PAYLOAD 0x10c
#define REGISTERS_X 0x110
#define REGISTERS_Y 0x114
#define REGISTERS_MODE 0x118
#define REGISTERS_LOCKED 0x11c
#define REGISTERS_RATE 0x120
#define REGISTERS_ACQUISITION 0x124 /* 1: start, 0: stop; where aravis' fake camera has it */

#define REGISTERS_DEVICE_BYTES 248 /* that answer a discovery */
#define REGISTERS_SOURCE_PORT 0x0d1c
#define REGISTERS_FIRE 0x80000000u /* of the packet size: send a packet to try it */

struct registers {
	uint8_t memory[REGISTERS_BYTES];
	char xml[REGISTERS_XML_MAX];
	uint32_t xml_bytes;
};

void registers_init(struct registers *registers, const struct lull_packet_plan *plan, uint32_t ip,
		    uint32_t number, double rate, const char *version);
uint32_t registers_get(const struct registers *registers, uint32_t address);
void registers_set(struct registers *registers, uint32_t address, uint32_t value);
/** @p bytes of memory from @p address; NULL: there is none. */
const uint8_t *registers_read(const struct registers *registers, uint32_t address, uint32_t bytes);
/** May a client write it (what it then means is not known here)? */
bool registers_writable(uint32_t address);

#endif
