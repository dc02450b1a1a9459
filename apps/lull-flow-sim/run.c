/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

#define PROGRESS_NS (LULL_NS_PER_S / 2)

static volatile sig_atomic_t run_signal;

static void
run_stop(int number)
{
	run_signal = number;
}

static uint64_t
run_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- progress: only where somebody looks, only when it takes long ---- */

struct progress {
	const char *name;
	uint64_t shown_ns;
	bool shown;
	/* of all packets: what earlier runs had, and where this one is */
	uint64_t before_pkts, at_pkts;
};

static bool
run_progress(void *arg, uint64_t done_pkts, uint64_t total_pkts)
{
	struct progress *progress = arg;
	uint64_t now_ns;

	if (done_pkts < progress->at_pkts)
		progress->before_pkts += progress->at_pkts;
	progress->at_pkts = done_pkts;
	if (run_signal != 0)
		return false;
	if (!isatty(STDERR_FILENO))
		return true;
	now_ns = run_clock_ns();
	if (now_ns >= progress->shown_ns + PROGRESS_NS) {
		progress->shown_ns = now_ns;
		progress->shown = true;
		fprintf(stderr, "\r%s: %3.0f %%", progress->name,
			100.0 * (double)done_pkts / (double)total_pkts);
	}
	return true;
}

static int
run_end(struct flow_sim *program, const struct progress *progress, int rc, struct lull_error *error)
{
	program->pkts += progress->before_pkts + progress->at_pkts;
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", 40, "");
	if (rc == -EINTR)
		return lull_error_set(error, rc, "stopped by signal %d: no result",
				      (int)run_signal);
	if (rc != 0)
		return lull_error_set(error, rc, "no memory for the simulation");
	return 0;
}

/* ---- one run ---- */

static int
run_one(struct flow_sim *program, const struct flow_sim_run *run, struct lull_error *error)
{
	struct progress progress = { .name = lull_scheduler_name(run->scheduler),
				     .shown_ns = run_clock_ns() };
	const struct lull_sim_pipeline_result *result;
	struct lull_sim_pipeline *pipeline;
	int rc = lull_sim_pipeline_create(&run->config, &pipeline);

	if (rc != 0)
		return run_end(program, &progress, rc, error);
	rc = run_end(program, &progress, lull_sim_pipeline_run(pipeline, run_progress, &progress),
		     error);
	if (rc == 0) {
		result = lull_sim_pipeline_read(pipeline);
		program->pkts += run->config.lead_pkts + run->config.pkts - progress.at_pkts;
		json_array_append_new(program->runs, flow_sim_result_run(run, result));
		if (program->table)
			flow_sim_table_run(stdout, run, result);
	}
	lull_sim_pipeline_free(pipeline);
	return rc;
}

static int
run_bisect(struct flow_sim *program, struct flow_sim_run *run, struct lull_error *error)
{
	const struct flow_sim_settings *settings = &program->settings;
	struct progress progress = { .name = lull_scheduler_name(run->scheduler),
				     .shown_ns = run_clock_ns() };
	struct lull_sim_pipeline_search search = {
		.seed_count = settings->seed_count,
		.step_ppm = (uint32_t)(settings->bisect_step * 10000 + 0.5),
		.high_ppm = (uint32_t)(settings->bisect_high * 10000 + 0.5),
	};
	int rc;

	search.high_ppm = LULL_MAX(search.high_ppm, search.step_ppm);
	run->seed_count = settings->seed_count;
	rc = lull_sim_pipeline_bisect(&run->config, &search, run_progress, &progress,
				      &run->config.load_ppm);
	rc = run_end(program, &progress, rc, error);
	if (rc != 0)
		return rc;
	json_array_append_new(program->bisections, flow_sim_result_bisection(run));
	if (program->table)
		flow_sim_table_bisection(stdout, run);
	return 0;
}

/* ---- all of them ---- */

static int
run_scheduler(struct flow_sim *program, const struct lull_scheduler *scheduler, bool warm,
	      struct lull_error *error)
{
	const struct flow_sim_settings *settings = &program->settings;
	struct flow_sim_run run = { .scheduler = scheduler, .warm = warm };
	int rc = 0;

	if (settings->bisect) {
		run.config = flow_sim_settings_config(settings, scheduler, 1, warm, settings->seed);
		return run_bisect(program, &run, error);
	}
	for (uint32_t i = 0; i < settings->loads.count && rc == 0; i++)
		for (uint32_t seed = 0; seed < settings->seed_count && rc == 0; seed++) {
			run.config = flow_sim_settings_config(settings, scheduler,
							      settings->loads.items_ppm[i], warm,
							      settings->seed + seed);
			rc = run_one(program, &run, error);
		}
	return rc;
}

static int
run_check(const struct flow_sim *program, struct lull_error *error)
{
	struct lull_range wrong;

	for (uint32_t i = 0; i < program->settings.schedulers.count; i++) {
		struct lull_sim_pipeline_config config = flow_sim_settings_config(
			&program->settings, program->settings.schedulers.items[i],
			program->settings.loads.items_ppm[0], false, program->settings.seed);

		if (lull_sim_pipeline_config_check(&config, &wrong) != 0)
			return lull_error_range(error, &wrong);
	}
	return 0;
}

int
flow_sim_run_all(struct flow_sim *program, struct lull_error *error)
{
	const struct flow_sim_settings *settings = &program->settings;
	struct sigaction action = { .sa_handler = run_stop, .sa_flags = (int)SA_RESETHAND };
	uint64_t begin_ns = run_clock_ns();
	int rc = run_check(program, error);

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (rc == 0 && program->table)
		flow_sim_table_head(stdout, settings->bisect);
	for (uint32_t i = 0; rc == 0 && i < settings->schedulers.count; i++) {
		if (settings->start != FLOW_SIM_WARM)
			rc = run_scheduler(program, settings->schedulers.items[i], false, error);
		if (rc == 0 && settings->start != FLOW_SIM_COLD)
			rc = run_scheduler(program, settings->schedulers.items[i], true, error);
	}
	program->wall_s = (double)(run_clock_ns() - begin_ns) * 1e-9;
	return rc;
}
