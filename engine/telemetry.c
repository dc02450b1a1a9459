/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The /lull commands on DPDK's telemetry socket. DPDK calls the handlers on threads of its own:
 * they read counters and snapshots, or post to mailboxes.
 *
 * DPDK 22.11 takes names of letters, digits, "_" and "/", and strings of 127 bytes: a longer
 * sentence goes on in a second member with "_more" after its name.
 */
#include "telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#include <lull/engine.h>

#define BINS_MAX 250
#define TEXT_MAX (RTE_TEL_MAX_STRING_LEN - 1)

/* DPDK's telemetry belongs to the process and hands handlers no pointer of ours. */
static struct {
	pthread_mutex_t lock;                       /* handlers, start and stop */
	const struct lull_telemetry_config *config; /* NULL: stopped */
	uint64_t started_ns;
	uint32_t window;
} telemetry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- reply ---- */

static void
reply_u64(struct rte_tel_data *data, const char *name, uint64_t value)
{
	rte_tel_data_add_dict_u64(data, name, value);
}

static void
reply_string(struct rte_tel_data *data, const char *name, const char *value)
{
	rte_tel_data_add_dict_string(data, name, value);
}

/* A sentence of up to two members, parted in front of a blank. */
static void
reply_text(struct rte_tel_data *data, const char *name, const char *text)
{
	char first[TEXT_MAX + 1], more_name[LULL_NAME_SIZE];
	size_t cut = strlen(text);

	if (cut <= TEXT_MAX) {
		reply_string(data, name, text);
		return;
	}
	cut = TEXT_MAX;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	if (cut == 0)
		cut = TEXT_MAX;
	snprintf(first, sizeof(first), "%.*s", (int)cut, text);
	snprintf(more_name, sizeof(more_name), "%s_more", name);
	reply_string(data, name, first);
	reply_string(data, more_name, text + cut);
}

static int
reply_error(struct rte_tel_data *data, const char *text)
{
	reply_text(data, "error", text);
	return 0;
}

static void
reply_table(struct rte_tel_data *data, const struct lull_counter_info *table, const void *counters)
{
	for (; table->name != NULL; table++) {
		const uint64_t *counter = (const void *)((const uint8_t *)counters + table->offset);

		reply_u64(data, table->name, LULL_COUNTER_READ(*counter));
	}
}

static void
reply_put_u64(void *data, const char *key, uint64_t value)
{
	reply_u64(data, key, value);
}

/* Keys are options and may have dashes. */
static void
reply_put_setting(void *data, const char *key, const char *value)
{
	char name[LULL_NAME_SIZE];

	snprintf(name, sizeof(name), "%s", key);
	for (char *c = name; *c != '\0'; c++) {
		if (*c == '-')
			*c = '_';
	}
	reply_text(data, name, value);
}

/* ---- which loop ---- */

/* In the plugin threads come while the program runs. */
static uint32_t
telemetry_loop_count(void)
{
	return __atomic_load_n(&telemetry.config->loop_count, __ATOMIC_ACQUIRE);
}

/* The loop that the first word of @p params names; an error reply and NULL when there is none. */
static struct lull_loop *
telemetry_find(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	size_t length = params == NULL ? 0 : strcspn(params, ",");
	char text[LULL_ERROR_SIZE];
	int used;

	for (uint32_t i = 0; length > 0 && i < telemetry_loop_count(); i++) {
		const char *name = lull_loop_name(config->loops[i]);

		if (strlen(name) == length && memcmp(name, params, length) == 0)
			return config->loops[i];
	}
	used = snprintf(text, sizeof(text), "no loop %.*s, there are:", (int)LULL_MIN(length, 40u),
			params == NULL ? "" : params);
	for (uint32_t i = 0; i < telemetry_loop_count() && used < (int)sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, " %s",
				 lull_loop_name(config->loops[i]));
	reply_error(data, text);
	return NULL;
}

/* ---- /lull/info ---- */

static int
info_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	struct rte_tel_data *loops = rte_tel_data_alloc();

	(void)params;
	if (loops == NULL)
		return -ENOMEM;
	reply_string(data, "program", config->program);
	reply_string(data, "version", config->version);
	reply_u64(data, "pid", (uint64_t)getpid());
	rte_tel_data_start_array(loops, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < telemetry_loop_count(); i++) {
		if (lull_loop_alive(config->loops[i]))
			rte_tel_data_add_array_string(loops, lull_loop_name(config->loops[i]));
	}
	rte_tel_data_add_dict_container(data, "loops", loops, 0);
	reply_string(data, "dpdk", lull_engine_dpdk_version());
	reply_u64(data, "started_ns", telemetry.started_ns);
	reply_u64(data, "now_ns", lull_clock_ns());
	return 0;
}

