/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the settings: checks that rows cannot make, and what the simulator is given. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <lull/rest.h>

#include "idle/governor.h"
#include "program/number.h"
#include "sim_program.h"
#include "spec.h"

void
sim_preset(void *presets)
{
	struct sim_settings *settings = presets;

	settings->send_max_latency_ns = SIM_UNSET;
	settings->iteration_ns = SIM_UNSET;
	settings->rest_ns = SIM_UNSET;
	settings->switch_ns = SIM_UNSET;
	settings->watts = NAN;
	settings->stall.every_ns = SIM_UNSET;
	settings->competitor.share_ppm = SIM_UNSET;
	settings->resting.sched_policy = SIM_CHOICE_UNSET;
	settings->duration_ns = SIM_UNSET;
	settings->warmup_ns = SIM_UNSET;
}

static int
settings_share_check(const struct sim_settings *settings, struct lull_error *error)
{
	if (settings->path == LULL_SIM_SEND_RECEIVE)
		return lull_error_set(
			error, -EINVAL,
			"share-queues: with path send-receive there is one thread per "
			"ring");
	if (settings->threads < settings->queues)
		return lull_error_set(error, -EINVAL,
				      "share-queues: %u threads for %u queues in all; with fewer "
				      "threads than queues one is polled by nobody",
				      settings->threads, settings->queues);
	if (settings->sweep.steps > 0)
		return lull_error_set(error, -EINVAL,
				      "sweep-rest: governor fixed does not share queues");
	for (uint32_t i = 0; i < settings->governors.count; i++) {
		const struct lull_idle_governor *governor = settings->governors.items[i].governor;

		if (!governor->shares_queues)
			return lull_error_set(error, -EINVAL,
					      "governor: threads with share-queues take metronome; "
					      "%s has its queues to itself",
					      lull_idle_governor_name(governor));
	}
	return 0;
}

int
sim_settings_check(const struct sim_settings *settings, struct lull_error *error)
{
	if (settings->describe[0] != '\0' && lull_sim_machine_find(settings->describe) == NULL)
		return lull_error_set(error, -EINVAL,
				      "describe-machine: '%s' is none of those --help lists",
				      settings->describe);
	if (settings->send_governor.count > 1)
		return lull_error_set(error, -EINVAL, "send-governor: one, for all runs");
	if (settings->held >= settings->ring)
		return lull_error_set(error, -EINVAL,
				      "held: %u of %u descriptors leaves none; give less or a "
				      "larger --ring",
				      settings->held, settings->ring);
	if (settings->round_bursts > settings->burst)
		return lull_error_set(error, -EINVAL,
				      "round-bursts: %u is more than a burst of %u; give less or a "
				      "larger --burst",
				      settings->round_bursts, settings->burst);
	if (settings->resting.sched_policy == LULL_SCHED_DEADLINE)
		return lull_error_set(error, -EINVAL,
				      "sched-policy: deadline is not simulated: its budget would "
				      "be; fifo comes near");
	if (settings->cores > 0 && settings->cores < settings->threads &&
	    sim_settings_machine(settings).competitor_ppm > 0)
		return lull_error_set(error, -EINVAL,
				      "competitor: beside one thread by core only: leave --cores "
				      "out, or give --competitor none");
	if (settings->cores > settings->threads)
		return lull_error_set(error, -EINVAL, "cores: %u for %u threads", settings->cores,
				      settings->threads);
	if (settings->path == LULL_SIM_SEND_RECEIVE &&
	    (settings->threads > 1 || settings->queues > 1))
		return lull_error_set(error, -EINVAL,
				      "path: send-receive has one thread and queue per side");
	if (settings->share_queues && settings_share_check(settings, error) != 0)
		return -EINVAL;
	if (settings->link_bps > 0 && settings->link_bps < 1000000)
		return lull_error_set(error, -EINVAL,
				      "link: %llu bit/s is below 1M; give the unit, like 10G",
				      (unsigned long long)settings->link_bps);
	if (settings->shape_bps > 0 && settings->shape_bps < 1000000)
		return lull_error_set(error, -EINVAL,
				      "shape: %llu bit/s is below 1M; give the unit, like 1G",
				      (unsigned long long)settings->shape_bps);
	if (settings->line_bursts.first > 0 && settings->link_bps == 0)
		return lull_error_set(error, -EINVAL,
				      "line-bursts: they come at the link's rate; give a --link");
	return 0;
}

struct lull_sim_machine
sim_settings_machine(const struct sim_settings *settings)
{
	struct lull_sim_machine machine = settings->describe[0] != '\0' ?
						  *lull_sim_machine_find(settings->describe) :
						  lull_sim_machines[settings->machine];

	if (settings->iteration_ns != SIM_UNSET)
		machine.iteration_ns = settings->iteration_ns;
	if (settings->rest_ns != SIM_UNSET)
		machine.rest_ns = settings->rest_ns;
	if (settings->switch_ns != SIM_UNSET)
		machine.switch_ns = settings->switch_ns;
	if (settings->burst_cost.count > 0)
		machine.burst = settings->burst_cost;
	if (settings->overshoot.count > 0)
		machine.overshoot = settings->overshoot;
	machine.interrupt = settings->interrupt;
	machine.monitor = settings->monitor;
	if (settings->stall.every_ns != SIM_UNSET) {
		machine.stall_every_ns = settings->stall.every_ns;
		machine.stall_ns = settings->stall.ns;
		machine.stall_ns_max = settings->stall.ns_max;
	}
	if (settings->competitor.share_ppm != SIM_UNSET) {
		machine.competitor_ppm = (uint32_t)settings->competitor.share_ppm;
		machine.competitor_run_ns = settings->competitor.run_ns;
	}
	if (settings->resting.sched_policy != SIM_CHOICE_UNSET)
		machine.fifo = settings->resting.sched_policy != LULL_SCHED_OTHER;
	if (!isnan(settings->watts))
		machine.watts = settings->watts;
	if (settings->cstates.count > 0) {
		machine.cstate_count = settings->cstates.count;
		memcpy(machine.cstates, settings->cstates.items, sizeof(machine.cstates));
	}
	return machine;
}

struct lull_idle_limits
sim_settings_limits(const struct sim_settings *settings, const struct sim_governor *governor,
		    enum lull_sim_side side)
{
	/* Ring and rate are the simulator's to know: here it only counts that there is a link. */
	const struct lull_ring_facts rings = {
		.link_pps = settings->link_bps > 0,
		.hardware_pps = settings->link_bps > 0,
	};
	struct lull_resting resting = settings->resting;
	struct lull_idle_limits limits;

	resting.rest_ns = governor->rest_ns;
	if (side == LULL_SIM_SIDE_SEND && settings->send_max_latency_ns != SIM_UNSET)
		resting.max_latency_ns = settings->send_max_latency_ns;
	limits = lull_resting_limits(&resting, &rings);
	limits.idle_states =
		LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	if (settings->interrupt.count > 0)
		limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	if (settings->monitor.count > 0)
		limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR);
	return limits;
}

/* ---- values of rows ---- */

const char *
sim_machine_name(uint32_t index)
{
	return lull_sim_machines[index].name;
}

const char *
sim_machine_help(uint32_t index)
{
	return lull_sim_machines[index].summary;
}
