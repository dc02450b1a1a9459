/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Control: how many packets may be under way on a path. One file each, listed in controls.c.
 *
 * A control owns BUNDLE_CONTROL_STATE bytes of the path and decides once per round (meter.h).
 */
#ifndef LULL_BUNDLE_CONTROL_H
#define LULL_BUNDLE_CONTROL_H

#include <lull/bundle.h>

#include "meter.h"

#define BUNDLE_CONTROL_STATE 64
#define BUNDLE_WINDOW_PKTS_MIN LULL_BUNDLE_QUANTUM_PKTS

struct bundle_control_limits {
	uint32_t window_pkts_max; /* of the configuration */
	uint32_t fixed_pkts;      /* of the control `fixed` */
};

struct lull_bundle_control {
	const char *name, *summary;
	/** Begin, with a window 1 / @p share as large: 1, or 8 for a path that returns. */
	void (*init)(void *state, const struct bundle_control_limits *limits, uint32_t share);
	/** A round has ended. */
	void (*round)(void *state, const struct bundle_round *round);
	/** A tail was sent again: nothing has come back for that long. */
	void (*timeout)(void *state);
	/** BUNDLE_WINDOW_PKTS_MIN..window_pkts_max. */
	uint32_t (*window)(const void *state);
};

extern const struct lull_bundle_control bundle_control_delay, bundle_control_fixed;

#endif
