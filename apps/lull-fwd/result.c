/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "fwd.h"

static void
put_count(void *object, const char *key, uint64_t value)
{
	lull_result_put_count(object, key, value);
}

static json_t *
result_traffic(const struct lull_loop *loop)
{
	const void *state;
	json_t *object;

	if (loop == NULL)
		return json_null();
	state = lull_loop_stage_state(loop);
	object = json_object();
	lull_traffic_report(state, put_count, object);
	json_object_set_new(
		object, "latency_ns",
		lull_result_histogram(lull_traffic_histogram(state, LULL_TRAFFIC_LATENCY), false));
	json_object_set_new(
		object, "sink_gap_ns",
		lull_result_histogram(lull_traffic_histogram(state, LULL_TRAFFIC_GAP), false));
	return object;
}

void
fwd_result(void *state, json_t *result)
{
	const struct fwd *fwd = state;
	json_t *list = json_array();

	for (uint32_t i = 0; i < fwd->port_count; i++)
		json_array_append_new(list, lull_live_port_result(&fwd->ports[i]));
	json_object_set_new(result, "ports", list);
	json_object_set_new(result, "loops", lull_live_loops_result(&fwd->loops, fwd->run.end_ns));
	json_object_set_new(result, "traffic", result_traffic(fwd->traffic));
}
