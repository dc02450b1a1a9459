/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "program/result.h"

#include "sim_program.h"

static double
share(double part, double whole, double scale)
{
	return whole > 0 ? part / whole * scale : 0;
}

/* ---- a run ---- */

/* The time model, from real rests and, as the literature has it, from requested ones. */
static void
result_model(json_t *object, const struct lull_sim_result *result)
{
	const struct lull_idle_counters *counters = &result->counters;
	double time_ns = (double)result->time_ns;
	double longer_ns = (double)counters->rest_ns - (double)counters->rest_requested_ns;

	lull_result_put_share(object, "busy_pct", (double)counters->busy_ns, time_ns, 100);
	lull_result_put_share(object, "empty_pct", (double)counters->empty_ns, time_ns, 100);
	lull_result_put_real(object, "usage_pct",
			     100 - share((double)counters->rest_ns, time_ns, 100));
	lull_result_put_share(object, "empty_requested_pct", (double)counters->empty_ns + longer_ns,
			      time_ns, 100);
	lull_result_put_real(object, "usage_requested_pct",
			     100 - share((double)counters->rest_requested_ns, time_ns, 100));
}

static void
result_rests(json_t *object, const struct lull_sim_result *result)
{
	lull_result_put_count(object, "rests", result->rest.count);
	lull_result_put_share(object, "rest_mean_ns", (double)result->rest.sum,
			      (double)result->rest.count, 1);
	lull_result_put_count(object, "rest_p99_ns",
			      lull_histogram_quantile(&result->rest, 990000));
	lull_result_put_share(object, "wakes_per_s", (double)lull_sim_wakes(result),
			      (double)result->time_ns, 1e9);
}

static void
result_energy(json_t *object, const struct sim_trial *run, const struct lull_sim_result *result)
{
	double joules = lull_sim_energy_j(&run->config.machine, result);

	if (run->config.core_count < run->config.thread_count || run->config.competitor_ppm > 0) {
		/* Whether a shared core rests is not known from its threads one by one. */
		json_object_set_new(object, "power_w", json_null());
		json_object_set_new(object, "energy_j", json_null());
		return;
	}
	lull_result_put_share(object, "power_w", joules, (double)result->time_ns, 1e9);
	lull_result_put_real(object, "energy_j", joules);
}

/* Who had the core when the thread had not, and by which right the thread did. */
static void
result_core(json_t *object, const struct lull_sim_result *result)
{
	double time_ns = (double)result->time_ns;
	double got = share((double)result->competitor_ns, (double)result->competitor_time_ns, 100);
	double left = 100 - share((double)result->cpu_ns, time_ns, 100);

	lull_result_put_share(object, "stolen_pct", (double)result->stolen_ns, time_ns, 100);
	lull_result_put_share(object, "waited_pct", (double)result->waited_ns, time_ns, 100);
	lull_result_put_share(object, "fifo_pct", (double)result->realtime_ns, time_ns, 100);
	lull_result_put_count(object, "fifo_left", result->leaves);
	if (result->competitor_time_ns == 0) {
		json_object_set_new(object, "competitor_pct", json_null());
		json_object_set_new(object, "competitor_share_pct", json_null());
		return;
	}
	lull_result_put_real(object, "competitor_pct", got);
	lull_result_put_share(object, "competitor_share_pct", got, left, 100);
}

/* Of all threads that share the queues. */
static json_t *
result_share(const struct lull_sim_result *result)
{
	json_t *object = json_object();

	lull_result_put_table(object, lull_share_counter_table, &result->share);
	json_object_set_new(object, "vacation_ns",
			    lull_result_histogram(&result->vacations, false));
	return object;
}

json_t *
sim_result_side(const struct sim_trial *run, enum lull_sim_side side, bool bins)
{
	const struct lull_sim_result *result = run->sides[side];
	const struct lull_sim_policy *policy = &run->config.policy[side];
	double seconds = (double)result->time_ns * 1e-9 / result->thread_count;
	json_t *object = json_object(), *counters = json_object();

	lull_result_put_text(object, "governor", lull_idle_governor_name(policy->governor));
	lull_result_put_count(object, "rest_ns", policy->limits.rest_ns);
	lull_result_put_text(object, "side", side == LULL_SIM_SIDE_SEND ? "send" : "receive");
	lull_result_put_count(object, "threads", result->thread_count);
	lull_result_put_count(object, "duration_ns", result->time_ns / result->thread_count);
	lull_result_put_share(object, "cpu_pct", (double)result->cpu_ns, (double)result->time_ns,
			      100);
	/* Threads that take turns each rest longer than the bound knows. */
	lull_result_put_real(object, "cpu_bound_pct",
			     run->config.share_queues ?
				     NAN :
				     (double)lull_sim_cpu_bound_ppm(&run->config, result) / 10000);
	lull_result_put_count(object, "offered", result->offered);
	lull_result_put_share(object, "offered_per_s", (double)result->offered, seconds, 1);
	lull_result_put_count(object, "delivered", result->delivered);
	lull_result_put_share(object, "delivered_per_s", (double)result->delivered, seconds, 1);
	lull_result_put_count(object, "lost", result->lost);
	lull_result_put_share(object, "loss_ppm", (double)result->lost, (double)result->offered,
			      1e6);
	lull_result_put_count(object, "bytes", result->bytes);
	lull_result_put_share(object, "bits_per_s", (double)result->bytes * 8, seconds, 1);
	json_object_set_new(object, "latency_ns", lull_result_histogram(&result->latency, bins));
	json_object_set_new(object, "added_ns", lull_result_histogram(&result->added, bins));
	result_rests(object, result);
	result_model(object, result);
	result_energy(object, run, result);
	result_core(object, result);
	lull_result_put_share(object, "feasible_pct", (double)result->samples_feasible,
			      (double)result->samples, 100);
	json_object_set_new(object, "verdict",
			    lull_result_verdict(&result->verdict, &result->limits));
	json_object_set_new(object, "share",
			    run->config.share_queues ? result_share(result) : json_null());
	lull_result_put_table(counters, lull_idle_counter_table, &result->counters);
	json_object_set_new(object, "counters", counters);
	return object;
}

