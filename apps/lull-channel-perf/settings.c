/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#define LULL_SETTINGS struct perf_settings

static const char *const job_names[] = {
	[PERF_JOB_BANDWIDTH] = "bandwidth", [PERF_JOB_LATENCY] = "latency",
	[PERF_JOB_REQUEST] = "request",     [PERF_JOB_INCAST] = "incast",
	[PERF_JOB_PERIODIC] = "periodic",   [PERF_JOB_COUNT] = NULL,
};

static const char *
job_help(uint32_t index)
{
	static const char *const helps[] = {
		[PERF_JOB_BANDWIDTH] = "Send as fast as the channel takes it.",
		[PERF_JOB_LATENCY] = "One message there and back: half the round trip.",
		[PERF_JOB_REQUEST] = "Requests that come back, several under way.",
		[PERF_JOB_INCAST] = "All nodes of --to send to this one at once.",
		[PERF_JOB_PERIODIC] = "Bursts of --burst, one in each --period.",
	};

	return helps[index];
}

const char *
perf_job_name(uint32_t job)
{
	return job_names[job];
}

const struct lull_option perf_options[] = {
	LULL_ROW_BOOL("listen", listen, "Answer other nodes, whatever their job, until a signal.",
		      .group = "Job"),
	LULL_ROW_LIST("to", "NAME", to,
		      "Node to measure with, which listens. incast: repeat it for each sender."),
	LULL_ROW_CHOICE("job", job, "What is measured.", .value = "bandwidth", .choices = job_names,
			.choice_help = job_help),
	LULL_ROW_COUNT("message", "BYTES", message_bytes, "Length of a message.",
		       .value_help =
			       "1 MiB; 64 for latency and request, 64 KiB for incast and periodic",
		       .low = 1, .high = PERF_MESSAGE_BYTES_MAX),
	LULL_ROW_COUNT("window", "N", window, "Messages under way at once; latency has one.",
		       .value_help = "8; 16 for request, 32 for periodic", .low = 1,
		       .high = PERF_WINDOW_MAX),
	LULL_ROW_TIME("period", period_ns, "periodic: time from one burst to the next.",
		      .value = "100", .unit = "ms", .low = LULL_NS_PER_US,
		      .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_TIME("burst", burst_ns, "periodic: time in which messages are sent.",
		      .value = "10", .unit = "ms", .low = LULL_NS_PER_US,
		      .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_TIME("pause", pause_ns,
		      "latency: time without a message before each of them, as of a node that is "
		      "idle.",
		      .value = "0", .unit = "s", .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_BOOL("verify", verify,
		      "Make the bytes of each message new and compare all of them, which costs "
		      "CPU. latency and request always do; the others otherwise compare number "
		      "and length."),
	LULL_LINK_OPTIONS(link),
	LULL_ROW_TIME("duration", duration_ns, "Time of a job; 0: until --count or a signal.",
		      .value = "10", .unit = "s", .group = "Run"),
	LULL_ROW_COUNT("count", "N", count,
		       "End a job after so many messages of each sender; 0: no limit.",
		       .value = "0", .high = UINT64_MAX / 4),
	LULL_ROW_COUNT("jobs", "N", jobs, "--listen: end after so many jobs; 0: no limit.",
		       .value = "0", .high = UINT64_MAX / 4),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	{ .key = NULL },
};

struct perf_plan
perf_settings_plan(const struct perf_settings *settings)
{
	static const struct {
		enum perf_role_id listener;
		uint64_t message_bytes, window;
	} usual[] = {
		[PERF_JOB_BANDWIDTH] = { PERF_SINK, 1 << 20, 8 },
		[PERF_JOB_LATENCY] = { PERF_ECHO, 64, 1 },
		[PERF_JOB_REQUEST] = { PERF_ECHO, 64, 16 },
		[PERF_JOB_INCAST] = { PERF_SOURCE, 64 << 10, 8 },
		[PERF_JOB_PERIODIC] = { PERF_SINK, 64 << 10, 32 },
	};
	bool periodic = settings->job == PERF_JOB_PERIODIC;
	struct perf_plan plan = {
		.role = usual[settings->job].listener,
		.window = settings->window > 0 ? settings->window : usual[settings->job].window,
		.message_bytes = settings->message_bytes > 0 ? settings->message_bytes :
							       usual[settings->job].message_bytes,
		.count = settings->count,
		.duration_ns = settings->duration_ns,
		.period_ns = periodic ? settings->period_ns : 0,
		.burst_ns = periodic ? settings->burst_ns : 0,
		.verify = settings->verify || usual[settings->job].listener == PERF_ECHO,
	};

	return plan;
}

static int
settings_check_job(const struct perf_settings *settings, struct lull_error *error)
{
	const struct perf_plan plan = perf_settings_plan(settings);

	if (settings->job != PERF_JOB_INCAST && settings->to.count > 1)
		return lull_error_set(error, -EINVAL,
				      "to: %u nodes; only --job incast measures with several",
				      settings->to.count);
	if (settings->job == PERF_JOB_LATENCY && plan.window != 1)
		return lull_error_set(error, -EINVAL,
				      "window: latency has one message under way; choose --job "
				      "request for more");
	if (settings->job != PERF_JOB_LATENCY && settings->pause_ns > 0)
		return lull_error_set(error, -EINVAL, "pause: for --job latency alone");
	if (plan.burst_ns > plan.period_ns)
		return lull_error_set(error, -EINVAL, "burst: longer than the period");
	if (perf_plan_check(&plan) != 0)
		return lull_error_set(error, -EINVAL,
				      "message and window: %llu messages of %llu bytes need more "
				      "than 1 GiB",
				      (unsigned long long)plan.window,
				      (unsigned long long)plan.message_bytes);
	return 0;
}

int
perf_settings_check(const struct perf_settings *settings, struct lull_error *error)
{
	int rc = lull_link_settings_check(&settings->link, error);

	if (rc != 0 || settings->link.check)
		return rc;
	if (settings->listen && settings->to.count > 0)
		return lull_error_set(error, -EINVAL,
				      "listen and to: one side listens, the other names it");
	if (!settings->listen && settings->to.count == 0)
		return lull_error_set(
			error, -EINVAL,
			"no node: start one side with --listen, and name it here with "
			"--to NAME");
	if (settings->jobs > 0 && !settings->listen)
		return lull_error_set(error, -EINVAL, "jobs: only --listen answers several");
	for (uint32_t i = 0; i < settings->to.count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(settings->to.items[i], settings->to.items[j]) == 0)
				return lull_error_set(error, -EINVAL, "to: %.*s is there twice",
						      LULL_ERROR_SHOWN, settings->to.items[i]);
	return settings->listen ? 0 : settings_check_job(settings, error);
}
