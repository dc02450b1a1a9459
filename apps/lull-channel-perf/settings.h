/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-channel-perf can be told.
 *
 * Threads: plain data. Memory: the caller's struct, copied whole.
 */
#ifndef LULL_CHANNEL_PERF_SETTINGS_H
#define LULL_CHANNEL_PERF_SETTINGS_H

#include "plan.h"
#include "program/link/link.h"

enum perf_job {
	PERF_JOB_BANDWIDTH,
	PERF_JOB_LATENCY,
	PERF_JOB_REQUEST,
	PERF_JOB_INCAST,
	PERF_JOB_PERIODIC,
	PERF_JOB_COUNT
};

struct perf_settings {
	bool listen;
	struct lull_option_list to;
	uint32_t job;                   /* enum perf_job */
	uint64_t message_bytes, window; /* 0: the job's */
	uint64_t period_ns, burst_ns, pause_ns;
	bool verify;
	struct lull_link_settings link;
	uint64_t duration_ns, count, jobs, stats_ns;
	char json[PATH_MAX];
};

extern const struct lull_option perf_options[];
/** The name of a job. */
const char *perf_job_name(uint32_t job);
/** What the listener shall do for the settings of a caller. */
struct perf_plan perf_settings_plan(const struct perf_settings *settings);
/** 0, or -errno and the sentence: settings that contradict each other. */
int perf_settings_check(const struct perf_settings *settings, struct lull_error *error);

#endif
