/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "fwd.h"

static const char *const end_names[] = {
	[FWD_END_SIGNAL] = "signal",
	[FWD_END_DURATION] = "duration",
};

static void
put_count(void *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, lull_result_real(value));
}

static void
put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

static json_t *
result_settings(struct fwd *fwd)
{
	json_t *object;

	pthread_mutex_lock(&fwd->lock);
	object = lull_result_settings(&fwd_program, &fwd->settings);
	pthread_mutex_unlock(&fwd->lock);
	return object;
}

static json_t *
result_port(const struct lull_port *port)
{
	json_t *object = json_object();

	put_text(object, "name", port->name);
	put_text(object, "driver", port->driver);
	put_count(object, "queues", port->queues);
	put_count(object, "ring", port->ring_pkts);
	put_count(object, "link_mbps", port->link_mbps);
	json_object_set_new(object, "hardware", json_boolean(port->hardware));
	json_object_set_new(object, "interrupt", json_boolean(port->interrupt));
	put_count(object, "missed", lull_port_missed(port));
	return object;
}

static json_t *
result_verdict(const struct lull_loop_snapshot *snapshot)
{
	const struct lull_verdict *verdict = &snapshot->verdict;
	json_t *object = json_object();
	char text[256];

	put_text(object, "state", lull_verdict_state_name(verdict->state));
	put_text(object, "binding", lull_bound_name(verdict->binding));
	put_text(object, "depth", lull_rest_depth_name(verdict->depth));
	put_count(object, "rest_ns", verdict->rest_ns);
	put_count(object, "latency_bound_ns", verdict->latency_bound_ns);
	put_count(object, "ring_bound_ns", verdict->ring_bound_ns);
	put_count(object, "break_even_ns", verdict->break_even_ns);
	put_count(object, "predicted_ns", verdict->predicted_ns);
	put_count(object, "predicted_cpu_ppm", verdict->predicted_cpu_ppm);
	put_count(object, "overshoot_p50_ns", verdict->overshoot_p50_ns);
	put_count(object, "overshoot_p99_ns", verdict->overshoot_p99_ns);
	put_count(object, "overshoot_p9999_ns", verdict->overshoot_p9999_ns);
	put_count(object, "cost_ns", verdict->cost_ns);
	put_count(object, "load_ppm", verdict->load_ppm);
	put_count(object, "resting_ppm", verdict->resting_ppm);
	put_count(object, "arrival_pps", verdict->arrival_pps);
	put_text(object, "envelope", lull_envelope_name(verdict->envelope));
	put_count(object, "pps_max", verdict->pps_max);
	put_count(object, "late_ppm", verdict->late_ppm);
	put_count(object, "stall_ppm", verdict->stall_ppm);
	put_count(object, "stall_rate", verdict->stall_rate);
	put_count(object, "stall_ns", verdict->stall_ns);
	put_text(object, "text",
		 lull_verdict_explain(verdict, &snapshot->limits, text, sizeof(text)));
	return object;
}

/* CPU time and stolen time since the start: the loop has stopped, its thread is still there. */
static void
result_cpu(const struct fwd *fwd, uint32_t index, json_t *object)
{
	const struct fwd_begin *begin = &fwd->begin[index];
	const struct lull_loop *loop = fwd->loops[index];
	uint64_t cpu_ns = lull_thread_cpu_ns(lull_loop_tid(loop)) - begin->cpu_ns;
	uint64_t span_ns = LULL_MAX(fwd->end_ns - begin->now_ns, 1);

	put_count(object, "thread_cpu_ns", cpu_ns);
	put_real(object, "cpu_pct", 100 * (double)cpu_ns / (double)span_ns);
	put_count(object, "steal_ns", lull_steal_ns(lull_loop_cpu(loop)) - begin->steal_ns);
}

static json_t *
result_loop(const struct fwd *fwd, uint32_t index)
{
	const struct lull_loop *loop = fwd->loops[index];
	const struct lull_counter_info *stage_table;
	struct lull_rest_thread_info class;
	struct lull_loop_snapshot snapshot;
	const void *stage_counters;
	json_t *object = json_object();
	uint64_t missed, nombuf;

	lull_loop_snapshot(loop, &snapshot);
	put_text(object, "name", lull_loop_name(loop));
	put_text(object, "kind", lull_loop_kind(loop));
	put_count(object, "cpu", (uint64_t)lull_loop_cpu(loop));
	put_text(object, "governor", lull_idle_governor_name(snapshot.governor));
	put_count(object, "window", snapshot.window);
	result_cpu(fwd, index, object);
	lull_loop_class(loop, &class);
	lull_result_put_class(object, &class);
	lull_result_put_table(object, lull_idle_counter_table, lull_loop_counters(loop));
	stage_table = lull_loop_stage_counters(loop, &stage_counters);
	lull_result_put_table(object, stage_table, stage_counters);
	lull_loop_missed(loop, &missed, &nombuf);
	put_count(object, "rx_missed", missed);
	put_count(object, "rx_nombuf", nombuf);
	put_count(object, "empty_ppm", lull_idle_empty_ppm(lull_loop_counters(loop)));
	put_count(object, "usage_ppm", lull_idle_usage_ppm(lull_loop_counters(loop)));
	json_object_set_new(object, "wait_ns",
			    lull_result_histogram(lull_loop_wait_histogram(loop)));
	json_object_set_new(object, "real_rest_ns",
			    lull_result_histogram(lull_loop_rest_histogram(loop)));
	json_object_set_new(object, "verdict", result_verdict(&snapshot));
	return object;
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
		lull_result_histogram(lull_traffic_histogram(state, LULL_TRAFFIC_LATENCY)));
	json_object_set_new(object, "sink_gap_ns",
			    lull_result_histogram(lull_traffic_histogram(state, LULL_TRAFFIC_GAP)));
	return object;
}

json_t *
fwd_result(struct fwd *fwd)
{
	json_t *result = json_object(), *list;

	if (result == NULL)
		return NULL;
	put_text(result, "program", fwd_program.name);
	put_text(result, "version", fwd_program.version);
	put_text(result, "end", end_names[fwd->end]);
	put_real(result, "duration_s", (double)(fwd->end_ns - fwd->begin_ns) / LULL_NS_PER_S);
	json_object_set_new(result, "machine", lull_result_machine(lull_engine_dpdk_version()));
	json_object_set_new(result, "settings", result_settings(fwd));
	list = json_array();
	for (uint32_t i = 0; i < fwd->port_count; i++)
		json_array_append_new(list, result_port(&fwd->ports[i]));
	json_object_set_new(result, "ports", list);
	list = json_array();
	for (uint32_t i = 0; i < fwd->loop_count; i++)
		json_array_append_new(list, result_loop(fwd, i));
	json_object_set_new(result, "loops", list);
	json_object_set_new(result, "traffic", result_traffic(fwd->traffic));
	return result;
}
