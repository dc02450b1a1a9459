/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fixed: a window that stays as it is, to compare with.
 *
 * It fills whatever queue there is and loses what does not fit, as links do whose senders know no
 * congestion control.
 */
#include "control.h"

struct fixed {
	uint32_t window_pkts;
};
_Static_assert(sizeof(struct fixed) <= BUNDLE_CONTROL_STATE, "state of fixed");

static void
fixed_init(void *state, const struct bundle_control_limits *limits, uint32_t share)
{
	struct fixed *fixed = state;

	(void)share; /* a constant also for a path that returns */
	fixed->window_pkts =
		LULL_CLAMP(limits->fixed_pkts, BUNDLE_WINDOW_PKTS_MIN, limits->window_pkts_max);
}

static void
fixed_round(void *state, const struct bundle_round *round)
{
	(void)state;
	(void)round;
}

static void
fixed_timeout(void *state)
{
	(void)state;
}

static uint32_t
fixed_window(const void *state)
{
	const struct fixed *fixed = state;

	return fixed->window_pkts;
}

const struct lull_bundle_control bundle_control_fixed = {
	.name = "fixed",
	.summary = "a window that never changes, to compare with",
	.init = fixed_init,
	.round = fixed_round,
	.timeout = fixed_timeout,
	.window = fixed_window,
};
