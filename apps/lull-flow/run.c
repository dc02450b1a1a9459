/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flow.h"

#define STEP_NS (5 * LULL_NS_PER_MS)
#define CHECK_NS LULL_NS_PER_S
/* What is under way is bounded by rings and tables; this is for a machine that is very busy. */
#define FINISH_NS (120 * LULL_NS_PER_S)

/* Rest until a signal comes or @p ns have passed; true: a signal. */
static bool
run_signal(const struct flow *flow, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	return sigtimedwait(&flow->signals, NULL, &limit) > 0;
}

static int
run_start(struct flow *flow, struct lull_error *error)
{
	/* Those behind first: what comes in finds them ready. */
	for (uint32_t i = flow->thread_count; i > 0; i--) {
		struct flow_thread *thread = &flow->threads[i - 1];
		int rc = lull_loop_start(thread->loop);

		if (rc != 0)
			return lull_error_set(error, rc, "loop %s does not start: %s",
					      lull_loop_name(thread->loop), strerror(-rc));
		/* Known as soon as the thread runs. */
		while (lull_loop_tid(thread->loop) == 0)
			sched_yield();
		thread->begin_ns = lull_clock_ns();
		thread->begin_cpu_ns = lull_thread_cpu_ns(lull_loop_tid(thread->loop));
		thread->begin_steal_ns = lull_steal_ns(lull_loop_cpu(thread->loop));
	}
	return 0;
}

/* Is every packet where the counters say? */
static void
run_check(struct flow *flow)
{
	char text[LULL_ERROR_SIZE];

	LULL_COUNTER_ADD(flow->checks, 1);
	if (lull_pipeline_check(flow->pipeline, text) == 0)
		return;
	LULL_COUNTER_ADD(flow->violations, 1);
	if (flow->violations == 1) {
		snprintf(flow->violation, sizeof(flow->violation), "%s", text);
		fprintf(stderr, "lull-flow: packets do not add up: %s\n", text);
	}
}

static bool
run_input_ended(const struct flow *flow)
{
	return flow_settings_from_files(&flow->settings) && lull_pipeline_ended(flow->pipeline, 0);
}

/* Once is enough: what one may not have the others may not either. */
static void
run_tell_class(const struct flow *flow)
{
	char text[LULL_ERROR_SIZE];

	for (uint32_t i = 0; i < flow->thread_count; i++) {
		struct lull_rest_thread_info info;

		lull_loop_class(flow->loops[i], &info);
		if (info.refused == 0)
			continue;
		fprintf(stderr, "lull-flow: %s %s\n", lull_loop_name(flow->loops[i]),
			lull_loop_class_explain(flow->loops[i], text, sizeof(text)));
		return;
	}
}

static void
run_until_end(struct flow *flow)
{
	struct flow_progress progress = { .now_ns = flow->begin_ns };
	uint64_t checked_ns = flow->begin_ns;

	while (!run_input_ended(flow)) {
		uint64_t now_ns = lull_clock_ns(), step_ns = STEP_NS;

		if (flow->settings.duration_ns > 0) {
			uint64_t end_ns = flow->begin_ns + flow->settings.duration_ns;

			if (now_ns >= end_ns) {
				flow->end = FLOW_END_DURATION;
				return;
			}
			step_ns = LULL_MIN(step_ns, end_ns - now_ns);
		}
		if (run_signal(flow, step_ns)) {
			flow->end = FLOW_END_SIGNAL;
			return;
		}
		now_ns = lull_clock_ns();
		if (flow->settings.stats_ns > 0 &&
		    now_ns - progress.now_ns >= flow->settings.stats_ns) {
			flow_progress_print(flow, &progress);
			checked_ns = 0;
		}
		if (now_ns - checked_ns >= CHECK_NS) {
			run_check(flow);
			checked_ns = now_ns;
		}
	}
	flow->end = FLOW_END_INPUT;
}

/* When nothing runs any more the identities have no "under way" in them. */
static void
run_check_end(struct flow *flow)
{
	const struct lull_export_totals *totals = &flow->totals.totals;
	uint64_t gone;

	run_check(flow);
	lull_pipeline_totals(flow->pipeline, &flow->totals);
	gone = totals->not_ip + totals->malformed + totals->truncated + totals->link +
	       totals->drop_ring;
	if (totals->rx == totals->dispatched + gone &&
	    totals->dispatched == totals->recorded + totals->unrecorded)
		return;
	LULL_COUNTER_ADD(flow->violations, 1);
	if (flow->violations == 1)
		snprintf(flow->violation, sizeof(flow->violation),
			 "in the end: received %" PRIu64 ", dispatched %" PRIu64
			 " + dropped %" PRIu64 ", recorded %" PRIu64 " + unrecorded %" PRIu64,
			 totals->rx, totals->dispatched, gone, totals->recorded,
			 totals->unrecorded);
}

/* Files that could not be read to their end: the first is the error, all are shown. */
static int
run_faults(const struct flow *flow, struct lull_error *error)
{
	struct lull_error text;
	int rc = 0;

	for (uint32_t i = 0; i < flow->files.file_count; i++) {
		const char *fault = flow_files_fault(&flow->files, i, &text);

		if (fault == NULL)
			continue;
		if (rc == 0 && !flow->settings.keep_going)
			rc = lull_error_set(error, -EBADMSG, "%s", fault);
		else
			fprintf(stderr, "lull-flow: %s\n", fault);
	}
	return rc;
}

int
flow_run(struct flow *flow, struct lull_error *error)
{
	struct lull_error later = { .text = "" };
	char text[LULL_ERROR_SIZE];
	int rc = run_start(flow, error), trace_rc;

	if (rc != 0)
		return rc;
	run_tell_class(flow);
	flow->begin_ns = lull_clock_ns();
	run_until_end(flow);
	/* From here on a second signal ends the program at once. */
	pthread_sigmask(SIG_UNBLOCK, &flow->signals, NULL);
	__atomic_store_n(&flow->files.stop, true, __ATOMIC_RELAXED);
	rc = lull_pipeline_finish(flow->pipeline, FINISH_NS, text);
	if (rc != 0)
		lull_error_set(error, rc, "%s", text);
	for (uint32_t i = 0; i < flow->thread_count; i++)
		lull_loop_stop(flow->loops[i]);
	flow->end_ns = lull_clock_ns();
	run_check_end(flow);
	if (rc == 0)
		rc = flow_sink_finish(flow->sink, error);
	trace_rc = flow_decisions_close(&flow->decisions, flow->settings.trace, &later);
	if (rc == 0 && trace_rc != 0)
		rc = lull_error_set(error, trace_rc, "%s", later.text);
	if (rc == 0 && flow->violations > 0)
		rc = lull_error_set(error, -EPROTO, "packets do not add up: %s", flow->violation);
	return rc == 0 ? run_faults(flow, error) : rc;
}
