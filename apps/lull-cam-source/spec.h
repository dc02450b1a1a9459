/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spec: the values of options that are more than a number, read and written as text.
 *
 * Each parse and print is a pair for LULL_OPTION_CUSTOM.
 * Threads: any. Memory: the caller's structs.
 */
#ifndef LULL_CAM_SOURCE_SPEC_H
#define LULL_CAM_SOURCE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

#define SPEC_LOSSES_MAX 64

/** ADDRESS[:PORT], or the six bytes of an Ethernet address. */
struct spec_address {
	bool given, ethernet;
	uint32_t ip; /**< of the host's byte order */
	uint16_t port;
	uint8_t mac[6];
};
int spec_address_parse(const char *text, void *address, struct lull_error *error);
char *spec_address_print(const void *address, char *text, size_t size);

enum spec_pace_kind { SPEC_PACE_BURST, SPEC_PACE_SPREAD, SPEC_PACE_RATE };
/** burst, spread:TIME or rate:BITS. */
struct spec_pace {
	enum spec_pace_kind kind;
	uint64_t value; /**< ns, or bits per second */
};
int spec_pace_parse(const char *text, void *pace, struct lull_error *error);
char *spec_pace_print(const void *pace, char *text, size_t size);

/** PPM, or FRAME/PACKET[-PACKET] with commas between. */
struct spec_loss {
	uint32_t ppm;
	uint32_t count;
	struct spec_lost {
		uint64_t frame;
		uint32_t first, last; /**< packets of the frame */
	} list[SPEC_LOSSES_MAX];
};
int spec_loss_parse(const char *text, void *loss, struct lull_error *error);
char *spec_loss_print(const void *loss, char *text, size_t size);

/** PPM,HOW-MUCH: packets behind which a packet is sent, or ns for which it is kept. */
struct spec_delay {
	uint32_t ppm;
	uint64_t much;
};
int spec_reorder_parse(const char *text, void *delay, struct lull_error *error);
char *spec_reorder_print(const void *delay, char *text, size_t size);
int spec_late_parse(const char *text, void *delay, struct lull_error *error);
char *spec_late_print(const void *delay, char *text, size_t size);

#endif
