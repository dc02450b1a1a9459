/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/result.h"
#include "sim_program.h"

#define TAIL_NS (10 * LULL_NS_PER_MS) /* after the last packet of a capture */

/* For the simulator, while it runs. */
struct progress {
	struct lull_run *run;
	const char *name;
};

static bool
run_progress(void *arg, uint64_t done_ns, uint64_t total_ns)
{
	const struct progress *progress = arg;

	return lull_run_percent(progress->run, progress->name, done_ns, total_ns);
}

/* ---- one run ---- */

static struct lull_sim_config
run_config(const struct sim_program *program, const struct sim_governor *governor)
{
	const struct sim_settings *settings = &program->settings;
	const struct sim_governor *sender =
		settings->send_governor.count > 0 ? &settings->send_governor.items[0] : governor;
	bool pcap = program->capture.trace.count > 0;
	struct lull_sim_config config = {
		.path = (enum lull_sim_path)settings->path,
		.machine = sim_settings_machine(settings),
		.arrival = settings->arrival,
		.trace = program->capture.trace,
		.link_bps = settings->link_bps,
		.shape_bps = settings->shape_bps,
		.shape_bytes = settings->shape_bytes,
		.ring_pkts = settings->ring,
		.held_pkts = settings->held,
		.public_pkts = settings->public_ring,
		.burst_pkts = settings->burst,
		.round_pkts = settings->round_bursts,
		.queue_count = settings->queues,
		.share_queues = settings->share_queues,
		.thread_count = settings->threads,
		.core_count = settings->cores > 0 ? settings->cores : settings->threads,
		.late_ppm = (uint32_t)settings->late.first,
		.late_ns = settings->late.second,
		.line_every_ns = settings->line_bursts.first,
		.line_pkts = (uint32_t)settings->line_bursts.second,
		.seed = settings->seed,
		.warmup_ns = settings->warmup_ns,
		.duration_ns = settings->duration_ns,
	};

	config.stall_every_ns = config.machine.stall_every_ns;
	config.stall_ns = config.machine.stall_ns;
	config.stall_ns_max = config.machine.stall_ns_max;
	config.competitor_ppm = config.machine.competitor_ppm;
	config.competitor_run_ns = config.machine.competitor_run_ns;
	config.fifo = config.machine.fifo;
	config.policy[LULL_SIM_SIDE_RECEIVE] = (struct lull_sim_policy){
		governor->governor, sim_settings_limits(settings, governor, LULL_SIM_SIDE_RECEIVE)
	};
	config.policy[LULL_SIM_SIDE_SEND] = (struct lull_sim_policy){
		sender->governor, sim_settings_limits(settings, sender, LULL_SIM_SIDE_SEND)
	};
	if (config.warmup_ns == SIM_UNSET)
		config.warmup_ns = pcap ? 0 : LULL_NS_PER_S / 2;
	if (config.duration_ns == SIM_UNSET)
		config.duration_ns = pcap ? program->capture.length_ns + TAIL_NS : LULL_NS_PER_S;
	return config;
}

/* What the governors have in common, before anything is printed. */
static int
run_check(const struct sim_program *program, struct lull_error *error)
{
	const struct lull_sim_config config =
		run_config(program, &program->settings.governors.items[0]);
	struct lull_range wrong;

	return lull_sim_config_check(&config, &wrong) == 0 ? 0 : lull_error_range(error, &wrong);
}

static int
run_read(struct lull_sim *sim, struct sim_trial *run)
{
	enum lull_sim_side side;

	run->pkts = lull_sim_pkts(sim);
	for (side = 0; side < LULL_SIM_SIDE_COUNT; side++) {
		if (side == LULL_SIM_SIDE_SEND && run->config.path != LULL_SIM_SEND_RECEIVE)
			continue;
		run->sides[side] = calloc(1, sizeof(*run->sides[side]));
		if (run->sides[side] == NULL)
			return -ENOMEM;
		lull_sim_read(sim, side, run->sides[side]);
	}
	return 0;
}

static void
run_done(struct sim_trial *run)
{
	for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++)
		free(run->sides[side]);
}

/* The caller calls run_done() whatever this returns. */
static int
run_one(struct sim_program *program, const struct sim_governor *governor, struct sim_trial *run,
	struct lull_error *error)
{
	struct progress progress = { &program->run, lull_idle_governor_name(governor->governor) };
	struct lull_sim *sim;
	int rc;

