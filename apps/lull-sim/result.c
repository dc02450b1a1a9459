/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <lull/rest.h>
#include <string.h>

#include "program.h"

static void
put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, lull_result_real(value));
}

static void
put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

static double
share(double part, double whole, double scale)
{
	return whole > 0 ? part / whole * scale : 0;
}

/* ---- a run ---- */

/* [low, count, low, count, ...] of those that hold something. */
static json_t *
result_bins(const struct lull_histogram *histogram)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++) {
		if (histogram->bins[i] == 0)
			continue;
		json_array_append_new(list, lull_result_count(lull_histogram_low(i)));
		json_array_append_new(list, lull_result_count(histogram->bins[i]));
	}
	return list;
}

static json_t *
result_histogram(const struct lull_histogram *histogram, bool bins)
{
	json_t *object = json_object();

	put_count(object, "count", histogram->count);
	put_real(object, "mean_ns", share((double)histogram->sum, (double)histogram->count, 1));
	put_count(object, "p50_ns", lull_histogram_quantile(histogram, 500000));
	put_count(object, "p99_ns", lull_histogram_quantile(histogram, 990000));
	put_count(object, "p999_ns", lull_histogram_quantile(histogram, 999000));
	put_count(object, "max_ns", histogram->max);
	if (bins)
		json_object_set_new(object, "bins", result_bins(histogram));
	return object;
}

static json_t *
result_verdict(const struct lull_sim_result *result)
{
	const struct lull_verdict *verdict = &result->verdict;
	json_t *object = json_object();
	char text[SIM_VERDICT_TEXT];

	put_text(object, "state", lull_verdict_state_name(verdict->state));
	put_text(object, "binding", lull_bound_name(verdict->binding));
	put_text(object, "depth", lull_rest_depth_name(verdict->depth));
	put_count(object, "rest_ns", verdict->rest_ns);
	put_count(object, "latency_bound_ns", verdict->latency_bound_ns);
	put_count(object, "ring_bound_ns", verdict->ring_bound_ns);
	put_count(object, "break_even_ns", verdict->break_even_ns);
	put_count(object, "predicted_ns", verdict->predicted_ns);
	put_real(object, "predicted_cpu_pct", (double)verdict->predicted_cpu_ppm / 10000);
	put_count(object, "overshoot_p50_ns", verdict->overshoot_p50_ns);
	put_count(object, "overshoot_p99_ns", verdict->overshoot_p99_ns);
	put_count(object, "overshoot_p9999_ns", verdict->overshoot_p9999_ns);
	put_real(object, "load_pct", (double)verdict->load_ppm / 10000);
	put_real(object, "resting_pct", (double)verdict->resting_ppm / 10000);
	put_count(object, "arrival_pps", verdict->arrival_pps);
	put_text(object, "envelope", lull_envelope_name(verdict->envelope));
	put_real(object, "late_pct", (double)verdict->late_ppm / 10000);
	put_count(object, "pps_max", verdict->pps_max);
	put_real(object, "stall_pct", (double)verdict->stall_ppm / 10000);
	put_text(object, "text",
		 lull_verdict_explain(verdict, &result->limits, text, sizeof(text)));
	return object;
}

static json_t *
result_counters(const struct lull_idle_counters *counters)
{
	json_t *object = json_object();
	const struct lull_counter_info *row;

	for (row = lull_idle_counter_table; row->name != NULL; row++)
		put_count(object, row->name,
			  *(const uint64_t *)(const void *)((const char *)counters + row->offset));
	return object;
}

/* The time model, from real rests and, as the literature has it, from requested ones. */
static void
result_model(json_t *object, const struct lull_sim_result *result)
{
	const struct lull_idle_counters *counters = &result->counters;
	double time_ns = (double)result->time_ns;
	double longer_ns = (double)counters->rest_ns - (double)counters->rest_requested_ns;

	put_real(object, "busy_pct", share((double)counters->busy_ns, time_ns, 100));
	put_real(object, "empty_pct", share((double)counters->empty_ns, time_ns, 100));
	put_real(object, "usage_pct", 100 - share((double)counters->rest_ns, time_ns, 100));
	put_real(object, "empty_requested_pct",
		 share((double)counters->empty_ns + longer_ns, time_ns, 100));
	put_real(object, "usage_requested_pct",
		 100 - share((double)counters->rest_requested_ns, time_ns, 100));
}

