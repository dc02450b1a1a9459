/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Timing: the clock of a camera beside the one of the pipeline.
 *
 * Threads: one at a time. Memory: the caller's struct, zero at the start.
 */
#ifndef LULL_GST_TIMING_H
#define LULL_GST_TIMING_H

#include <stdbool.h>
#include <stdint.h>

struct lull_gst_timing {
	bool begun;
	int64_t offset_ns; /* from the camera's clock to the pipeline's */
};

/**
 * When a frame was, in the pipeline's time: the distances are those of the camera's clock, and its
 * drift is followed slowly. A clock that jumps by over a second begins anew.
 *
 * @param device_ns   by the camera's clock
 * @param arrival_ns  when it came, by the pipeline's clock
 */
uint64_t lull_gst_timing_device(struct lull_gst_timing *timing, uint64_t device_ns,
				uint64_t arrival_ns);

#endif