	memset(run, 0, sizeof(*run));
	run->governor = *governor;
	run->config = run_config(program, governor);
	rc = lull_sim_create(&run->config, &sim);
	if (rc != 0)
		return lull_error_set(error, rc, "%s",
				      rc == -ENOMEM ? "no memory for the simulation" :
						      "limits of a governor are out of range");
	rc = lull_sim_run(sim, run_progress, &progress);
	lull_run_percent_end(&program->run);
	if (rc == 0)
		rc = run_read(sim, run);
	lull_sim_free(sim);
	if (rc == -EINTR)
		return lull_error_set(error, rc, "stopped by a signal: no result");
	if (rc != 0)
		return lull_error_set(error, rc, "no memory for packets under way");
	program->pkts += run->pkts;
	return 0;
}

/* ---- all of them ---- */

static int
run_governor(struct sim_program *program, const struct sim_governor *governor,
	     struct lull_error *error)
{
	struct sim_trial run;
	int rc = run_one(program, governor, &run, error);

	for (int side = 0; rc == 0 && side < LULL_SIM_SIDE_COUNT; side++)
		if (run.sides[side] != NULL)
			json_array_append_new(program->runs,
					      sim_result_side(&run, (enum lull_sim_side)side,
							      program->settings.bins));
	if (rc == 0 && program->table)
		sim_table_run(stdout, &run);
	run_done(&run);
	return rc;
}

static int
run_sweep(struct sim_program *program, struct lull_error *error)
{
	const struct sim_sweep *sweep = &program->settings.sweep;
	double factor = (double)sweep->high_ns / (double)sweep->low_ns;
	struct sim_governor governor = { .governor = lull_idle_governor_find("fixed") };
	struct sim_trial run;
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < sweep->steps; i++) {
		governor.rest_ns = (uint64_t)((double)sweep->low_ns *
						      pow(factor, i / (double)(sweep->steps - 1)) +
					      0.5);
		rc = run_one(program, &governor, &run, error);
		if (rc == 0)
			json_array_append_new(program->sweep, sim_result_sweep_row(&run));
		run_done(&run);
	}
	return rc;
}

int
sim_check(void *state, struct lull_error *error)
{
	struct sim_program *program = state;
	int rc = sim_settings_check(&program->settings, error);

	return rc == 0 ? run_check(program, error) : rc;
}

int
sim_describe(void *state, bool *done, struct lull_error *error)
{
	const struct sim_settings *settings = &((struct sim_program *)state)->settings;
	const char *path = settings->json[0] != '\0' ? settings->json : "-";
	json_t *machine;
	int rc;

	*done = settings->describe[0] != '\0';
	if (!*done)
		return 0;
	machine = sim_result_machine(settings);
	rc = lull_result_write(path, machine, error);
	json_decref(machine);
	return rc;
}

int
sim_open(void *state, struct lull_error *error)
{
	struct sim_program *program = state;
	const struct sim_settings *settings = &program->settings;
	int rc = 0;

	program->table = settings->json[0] == '\0';
	program->runs = json_array();
	program->sweep = json_array();
	if (settings->pcap[0] != '\0')
		rc = sim_capture_open(&program->capture, settings->pcap, settings->pcap_speed,
				      error);
	/* Once more: a capture has a duration of its own. */
	return rc == 0 ? run_check(program, error) : rc;
}

int
sim_run(void *state, struct lull_error *error)
{
	struct sim_program *program = state;
	const struct sim_settings *settings = &program->settings;
	int rc = 0;

	lull_run_begin(&program->run);
	if (program->table)
		sim_table_head(stdout, sim_settings_machine(settings).competitor_ppm > 0);
	for (uint32_t i = 0; rc == 0 && i < settings->governors.count; i++)
		rc = run_governor(program, &settings->governors.items[i], error);
	if (rc == 0 && settings->sweep.steps > 0)
		rc = run_sweep(program, error);
	lull_run_end(&program->run);
	return rc;
}

void
sim_close(void *state)
{
	struct sim_program *program = state;

	json_decref(program->runs);
	json_decref(program->sweep);
	sim_capture_close(&program->capture);
}
