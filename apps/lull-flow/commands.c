/* SPDX-License-Identifier: BSD-3-Clause */
/* What this program adds to telemetry. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"

#define ENDPOINT_TEXT (INET6_ADDRSTRLEN + 8)
#define NAME_TEXT 64
#define FLOW_EXPORT_MAX (FLOW_SINK_KINDS * FLOW_SINK_EACH_MAX)

/* ---- /lull/flow ---- */

/* Sum over all I/O loops, as one struct. */
static void
dispatch_sum(const struct flow *flow, struct lull_dispatch_counters *sum)
{
	uint64_t *total = (void *)sum;

	memset(sum, 0, sizeof(*sum));
	for (uint32_t io = 0; io < flow->settings.io; io++) {
		const uint64_t *counters = (const void *)lull_pipeline_dispatch(flow->pipeline, io);

		for (size_t i = 0; i < sizeof(*sum) / sizeof(*total); i++)
			total[i] += LULL_COUNTER_READ(counters[i]);
	}
}

/* Per worker: late now, how often, how long. */
static void
late_reply(const struct flow *flow, struct lull_telemetry_reply *reply)
{
	uint64_t now[LULL_DISPATCH_WORKERS_MAX];
	struct lull_pipeline_late late;

	lull_pipeline_late(flow->pipeline, &late);
	for (uint32_t i = 0; i < flow->settings.workers; i++)
		now[i] = late.workers >> i & 1;
	lull_telemetry_put_count(reply, "late_records", late.records);
	lull_telemetry_put_count(reply, "late_parts", late.parts);
	lull_telemetry_put_count(reply, "behind", late.behind);
	lull_telemetry_put_counts(reply, "worker_late", now, flow->settings.workers);
	lull_telemetry_put_counts(reply, "worker_late_times", late.times, flow->settings.workers);
	lull_telemetry_put_counts(reply, "worker_late_ns", late.ns, flow->settings.workers);
}

static void
flow_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	const struct flow *flow = lull_live_state(arg);
	const struct lull_resequence_counters *resequence =
		lull_pipeline_resequence(flow->pipeline);
	struct lull_pipeline_totals totals;
	struct lull_dispatch_counters dispatch;

	(void)params;
	lull_pipeline_totals(flow->pipeline, &totals);
	dispatch_sum(flow, &dispatch);
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_table(reply, lull_encode_totals_table, &totals.totals);
	lull_telemetry_put_count(reply, "in_flight", totals.in_flight);
	lull_telemetry_put_count(reply, "open", totals.open);
	lull_telemetry_put_count(reply, "open_flows", totals.open_flows);
	lull_telemetry_put_count(reply, "filtered", flow_filter_count(flow->filter));
	lull_telemetry_put_count(reply, "reordered", totals.reordered);
	lull_telemetry_put_count(reply, "output", totals.output);
	lull_telemetry_put_count(reply, "output_drops", totals.output_drops);
	lull_telemetry_put_count(reply, "checks", LULL_COUNTER_READ(flow->checks));
	lull_telemetry_put_count(reply, "violations", LULL_COUNTER_READ(flow->violations));
	for (const struct lull_counter_info *row = lull_dispatch_counter_table; row->name != NULL;
	     row++) {
		char name[LULL_NAME_SIZE];

		snprintf(name, sizeof(name), "dispatch_%s", row->name);
		lull_telemetry_put_count(
			reply, name,
			*(const uint64_t *)(const void *)((const char *)&dispatch + row->offset));
	}
	lull_telemetry_put_counts(reply, "worker_pkts", dispatch.worker_pkts,
				  flow->settings.workers);
	lull_telemetry_put_counts(reply, "shadow_pkts", dispatch.shadow_pkts,
				  flow->settings.workers);
	late_reply(flow, reply);
	if (resequence == NULL)
		return;
	for (const struct lull_counter_info *row = lull_resequence_counter_table; row->name != NULL;
	     row++) {
		const uint64_t *counter = (const void *)((const char *)resequence + row->offset);
		char name[LULL_NAME_SIZE];

		snprintf(name, sizeof(name), "resequence_%s", row->name);
		lull_telemetry_put_count(reply, name, LULL_COUNTER_READ(*counter));
	}
	lull_telemetry_put_count(
		reply, "resequence_wait_p99_ns",
		lull_histogram_quantile(lull_pipeline_resequence_wait(flow->pipeline), 990000));
}

/* ---- /lull/flow_top ---- */

/* Lists of one member each per flow: DPDK's replies do not nest objects. */
struct flow_top_columns {
	char src[LULL_FLOW_TOP_MAX][ENDPOINT_TEXT], dst[LULL_FLOW_TOP_MAX][ENDPOINT_TEXT];
	char app[LULL_FLOW_TOP_MAX][NAME_TEXT];
	const char *src_texts[LULL_FLOW_TOP_MAX], *dst_texts[LULL_FLOW_TOP_MAX];
	const char *app_texts[LULL_FLOW_TOP_MAX];
	uint64_t proto[LULL_FLOW_TOP_MAX], vlan_id[LULL_FLOW_TOP_MAX];
	uint64_t packets[LULL_FLOW_TOP_MAX], bytes[LULL_FLOW_TOP_MAX];
	uint64_t packets_rev[LULL_FLOW_TOP_MAX], bytes_rev[LULL_FLOW_TOP_MAX];
	uint64_t first_us[LULL_FLOW_TOP_MAX], last_us[LULL_FLOW_TOP_MAX];
	uint64_t workers[LULL_FLOW_TOP_MAX];
};

