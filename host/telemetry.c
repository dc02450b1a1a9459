/* SPDX-License-Identifier: BSD-3-Clause */
/* The /lull commands: they read counters and snapshots, or post to mailboxes. */
#include "telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "explain.h"

#define BINS_MAX 250

/* DPDK's telemetry belongs to the process and hands handlers no pointer of ours. */
static struct {
	pthread_mutex_t lock;                       /* answers, begin and end */
	const struct lull_telemetry_config *config; /* NULL: ended */
	const struct lull_telemetry_loops *loops;
	const char *dpdk;
	uint64_t started_ns;
	uint32_t window;
} telemetry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- reply ---- */

static int
reply_error(struct lull_telemetry_reply *reply, const char *text)
{
	lull_telemetry_put_text(reply, "error", text);
	return 0;
}

static void
reply_put_count(void *reply, const char *key, uint64_t value)
{
	lull_telemetry_put_count(reply, key, value);
}

/* Keys are options and may have dashes. */
static void
reply_put_setting(void *reply, const char *key, const char *value)
{
	char name[LULL_NAME_SIZE];

	snprintf(name, sizeof(name), "%s", key);
	for (char *c = name; *c != '\0'; c++) {
		if (*c == '-')
			*c = '_';
	}
	lull_telemetry_put_text(reply, name, value);
}

/* ---- which loop ---- */

/* In the plugin threads come while the program runs. */
static uint32_t
telemetry_loop_count(void)
{
	return __atomic_load_n(&telemetry.config->loop_count, __ATOMIC_ACQUIRE);
}

struct telemetry_loop {
	uint32_t index;
	struct lull_loop_info info;
	struct lull_loop_snapshot snapshot;
};

static void
telemetry_info(uint32_t index, struct lull_loop_info *info)
{
	telemetry.loops->info(telemetry.config, index, info);
}

/* The loop that the first word of @p params names; an error reply and false: there is none. */
static bool
telemetry_find(struct lull_telemetry_reply *reply, const char *params, struct telemetry_loop *loop)
{
	size_t length = params == NULL ? 0 : strcspn(params, ",");
	uint32_t count = telemetry_loop_count();
	char text[LULL_ERROR_SIZE];
	int used;

	for (loop->index = 0; length > 0 && loop->index < count; loop->index++) {
		telemetry_info(loop->index, &loop->info);
		if (strlen(loop->info.name) != length ||
		    memcmp(loop->info.name, params, length) != 0)
			continue;
		lull_snapshot_read(loop->info.snapshot, &loop->snapshot);
		return true;
	}
	used = snprintf(text, sizeof(text),
			"no loop %.*s; the loops are:", (int)LULL_MIN(length, 40u),
			params == NULL ? "" : params);
	for (uint32_t i = 0; i < count && used < (int)sizeof(text); i++) {
		telemetry_info(i, &loop->info);
		used += snprintf(text + used, sizeof(text) - (size_t)used, " %s", loop->info.name);
	}
	reply_error(reply, text);
	return false;
}

/* ---- /lull/info ---- */

static int
info_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	const char *loops[LULL_LOOPS_MAX];
	uint32_t count = 0;

	(void)params;
	for (uint32_t i = 0; i < telemetry_loop_count() && count < LULL_LOOPS_MAX; i++) {
		struct lull_loop_info info;

		telemetry_info(i, &info);
		if (info.alive)
			loops[count++] = info.name;
	}
	lull_telemetry_put_text(reply, "program", config->program);
	lull_telemetry_put_text(reply, "version", config->version);
	lull_telemetry_put_count(reply, "pid", (uint64_t)getpid());
	lull_telemetry_put_texts(reply, "loops", loops, count);
	lull_telemetry_put_text(reply, "dpdk", telemetry.dpdk);
	lull_telemetry_put_count(reply, "started_ns", telemetry.started_ns);
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
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
loop_reply_limits(struct lull_telemetry_reply *reply, const struct lull_loop_snapshot *snapshot)
{
	const struct lull_idle_limits *limits = &snapshot->limits;
	char text[32];

	lull_telemetry_put_text(reply, "governor", lull_idle_governor_name(snapshot->governor));
	lull_telemetry_put_count(reply, "max_latency_us", limits->latency_ns / LULL_NS_PER_US);
	percentile_print(limits->percentile_ppm, text, sizeof(text));
	lull_telemetry_put_text(reply, "percentile", text);
	lull_telemetry_put_text(reply, "loss",
				limits->loss == LULL_LOSS_ZERO ? "zero" : "tolerate");
	lull_telemetry_put_count(reply, "max_rest_us", limits->rest_ns_max / LULL_NS_PER_US);
	lull_telemetry_put_count(reply, "rest_us", limits->rest_ns / LULL_NS_PER_US);
	if (limits->envelope == LULL_ENVELOPE_STATED)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)limits->pps_max);
	else
		snprintf(text, sizeof(text), "%s", lull_envelope_name(limits->envelope));
	lull_telemetry_put_text(reply, "pps_max", text);
	lull_telemetry_put_count(reply, "ring", limits->ring_pkts);
}

