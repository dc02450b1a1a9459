/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "channel_sim.h"

#define PROGRESS_SCENARIOS 64

static bool
run_progress(void *arg, uint64_t done_ns, uint64_t total_ns)
{
	return lull_run_percent(arg, "virtual time", done_ns, total_ns);
}

/* How to see again what went wrong. */
static void
run_command(const struct channel_sim *program, uint64_t seed, char *text, size_t size)
{
	if (program->settings.scenarios > 0)
		snprintf(text, size,
			 "seed %" PRIu64 "; again: lull-channel-sim --scenarios 1 --seed %" PRIu64,
			 seed, seed);
	else
		snprintf(text, size, "seed %" PRIu64 " with the same options", seed);
}

static int
run_world(struct channel_sim *program, const struct lull_sim_channel_config *config, bool shows,
	  struct lull_error *error)
{
	struct lull_sim_channel *world;
	char command[128];
	int rc = lull_sim_channel_create(config, &world);

	if (rc != 0)
		return lull_error_set(error, rc, "seed %" PRIu64 ": %s", config->seed,
				      rc == -ENOMEM ? "no memory for the simulation" :
						      "no such world: a value is out of its range");
	rc = lull_sim_channel_run(world, shows ? run_progress : NULL, &program->run);
	lull_run_percent_end(&program->run);
	lull_sim_channel_read(world, program->result);
	if (rc == -EINTR)
		lull_error_set(error, rc, "stopped by a signal: no result");
	else if (rc != 0) {
		run_command(program, config->seed, command, sizeof(command));
		lull_error_set(error, rc, "%s (%s)", lull_sim_channel_failure(world), command);
	}
	lull_sim_channel_free(world);
	return rc;
}

static int
run_scenarios(struct channel_sim *program, struct lull_error *error)
{
	uint64_t count = program->settings.scenarios;
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < count; i++) {
		if (i % PROGRESS_SCENARIOS == 0 &&
		    !lull_run_percent(&program->run, "scenarios", i, count)) {
			lull_run_percent_end(&program->run);
			return lull_error_set(error, -EINTR, "stopped by a signal: no result");
		}
		lull_sim_channel_scenario(&program->config, program->settings.seed + i);
		rc = run_world(program, &program->config, false, error);
		program->digest = program->digest * 0x9e3779b97f4a7c15ULL + program->result->digest;
		program->scenarios++;
		program->sent += program->result->sent;
		program->received += program->result->received;
		program->falls += program->result->falls;
		program->attacks += program->result->attacks;
		program->wire_pkts += program->result->wire_pkts;
	}
	lull_run_percent_end(&program->run);
	return rc;
}

int
channel_sim_check(void *state, struct lull_error *error)
{
	struct channel_sim *program = state;

	return channel_sim_settings_config(&program->settings, &program->config, error);
}

int
channel_sim_open(void *state, struct lull_error *error)
{
	struct channel_sim *program = state;

	program->table = program->settings.json[0] == '\0';
	program->result = calloc(1, sizeof(*program->result));
	return program->result != NULL ? 0 : lull_error_set(error, -ENOMEM, "no memory");
}

int
channel_sim_run(void *state, struct lull_error *error)
{
	struct channel_sim *program = state;
	int rc;

	lull_run_begin(&program->run);
	if (program->settings.scenarios > 0) {
		rc = run_scenarios(program, error);
	} else {
		rc = run_world(program, &program->config, true, error);
		program->digest = program->result->digest;
	}
	lull_run_end(&program->run);
	if (rc == 0 && program->table)
		channel_sim_table(stdout, program);
	return rc;
}

void
channel_sim_close(void *state)
{
	struct channel_sim *program = state;

	free(program->result);
}
