/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View statistics: how the streams do, twice a second.
 *
 * Rates are those of the last two seconds, counts and latencies those since the start.
 * Threads: one; but for view_statistics_image(), which is another one's.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_CAMERA_VIEW_STATISTICS_H
#define LULL_CAMERA_VIEW_STATISTICS_H

#include <jansson.h>
#include <stdatomic.h>

#include <lull/camera.h>

#define VIEW_STATISTICS_NS (500 * LULL_NS_PER_MS)
#define VIEW_SAMPLES 5 /* the first and the last are two seconds apart */

struct view_sample {
	uint64_t now_ns, pkts, cpu_ns, steal_ns;
	uint64_t frames[LULL_CAMERA_STREAMS_MAX], bytes[LULL_CAMERA_STREAMS_MAX];
};
struct view_statistics {
	struct view_sample samples[VIEW_SAMPLES];
	uint32_t taken;
	struct lull_histogram latency; /* of the stream at hand */
	_Atomic uint64_t missing_bytes[LULL_CAMERA_STREAMS_MAX];
};

/** An image was fetched: what is missing of it counts. */
void view_statistics_image(struct view_statistics *statistics,
			   const struct lull_camera_image *image);
/** The message; NULL: no memory. */
json_t *view_statistics_take(struct view_statistics *statistics, struct lull_receiver *receiver,
			     uint64_t now_ns);

#endif