static void
result_rests(json_t *object, const struct lull_sim_result *result)
{
	put_count(object, "rests", result->rest.count);
	put_real(object, "rest_mean_ns",
		 share((double)result->rest.sum, (double)result->rest.count, 1));
	put_count(object, "rest_p99_ns", lull_histogram_quantile(&result->rest, 990000));
	put_real(object, "wakes_per_s",
		 share((double)lull_sim_wakes(result), (double)result->time_ns, 1e9));
}

static void
result_energy(json_t *object, const struct sim_run *run, const struct lull_sim_result *result)
{
	double joules = lull_sim_energy_j(&run->config.machine, result);

	if (run->config.core_count < run->config.thread_count || run->config.competitor_ppm > 0) {
		/* Whether a shared core rests is not known from its threads one by one. */
		json_object_set_new(object, "power_w", json_null());
		json_object_set_new(object, "energy_j", json_null());
		return;
	}
	put_real(object, "power_w", share(joules, (double)result->time_ns, 1e9));
	put_real(object, "energy_j", joules);
}

/* Who had the core when the thread had not, and by which right the thread did. */
static void
result_core(json_t *object, const struct lull_sim_result *result)
{
	double time_ns = (double)result->time_ns;
	double got = share((double)result->competitor_ns, (double)result->competitor_time_ns, 100);
	double left = 100 - share((double)result->cpu_ns, time_ns, 100);

	put_real(object, "stolen_pct", share((double)result->stolen_ns, time_ns, 100));
	put_real(object, "waited_pct", share((double)result->waited_ns, time_ns, 100));
	put_real(object, "fifo_pct", share((double)result->realtime_ns, time_ns, 100));
	put_count(object, "fifo_left", result->leaves);
	if (result->competitor_time_ns == 0) {
		json_object_set_new(object, "competitor_pct", json_null());
		json_object_set_new(object, "competitor_share_pct", json_null());
		return;
	}
	put_real(object, "competitor_pct", got);
	put_real(object, "competitor_share_pct", share(got, left, 100));
}

json_t *
sim_result_side(const struct sim_run *run, enum lull_sim_side side, bool bins)
{
	const struct lull_sim_result *result = run->sides[side];
	const struct lull_sim_policy *policy = &run->config.policy[side];
	double seconds = (double)result->time_ns * 1e-9 / result->thread_count;
	json_t *object = json_object();

	put_text(object, "governor", lull_idle_governor_name(policy->governor));
	put_count(object, "rest_ns", policy->limits.rest_ns);
	put_text(object, "side", side == LULL_SIM_SIDE_SEND ? "send" : "receive");
	put_count(object, "threads", result->thread_count);
	put_count(object, "duration_ns", result->time_ns / result->thread_count);
	put_real(object, "cpu_pct", share((double)result->cpu_ns, (double)result->time_ns, 100));
	put_real(object, "cpu_bound_pct",
		 (double)lull_sim_cpu_bound_ppm(&run->config, result) / 10000);
	put_count(object, "offered", result->offered);
	put_real(object, "offered_pps", share((double)result->offered, seconds, 1));
	put_count(object, "delivered", result->delivered);
	put_real(object, "delivered_pps", share((double)result->delivered, seconds, 1));
	put_count(object, "lost", result->lost);
	put_real(object, "loss_ppm", share((double)result->lost, (double)result->offered, 1e6));
	put_count(object, "bytes", result->bytes);
	put_real(object, "speed_bps", share((double)result->bytes * 8, seconds, 1));
	json_object_set_new(object, "latency", result_histogram(&result->latency, bins));
	json_object_set_new(object, "added", result_histogram(&result->added, bins));
	result_rests(object, result);
	result_model(object, result);
	result_energy(object, run, result);
	result_core(object, result);
	put_real(object, "feasible_share",
		 share((double)result->looks_feasible, (double)result->looks, 1));
	json_object_set_new(object, "verdict", result_verdict(result));
	json_object_set_new(object, "counters", result_counters(&result->counters));
	return object;
}