static void
loop_reply_class(struct lull_telemetry_reply *reply, const struct lull_rest_thread *class)
{
	struct lull_rest_thread_info info;

	if (class != NULL)
		lull_rest_thread_info(class, &info);
	else
		info = (struct lull_rest_thread_info){ .policy = LULL_SCHED_OTHER,
						       .class_name = "other" };
	lull_telemetry_put_text(reply, "sched_policy", lull_sched_policy_name(info.policy));
	lull_telemetry_put_text(reply, "sched_class", info.class_name);
	lull_telemetry_put_count(reply, "sched_changes", info.changes);
	lull_telemetry_put_count(reply, "sched_forced", info.forced);
	lull_telemetry_put_count(reply, "run_wait_ns", info.run_wait_ns);
	lull_telemetry_put_count(reply, "cpu_latency_ns", info.cpu_latency_ns);
}

/* What the ports of this loop lost; a port shared with other loops tells each the same. */
static void
loop_reply_ports(struct lull_telemetry_reply *reply, uint32_t index)
{
	struct lull_port_loss loss;

	telemetry.loops->lost(telemetry.config, index, &loss);
	lull_telemetry_put_count(reply, "rx_missed", loss.missed);
	lull_telemetry_put_count(reply, "rx_nombuf", loss.nombuf);
}

static void
loop_reply_histograms(struct lull_telemetry_reply *reply, const struct lull_idle *idle)
{
	const struct lull_histogram *wait = lull_idle_wait_histogram(idle);
	const struct lull_histogram *rest = lull_idle_rest_histogram(idle);

	lull_telemetry_put_count(reply, "wait_count", LULL_COUNTER_READ(wait->count));
	lull_telemetry_put_count(reply, "wait_p50_ns", lull_histogram_quantile(wait, 500000));
	lull_telemetry_put_count(reply, "wait_p99_ns", lull_histogram_quantile(wait, 990000));
	lull_telemetry_put_count(reply, "wait_p995_ns", lull_histogram_quantile(wait, 995000));
	lull_telemetry_put_count(reply, "wait_p999_ns", lull_histogram_quantile(wait, 999000));
	lull_telemetry_put_count(reply, "wait_max_ns", LULL_COUNTER_READ(wait->max));
	lull_telemetry_put_count(reply, "rest_p50_ns", lull_histogram_quantile(rest, 500000));
	lull_telemetry_put_count(reply, "rest_p99_ns", lull_histogram_quantile(rest, 990000));
	lull_telemetry_put_count(reply, "rest_max_ns", LULL_COUNTER_READ(rest->max));
}

/* Of queues that its thread shares with others. */
static void
loop_reply_share(struct lull_telemetry_reply *reply, const struct lull_share_member *share)
{
	const struct lull_histogram *vacations = &share->vacations;

	lull_telemetry_put_table(reply, lull_share_counter_table, &share->counters);
	lull_telemetry_put_count(reply, "vacation_count", LULL_COUNTER_READ(vacations->count));
	lull_telemetry_put_count(reply, "vacation_mean_ns", lull_share_vacation_ns(share));
	lull_telemetry_put_count(reply, "vacation_p99_ns",
				 lull_histogram_quantile(vacations, 990000));
	lull_telemetry_put_count(reply, "vacation_max_ns", LULL_COUNTER_READ(vacations->max));
}

static void
loop_reply_thread(struct lull_telemetry_reply *reply, const struct lull_loop_info *info)
{
	lull_telemetry_put_text(reply, "name", info->name);
	lull_telemetry_put_text(reply, "kind", info->kind);
	lull_telemetry_put_text(reply, "thread", info->thread);
	lull_telemetry_put_text(reply, "mode", info->mode);
	lull_telemetry_put_count(reply, "cpu", (uint64_t)info->cpu);
	lull_telemetry_put_count(reply, "tid", (uint64_t)info->tid);
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_count(reply, "thread_cpu_ns", lull_thread_cpu_ns(info->tid));
	lull_telemetry_put_count(reply, "steal_ns", lull_steal_ns(info->cpu));
}