/* ---- /lull/loop ---- */

/* 990000 is "99", 999900 is "99.99". */
static void
percentile_print(uint32_t ppm, char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "%u.%04u", ppm / 10000, ppm % 10000);

	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[length - 1] = '\0';
}

static void
loop_reply_limits(struct rte_tel_data *data, const struct lull_loop_snapshot *snapshot)
{
	const struct lull_idle_limits *limits = &snapshot->limits;
	char text[32];

	reply_string(data, "governor", lull_idle_governor_name(snapshot->governor));
	reply_u64(data, "max_latency_us", limits->latency_ns / LULL_NS_PER_US);
	percentile_print(limits->percentile_ppm, text, sizeof(text));
	reply_string(data, "percentile", text);
	reply_string(data, "loss", limits->loss == LULL_LOSS_ZERO ? "zero" : "tolerate");
	reply_u64(data, "max_rest_us", limits->rest_ns_max / LULL_NS_PER_US);
	reply_u64(data, "rest_us", limits->rest_ns / LULL_NS_PER_US);
	if (limits->envelope == LULL_ENVELOPE_STATED)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)limits->pps_max);
	else
		snprintf(text, sizeof(text), "%s", lull_envelope_name(limits->envelope));
	reply_string(data, "pps_max", text);
	reply_u64(data, "ring", limits->ring_pkts);
}

/* What the ports of this loop lost; a port shared with other loops tells each the same. */
static void
loop_reply_ports(struct rte_tel_data *data, const struct lull_loop *loop)
{
	uint64_t missed, nombuf;

	lull_loop_missed(loop, &missed, &nombuf);
	reply_u64(data, "rx_missed", missed);
	reply_u64(data, "rx_nombuf", nombuf);
}

static void
loop_reply_histograms(struct rte_tel_data *data, const struct lull_loop *loop)
{
	const struct lull_histogram *wait = lull_loop_wait_histogram(loop);
	const struct lull_histogram *rest = lull_loop_rest_histogram(loop);

	reply_u64(data, "wait_count", LULL_COUNTER_READ(wait->count));
	reply_u64(data, "wait_p50_ns", lull_histogram_quantile(wait, 500000));
	reply_u64(data, "wait_p99_ns", lull_histogram_quantile(wait, 990000));
	reply_u64(data, "wait_p995_ns", lull_histogram_quantile(wait, 995000));
	reply_u64(data, "wait_p999_ns", lull_histogram_quantile(wait, 999000));
	reply_u64(data, "wait_max_ns", LULL_COUNTER_READ(wait->max));
	reply_u64(data, "rest_p50_ns", lull_histogram_quantile(rest, 500000));
	reply_u64(data, "rest_p99_ns", lull_histogram_quantile(rest, 990000));
	reply_u64(data, "rest_max_ns", LULL_COUNTER_READ(rest->max));
}

static int
loop_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_loop *loop = telemetry_find(data, params);
	const struct lull_counter_info *stage_table;
	struct lull_loop_snapshot snapshot;
	const void *stage_counters;

	if (loop == NULL)
		return 0;
	lull_loop_snapshot(loop, &snapshot);
	stage_table = lull_loop_stage_counters(loop, &stage_counters);
	reply_string(data, "name", lull_loop_name(loop));
	reply_string(data, "kind", lull_loop_kind(loop));
	reply_string(data, "thread", lull_loop_thread(loop));
	reply_string(data, "mode", lull_loop_mode(loop));
	reply_u64(data, "cpu", (uint64_t)lull_loop_cpu(loop));
	reply_u64(data, "tid", (uint64_t)lull_loop_tid(loop));
	reply_u64(data, "now_ns", lull_clock_ns());
	reply_u64(data, "thread_cpu_ns", lull_thread_cpu_ns(lull_loop_tid(loop)));
	reply_u64(data, "steal_ns", lull_steal_ns(lull_loop_cpu(loop)));
	reply_u64(data, "window", snapshot.window);
	reply_u64(data, "window_begin_ns", snapshot.window_begin_ns);
	loop_reply_limits(data, &snapshot);
	reply_table(data, lull_idle_counter_table, lull_loop_counters(loop));
	reply_table(data, stage_table, stage_counters);
	loop_reply_ports(data, loop);
	reply_u64(data, "empty_ppm", lull_idle_empty_ppm(lull_loop_counters(loop)));
	reply_u64(data, "usage_ppm", lull_idle_usage_ppm(lull_loop_counters(loop)));
	loop_reply_histograms(data, loop);
	return 0;
}

