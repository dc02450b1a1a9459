/* SPDX-License-Identifier: BSD-3-Clause */
/* IPFIX: each instance is an observation domain, because each numbers its records by itself. */
#include "exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "output.h"

#define DEFAULT_TOTALS_NS (10 * LULL_NS_PER_S)

struct sink_ipfix {
	struct flow_sink_counters *counters;
	struct sink_output output;
	struct lull_ipfix *ipfix;
	void *memory;
	uint64_t counted;        /* flow records in messages so far */
	uint64_t encoded, taken; /* since the last restart */
	uint64_t flushed_ns, totals_at_ns, stall_ns;
	uint64_t totals_ns; /* 0: only at the end */
	bool totals;        /* of the whole pipeline: the first instance tells them */
};

static uint64_t
ipfix_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int
ipfix_check(const char *to, struct lull_error *error)
{
	struct sink_destination destination;
	int rc = sink_destination_parse(to, &destination, error);

	if (rc == 0 && (destination.way == SINK_UNIX || destination.way == SINK_STDOUT))
		return lull_error_set(error, -EINVAL,
				      "%s: give udp://HOST:PORT, tcp://HOST:PORT or FILE for "
				      "IPFIX",
				      to);
	return rc;
}

static void
ipfix_send(void *arg, const uint8_t *message, size_t bytes)
{
	struct sink_ipfix *sink = arg;
	const struct lull_ipfix_counters *counters = lull_ipfix_counters(sink->ipfix);
	uint64_t records = counters->records - counters->options;

	sink_output_put(&sink->output, message, bytes, (uint32_t)(records - sink->counted));
	sink->encoded += records - sink->counted;
	sink->counted = records;
}

/* Messages of a connection are numbered from 0 and begin with templates. */
static void
ipfix_renew(struct sink_ipfix *sink)
{
	LULL_COUNTER_ADD(sink->counters->drops, sink->taken - sink->encoded);
	sink->encoded = sink->taken;
	lull_ipfix_restart(sink->ipfix);
	sink_output_renew(&sink->output);
}

static int
ipfix_open_output(struct sink_ipfix *sink, const struct flow_sink_settings *settings,
		  uint32_t instance, const struct sink_destination *destination,
		  struct lull_error *error)
{
	struct sink_output_config output = {
		.queue_bytes = settings->queue_bytes,
		.datagrams_pps = settings->datagrams_pps,
		.blocking = settings->ordered,
		.first = instance == 0,
		.linked = true,
	};

	return sink_output_open(&sink->output, destination, &output, sink->counters, error);
}

static int
ipfix_open_exporter(struct sink_ipfix *sink, const struct flow_sink_settings *settings,
		    uint32_t instance, const struct sink_destination *destination,
		    struct lull_error *error)
{
	struct lull_ipfix_config config = {
		.domain_id = settings->domain_id + instance,
		.message_bytes = settings->message_bytes,
		.template_ns = settings->template_ns,
		.stream = destination->way != SINK_UDP,
		.facts = settings->facts,
		.segment = settings->segment,
		.interface = settings->interface,
		.enterprise = settings->enterprise,
		.app = settings->app,
		.app_arg = settings->app_arg,
	};
	struct lull_range wrong;
	int rc = lull_ipfix_config_check(&config, &wrong);

	if (rc != 0) {
		lull_error_range(error, &wrong);
		lull_error_prefix(error, "IPFIX: ");
		return rc;
	}
	sink->memory = calloc(1, lull_ipfix_size(&config));
	if (sink->memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for IPFIX");
	return lull_ipfix_init(sink->memory, &config, ipfix_send, sink, &sink->ipfix);
}

static int
ipfix_open(const struct flow_sink_settings *settings, uint32_t instance,
	   struct flow_sink_counters *counters, void **state, struct lull_error *error)
{
	struct sink_destination destination;
	struct sink_ipfix *sink;
	int rc = sink_destination_parse(settings->to[FLOW_SINK_IPFIX], &destination, error);

	if (rc != 0)
		return rc;
	sink = calloc(1, sizeof(*sink));
	if (sink == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for IPFIX");
	sink->counters = counters;
	sink->totals = instance == 0;
	sink->totals_ns = settings->totals_ns;
	if (sink->totals_ns == 0 && destination.way != SINK_UDP)
		sink->totals_ns = DEFAULT_TOTALS_NS;
	sink->totals_at_ns = sink_clock_ns();
	sink->stall_ns = settings->ordered ? SINK_STALL_NS_ORDERED : SINK_STALL_NS_LIVE;
	rc = ipfix_open_exporter(sink, settings, instance, &destination, error);
	if (rc == 0)
		rc = ipfix_open_output(sink, settings, instance, &destination, error);
	if (rc != 0) {
		free(sink->memory);
		free(sink);
		return rc;
	}
	*state = sink;
	return 0;
}

static void
ipfix_record(void *state, const struct lull_flow_record *record)
{
	struct sink_ipfix *sink = state;

	if (sink->output.stale)
		ipfix_renew(sink);
	lull_ipfix_add(sink->ipfix, ipfix_time_ns(), record);
	sink->taken++;
	LULL_COUNTER_ADD(sink->counters->taken, 1);
}

static uint64_t
ipfix_iterate(void *state, const struct lull_encode_totals *totals)
{
	struct sink_ipfix *sink = state;
	uint64_t now_ns = sink_clock_ns();

	if (sink->output.stale)
		ipfix_renew(sink);
	if (sink->totals && sink->totals_ns > 0 && now_ns - sink->totals_at_ns >= sink->totals_ns) {
		lull_ipfix_totals(sink->ipfix, ipfix_time_ns(), totals);
		sink->totals_at_ns = now_ns;
	}
	if (now_ns - sink->flushed_ns >= SINK_FLUSH_NS) {
		lull_ipfix_flush(sink->ipfix, ipfix_time_ns());
		sink->flushed_ns = now_ns;
	}
	if (sink_output_iterate(&sink->output))
		return SINK_WAIT_NS;
	if (sink->taken != sink->encoded)
		return SINK_FLUSH_NS;
	if (!sink->totals || sink->totals_ns == 0)
		return 0;
	return sink->totals_at_ns + sink->totals_ns - now_ns;
}

static void
ipfix_finish(void *state, const struct lull_encode_totals *totals, struct lull_error *error)
{
	struct sink_ipfix *sink = state;

	if (sink->totals)
		lull_ipfix_totals(sink->ipfix, ipfix_time_ns(), totals);
	lull_ipfix_flush(sink->ipfix, ipfix_time_ns());
	sink_output_drain(&sink->output, sink->stall_ns);
	sink_output_close(&sink->output);
	*error = sink->output.trouble;
}

static void
ipfix_close(void *state)
{
	struct sink_ipfix *sink = state;

	sink_output_close(&sink->output);
	free(sink->memory);
	free(sink);
}

const struct sink_exporter sink_exporter_ipfix = {
	.name = "ipfix",
	.check = ipfix_check,
	.open = ipfix_open,
	.record = ipfix_record,
	.iterate = ipfix_iterate,
	.finish = ipfix_finish,
	.close = ipfix_close,
};
