/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/idle.h>

#include "base/assert.h"

const char *
lull_idle_state_name(enum lull_idle_state idle_state)
{
	static const char *const names[LULL_IDLE_STATE_COUNT] = {
		[LULL_IDLE_NONE] = "none",           [LULL_IDLE_PAUSE] = "pause",
		[LULL_IDLE_MONITOR] = "monitor",     [LULL_IDLE_SLEEP] = "sleep",
		[LULL_IDLE_INTERRUPT] = "interrupt",
	};

	LULL_ASSERT(idle_state < LULL_IDLE_STATE_COUNT);
	return names[idle_state];
}

const char *
lull_envelope_name(enum lull_envelope envelope)
{
	static const char *const names[] = {
		[LULL_ENVELOPE_LINK] = "link",
		[LULL_ENVELOPE_STATED] = "stated",
		[LULL_ENVELOPE_LEARNED] = "learned",
	};

	LULL_ASSERT(envelope <= LULL_ENVELOPE_STATED);
	return names[envelope];
}

const char *
lull_record_layout_name(enum lull_record_layout layout)
{
	static const char *const names[] = {
		[LULL_RECORD_LINKED] = "linked",
		[LULL_RECORD_ARRAY] = "array",
		[LULL_RECORD_SEGMENTS] = "segments",
	};

	LULL_ASSERT(layout <= LULL_RECORD_SEGMENTS);
	return names[layout];
}

const char *
lull_verdict_state_name(enum lull_verdict_state state)
{
	static const char *const names[] = {
		[LULL_VERDICT_NONE] = "none",           [LULL_VERDICT_CALIBRATING] = "calibrating",
		[LULL_VERDICT_FEASIBLE] = "feasible",   [LULL_VERDICT_INFEASIBLE] = "infeasible",
		[LULL_VERDICT_SUSPENDED] = "suspended",
	};

	LULL_ASSERT(state <= LULL_VERDICT_SUSPENDED);
	return names[state];
}

const char *
lull_bound_name(enum lull_bound bound)
{
	static const char *const names[] = {
		[LULL_BOUND_NONE] = "none",
		[LULL_BOUND_LATENCY] = "latency",
		[LULL_BOUND_RING] = "ring",
		[LULL_BOUND_CAP] = "cap",
		[LULL_BOUND_BREAK_EVEN] = "break-even",
		[LULL_BOUND_OVERSHOOT] = "overshoot",
	};

	LULL_ASSERT(bound <= LULL_BOUND_OVERSHOOT);
	return names[bound];
}
