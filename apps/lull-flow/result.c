/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "flow.h"

/* ---- inputs ---- */

static json_t *
result_ports(const struct flow *flow)
{
	json_t *list = json_array(), *port;

	for (uint32_t i = 0; i < flow->port_count; i++) {
		port = lull_live_port_result(&flow->ports[i]);
		lull_result_put_count(port, "interface", flow->ports[i].port_id + 1u);
		json_array_append_new(list, port);
	}
	return list;
}

static json_t *
result_files(const struct flow *flow)
{
	const struct flow_files *files = &flow->files;
	json_t *object = json_object(), *faults = json_array();
	struct lull_error text;

	lull_result_put_count(object, "count", files->file_count);
	lull_result_put_count(object, "skipped", files->skipped);
	lull_result_put_count(object, "pkts", files->pkts);
	lull_result_put_count(object, "bytes", files->bytes);
	lull_result_put_count(object, "untimed", files->stamps.untimed);
	lull_result_put_count(object, "back", files->stamps.back);
	lull_result_put_count(object, "wild", files->stamps.wild);
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

	lull_result_put_table(object, lull_encode_totals_table, &flow->totals.totals);
	lull_result_put_count(object, "in_flight", flow->totals.in_flight);
	lull_result_put_count(object, "open", flow->totals.open);
	lull_result_put_count(object, "output", flow->totals.output);
	lull_result_put_count(object, "output_drops", flow->totals.output_drops);
	lull_result_put_count(object, "reordered", flow->totals.reordered);
	return object;
}

static json_t *
result_late(const struct flow *flow)
{
	json_t *object = json_object(), *list = json_array();
	struct lull_pipeline_late late;

	lull_pipeline_late(flow->pipeline, &late);
	for (uint32_t i = 0; i < flow->settings.workers; i++) {
		json_t *worker = json_object();

		lull_result_put_count(worker, "times", late.times[i]);
		lull_result_put_count(worker, "ns", late.ns[i]);
		json_array_append_new(list, worker);
	}
	lull_result_put_count(object, "records", late.records);
	lull_result_put_count(object, "parts", late.parts);
	lull_result_put_count(object, "behind", late.behind);
	json_object_set_new(object, "workers", list);
	return object;
}

static json_t *
result_conservation(const struct flow *flow)
{
	json_t *object = json_object();

	lull_result_put_count(object, "checks", flow->checks);
	lull_result_put_count(object, "violations", flow->violations);
	json_object_set_new(object, "first",
			    flow->violations > 0 ? lull_result_text(flow->violation.text) :
						   json_null());
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
		struct lull_flow_connections_counters connections;
		json_t *object = json_object();

		lull_result_put_table(object, lull_dispatch_counter_table, counters);
		json_object_set_new(object, "worker_pkts",
				    result_counts(counters->worker_pkts, flow->settings.workers));
		json_object_set_new(object, "shadow_pkts",
				    result_counts(counters->shadow_pkts, flow->settings.workers));
		lull_result_put_table(object, lull_flow_parser_counter_table,
				      lull_pipeline_parser(flow->pipeline, i));
		lull_pipeline_connections(flow->pipeline, i, &connections);
		lull_result_put_table(object, lull_flow_connections_counter_table, &connections);
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

	for (uint32_t i = 0; i < flow_aggregator_count(flow); i++) {
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
	json_object_set_new(
		object, "wait_ns",
		lull_result_histogram(lull_pipeline_resequence_wait(flow->pipeline), false));
	return object;
}

/* One object per destination, in the order of kinds. */
static json_t *
result_destinations(const struct flow *flow)
{
	json_t *list = json_array();
	struct flow_sink_state state;

	for (uint32_t i = 0; flow_sink_state(flow->sink, i, &state); i++) {
		json_t *object = json_object();

		lull_result_put_text(object, "kind", flow_sink_kind_name(state.kind));
		lull_result_put_text(object, "to", state.to);
		json_object_set_new(object, "up", json_boolean(state.up));
		json_object_set_new(object, "reason",
				    state.reason == NULL ? json_null() :
							   lull_result_text(state.reason));
		lull_result_put_table(object, flow_sink_counter_table, &state.counters);
		json_array_append_new(list, object);
	}
	return list;
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
	json_object_set_new(object, "destinations", result_destinations(flow));
	return object;
}

void
flow_result(void *state, json_t *result)
{
	const struct flow *flow = state;

	json_object_set_new(result, "ndpi",
			    lull_identify_version() != NULL ?
				    lull_result_text(lull_identify_version()) :
				    json_null());
	json_object_set_new(result, "ports", result_ports(flow));
	json_object_set_new(result, "files", result_files(flow));
	lull_result_put_count(result, "filtered", flow_filter_count(flow->filter));
	json_object_set_new(result, "totals", result_totals(flow));
	json_object_set_new(result, "late", result_late(flow));
	json_object_set_new(result, "conservation", result_conservation(flow));
	json_object_set_new(result, "dispatch", result_dispatch(flow));
	json_object_set_new(result, "tables", result_tables(flow));
	json_object_set_new(result, "merges", result_merges(flow));
	json_object_set_new(result, "resequence", result_resequence(flow));
	json_object_set_new(result, "export", result_export(flow));
	json_object_set_new(result, "loops",
			    lull_live_loops_result(&flow->loops, flow->run.end_ns));
}