/* ---- /lull/explain ---- */

static void
explain_reply_numbers(struct rte_tel_data *data, const struct lull_verdict *verdict)
{
	reply_u64(data, "rest_ns", verdict->rest_ns);
	reply_u64(data, "latency_bound_ns", verdict->latency_bound_ns);
	reply_u64(data, "ring_bound_ns", verdict->ring_bound_ns);
	reply_u64(data, "break_even_ns", verdict->break_even_ns);
	reply_u64(data, "predicted_ns", verdict->predicted_ns);
	reply_u64(data, "predicted_cpu_ppm", verdict->predicted_cpu_ppm);
	reply_u64(data, "overshoot_p50_ns", verdict->overshoot_p50_ns);
	reply_u64(data, "overshoot_p99_ns", verdict->overshoot_p99_ns);
	reply_u64(data, "overshoot_p9999_ns", verdict->overshoot_p9999_ns);
	reply_u64(data, "cost_ns", verdict->cost_ns);
	reply_u64(data, "load_ppm", verdict->load_ppm);
	reply_u64(data, "resting_ppm", verdict->resting_ppm);
	reply_u64(data, "arrival_pps", verdict->arrival_pps);
	reply_string(data, "envelope", lull_envelope_name(verdict->envelope));
	reply_u64(data, "pps_max", verdict->pps_max);
	reply_u64(data, "calibration_count", verdict->calibration_count);
}

/* "none pause sleep" */
static void
explain_reply_depths(struct rte_tel_data *data, const struct lull_loop *loop)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	int used = 0;

	for (int depth = 0; depth < LULL_REST_DEPTH_COUNT; depth++) {
		if (lull_loop_depth_probe(loop, (enum lull_rest_depth)depth) == 0)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s",
					 used > 0 ? " " : "",
					 lull_rest_depth_name((enum lull_rest_depth)depth));
	}
	reply_string(data, "depths", text);
}

static int
explain_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_loop *loop = telemetry_find(data, params);
	struct lull_loop_snapshot snapshot;
	char text[2 * RTE_TEL_MAX_STRING_LEN];

	if (loop == NULL)
		return 0;
	lull_loop_snapshot(loop, &snapshot);
	reply_string(data, "state", lull_verdict_state_name(snapshot.verdict.state));
	reply_string(data, "binding", lull_bound_name(snapshot.verdict.binding));
	reply_string(data, "depth", lull_rest_depth_name(snapshot.verdict.depth));
	explain_reply_numbers(data, &snapshot.verdict);
	explain_reply_depths(data, loop);
	lull_loop_explain(loop, text, sizeof(text));
	reply_text(data, "text", text);
	return 0;
}

/* ---- /lull/traffic, /lull/histogram ---- */

static int
traffic_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	const struct lull_loop *loop = telemetry_find(data, params);
	struct lull_loop_snapshot snapshot;

	if (loop == NULL)
		return 0;
	if (config->traffic == NULL || strcmp(lull_loop_kind(loop), "traffic") != 0)
		return reply_error(data, "this loop makes no traffic");
	lull_loop_snapshot(loop, &snapshot);
	reply_u64(data, "now_ns", lull_clock_ns());
	reply_u64(data, "window", snapshot.window);
	config->traffic(config->arg, loop, reply_put_u64, data);
	return 0;
}

static const struct lull_histogram *
histogram_find(const struct lull_loop *loop, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	const char *kind = strchr(params, ',');

	if (kind == NULL)
		return NULL;
	if (strcmp(kind, ",wait") == 0)
		return lull_loop_wait_histogram(loop);
	if (strcmp(kind, ",rest") == 0)
		return lull_loop_rest_histogram(loop);
	if (strcmp(kind, ",latency") == 0 && config->latency != NULL &&
	    strcmp(lull_loop_kind(loop), "traffic") == 0)
		return config->latency(config->arg, loop);
	return NULL;
}