json_t *
sim_result_sweep_row(const struct sim_trial *run)
{
	const struct lull_sim_result *result = run->sides[LULL_SIM_SIDE_RECEIVE];
	json_t *object = json_object();

	lull_result_put_count(object, "rest_ns", run->governor.rest_ns);
	lull_result_put_share(object, "cpu_pct", (double)result->cpu_ns, (double)result->time_ns,
			      100);
	lull_result_put_count(object, "added_p50_ns",
			      lull_histogram_quantile(&result->added, 500000));
	lull_result_put_count(object, "added_p99_ns",
			      lull_histogram_quantile(&result->added, 990000));
	lull_result_put_count(object, "added_p999_ns",
			      lull_histogram_quantile(&result->added, 999000));
	lull_result_put_count(object, "offered", result->offered);
	lull_result_put_count(object, "lost", result->lost);
	return object;
}

/* ---- the whole ---- */

void
sim_result(void *state, json_t *result)
{
	const struct sim_program *program = state;

	json_object_set_new(result, "machine", sim_result_machine(&program->settings));
	if (program->capture.trace.count > 0) {
		json_t *capture = json_object();

		lull_result_put_count(capture, "packets", program->capture.trace.count);
		lull_result_put_count(capture, "length_ns", program->capture.length_ns);
		lull_result_put_count(capture, "left_out", program->capture.other_pkts);
		lull_result_put_count(capture, "stamped_back", program->capture.back_pkts);
		json_object_set_new(result, "capture", capture);
	}
	json_object_set(result, "runs", program->runs);
	json_object_set(result, "sweep", program->sweep);
	lull_result_put_count(result, "simulated_pkts", program->pkts);
}

static json_t *
result_curve(const struct lull_sim_curve *curve, double scale, const char *key)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < curve->count; i++) {
		json_t *knot = json_object();

		lull_result_put_real(knot, key, (double)curve->knots[i].at * scale);
		lull_result_put_count(knot, "ns", curve->knots[i].ns);
		json_array_append_new(list, knot);
	}
	return list;
}

/* What else happens on a core of this machine. */
static void
result_others(json_t *object, const struct lull_sim_machine *machine)
{
	json_t *stall = json_object(), *competitor = json_object();

	json_object_set_new(object, "fifo_late",
			    result_curve(&machine->fifo_late, 100.0 / LULL_SIM_PPB, "pct"));
	json_object_set_new(object, "fair_late",
			    result_curve(&machine->fair_late, 100.0 / LULL_SIM_PPB, "pct"));
	lull_result_put_count(stall, "every_ns", machine->stall_every_ns);
	lull_result_put_count(stall, "ns", machine->stall_ns);
	lull_result_put_count(stall, "ns_max", LULL_MAX(machine->stall_ns, machine->stall_ns_max));
	json_object_set_new(object, "stall", stall);
	lull_result_put_real(competitor, "pct", (double)machine->competitor_ppm / 10000);
	lull_result_put_count(competitor, "run_ns", machine->competitor_run_ns);
	json_object_set_new(object, "competitor", competitor);
	lull_result_put_text(object, "sched_policy", machine->fifo ? "fifo" : "other");
}

json_t *
sim_result_machine(const struct sim_settings *settings)
{
	struct lull_sim_machine machine = sim_settings_machine(settings);
	json_t *object = json_object(), *cstates = json_array();

	lull_result_put_text(object, "name", machine.name);
	lull_result_put_text(object, "summary", machine.summary);
	lull_result_put_real(object, "capacity_per_s",
			     lull_sim_machine_pps(&machine, settings->burst));
	lull_result_put_count(object, "iteration_ns", machine.iteration_ns);
	json_object_set_new(object, "burst", result_curve(&machine.burst, 1, "pkts"));
	lull_result_put_count(object, "rest_ns", machine.rest_ns);
	json_object_set_new(object, "overshoot",
			    result_curve(&machine.overshoot, 100.0 / LULL_SIM_PPB, "pct"));
	lull_result_put_count(object, "switch_ns", machine.switch_ns);
	result_others(object, &machine);
	lull_result_put_real(object, "watts", machine.watts);
	for (uint32_t i = 0; i < machine.cstate_count; i++) {
		json_t *state = json_object();

		lull_result_put_text(state, "name", machine.cstates[i].name);
		lull_result_put_count(state, "least_ns", machine.cstates[i].least_ns);
		lull_result_put_real(state, "watts", machine.cstates[i].watts);
		json_array_append_new(cstates, state);
	}
	json_object_set_new(object, "cstates", cstates);
	return object;
}