/* "192.0.2.1:80", "[2001:db8::1]:80" */
static const char *
top_endpoint(const struct lull_flow_key *key, unsigned int side, char *text)
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(key->version == 4 ? AF_INET : AF_INET6, key->addr[side], address,
		  sizeof(address));
	snprintf(text, ENDPOINT_TEXT, key->version == 4 ? "%s:%u" : "[%s]:%u", address,
		 key->port[side]);
	return text;
}

static void
top_fill(struct flow_top_columns *columns, const struct lull_flow_record *record, uint32_t i)
{
	unsigned int src = record->first_direction != 0, dst = 1 - src;

	columns->src_texts[i] = top_endpoint(&record->key, src, columns->src[i]);
	columns->dst_texts[i] = top_endpoint(&record->key, dst, columns->dst[i]);
	columns->app_texts[i] = lull_identify_name(NULL, record->app, record->app_master,
						   columns->app[i], NAME_TEXT);
	columns->proto[i] = record->key.proto;
	columns->vlan_id[i] = record->key.vlan_id;
	columns->packets[i] = record->packets[src];
	columns->bytes[i] = record->bytes[src];
	columns->packets_rev[i] = record->packets[dst];
	columns->bytes_rev[i] = record->bytes[dst];
	columns->first_us[i] = record->first_ns / LULL_NS_PER_US;
	columns->last_us[i] = record->last_ns / LULL_NS_PER_US;
	columns->workers[i] = record->workers;
}

static void
flow_top_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	const struct flow *flow = lull_live_state(arg);
	struct flow_top_columns columns;
	struct lull_flow_top top;

	(void)params;
	lull_pipeline_top(flow->pipeline, &top);
	for (uint32_t i = 0; i < top.count; i++)
		top_fill(&columns, &top.records[i], i);
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_texts(reply, "src", columns.src_texts, top.count);
	lull_telemetry_put_texts(reply, "dst", columns.dst_texts, top.count);
	lull_telemetry_put_counts(reply, "proto", columns.proto, top.count);
	lull_telemetry_put_counts(reply, "vlan_id", columns.vlan_id, top.count);
	lull_telemetry_put_counts(reply, "packets", columns.packets, top.count);
	lull_telemetry_put_counts(reply, "bytes", columns.bytes, top.count);
	lull_telemetry_put_counts(reply, "packets_rev", columns.packets_rev, top.count);
	lull_telemetry_put_counts(reply, "bytes_rev", columns.bytes_rev, top.count);
	lull_telemetry_put_counts(reply, "first_us", columns.first_us, top.count);
	lull_telemetry_put_counts(reply, "last_us", columns.last_us, top.count);
	lull_telemetry_put_texts(reply, "app", columns.app_texts, top.count);
	lull_telemetry_put_counts(reply, "workers", columns.workers, top.count);
}

/* ---- /lull/flow_interfaces ---- */

/* Numbers as records with interface in their key have them. */
static void
interfaces_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	const struct flow *flow = lull_live_state(arg);
	const char *names[FLOW_PORTS_MAX], *drivers[FLOW_PORTS_MAX];
	uint64_t numbers[FLOW_PORTS_MAX];

	(void)params;
	for (uint32_t i = 0; i < flow->port_count; i++) {
		numbers[i] = flow->ports[i].port_id + 1u;
		names[i] = flow->ports[i].name;
		drivers[i] = flow->ports[i].driver;
	}
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_counts(reply, "interface", numbers, flow->port_count);
	lull_telemetry_put_texts(reply, "name", names, flow->port_count);
	lull_telemetry_put_texts(reply, "driver", drivers, flow->port_count);
}

/* ---- /lull/flow_export ---- */

static void
export_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	const struct flow *flow = lull_live_state(arg);
	const char *kinds[FLOW_EXPORT_MAX], *to[FLOW_EXPORT_MAX], *reasons[FLOW_EXPORT_MAX];
	struct flow_sink_state states[FLOW_EXPORT_MAX];
	uint64_t counts[FLOW_EXPORT_MAX];
	uint32_t count = 0;

	(void)params;
	for (; count < FLOW_EXPORT_MAX && flow_sink_state(flow->sink, count, &states[count]);
	     count++) {
		kinds[count] = flow_sink_kind_name(states[count].kind);
		to[count] = states[count].to;
		reasons[count] = states[count].reason == NULL ? "" : states[count].reason;
		counts[count] = states[count].up;
	}
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_texts(reply, "kind", kinds, count);
	lull_telemetry_put_texts(reply, "to", to, count);
	lull_telemetry_put_counts(reply, "up", counts, count);
	lull_telemetry_put_texts(reply, "reason", reasons, count);
	for (const struct lull_counter_info *row = flow_sink_counter_table; row->name != NULL;
	     row++) {
		for (uint32_t i = 0; i < count; i++)
			counts[i] = *(
				const uint64_t *)(const void *)((const char *)&states[i].counters +
								row->offset);
		lull_telemetry_put_counts(reply, row->name, counts, count);
	}
}

const struct lull_telemetry_command flow_commands[] = {
	{ "/lull/flow", "Packets by fate, decisions, order. No parameters", flow_reply },
	{ "/lull/flow_top", "The heaviest flows now, a list per column. No parameters",
	  flow_top_reply },
	{ "/lull/flow_export", "Destinations of records, a list per column. No parameters",
	  export_reply },
	{ "/lull/flow_interfaces",
	  "Names of the interfaces in records, a list per column. No "
	  "parameters",
	  interfaces_reply },
	{ NULL, NULL, NULL },
};
