/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "flow.h"

static const char *const end_names[] = {
	[FLOW_END_INPUT] = "input",
	[FLOW_END_SIGNAL] = "signal",
	[FLOW_END_DURATION] = "duration",
};

static void
put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

/* ---- inputs ---- */

static json_t *
result_settings(struct flow *flow)
{
	json_t *object;

	pthread_mutex_lock(&flow->lock);
	object = lull_result_settings(&flow_program, &flow->settings);
	pthread_mutex_unlock(&flow->lock);
	return object;
}

static json_t *
result_ports(const struct flow *flow)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < flow->port_count; i++) {
		const struct lull_port *port = &flow->ports[i];
		json_t *object = json_object();

		put_text(object, "name", port->name);
		put_text(object, "driver", port->driver);
		put_count(object, "queues", port->queues);
		put_count(object, "ring", port->ring_pkts);
		put_count(object, "link_mbps", port->link_mbps);
		put_count(object, "missed", lull_port_missed(port));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
result_files(const struct flow *flow)
{
	const struct flow_files *files = &flow->files;
	json_t *object = json_object(), *faults = json_array();
	struct lull_error text;

	put_count(object, "count", files->file_count);
	put_count(object, "skipped", files->skipped);
	put_count(object, "pkts", files->pkts);
	put_count(object, "bytes", files->bytes);
	put_count(object, "untimed", files->untimed);
	put_count(object, "back", files->back);
	for (uint32_t i = 0; i < files->file_count; i++) {
		const char *fault = flow_files_fault(files, i, &text);

		if (fault != NULL)
			json_array_append_new(faults, lull_result_text(fault));
	}
	json_object_set_new(object, "faults", faults);
	return object;
}

/* ---- pipeline ---- */

static json_t *
result_totals(const struct flow *flow)
{
	json_t *object = json_object();

	lull_result_put_table(object, lull_export_totals_table, &flow->totals.totals);
	put_count(object, "in_flight", flow->totals.in_flight);
	put_count(object, "open", flow->totals.open);
	put_count(object, "output", flow->totals.output);
	put_count(object, "output_drops", flow->totals.output_drops);
	put_count(object, "reordered", flow->totals.reordered);
	return object;
}

static json_t *
result_conservation(const struct flow *flow)
{
	json_t *object = json_object();

	put_count(object, "checks", flow->checks);
	put_count(object, "violations", flow->violations);
	json_object_set_new(object, "first",
			    flow->violations > 0 ? lull_result_text(flow->violation) : json_null());
	return object;
}

static json_t *
result_counts(const uint64_t *counts, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, lull_result_count(LULL_COUNTER_READ(counts[i])));
	return list;
}

