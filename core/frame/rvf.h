/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rvf: numbers of IEEE 1722 raw video that reader and writer share.
 */
#ifndef LULL_RVF_H
#define LULL_RVF_H

#include <lull/frame.h>

#define RVF_ETHER_TYPE 0x22f0
#define RVF_SUBTYPE 0x07
#define RVF_HEADER_BYTES 32 /* of which the last 8 count as stream data */
#define RVF_DATA_AT 24
#define RVF_LINES_MAX 15
#define RVF_USER 15 /* depth and format that both ends agree upon otherwise */

/** How a pixel is told: depth, format and colour space. */
struct rvf_pixel {
	uint8_t depth, format, colour;
};
struct rvf_pixel lull_rvf_code(enum lull_pixel pixel);
/** LULL_PIXEL_UNKNOWN: not read here, or up to the user. */
enum lull_pixel lull_rvf_pixel(struct rvf_pixel code);

#endif
