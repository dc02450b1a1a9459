/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Planes: pictures as cameras send them, in the layouts that GStreamer has names for.
 *
 * Samples of more than 8 bits are little endian. Nothing here knows GStreamer.
 * Threads: no state.
 * Memory:  the caller's planes; each row of a plane has room for whole groups of pixels.
 */
#ifndef LULL_GST_PLANES_H
#define LULL_GST_PLANES_H

#include <lull/frame.h>

#define LULL_GST_PLANES_MAX 3

struct lull_gst_planes {
	uint8_t *data[LULL_GST_PLANES_MAX]; /* aligned for uint16_t */
	uint32_t stride[LULL_GST_PLANES_MAX];
};

/**
 * Fill planes from a picture.
 *
 * @param geometry  of the picture; valid, its pixels known
 * @param view      of interest to lull_gst_fill_rgb() alone
 */
typedef void lull_gst_fill(const struct lull_frame_geometry *geometry, const uint8_t *picture,
			   const struct lull_gst_planes *planes,
			   const struct lull_pixel_view *view);

/** The same bytes, row by row, where only the padding differs. */
lull_gst_fill lull_gst_fill_rows;
/** One plane of samples in the upper bits of 16: GRAY16_LE. */
lull_gst_fill lull_gst_fill_grey;
/** One plane of samples in their own range in 16 bits: rggb12le and its kin. */
lull_gst_fill lull_gst_fill_bayer;
/** RGB12_4175 as green, blue and red planes of 12 bits in 16: GBR_12LE. */
lull_gst_fill lull_gst_fill_gbr12;
/** UYVY12_4175 as Y U Y V in the upper 12 bits of 16: Y212_LE. */
lull_gst_fill lull_gst_fill_y212;
/** YUV420_4175 as planes Y, U and V: I420. */
lull_gst_fill lull_gst_fill_i420;
/** YUV411_4175 as planes Y, U and V: Y41B. */
lull_gst_fill lull_gst_fill_y41b;
/** Any pixels as 8-bit RGB, for the eye. */
lull_gst_fill lull_gst_fill_rgb;

#endif