static int
loop_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_idle_counters *counters;
	struct telemetry_loop loop;

	if (!telemetry_find(reply, params, &loop))
		return 0;
	counters = lull_idle_counters(loop.info.idle);
	loop_reply_thread(reply, &loop.info);
	lull_telemetry_put_count(reply, "window", loop.snapshot.window);
	lull_telemetry_put_count(reply, "window_begin_ns", loop.snapshot.window_begin_ns);
	loop_reply_limits(reply, &loop.snapshot);
	loop_reply_class(reply, loop.info.class);
	lull_telemetry_put_table(reply, lull_idle_counter_table, counters);
	if (loop.info.stage_table != NULL)
		lull_telemetry_put_table(reply, loop.info.stage_table, loop.info.stage_counters);
	loop_reply_ports(reply, loop.index);
	lull_telemetry_put_count(reply, "empty_ppm", lull_idle_empty_ppm(counters));
	lull_telemetry_put_count(reply, "usage_ppm", lull_idle_usage_ppm(counters));
	loop_reply_histograms(reply, loop.info.idle);
	if (loop.info.share != NULL)
		loop_reply_share(reply, loop.info.share);
	return 0;
}

/* ---- /lull/explain ---- */

static void
explain_reply_numbers(struct lull_telemetry_reply *reply, const struct lull_verdict *verdict)
{
	lull_telemetry_put_count(reply, "rest_ns", verdict->rest_ns);
	lull_telemetry_put_count(reply, "latency_bound_ns", verdict->latency_bound_ns);
	lull_telemetry_put_count(reply, "ring_bound_ns", verdict->ring_bound_ns);
	lull_telemetry_put_count(reply, "break_even_ns", verdict->break_even_ns);
	lull_telemetry_put_count(reply, "predicted_ns", verdict->predicted_ns);
	lull_telemetry_put_count(reply, "predicted_cpu_ppm", verdict->predicted_cpu_ppm);
	lull_telemetry_put_count(reply, "overshoot_p50_ns", verdict->overshoot_p50_ns);
	lull_telemetry_put_count(reply, "overshoot_p99_ns", verdict->overshoot_p99_ns);
	lull_telemetry_put_count(reply, "overshoot_p9999_ns", verdict->overshoot_p9999_ns);
	lull_telemetry_put_count(reply, "cost_ns", verdict->cost_ns);
	lull_telemetry_put_count(reply, "load_ppm", verdict->load_ppm);
	lull_telemetry_put_count(reply, "resting_ppm", verdict->resting_ppm);
	lull_telemetry_put_count(reply, "arrival_pps", verdict->arrival_pps);
	lull_telemetry_put_text(reply, "envelope", lull_envelope_name(verdict->envelope));
	lull_telemetry_put_count(reply, "pps_max", verdict->pps_max);
	lull_telemetry_put_count(reply, "iteration_ns", verdict->iteration_ns);
	lull_telemetry_put_count(reply, "outrun", verdict->outrun);
	lull_telemetry_put_count(reply, "interrupt_late_ns", verdict->interrupt_late_ns);
	lull_telemetry_put_count(reply, "calibration_count", verdict->calibration_count);
	lull_telemetry_put_count(reply, "late_ppm", verdict->late_ppm);
	lull_telemetry_put_count(reply, "stall_ppm", verdict->stall_ppm);
	lull_telemetry_put_count(reply, "stall_rate", verdict->stall_rate);
	lull_telemetry_put_count(reply, "stall_ns", verdict->stall_ns);
	lull_telemetry_put_counts(reply, "arrival_pkts", verdict->arrival_pkts,
				  LULL_ARRIVAL_SCALES);
}

/* A list for each member: replies nest nothing but lists. */
static void
explain_reply_remedies(struct lull_telemetry_reply *reply, const struct lull_verdict *verdict)
{
	char words[LULL_REMEDIES_MAX][LULL_TELEMETRY_TEXT_MAX + 1];
	const char *texts[LULL_REMEDIES_MAX];
	uint64_t fits[LULL_REMEDIES_MAX], rest_ns[LULL_REMEDIES_MAX], cpu_ppm[LULL_REMEDIES_MAX];
	const uint32_t count = verdict->remedy_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct lull_remedy *remedy = &verdict->remedies[i];

		texts[i] = lull_remedy_explain(remedy, words[i], sizeof(words[i]));
		fits[i] = remedy->fits;
		rest_ns[i] = remedy->rest_ns;
		cpu_ppm[i] = remedy->cpu_ppm;
	}
	lull_telemetry_put_texts(reply, "remedies", texts, count);
	lull_telemetry_put_counts(reply, "remedy_fits", fits, count);
	lull_telemetry_put_counts(reply, "remedy_rest_ns", rest_ns, count);
	lull_telemetry_put_counts(reply, "remedy_cpu_ppm", cpu_ppm, count);
}

