/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "fwd.h"

#define STEP_NS (10 * LULL_NS_PER_MS)
#define DRAIN_NS (200 * LULL_NS_PER_MS)

/* Stop sending and give what is under way its time, so that what is missing then is lost. */
static void
run_drain(struct fwd *fwd)
{
	const void *state = lull_loop_stage_state(fwd->traffic);
	uint64_t begin_ns;

	fwd_control_traffic_off(fwd);
	begin_ns = lull_clock_ns();
	while (lull_clock_ns() - begin_ns < DRAIN_NS &&
	       (!lull_traffic_silent(state) || lull_traffic_in_flight(state) > 0)) {
		const struct timespec moment = { .tv_nsec = (long)LULL_NS_PER_MS };

		nanosleep(&moment, NULL);
	}
}

int
fwd_run(void *state, struct lull_error *error)
{
	struct fwd *fwd = state;
	struct fwd_progress progress;

	for (uint32_t i = 0; i < fwd->loops.count; i++) {
		int rc = lull_live_loop_start(&fwd->loops.items[i], error);

		if (rc != 0)
			return rc;
	}
	lull_live_loops_report_class(&fwd->loops, fwd->run.program->name);
	lull_run_begin(&fwd->run);
	progress = (struct fwd_progress){ .now_ns = fwd->run.begin_ns };
	while (lull_run_wait(&fwd->run, STEP_NS, fwd->settings.duration_ns))
		if (lull_run_shows(&fwd->run, fwd->settings.stats_ns))
			fwd_progress_print(fwd, &progress);
	lull_run_end(&fwd->run);
	if (fwd->traffic != NULL)
		run_drain(fwd);
	lull_live_loops_stop(&fwd->loops);
	return 0;
}
