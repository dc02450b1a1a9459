/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Claims: which stream an Ethernet frame may be for, in constant time.
 */
#ifndef LULL_CAMERA_CLAIMS_H
#define LULL_CAMERA_CLAIMS_H

#include "backend.h"

#define CAMERA_ETHER_TYPES_MAX 8

struct camera_claims {
	uint8_t ports[65536]; /* first stream of a UDP port, plus 1 */
	uint32_t type_count;
	struct {
		uint16_t ether_type;
		uint8_t first;
	} types[CAMERA_ETHER_TYPES_MAX];
};

void camera_claims_add(struct camera_claims *claims, const struct camera_claim *claim);
/** Fill in @p packet from a frame, but for its stamp; false: it is for no stream. */
bool camera_claims_find(const struct camera_claims *claims, const uint8_t *frame, size_t len_bytes,
			struct camera_packet *packet);

#endif
