/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pfnc: the numbers that GigE Vision gives to pixel formats (GenICam's naming convention).
 */
#ifndef LULL_PFNC_H
#define LULL_PFNC_H

#include <lull/pixel.h>

/** LULL_PIXEL_UNKNOWN: a format that is not read here. */
enum lull_pixel lull_pfnc_pixel(uint32_t code);
/** Some numbers of YUV tell how it was made of RGB. */
enum lull_pixel_matrix lull_pfnc_matrix(uint32_t code);
/** 0: GigE Vision has no number for it. */
uint32_t lull_pfnc_code(enum lull_pixel pixel);
/** As GenICam calls it; NULL: it has no name there. */
const char *lull_pfnc_name(enum lull_pixel pixel);

#endif