/* "none pause sleep" */
static void
explain_reply_idle_states(struct lull_telemetry_reply *reply, uint32_t idle_states)
{
	char text[LULL_TELEMETRY_TEXT_MAX + 1];
	int used = 0;

	for (int idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++) {
		if ((idle_states & LULL_IDLE_STATE_BIT(idle_state)) != 0)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s",
					 used > 0 ? " " : "",
					 lull_idle_state_name((enum lull_idle_state)idle_state));
	}
	lull_telemetry_put_text(reply, "idle_states", text);
}

/* How the loop does each of them, or why not: "way_monitor": "not available: the CPU has ...". */
static void
explain_reply_ways(struct lull_telemetry_reply *reply, const struct lull_loop_info *info)
{
	for (int i = 0; info->ways != NULL && i < LULL_IDLE_STATE_COUNT; i++) {
		const struct lull_rest_way *way = info->ways[i], *refused = info->refused[i];
		char name[LULL_NAME_SIZE], text[2 * (LULL_TELEMETRY_TEXT_MAX + 1)];

		if (way == NULL && refused == NULL)
			continue;
		snprintf(text, sizeof(text), "%s%s%s", way != NULL ? way->summary : "not available",
			 refused == NULL ? "" :
			 way != NULL     ? "; " :
					   ": ",
			 refused != NULL && refused->lack != NULL ? refused->lack : "");
		snprintf(name, sizeof(name), "way_%s",
			 lull_idle_state_name((enum lull_idle_state)i));
		lull_telemetry_put_text(reply, name, text);
	}
}

static int
explain_reply(struct lull_telemetry_reply *reply, const char *params)
{
	char text[2 * (LULL_TELEMETRY_TEXT_MAX + 1)];
	const struct lull_verdict *verdict;
	struct telemetry_loop loop;

	if (!telemetry_find(reply, params, &loop))
		return 0;
	verdict = &loop.snapshot.verdict;
	lull_telemetry_put_text(reply, "state", lull_verdict_state_name(verdict->state));
	lull_telemetry_put_text(reply, "binding", lull_bound_name(verdict->binding));
	lull_telemetry_put_text(reply, "idle_state", lull_idle_state_name(verdict->idle_state));
	explain_reply_numbers(reply, verdict);
	explain_reply_remedies(reply, verdict);
	explain_reply_idle_states(reply, loop.info.idle_states);
	explain_reply_ways(reply, &loop.info);
	lull_telemetry_put_text(reply, "text",
				lull_loop_info_explain(&loop.info, text, sizeof(text)));
	if (lull_loop_info_class(&loop.info, text, sizeof(text))[0] != '\0')
		lull_telemetry_put_text(reply, "sched_text", text);
	if (loop.info.class != NULL &&
	    lull_rest_thread_explain_cpu(loop.info.class, text, sizeof(text))[0] != '\0')
		lull_telemetry_put_text(reply, "cpu_latency_text", text);
	return 0;
}

/* ---- /lull/traffic, /lull/histogram ---- */

/* Loops of this kind are the engine's: config->loops has them. */
static bool
traffic_loop(const struct telemetry_loop *loop)
{
	return strcmp(loop->info.kind, "traffic") == 0;
}

static int
traffic_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	struct telemetry_loop loop;

	if (!telemetry_find(reply, params, &loop))
		return 0;
	if (config->traffic == NULL || !traffic_loop(&loop))
		return reply_error(reply, "this loop does not make traffic");
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_count(reply, "window", loop.snapshot.window);
	config->traffic(config->arg, config->loops[loop.index], reply_put_count, reply);
	return 0;
}

static const struct lull_histogram *
histogram_find(const struct telemetry_loop *loop, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	const char *kind = strchr(params, ',');

	if (kind == NULL)
		return NULL;
	if (strcmp(kind, ",wait") == 0)
		return lull_idle_wait_histogram(loop->info.idle);
	if (strcmp(kind, ",rest") == 0)
		return lull_idle_rest_histogram(loop->info.idle);
	if (strcmp(kind, ",latency") == 0 && config->latency != NULL && traffic_loop(loop))
		return config->latency(config->arg, config->loops[loop->index]);
	return NULL;
}

