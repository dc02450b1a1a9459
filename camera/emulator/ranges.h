/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ranges: which bytes of the picture a packet carries.
 *
 * Reckoned from the plan alone, so that what is logged does not come from the code under test.
 */
#ifndef LULL_EMULATOR_RANGES_H
#define LULL_EMULATOR_RANGES_H

#include "frame/packet_write.h"

#define RANGES_MAX 4096 /* of one packet: rows of a few bytes with padding between them */

struct ranges {
	uint32_t count;
	struct lull_frame_span list[RANGES_MAX];
};
/** Of packet @p index; in order of the picture, none touching another. */
void ranges_of(const struct lull_packet_plan *plan, const char *protocol, uint32_t index,
	       struct ranges *ranges);

#endif
