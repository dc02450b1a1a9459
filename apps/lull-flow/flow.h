/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: one run of lull-flow, from open inputs to the result.
 *
 * Functions that take a void pointer get the struct flow: they are steps of the program.
 * Threads: main thread; settings are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_FLOW_FLOW_H
#define LULL_FLOW_FLOW_H

#include <lull/pipeline.h>

#include "decisions.h"
#include "files.h"
#include "filter.h"
#include "settings.h"
#include "export.h"
#include "program/live/loops.h"
#include "program/live/placement.h"
#include "program/user.h"

#define FLOW_PORTS_MAX 16
#define FLOW_LOOPS_MAX                                                                             \
	(LULL_PIPELINE_IO_MAX + LULL_DISPATCH_WORKERS_MAX + LULL_PIPELINE_AGGREGATOR_MAX + 1)

enum flow_part {
	FLOW_PART_IO,
	FLOW_PART_WORKER,
	FLOW_PART_AGGREGATOR,
	FLOW_PART_OUTPUT,
	FLOW_PART_WHOLE, /* I/O, the first worker and the aggregator, or a worker that reads */
};

/** What a loop of the pipeline is; the loop has the same index. */
struct flow_thread {
	enum flow_part part;
	struct lull_pipeline_place place;
};

struct flow {
	struct lull_run run;
	struct flow_settings settings;

	struct lull_user user; /* who it becomes */
	struct lull_port ports[FLOW_PORTS_MAX];
	uint32_t port_count;
	uint16_t port_queues; /* of each */
	struct flow_files files;
	struct flow_interfaces interfaces; /* where records have their numbers */
	struct flow_filter *filter;        /* NULL: all packets */
	struct flow_decisions decisions;   /* the trace being written */
	struct flow_sink *sink;
	struct flow_sink_list sink_list; /* what it has borrowed */
	struct lull_pipeline *pipeline;
	struct flow_thread threads[FLOW_LOOPS_MAX];
	struct lull_live_loops loops;
	struct lull_live live;
	uint64_t idle_ns_max; /* idle-timeout at start, the longest while it runs */

	uint64_t late; /* workers that a line on stderr has named */
	uint64_t checks, violations;
	struct lull_error violation;        /* the first one */
	struct lull_pipeline_totals totals; /* in the end */
};

/** What the table leaves to the program. */
void flow_preset(void *settings);
/** Fill in what follows from other rows, and say what rows cannot say about each other. */
int flow_check(void *state, struct lull_error *error);
/** Repeat the decisions of a trace, if that was asked for. */
int flow_replay(void *state, bool *done, struct lull_error *error);
/** Inputs, exports, pipeline, loops, telemetry. */
int flow_open(void *state, struct lull_error *error);
/** Work until the input ends, a signal or the duration is over; everything is exported then. */
int flow_run(void *state, struct lull_error *error);
void flow_close(void *state);
void flow_result(void *state, json_t *result);
/** What it came to in the end, on stderr. */
void flow_print(void *state);

/** Open the destinations of records. */
int flow_open_export(struct flow *flow, struct lull_error *error);
/** Rotate files; tell of destinations that do not take records, or do again. */
void flow_watch_export(struct flow *flow);
/** SIGHUP: open files of records anew, read settings again. */
void flow_hangup(void *state);

/**
 * Do workers read the files themselves? Each is then one thread for all, as the only one is. Inputs
 * are open.
 */
bool flow_workers_read(const struct flow *flow);
/** Aggregators there are: as many as asked for, or one for each worker that reads. */
uint32_t flow_aggregator_count(const struct flow *flow);

/** The loops of the pipeline, part by part. */
int flow_open_threads(struct flow *flow, struct lull_error *error);

/**
 * CPUs of the loops, from the settings or those this process may use; chooses the governor if the
 * settings do not, and warns when a loop that spins shares a CPU.
 */
void flow_place(struct flow_settings *settings, struct lull_placement *placement);

/** Start telemetry. */
int flow_control_start(struct flow *flow, struct lull_error *error);
/** "/lull/flow", "/lull/flow_top", "/lull/flow_interfaces", "/lull/flow_export". */
extern const struct lull_telemetry_command flow_commands[];

/** Progress since the last line; all zero at first. */
struct flow_progress {
	uint64_t now_ns;
	struct lull_encode_totals totals;
	uint64_t cpu_ns[FLOW_LOOPS_MAX];
};
void flow_progress_print(const struct flow *flow, struct flow_progress *last);

#endif
