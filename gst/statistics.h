/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Statistics: what a camera counts, and what is known of a frame, as GstStructures.
 *
 * Threads: any, as far as the camera's own functions go.
 * Memory:  structures belong to the caller.
 */
#ifndef LULL_GST_STATISTICS_H
#define LULL_GST_STATISTICS_H

#include <gst/gst.h>

#include <lull/camera.h>

/** Name of the element message about a partial frame. */
#define LULL_GST_FRAME_MESSAGE "lull-frame"
/** Name of the custom meta of every buffer. */
#define LULL_GST_FRAME_META "LullFrame"
#define LULL_GST_STATISTICS "lull-statistics"

/** Of the first stream: the main figures, and structures with all counters. */
GstStructure *lull_gst_statistics(struct lull_receiver *receiver);

/**
 * Put down what is known of a frame. "missing" is an array of numbers, two per hole: offset and
 * bytes in the picture as the camera sends it, which width, height, row-bytes and pixel describe.
 */
void lull_gst_describe(const struct lull_camera_image *image, GstStructure *structure);

#endif
