/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON lines: one per datagram, else in blocks of whole lines that a pipe takes in one piece. */
#include "exporter.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

static_assert(LULL_ENCODE_JSON_MAX <= PIPE_BUF, "a line is a unit");

struct sink_json {
	struct lull_encode_json_config config;
	struct flow_sink_counters *counters;
	struct sink_output output;
	uint64_t flushed_ns, stall_ns;
	bool single; /* a line per unit */
	uint32_t records;
	size_t len;
	char block[PIPE_BUF];
};

static int
json_check(const struct flow_sink_settings *settings, const char *to, struct lull_error *error)
{
	struct sink_destination destination;

	(void)settings;
	return sink_destination_parse(to, &destination, error);
}

/* Lines of a run that was killed: the last one may lack its end. */
static int
json_mend(int fd, uint64_t size, struct lull_error *error)
{
	char last;

	if (pread(fd, &last, 1, (off_t)size - 1) == 1 && (last == '\n' || write(fd, "\n", 1) == 1))
		return 0;
	return lull_error_set(error, -errno, "cannot continue it: %s", strerror(errno));
}

static int
json_open(const struct sink_job *job, void **state, struct lull_error *error)
{
	const struct flow_sink_settings *settings = job->settings;
	struct sink_destination destination;
	struct sink_json *json;
	int rc = sink_destination_parse(job->to, &destination, error);

	if (rc != 0)
		return rc;
	json = calloc(1, sizeof(*json));
	if (json == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for JSON lines");
	json->config = (struct lull_encode_json_config){
		.facts = settings->facts,
		.payload_bytes = settings->payload_bytes,
		.observation_point = settings->observation_point,
		.app = settings->app,
		.app_arg = settings->app_arg,
	};
	json->counters = job->counters;
	json->single = destination.way == SINK_UDP;
	json->stall_ns = settings->ordered ? SINK_STALL_NS_ORDERED : SINK_STALL_NS_LIVE;
	rc = sink_output_open(&json->output, &destination, job, false, error);
	if (rc != 0) {
		free(json);
		return rc;
	}
	*state = json;
	return 0;
}

static void
json_flush(struct sink_json *json)
{
	if (json->len > 0)
		sink_output_put(&json->output, json->block, json->len, json->records);
	json->len = 0;
	json->records = 0;
}

static void
json_record(void *state, const struct lull_flow_record *record)
{
	struct sink_json *json = state;

	if (sizeof(json->block) - json->len < LULL_ENCODE_JSON_MAX)
		json_flush(json);
	json->len += lull_encode_json(&json->config, record, json->block + json->len);
	json->records++;
	LULL_COUNTER_ADD(json->counters->taken, 1);
	if (json->single)
		json_flush(json);
}

static uint64_t
json_iterate(void *state, const struct lull_encode_totals *totals)
{
	struct sink_json *json = state;
	uint64_t now_ns = sink_clock_ns();

	(void)totals;
	if (sink_output_is_old(&json->output)) {
		json_flush(json);
		(void)sink_output_iterate(&json->output);
		(void)sink_output_move(&json->output);
	}
	if (now_ns - json->flushed_ns >= SINK_FLUSH_NS) {
		json_flush(json);
		json->flushed_ns = now_ns;
	}
	if (sink_output_iterate(&json->output))
		return SINK_WAIT_NS;
	if (json->len > 0)
		return SINK_FLUSH_NS;
	return json->output.file != NULL ? SINK_LOOK_NS : 0;
}

static void
json_finish(void *state, const struct lull_encode_totals *totals, struct lull_error *error)
{
	struct sink_json *json = state;

	(void)totals;
	json_flush(json);
	sink_output_drain(&json->output, json->stall_ns);
	sink_output_close(&json->output);
	*error = json->output.trouble;
}

static void
json_close(void *state)
{
	struct sink_json *json = state;

	sink_output_close(&json->output);
	free(json);
}

const struct sink_exporter sink_exporter_json = {
	.name = "records",
	.check = json_check,
	.mend = json_mend,
	.open = json_open,
	.record = json_record,
	.iterate = json_iterate,
	.finish = json_finish,
	.close = json_close,
};
