/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Perf: the whole program, from its settings to its result.
 *
 * Both sides run the same loop: take what has ended, give each session its turn, wait.
 * Threads: main thread. Memory: the caller's struct, a struct perf_session per job under way.
 */
#ifndef LULL_CHANNEL_PERF_PERF_H
#define LULL_CHANNEL_PERF_PERF_H

#include "program/program.h"
#include "session.h"
#include "settings.h"

#define PERF_SESSIONS_MAX 64U
#define PERF_ASKS 8U
#define PERF_RESULTS_MAX 64U /* jobs of a listener that its result tells of, the last ones */

struct perf {
	struct lull_run run;
	struct perf_settings settings;
	struct lull_link link;
	struct perf_session *sessions[PERF_SESSIONS_MAX];
	uint32_t session_count;

	/* caller */
	bool fair_known;
	uint64_t fair_bytes[PERF_SESSIONS_MAX]; /* incast: received when the first sender ended */

	/* listener */
	struct perf_slot asks[PERF_ASKS], refusals[PERF_ASKS];
	uint8_t ask_bytes[PERF_ASKS][PERF_CONTROL_BYTES],
		refusal_bytes[PERF_ASKS][PERF_CONTROL_BYTES];
	json_t *results;
	uint64_t jobs, broken_jobs; /* ended */

	struct perf_progress {
		uint64_t now_ns, bytes, messages, cpu_ns, lost_pkts, resent_pkts;
		uint64_t paths[LULL_BUNDLE_PATHS_MAX];
	} shown;
};

int perf_check(void *state, struct lull_error *error);
int perf_instead(void *state, bool *done, struct lull_error *error);
int perf_open(void *state, struct lull_error *error);
int perf_run(void *state, struct lull_error *error);
void perf_close(void *state);
void perf_result(void *state, json_t *result);
void perf_print(void *state);

/** Connect to the nodes of --to and ask each for the job. */
int perf_call_begin(struct perf *perf, struct lull_error *error);
/** Has all of it ended? A session that failed: negative errno and the sentence. */
int perf_call_over(struct perf *perf, uint64_t now_ns, bool *over, struct lull_error *error);
/** Do both sides tell the same? -EIO and the sentence. */
int perf_call_judge(const struct perf *perf, struct lull_error *error);

/** Wait for jobs. */
int perf_listen_begin(struct perf *perf, struct lull_error *error);
/** Somebody asks for a job, or one is told that he cannot have it. */
void perf_listen_done(struct perf *perf, struct perf_slot *slot,
		      const struct lull_channel_completion *completion);
/** Count and free jobs that have ended. */
void perf_listen_sweep(struct perf *perf);

/** One line about what happened since the last one. */
void perf_progress_print(struct perf *perf, uint64_t now_ns);
/** A job as JSON. */
json_t *perf_session_result(const struct perf_session *session);
/** Jain's index of what the senders got through, 0..1; 0: nothing was sent. */
double perf_jain(const struct perf *perf);

#endif
