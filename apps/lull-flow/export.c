/* SPDX-License-Identifier: BSD-3-Clause */
#include "export.h"

#include <errno.h>
#include <stdio.h>

#include "flow.h"

#define KEY_SEGMENTS (LULL_FLOW_KEY_VNI | LULL_FLOW_KEY_GRE | LULL_FLOW_KEY_TEID)

static int
export_list(const struct lull_option_list *list, enum flow_sink_kind kind,
	    struct flow_sink_settings *sink, struct lull_error *error)
{
	if (list->count > FLOW_SINK_EACH_MAX)
		return lull_error_set(error, -E2BIG, "%s: %u destinations, at most %d",
				      flow_sink_kind_name(kind), list->count, FLOW_SINK_EACH_MAX);
	for (uint32_t i = 0; i < list->count; i++)
		sink->to[kind][i] = list->items[i];
	return 0;
}

int
flow_sink_settings_make(const struct flow_settings *settings, struct flow_sink_list *list,
			struct flow_sink_settings *sink, struct lull_error *error)
{
	uint64_t totals_ns = settings->ipfix_totals_ns;
	int rc;

	for (uint32_t i = 0; i < settings->kafka_properties.count; i++)
		list->properties[i] = settings->kafka_properties.items[i];
	list->properties[settings->kafka_properties.count] = NULL;
	*sink = (struct flow_sink_settings){
		.instances = settings->aggregators,
		.ordered = flow_settings_from_files(settings),
		.facts = settings->facts,
		.segment = settings->inner && (settings->key & KEY_SEGMENTS) != 0,
		.sampling = settings->half_open_rate > 0,
		.interface = (settings->key & LULL_FLOW_KEY_INTERFACE) != 0,
		.observation_point = settings->observation_point,
		.payload_bytes = settings->payload_bytes,
		.app = settings->identify ? lull_identify_name : NULL,
		.queue_bytes = settings->export_queue_bytes,
		.datagrams_pps = settings->export_rate,
		.timeout_ns = settings->export_timeout_ns,
		.rotate_ns = settings->rotate_ns,
		.rotate_bytes = settings->rotate_bytes,
		.message_bytes = settings->ipfix_message_bytes,
		.domain_id = settings->ipfix_domain,
		.enterprise = settings->ipfix_enterprise,
		.template_ns = settings->ipfix_template_ns,
		/* The sinks take 0 for their choice, the option for none. */
		.totals_ns = totals_ns == 0          ? UINT64_MAX :
			     totals_ns == UINT64_MAX ? 0 :
						       totals_ns,
		.kafka_properties = list->properties,
		.kafka_file = settings->kafka_file,
	};
	rc = export_list(&settings->records, FLOW_SINK_JSON, sink, error);
	if (rc == 0)
		rc = export_list(&settings->ipfix, FLOW_SINK_IPFIX, sink, error);
	return rc == 0 ? export_list(&settings->kafka, FLOW_SINK_KAFKA, sink, error) : rc;
}

static void
export_as_user(void *arg, bool as_user)
{
	lull_user_files(arg, as_user);
}

int
flow_open_export(struct flow *flow, struct lull_error *error)
{
	struct flow_sink_settings sink;
	int rc = flow_sink_settings_make(&flow->settings, &flow->sink_list, &sink, error);

	sink.instances = flow_aggregator_count(flow);
	if (sink.interface) {
		sink.interfaces = flow_interfaces_tell;
		sink.interfaces_arg = &flow->interfaces;
	}
	if (flow->user.wanted) {
		sink.as_user = export_as_user;
		sink.as_user_arg = &flow->user;
	}
	return rc == 0 ? flow_sink_open(&sink, &flow->sink, error) : rc;
}

/* ---- while it runs ---- */

static void
export_tell(void *arg, const char *text)
{
	const struct flow *flow = arg;

	fprintf(stderr, "%s: %s\n", flow->run.program->name, text);
}

void
flow_watch_export(struct flow *flow)
{
	flow_sink_watch(flow->sink, export_tell, flow);
}

void
flow_hangup(void *state)
{
	struct flow *flow = state;

	/* While it is being opened there is nothing to open anew. */
	if (flow->sink != NULL)
		flow_sink_reopen(flow->sink, export_tell, flow);
	if (flow->live.told != NULL)
		lull_live_reload(&flow->live, export_tell, flow);
}
