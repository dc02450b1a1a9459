/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "flow.h"

#define STEP_NS (5 * LULL_NS_PER_MS)
#define CHECK_NS LULL_NS_PER_S
/* What is under way is bounded by rings and tables; this is for a machine that is very busy. */
#define FINISH_NS (120 * LULL_NS_PER_S)

static int
run_start(struct flow *flow, struct lull_error *error)
{
	int rc = 0;

	/* Those behind first: what comes in finds them ready. */
	for (uint32_t i = flow->loops.count; rc == 0 && i > 0; i--)
		rc = lull_live_loop_start(&flow->loops.items[i - 1], error);
	return rc;
}

/* Is every packet where the counters say? */
static void
run_check(struct flow *flow)
{
	struct lull_error error;

	LULL_COUNTER_ADD(flow->checks, 1);
	if (lull_pipeline_check(flow->pipeline, &error) == 0)
		return;
	LULL_COUNTER_ADD(flow->violations, 1);
	if (flow->violations == 1) {
		flow->violation = error;
		fprintf(stderr, "lull-flow: packets do not add up: %s\n", error.text);
	}
}

/* A line when a worker becomes late, and one when it is back. */
static void
run_tell_late(struct flow *flow)
{
	struct lull_pipeline_late late;
	uint64_t changed;

	lull_pipeline_late(flow->pipeline, &late);
	changed = late.workers ^ flow->late;
	flow->late = late.workers;
	for (uint32_t i = 0; changed != 0 && i < flow->settings.workers; i++) {
		if ((changed >> i & 1) == 0)
			continue;
		if ((late.workers >> i & 1) != 0)
			fprintf(stderr,
				"lull-flow: worker%u is late: records of flows that were split "
				"leave without it\n",
				i);
		else
			fprintf(stderr, "lull-flow: worker%u is back\n", i);
	}
}

static bool
run_input_ended(struct flow *flow)
{
	if (!flow_settings_from_files(&flow->settings) || !lull_pipeline_ended(flow->pipeline, 0))
		return false;
	flow->run.end = "input";
	return true;
}

static void
run_until_end(struct flow *flow)
{
	struct flow_progress progress = { .now_ns = flow->run.begin_ns };
	uint64_t checked_ns = flow->run.begin_ns;

	while (!run_input_ended(flow) &&
	       lull_run_wait(&flow->run, STEP_NS, flow->settings.duration_ns)) {
		flow_watch_export(flow);
		if (lull_run_shows(&flow->run, flow->settings.stats_ns)) {
			flow_progress_print(flow, &progress);
			checked_ns = 0;
		}
		if (lull_clock_ns() - checked_ns >= CHECK_NS) {
			run_check(flow);
			run_tell_late(flow);
			checked_ns = lull_clock_ns();
		}
	}
}

/* When nothing runs any more the identities have no "under way" in them. */
static void
run_check_end(struct flow *flow)
{
	const struct lull_encode_totals *totals = &flow->totals.totals;
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
		lull_error_set(&flow->violation, 0,
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
flow_run(void *state, struct lull_error *error)
{
	struct flow *flow = state;
	struct lull_error later = { .text = "" };
	int rc = run_start(flow, error), trace_rc;

	if (rc != 0)
		return rc;
	lull_live_loops_report_class(&flow->loops, flow->run.program->name);
	lull_run_begin(&flow->run);
	run_until_end(flow);
	lull_run_end(&flow->run);
	__atomic_store_n(&flow->files.stop, true, __ATOMIC_RELAXED);
	rc = lull_pipeline_finish(flow->pipeline, FINISH_NS, error);
	lull_live_loops_stop(&flow->loops);
	/* What is under way takes its time too. What went wrong is in the result as well. */
	flow->run.end_ns = lull_clock_ns();
	flow->run.result_anyway = true;
	run_check_end(flow);
	if (rc == 0)
		rc = flow_sink_finish(flow->sink, error);
	trace_rc = flow_decisions_close(&flow->decisions, flow->settings.trace, &later);
	if (rc == 0 && trace_rc != 0)
		rc = lull_error_set(error, trace_rc, "%s", later.text);
	if (rc == 0 && flow->violations > 0)
		rc = lull_error_set(error, -EPROTO, "packets do not add up: %s",
				    flow->violation.text);
	return rc == 0 ? run_faults(flow, error) : rc;
}
