/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <lull/rest.h>

#include "source.h"

/* While packets flow without a pause, control messages and signals wait this long at most. */
#define LOOK_NS (200 * LULL_NS_PER_US)

/* ---- set up ---- */

static int
run_signals(struct source *source, struct lull_error *error)
{
	source->signals = signalfd(-1, &source->run.signals, SFD_NONBLOCK | SFD_CLOEXEC);
	return source->signals >= 0 ? 0 :
				      lull_error_set(error, -errno, "no descriptor for signals: %s",
						     strerror(errno));
}

static int
run_cpu(const struct source_settings *settings, struct lull_error *error)
{
	cpu_set_t set;

	if (settings->cpus.count == 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(settings->cpus.cpus[0], &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return lull_error_set(error, -errno, "cpus: cannot run on CPU %u: %s",
				      settings->cpus.cpus[0], strerror(errno));
	return 0;
}

int
source_open(void *state, struct lull_error *error)
{
	struct source *source = state;
	int rc = run_signals(source, error);

	if (rc == 0)
		rc = run_cpu(&source->settings, error);
	if (rc == 0)
		rc = lull_emulator_open(&source->emulator, &source->settings.emulator, error);
	return rc;
}

void
source_close(void *state)
{
	struct source *source = state;

	lull_emulator_close(source->emulator);
	if (source->signals > 0)
		close(source->signals);
}

/* ---- run ---- */

static bool
run_over(struct source *source, uint64_t now_ns)
{
	uint64_t duration_ns = source->settings.duration_ns;

	if (duration_ns > 0 && now_ns - source->run.begin_ns >= duration_ns)
		source->run.end = "duration";
	else if (lull_emulator_done(source->emulator, now_ns))
		source->run.end = "frames";
	else
		return false;
	return true;
}

/* When there is something to do again. */
static uint64_t
run_due_ns(const struct source *source, uint64_t now_ns)
{
	const struct source_settings *settings = &source->settings;
	uint64_t due_ns = LULL_MIN(now_ns + LULL_NS_PER_S, lull_emulator_due_ns(source->emulator));

	if (settings->duration_ns > 0)
		due_ns = LULL_MIN(due_ns, source->run.begin_ns + settings->duration_ns);
	if (settings->stats_ns > 0)
		due_ns = LULL_MIN(due_ns, source->shown.now_ns + settings->stats_ns);
	return due_ns;
}

int
source_run(void *state, struct lull_error *error)
{
	struct source *source = state;
	uint64_t now_ns, look_ns = 0;
	bool busy;

	lull_run_begin(&source->run);
	source->shown.now_ns = source->run.begin_ns;
	lull_emulator_start(source->emulator, source->run.begin_ns);
	for (;;) {
		now_ns = lull_clock_ns();
		busy = lull_emulator_iterate(source->emulator, now_ns);
		if (!busy || now_ns >= look_ns) {
			if (run_over(source, now_ns))
				break;
			if (lull_emulator_wait(source->emulator,
					       busy ? now_ns : run_due_ns(source, now_ns),
					       source->signals)) {
				source->run.end = "signal";
				break;
			}
			look_ns = now_ns + LOOK_NS;
		}
		if (lull_run_shows(&source->run, source->settings.stats_ns))
			source_progress_print(source, now_ns);
	}
	source->run.end_ns = lull_clock_ns();
	return lull_emulator_flush(source->emulator, error);
}
