/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Probe: where things lie in the frames of lull_probe_write().
 */
#ifndef LULL_PROBE_H
#define LULL_PROBE_H

#include <assert.h>

#include <lull/traffic.h>

#define LULL_PROBE_IPV4_OFFSET 14
#define LULL_PROBE_UDP_OFFSET 34
#define LULL_PROBE_OFFSET 42
#define LULL_PROBE_BYTES 18
#define LULL_PROBE_VLAN_TAGS_MAX 4

static_assert(LULL_PROBE_OFFSET + LULL_PROBE_BYTES == LULL_PROBE_FRAME_MIN,
	      "the smallest frame holds a probe and nothing else");

#endif