static json_t *
result_dispatch(const struct flow *flow)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < flow->settings.io; i++) {
		const struct lull_dispatch_counters *counters =
			lull_pipeline_dispatch(flow->pipeline, i);
		json_t *object = json_object();

		lull_result_put_table(object, lull_dispatch_counter_table, counters);
		json_object_set_new(object, "worker_pkts",
				    result_counts(counters->worker_pkts, flow->settings.workers));
		json_object_set_new(object, "shadow_pkts",
				    result_counts(counters->shadow_pkts, flow->settings.workers));
		lull_result_put_table(object, lull_flow_parser_counter_table,
				      lull_pipeline_parser(flow->pipeline, i));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
result_tables(const struct flow *flow)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < flow->settings.workers; i++) {
		json_t *object = json_object();

		lull_result_put_table(object, lull_flow_table_counter_table,
				      lull_pipeline_table(flow->pipeline, i));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
result_merges(const struct flow *flow)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < flow->settings.logs; i++) {
		json_t *object = json_object();

		lull_result_put_table(object, lull_flow_merge_counter_table,
				      lull_pipeline_merge(flow->pipeline, i));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
result_resequence(const struct flow *flow)
{
	const struct lull_resequence_counters *counters = lull_pipeline_resequence(flow->pipeline);
	json_t *object;

	if (counters == NULL)
		return json_null();
	object = json_object();
	lull_result_put_table(object, lull_resequence_counter_table, counters);
	json_object_set_new(object, "wait_ns",
			    lull_result_histogram(lull_pipeline_resequence_wait(flow->pipeline)));
	return object;
}

static json_t *
result_export(const struct flow *flow)
{
	json_t *object = json_object();
	struct flow_sink_counters counters;

	for (int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		json_t *inner = json_object();

		flow_sink_read(flow->sink, (enum flow_sink_kind)kind, &counters);
		lull_result_put_table(inner, flow_sink_counter_table, &counters);
		json_object_set_new(object, flow_sink_kind_name((enum flow_sink_kind)kind), inner);
	}
	return object;
}

static json_t *
result_loop(const struct flow *flow, uint32_t index)
{
	const struct flow_thread *thread = &flow->threads[index];
	const struct lull_loop *loop = thread->loop;
	const struct lull_counter_info *stage_table;
	struct lull_rest_thread_info class;
	struct lull_loop_snapshot snapshot;
	const void *stage_counters;
	json_t *object = json_object();
	uint64_t cpu_ns = lull_thread_cpu_ns(lull_loop_tid(loop)) - thread->begin_cpu_ns;
	uint64_t span_ns = LULL_MAX(flow->end_ns - thread->begin_ns, 1);

	lull_loop_snapshot(loop, &snapshot);
	put_text(object, "name", lull_loop_name(loop));
	put_text(object, "kind", lull_loop_kind(loop));
	put_count(object, "cpu", (uint64_t)lull_loop_cpu(loop));
	put_text(object, "governor", lull_idle_governor_name(snapshot.governor));
	put_count(object, "thread_cpu_ns", cpu_ns);
	json_object_set_new(object, "cpu_pct",
			    lull_result_real(100 * (double)cpu_ns / (double)span_ns));
	put_count(object, "steal_ns", lull_steal_ns(lull_loop_cpu(loop)) - thread->begin_steal_ns);
	lull_loop_class(loop, &class);
	lull_result_put_class(object, &class);
	lull_result_put_table(object, lull_idle_counter_table, lull_loop_counters(loop));
	stage_table = lull_loop_stage_counters(loop, &stage_counters);
	lull_result_put_table(object, stage_table, stage_counters);
	json_object_set_new(object, "wait_ns",
			    lull_result_histogram(lull_loop_wait_histogram(loop)));
	return object;
}

json_t *
flow_result(struct flow *flow)
{
	json_t *result = json_object(), *list = json_array();

	if (result == NULL)
		return NULL;
	put_text(result, "program", flow_program.name);
	put_text(result, "version", flow_program.version);
	put_text(result, "end", end_names[flow->end]);
	json_object_set_new(
		result, "duration_s",
		lull_result_real((double)(flow->end_ns - flow->begin_ns) / LULL_NS_PER_S));
	json_object_set_new(result, "machine", lull_result_machine(lull_engine_dpdk_version()));
	json_object_set_new(result, "ndpi",
			    lull_identify_version() != NULL ?
				    lull_result_text(lull_identify_version()) :
				    json_null());
	json_object_set_new(result, "settings", result_settings(flow));
	json_object_set_new(result, "ports", result_ports(flow));
	json_object_set_new(result, "files", result_files(flow));
	json_object_set_new(result, "totals", result_totals(flow));
	json_object_set_new(result, "conservation", result_conservation(flow));
	json_object_set_new(result, "dispatch", result_dispatch(flow));
	json_object_set_new(result, "tables", result_tables(flow));
	json_object_set_new(result, "merges", result_merges(flow));
	json_object_set_new(result, "resequence", result_resequence(flow));
	json_object_set_new(result, "export", result_export(flow));
	for (uint32_t i = 0; i < flow->thread_count; i++)
		json_array_append_new(list, result_loop(flow, i));
	json_object_set_new(result, "loops", list);
	return result;
}
