/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Format: what GStreamer calls the pixels of cameras, and where it wants them.
 *
 * Threads: constant data.
 * Memory:  caps belong to the caller.
 */
#ifndef LULL_GST_FORMAT_H
#define LULL_GST_FORMAT_H

#include <gst/gst.h>

#include "planes.h"

struct lull_gst_format {
	const char *media;   /* "video/x-raw", or "video/x-bayer" */
	const char *name;    /* as in caps */
	lull_gst_fill *fill; /* into the default layout */
	bool same;           /* rows are as the camera sends them, short of padding */
};

/** Pixels as they are; NULL: GStreamer has no name for them. */
const struct lull_gst_format *lull_gst_format(enum lull_pixel pixel);
/** Any pixels for the eye. */
extern const struct lull_gst_format lull_gst_format_rgb;

/** How elements expect planes that come without a GstVideoMeta. */
struct lull_gst_layout {
	uint32_t plane_count;
	gsize offset[LULL_GST_PLANES_MAX], size;
	uint32_t stride[LULL_GST_PLANES_MAX];
};
void lull_gst_format_layout(const struct lull_gst_format *format, uint32_t width, uint32_t height,
			    struct lull_gst_layout *layout);

bool lull_gst_format_raw(const struct lull_gst_format *format);
/** Caps of pictures of this size, at any frame rate. */
GstCaps *lull_gst_format_caps(const struct lull_gst_format *format,
			      const struct lull_frame_geometry *geometry, bool interlaced);
/** Everything that may come. */
GstCaps *lull_gst_format_all(void);

#endif
