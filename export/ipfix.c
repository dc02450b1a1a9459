/* SPDX-License-Identifier: BSD-3-Clause */
/* IPFIX: each instance is an observation domain, because each numbers its records by itself. */
#include "exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

#define DEFAULT_TOTALS_NS (10 * LULL_NS_PER_S)
#define DEFAULT_TOTALS_UDP_NS (60 * LULL_NS_PER_S)
#define IPFIX_VERSION 10
#define IPFIX_HEADER_BYTES 16

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
	sink_count_drops(sink->counters, &sink->counters->drop_cut, sink->taken - sink->encoded);
	sink->encoded = sink->taken;
	lull_ipfix_restart(sink->ipfix);
	sink_output_renew(&sink->output);
}

/* Where a file of IPFIX messages has its last whole one; 0: it holds something else. */
static uint64_t
ipfix_whole(int fd, uint64_t size)
{
	uint64_t at = 0;
	uint8_t head[4];

	while (at + sizeof(head) <= size &&
	       pread(fd, head, sizeof(head), (off_t)at) == (ssize_t)sizeof(head)) {
		uint32_t len = (uint32_t)head[2] << 8 | head[3];

		if (head[0] != 0 || head[1] != IPFIX_VERSION || len < IPFIX_HEADER_BYTES)
			return at == 0 ? 0 : size;
		if (at + len > size)
			break;
		at += len;
	}
	return at;
}

/*
 * Behind a run that was killed the last message may lack its end, and would swallow what follows.
 * What is no IPFIX is not touched.
 */
static int
ipfix_mend(int fd, uint64_t size, struct lull_error *error)
{
	uint64_t whole = ipfix_whole(fd, size);

	if (whole == 0)
		return lull_error_set(error, -EINVAL,
				      "it is there and no file of IPFIX messages; name another");
	if (whole < size && ftruncate(fd, (off_t)whole) != 0)
		return lull_error_set(error, -errno, "cannot continue it: %s", strerror(errno));
	return 0;
}

static struct lull_ipfix_config
ipfix_config(const struct flow_sink_settings *settings, uint32_t instance, bool stream)
{
	return (struct lull_ipfix_config){
		.domain_id = settings->domain_id + instance,
		.message_bytes = settings->message_bytes,
		.template_ns = settings->template_ns,
		.stream = stream,
		.facts = settings->facts,
		.segment = settings->segment,
		.sampling = settings->sampling,
		.interface = settings->interface,
		.observation_point = settings->observation_point,
		.enterprise = settings->enterprise,
		.app = settings->app,
		.app_arg = settings->app_arg,
		.interfaces = settings->interfaces,
		.interfaces_arg = settings->interfaces_arg,
	};
}

static int
ipfix_check_config(const struct lull_ipfix_config *config, struct lull_error *error)
{
	struct lull_range wrong;
	int rc = lull_ipfix_config_check(config, &wrong);

	if (rc != 0) {
		lull_error_range(error, &wrong);
		lull_error_prefix(error, "IPFIX: ");
	}
	return rc;
}

static int
ipfix_check(const struct flow_sink_settings *settings, const char *to, struct lull_error *error)
{
	struct lull_ipfix_config config = ipfix_config(settings, 0, false);
	struct sink_destination destination;
	int rc = sink_destination_parse(to, &destination, error);

	if (rc == 0 && (destination.way == SINK_UNIX || destination.way == SINK_STDOUT))
		return lull_error_set(error, -EINVAL,
				      "%s: give udp://HOST:PORT, tcp://HOST:PORT or FILE for "
				      "IPFIX",
				      to);
	return rc == 0 ? ipfix_check_config(&config, error) : rc;
}

static int
ipfix_open_exporter(struct sink_ipfix *sink, const struct sink_job *job, bool stream,
		    struct lull_error *error)
{
	struct lull_ipfix_config config = ipfix_config(job->settings, job->instance, stream);
	int rc = ipfix_check_config(&config, error);

	if (rc != 0)
		return rc;
	sink->memory = calloc(1, lull_ipfix_size(&config));
	if (sink->memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for IPFIX");
	return lull_ipfix_init(sink->memory, &config, ipfix_send, sink, &sink->ipfix);
}

static uint64_t
ipfix_totals_ns(const struct flow_sink_settings *settings, bool stream)
{
	if (settings->totals_ns == UINT64_MAX)
		return 0;
	if (settings->totals_ns > 0)
		return settings->totals_ns;
	return stream ? DEFAULT_TOTALS_NS : DEFAULT_TOTALS_UDP_NS;
}

static int
ipfix_open(const struct sink_job *job, void **state, struct lull_error *error)
{
	const struct flow_sink_settings *settings = job->settings;
	struct sink_destination destination;
	struct sink_ipfix *sink;
	bool stream;
	int rc = sink_destination_parse(job->to, &destination, error);

	if (rc != 0)
		return rc;
	sink = calloc(1, sizeof(*sink));
	if (sink == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for IPFIX");
	stream = destination.way != SINK_UDP;
	sink->counters = job->counters;
	sink->totals = job->instance == 0;
	sink->totals_ns = ipfix_totals_ns(settings, stream);
	sink->totals_at_ns = sink_clock_ns();
	sink->stall_ns = settings->ordered ? SINK_STALL_NS_ORDERED : SINK_STALL_NS_LIVE;
	rc = ipfix_open_exporter(sink, job, stream, error);
	if (rc == 0)
		rc = sink_output_open(&sink->output, &destination, job, true, error);
	if (rc != 0) {
		free(sink->memory);
		free(sink);
		return rc;
	}
	*state = sink;
	return 0;
}

/* Each file stands alone: it begins with templates and numbers from 0. */
static void
ipfix_move(struct sink_ipfix *sink)
{
	lull_ipfix_flush(sink->ipfix, sink_time_ns());
	if (sink_output_move(&sink->output))
		lull_ipfix_restart(sink->ipfix);
}

static void
ipfix_record(void *state, const struct lull_flow_record *record)
{
	struct sink_ipfix *sink = state;

	if (sink->output.stale)
		ipfix_renew(sink);
	lull_ipfix_add(sink->ipfix, sink_time_ns(), record);
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
	if (sink_output_is_old(&sink->output))
		ipfix_move(sink);
	if (sink->totals && sink->totals_ns > 0 && now_ns - sink->totals_at_ns >= sink->totals_ns) {
		lull_ipfix_totals(sink->ipfix, sink_time_ns(), totals);
		sink->totals_at_ns = now_ns;
	}
	if (now_ns - sink->flushed_ns >= SINK_FLUSH_NS) {
		lull_ipfix_flush(sink->ipfix, sink_time_ns());
		sink->flushed_ns = now_ns;
	}
	if (sink_output_iterate(&sink->output))
		return SINK_WAIT_NS;
	if (sink->taken != sink->encoded)
		return SINK_FLUSH_NS;
	if (sink->output.file != NULL)
		return SINK_LOOK_NS;
	if (!sink->totals || sink->totals_ns == 0)
		return 0;
	return sink->totals_at_ns + sink->totals_ns - now_ns;
}

static void
ipfix_finish(void *state, const struct lull_encode_totals *totals, struct lull_error *error)
{
	struct sink_ipfix *sink = state;

	if (sink->totals)
		lull_ipfix_totals(sink->ipfix, sink_time_ns(), totals);
	lull_ipfix_flush(sink->ipfix, sink_time_ns());
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
	.mend = ipfix_mend,
	.open = ipfix_open,
	.record = ipfix_record,
	.iterate = ipfix_iterate,
	.finish = ipfix_finish,
	.close = ipfix_close,
};
