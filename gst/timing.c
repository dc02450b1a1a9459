/* SPDX-License-Identifier: BSD-3-Clause */
#include "timing.h"

#include <lull/base.h>

#define JUMP_NS ((int64_t)LULL_NS_PER_S)
#define FOLLOW 64 /* frames within which most of a deviation is taken over */

uint64_t
lull_gst_timing_device(struct lull_gst_timing *timing, uint64_t device_ns, uint64_t arrival_ns)
{
	int64_t seen_ns = (int64_t)(arrival_ns - device_ns), at_ns;
	int64_t off_ns = seen_ns - timing->offset_ns;

	if (!timing->begun || off_ns > JUMP_NS || off_ns < -JUMP_NS)
		timing->offset_ns = seen_ns;
	else
		timing->offset_ns += off_ns / FOLLOW;
	timing->begun = true;
	at_ns = (int64_t)(device_ns + (uint64_t)timing->offset_ns);
	return at_ns > 0 ? (uint64_t)at_ns : 0;
}