static int
histogram_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_histogram *histogram;
	struct lull_telemetry_bins bins;
	struct telemetry_loop loop;
	uint64_t pairs[2 * BINS_MAX];

	if (!telemetry_find(reply, params, &loop))
		return 0;
	histogram = histogram_find(&loop, params);
	if (histogram == NULL)
		return reply_error(reply, "give NAME,wait or NAME,rest, or for a traffic loop "
					  "NAME,latency");
	lull_telemetry_bins(histogram, BINS_MAX, &bins);
	for (uint32_t i = 0; i < bins.count; i++) {
		pairs[2 * i] = bins.bins[i].low;
		pairs[2 * i + 1] = bins.bins[i].count;
	}
	lull_telemetry_put_counts(reply, "bins", pairs, 2 * bins.count);
	return 0;
}

/* ---- /lull/settings, /lull/set, /lull/mark ---- */

static int
settings_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;

	(void)params;
	if (config->settings != NULL)
		config->settings(config->arg, reply_put_setting, reply);
	return 0;
}

static int
set_reply(struct lull_telemetry_reply *reply, const char *params)
{
	const struct lull_telemetry_config *config = telemetry.config;
	struct lull_error error = { "refused" };

	if (config->set == NULL || params == NULL)
		return reply_error(reply, "say KEY=VALUE or KEY@LOOP=VALUE");
	if (config->set(config->arg, params, &error) != 0)
		return reply_error(reply, error.text);
	lull_telemetry_put_count(reply, "ok", 1);
	return 0;
}

static int
mark_reply(struct lull_telemetry_reply *reply, const char *params)
{
	int rc = 0;

	(void)params;
	telemetry.window++;
	for (uint32_t i = 0; i < telemetry_loop_count(); i++) {
		int posted = telemetry.loops->mark(telemetry.config, i, telemetry.window);

		rc = rc != 0 ? rc : posted;
	}
	if (rc != 0)
		return reply_error(reply, "a loop's mailbox is full; try again");
	lull_telemetry_put_count(reply, "window", telemetry.window);
	return 0;
}

/* ---- commands ---- */

static const struct telemetry_builtin {
	const char *name;
	const char *help;
	int (*reply)(struct lull_telemetry_reply *reply, const char *params);
} telemetry_builtins[] = {
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
telemetry_reply(const char *name, const char *params, struct lull_telemetry_reply *reply)
{
	const struct lull_telemetry_config *config = telemetry.config;
	const struct telemetry_builtin *builtin = telemetry_builtins;
	const struct lull_telemetry_command *command;

	if (config == NULL)
		return reply_error(reply, "the program is ending");
	for (; builtin->name != NULL; builtin++) {
		if (strcmp(builtin->name, name) == 0)
			return builtin->reply(reply, params);
	}
	for (command = config->commands; command != NULL && command->name != NULL; command++) {
		if (strcmp(command->name, name) == 0) {
			command->reply(config->arg, params, reply);
			return 0;
		}
	}
	return -EINVAL;
}

int
lull_telemetry_answer(const char *name, const char *params, struct lull_telemetry_reply *reply)
{
	int rc;

	pthread_mutex_lock(&telemetry.lock);
	rc = telemetry_reply(name, params, reply);
	pthread_mutex_unlock(&telemetry.lock);
	return rc;
}

bool
lull_telemetry_command(uint32_t index, const char **name, const char **help)
{
	const struct lull_telemetry_command *command;
	uint32_t builtins = sizeof(telemetry_builtins) / sizeof(telemetry_builtins[0]) - 1;

	if (index < builtins) {
		*name = telemetry_builtins[index].name;
		*help = telemetry_builtins[index].help;
		return true;
	}
	command = telemetry.config != NULL ? telemetry.config->commands : NULL;
	for (; command != NULL && command->name != NULL; command++) {
		if (index-- == builtins) {
			*name = command->name;
			*help = command->help;
			return true;
		}
	}
	return false;
}

void
lull_telemetry_begin(const struct lull_telemetry_config *config,
		     const struct lull_telemetry_loops *loops, const char *dpdk)
{
	pthread_mutex_lock(&telemetry.lock);
	telemetry.config = config;
	telemetry.loops = loops;
	telemetry.dpdk = dpdk;
	telemetry.started_ns = lull_clock_ns();
	pthread_mutex_unlock(&telemetry.lock);
}

void
lull_telemetry_end(void)
{
	pthread_mutex_lock(&telemetry.lock);
	telemetry.config = NULL;
	pthread_mutex_unlock(&telemetry.lock);
}
