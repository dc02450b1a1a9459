/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Protocol: the tables behind lull_frame_protocols[], one per file.
 */
#ifndef LULL_PROTOCOL_H
#define LULL_PROTOCOL_H

#include <lull/frame.h>

extern const struct lull_frame_protocol lull_frame_rfc4175;
extern const struct lull_frame_protocol lull_frame_gvsp;
extern const struct lull_frame_protocol lull_frame_cmp;
extern const struct lull_frame_protocol lull_frame_rvf;

/** Begin a fragment: everything but ranges and geometry is set. */
static inline void
lull_frame_fragment_begin(struct lull_frame_fragment *fragment, uint64_t key, uint64_t packet)
{
	fragment->key = key;
	fragment->device_time = 0;
	fragment->packet = packet;
	fragment->flags = 0;
	fragment->range_count = 0;
}

#endif