static int
histogram_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_loop *loop = telemetry_find(data, params);
	const struct lull_histogram *histogram;
	struct lull_telemetry_bins bins;
	struct rte_tel_data *array;

	if (loop == NULL)
		return 0;
	histogram = histogram_find(loop, params);
	if (histogram == NULL)
		return reply_error(data,
				   "say NAME,wait or NAME,rest; traffic loops have latency too");
	array = rte_tel_data_alloc();
	if (array == NULL)
		return -ENOMEM;
	lull_telemetry_bins(histogram, BINS_MAX, &bins);
	rte_tel_data_start_array(array, RTE_TEL_U64_VAL);
	for (uint32_t i = 0; i < bins.count; i++) {
		rte_tel_data_add_array_u64(array, bins.bins[i].low);
		rte_tel_data_add_array_u64(array, bins.bins[i].count);
	}
	rte_tel_data_add_dict_container(data, "bins", array, 0);
	return 0;
}

/* ---- /lull/settings, /lull/set, /lull/mark ---- */

static int
settings_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;

	(void)params;
	if (config->settings != NULL)
		config->settings(config->arg, reply_put_setting, data);
	return 0;
}

static int
set_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	char text[LULL_ERROR_SIZE] = "refused";

	if (config->set == NULL || params == NULL)
		return reply_error(data, "say KEY=VALUE or KEY@LOOP=VALUE");
	if (config->set(config->arg, params, text, sizeof(text)) != 0)
		return reply_error(data, text);
	reply_u64(data, "ok", 1);
	return 0;
}

static int
mark_reply(struct rte_tel_data *data, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	int rc = 0;

	(void)params;
	telemetry.window++;
	for (uint32_t i = 0; i < telemetry_loop_count(); i++) {
		int posted = lull_loop_post_mark(config->loops[i], telemetry.window);

		rc = rc != 0 ? rc : posted;
	}
	if (rc != 0)
		return reply_error(data, "a loop's mailbox is full, try again");
	reply_u64(data, "window", telemetry.window);
	return 0;
}

/* ---- commands ---- */

static const struct telemetry_command {
	const char *name;
	const char *help;
	int (*reply)(struct rte_tel_data *data, const char *params);
} telemetry_commands[] = {
	{ "/lull/info", "Program, version and loops. No parameters", info_reply },
	{ "/lull/loop", "Counters and percentiles of a loop. Parameters: NAME", loop_reply },
	{ "/lull/explain", "Why a loop rests as it does. Parameters: NAME", explain_reply },
	{ "/lull/traffic", "What a traffic loop sent and received. Parameters: NAME",
	  traffic_reply },
	{ "/lull/histogram", "Bins of a histogram. Parameters: NAME,wait|rest|latency",
	  histogram_reply },
	{ "/lull/settings", "Settings that can be changed. No parameters", settings_reply },
	{ "/lull/set", "Change a setting. Parameters: KEY=VALUE or KEY@LOOP=VALUE", set_reply },
	{ "/lull/mark", "Begin a new measurement window. No parameters", mark_reply },
	{ NULL, NULL, NULL },
};

static int
telemetry_handle(const char *name, const char *params, struct rte_tel_data *data)
{
	const struct telemetry_command *command = telemetry_commands;
	int rc;

	while (command->name != NULL && strcmp(command->name, name) != 0)
		command++;
	if (command->name == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(data);
	pthread_mutex_lock(&telemetry.lock);
	rc = telemetry.config == NULL ? reply_error(data, "the program is ending") :
					command->reply(data, params);
	pthread_mutex_unlock(&telemetry.lock);
	return rc;
}

int
lull_telemetry_start(const struct lull_telemetry_config *config)
{
	int rc = 0;

	pthread_mutex_lock(&telemetry.lock);
	telemetry.config = config;
	telemetry.started_ns = lull_clock_ns();
	pthread_mutex_unlock(&telemetry.lock);
	for (int i = 0; rc == 0 && telemetry_commands[i].name != NULL; i++) {
		rc = rte_telemetry_register_cmd(telemetry_commands[i].name, telemetry_handle,
						telemetry_commands[i].help);
		if (rc == -EEXIST) /* after a stop; DPDK never forgets a command */
			rc = 0;
	}
	return rc;
}

void
lull_telemetry_stop(void)
{
	pthread_mutex_lock(&telemetry.lock);
	telemetry.config = NULL;
	pthread_mutex_unlock(&telemetry.lock);
}
