/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fwd.h"

#define STEP_NS (10 * LULL_NS_PER_MS)
#define DRAIN_NS (200 * LULL_NS_PER_MS)

/* Rest until a signal comes or @p ns have passed; true: a signal. */
static bool
run_signal(const struct fwd *fwd, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	return sigtimedwait(&fwd->signals, NULL, &limit) > 0;
}

static int
run_start(struct fwd *fwd, struct lull_error *error)
{
	for (uint32_t i = 0; i < fwd->loop_count; i++) {
		int rc = lull_loop_start(fwd->loops[i]);

		if (rc != 0)
			return lull_error_set(error, rc, "loop %s does not start: %s",
					      lull_loop_name(fwd->loops[i]), strerror(-rc));
	}
	for (uint32_t i = 0; i < fwd->loop_count; i++) {
		/* Known as soon as the thread runs. */
		while (lull_loop_tid(fwd->loops[i]) == 0)
			sched_yield();
		fwd->begin[i] = (struct fwd_begin){
			.now_ns = lull_clock_ns(),
			.cpu_ns = lull_thread_cpu_ns(lull_loop_tid(fwd->loops[i])),
			.steal_ns = lull_steal_ns(lull_loop_cpu(fwd->loops[i])),
		};
	}
	return 0;
}

/* Once is enough: what one may not have the others may not either. */
static void
run_tell_class(const struct fwd *fwd)
{
	char text[LULL_ERROR_SIZE];

	for (uint32_t i = 0; i < fwd->loop_count; i++) {
		struct lull_rest_thread_info info;

		lull_loop_class(fwd->loops[i], &info);
		if (info.refused == 0)
			continue;
		fprintf(stderr, "lull-fwd: %s %s\n", lull_loop_name(fwd->loops[i]),
			lull_loop_class_explain(fwd->loops[i], text, sizeof(text)));
		return;
	}
}

static void
run_until_end(struct fwd *fwd)
{
	struct fwd_progress progress = { .now_ns = fwd->begin_ns };

	for (;;) {
		uint64_t now_ns = lull_clock_ns(), step_ns = STEP_NS;

		if (fwd->settings.duration_ns > 0) {
			uint64_t end_ns = fwd->begin_ns + fwd->settings.duration_ns;

			if (now_ns >= end_ns) {
				fwd->end = FWD_END_DURATION;
				return;
			}
			step_ns = LULL_MIN(step_ns, end_ns - now_ns);
		}
		if (run_signal(fwd, step_ns)) {
			fwd->end = FWD_END_SIGNAL;
			return;
		}
		if (fwd->settings.stats_ns > 0 &&
		    lull_clock_ns() - progress.now_ns >= fwd->settings.stats_ns)
			fwd_progress_print(fwd, &progress);
	}
}

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
fwd_run(struct fwd *fwd, struct lull_error *error)
{
	int rc = run_start(fwd, error);

	if (rc != 0)
		return rc;
	run_tell_class(fwd);
	fwd->begin_ns = lull_clock_ns();
	run_until_end(fwd);
	/* From here on a second signal ends the program at once. */
	pthread_sigmask(SIG_UNBLOCK, &fwd->signals, NULL);
	fwd->end_ns = lull_clock_ns();
	if (fwd->traffic != NULL)
		run_drain(fwd);
	for (uint32_t i = 0; i < fwd->loop_count; i++)
		lull_loop_stop(fwd->loops[i]);
	return 0;
}
