/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "flow_sim.h"

/* For the simulator, while it runs. */
struct progress {
	struct lull_run *run;
	const char *name;
	/* of all packets: what earlier runs had, and where this one is */
	uint64_t before_pkts, at_pkts;
};

static bool
run_progress(void *arg, uint64_t done_pkts, uint64_t total_pkts)
{
	struct progress *progress = arg;

	if (done_pkts < progress->at_pkts)
		progress->before_pkts += progress->at_pkts;
	progress->at_pkts = done_pkts;
	return lull_run_percent(progress->run, progress->name, done_pkts, total_pkts);
}

static int
run_end(struct flow_sim *program, const struct progress *progress, int rc, struct lull_error *error)
{
	program->pkts += progress->before_pkts + progress->at_pkts;
	lull_run_percent_end(&program->run);
	if (rc == -EINTR)
		return lull_error_set(error, rc, "stopped by a signal: no result");
	if (rc != 0)
		return lull_error_set(error, rc, "no memory for the simulation");
	return 0;
}

/* ---- one run ---- */

static int
run_one(struct flow_sim *program, const struct flow_sim_trial *run, struct lull_error *error)
{
	struct progress progress = { .run = &program->run,
				     .name = lull_scheduler_name(run->scheduler) };
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
run_bisect(struct flow_sim *program, struct flow_sim_trial *run, struct lull_error *error)
{
	const struct flow_sim_settings *settings = &program->settings;
	struct progress progress = { .run = &program->run,
				     .name = lull_scheduler_name(run->scheduler) };
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
	struct flow_sim_trial run = { .scheduler = scheduler, .warm = warm };
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

int
flow_sim_check(void *state, struct lull_error *error)
{
	const struct flow_sim *program = state;
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
flow_sim_open(void *state, struct lull_error *error)
{
	struct flow_sim *program = state;

	program->table = program->settings.json[0] == '\0';
	program->runs = json_array();
	program->bisections = json_array();
	return program->runs != NULL && program->bisections != NULL ?
		       0 :
		       lull_error_set(error, -ENOMEM, "no memory for results");
}

int
flow_sim_run(void *state, struct lull_error *error)
{
	struct flow_sim *program = state;
	const struct flow_sim_settings *settings = &program->settings;
	int rc = 0;

	lull_run_begin(&program->run);
	if (program->table)
		flow_sim_table_head(stdout, settings->bisect);
	for (uint32_t i = 0; rc == 0 && i < settings->schedulers.count; i++) {
		if (settings->start != FLOW_SIM_WARM)
			rc = run_scheduler(program, settings->schedulers.items[i], false, error);
		if (rc == 0 && settings->start != FLOW_SIM_COLD)
			rc = run_scheduler(program, settings->schedulers.items[i], true, error);
	}
	lull_run_end(&program->run);
	return rc;
}

void
flow_sim_close(void *state)
{
	struct flow_sim *program = state;

	json_decref(program->runs);
	json_decref(program->bisections);
}
