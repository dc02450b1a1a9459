/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: one run of lull-flow, from open inputs to the result.
 *
 * Threads: main thread; settings are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_FLOW_FLOW_H
#define LULL_FLOW_FLOW_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>

#include <lull/engine.h>
#include <lull/pipeline.h>

#include "decisions.h"
#include "files.h"
#include "settings.h"
#include "export/sink.h"

#define FLOW_PORTS_MAX 16
#define FLOW_LOOPS_MAX                                                                             \
	(LULL_PIPELINE_IO_MAX + LULL_DISPATCH_WORKERS_MAX + LULL_PIPELINE_LOG_MAX + 1)

/** Why the run ended, for the result. */
enum flow_end { FLOW_END_INPUT, FLOW_END_SIGNAL, FLOW_END_DURATION };

enum flow_part { FLOW_PART_IO, FLOW_PART_WORKER, FLOW_PART_LOG, FLOW_PART_OUTPUT };

/** One thread of the pipeline. */
struct flow_thread {
	struct lull_loop *loop;
	enum flow_part part;
	struct lull_pipeline_place place;
	struct lull_resting resting;  /* may be changed for this thread alone */
	struct lull_ring_facts rings; /* that it polls */
	uint64_t begin_ns, begin_cpu_ns, begin_steal_ns;
};

struct flow {
	pthread_mutex_t lock;
	struct flow_settings settings;
	sigset_t signals; /* that end the run, blocked in every thread */

	bool engine; /* is up */
	struct lull_port ports[FLOW_PORTS_MAX];
	uint32_t port_count;
	uint16_t port_queues; /* of each */
	struct flow_files files;
	struct flow_decisions decisions; /* the trace being written */
	struct flow_sink *sink;
	struct lull_pipeline *pipeline;
	struct flow_thread threads[FLOW_LOOPS_MAX];
	struct lull_loop *loops[FLOW_LOOPS_MAX];
	uint32_t thread_count;
	struct lull_telemetry_config telemetry;
	uint64_t idle_ns_max; /* idle-timeout at start, the longest while it runs */

	enum flow_end end;
	uint64_t begin_ns, end_ns;
	uint64_t checks, violations;
	char violation[LULL_ERROR_SIZE];    /* the first one */
	struct lull_pipeline_totals totals; /* in the end */
};

/** Inputs, exports, pipeline, loops, telemetry. 0 or -errno and the sentence; close in any case. */
int flow_open(struct flow *flow, struct lull_error *error);
/** The loops of the pipeline, part by part. */
int flow_open_threads(struct flow *flow, struct lull_error *error);
/** Work until the input ends, a signal or the duration is over; everything is exported then. */
int flow_run(struct flow *flow, struct lull_error *error);
void flow_close(struct flow *flow);

/** Threads of a run, in the order of lcores, with their CPUs. */
struct flow_seats {
	uint32_t count;
	int cpus[FLOW_LOOPS_MAX];
	int rest; /* of everything else */
	bool shared;
};
/** From the settings or the CPUs this process may use; warns when a loop that spins shares one. */
void flow_seats_choose(struct flow_settings *settings, struct flow_seats *seats);

/** Limits of a thread as its settings and ports have it; -EINVAL and the sentence. */
int flow_thread_limits(const struct flow_thread *thread, struct lull_idle_limits *limits,
		       struct lull_error *error);

/** Fill in flow->telemetry. */
void flow_control_init(struct flow *flow);
/** "/lull/flow", "/lull/flow_top"; their arg is the struct flow. */
extern const struct lull_telemetry_command flow_commands[];

/** Progress since the last line; all zero at first. */
struct flow_progress {
	uint64_t now_ns;
	struct lull_export_totals totals;
	uint64_t cpu_ns[FLOW_LOOPS_MAX];
};
void flow_progress_print(const struct flow *flow, struct flow_progress *last);
/** What it came to in the end, on stderr. */
void flow_summary_print(const struct flow *flow);

/** The result as a new object, NULL when there is no memory. */
json_t *flow_result(struct flow *flow);

#endif