json_t *
sim_result_sweep_row(const struct sim_run *run)
{
	const struct lull_sim_result *result = run->sides[LULL_SIM_SIDE_RECEIVE];
	json_t *object = json_object();

	put_count(object, "rest_ns", run->governor.rest_ns);
	put_real(object, "cpu_pct", share((double)result->cpu_ns, (double)result->time_ns, 100));
	put_count(object, "added_p50_ns", lull_histogram_quantile(&result->added, 500000));
	put_count(object, "added_p99_ns", lull_histogram_quantile(&result->added, 990000));
	put_count(object, "added_p999_ns", lull_histogram_quantile(&result->added, 999000));
	put_count(object, "offered", result->offered);
	put_count(object, "lost", result->lost);
	return object;
}

/* ---- the whole ---- */

json_t *
sim_result(const struct sim_program *program)
{
	char text[LULL_OPTION_VALUE_TEXT];
	json_t *object = json_object(), *settings = json_object();
	const struct lull_option *option;

	for (option = sim_program.options; option->key != NULL; option++)
		put_text(settings, option->key,
			 sim_settings_unset(option, &program->settings) ?
				 "" :
				 lull_option_print(option, &program->settings, text, sizeof(text)));
	put_text(object, "program", sim_program.name);
	put_text(object, "version", sim_program.version);
	json_object_set_new(object, "settings", settings);
	json_object_set_new(object, "machine", sim_result_machine(&program->settings));
	if (program->capture.trace.count > 0) {
		json_t *capture = json_object();

		put_count(capture, "packets", program->capture.trace.count);
		put_count(capture, "length_ns", program->capture.length_ns);
		put_count(capture, "left_out", program->capture.other_pkts);
		put_count(capture, "stamped_back", program->capture.back_pkts);
		json_object_set_new(object, "capture", capture);
	}
	json_object_set(object, "runs", program->runs);
	json_object_set(object, "sweep", program->sweep);
	put_count(object, "simulated_pkts", program->pkts);
	put_real(object, "wall_s", program->wall_s);
	return object;
}

static json_t *
result_curve(const struct lull_sim_curve *curve, double scale, const char *key)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < curve->count; i++) {
		json_t *knot = json_object();

		put_real(knot, key, (double)curve->knots[i].at * scale);
		put_count(knot, "ns", curve->knots[i].ns);
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
	put_count(stall, "every_ns", machine->stall_every_ns);
	put_count(stall, "ns", machine->stall_ns);
	put_count(stall, "ns_max", LULL_MAX(machine->stall_ns, machine->stall_ns_max));
	json_object_set_new(object, "stall", stall);
	put_real(competitor, "pct", (double)machine->competitor_ppm / 10000);
	put_count(competitor, "run_ns", machine->competitor_run_ns);
	json_object_set_new(object, "competitor", competitor);
	put_text(object, "sched_policy", machine->fifo ? "fifo" : "other");
}

json_t *
sim_result_machine(const struct sim_settings *settings)
{
	struct lull_sim_machine machine = sim_settings_machine(settings);
	json_t *object = json_object(), *states = json_array();

	put_text(object, "name", machine.name);
	put_text(object, "summary", machine.summary);
	put_real(object, "capacity_pps", lull_sim_machine_pps(&machine, settings->burst));
	put_count(object, "turn_ns", machine.turn_ns);
	json_object_set_new(object, "burst", result_curve(&machine.burst, 1, "pkts"));
	put_count(object, "rest_ns", machine.rest_ns);
	json_object_set_new(object, "overshoot",
			    result_curve(&machine.overshoot, 100.0 / LULL_SIM_PPB, "pct"));
	put_count(object, "switch_ns", machine.switch_ns);
	result_others(object, &machine);
	put_real(object, "watts", machine.watts);
	for (uint32_t i = 0; i < machine.state_count; i++) {
		json_t *state = json_object();

		put_text(state, "name", machine.states[i].name);
		put_count(state, "least_ns", machine.states[i].least_ns);
		put_real(state, "watts", machine.states[i].watts);
		json_array_append_new(states, state);
	}
	json_object_set_new(object, "states", states);
	return object;
}
