/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/idle.h>

#include "case.h"

TEST(idle_state_name__of_each)
{
	assert_string_equal(lull_idle_state_name(LULL_IDLE_NONE), "none");
	assert_string_equal(lull_idle_state_name(LULL_IDLE_PAUSE), "pause");
	assert_string_equal(lull_idle_state_name(LULL_IDLE_MONITOR), "monitor");
	assert_string_equal(lull_idle_state_name(LULL_IDLE_SLEEP), "sleep");
	assert_string_equal(lull_idle_state_name(LULL_IDLE_INTERRUPT), "interrupt");
}

TEST(envelope_name__of_each)
{
	assert_string_equal(lull_envelope_name(LULL_ENVELOPE_LINK), "link");
	assert_string_equal(lull_envelope_name(LULL_ENVELOPE_STATED), "stated");
	assert_string_equal(lull_envelope_name(LULL_ENVELOPE_LEARNED), "learned");
}

TEST(record_layout_name__of_each)
{
	assert_string_equal(lull_record_layout_name(LULL_RECORD_LINKED), "linked");
	assert_string_equal(lull_record_layout_name(LULL_RECORD_ARRAY), "array");
	assert_string_equal(lull_record_layout_name(LULL_RECORD_SEGMENTS), "segments");
}

TEST(verdict_state_name__of_each)
{
	assert_string_equal(lull_verdict_state_name(LULL_VERDICT_NONE), "none");
	assert_string_equal(lull_verdict_state_name(LULL_VERDICT_CALIBRATING), "calibrating");
	assert_string_equal(lull_verdict_state_name(LULL_VERDICT_FEASIBLE), "feasible");
	assert_string_equal(lull_verdict_state_name(LULL_VERDICT_INFEASIBLE), "infeasible");
	assert_string_equal(lull_verdict_state_name(LULL_VERDICT_SUSPENDED), "suspended");
}

TEST(bound_name__of_each)
{
	assert_string_equal(lull_bound_name(LULL_BOUND_NONE), "none");
	assert_string_equal(lull_bound_name(LULL_BOUND_LATENCY), "latency");
	assert_string_equal(lull_bound_name(LULL_BOUND_RING), "ring");
	assert_string_equal(lull_bound_name(LULL_BOUND_CAP), "cap");
	assert_string_equal(lull_bound_name(LULL_BOUND_BREAK_EVEN), "break-even");
	assert_string_equal(lull_bound_name(LULL_BOUND_OVERSHOOT), "overshoot");
}
