/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time model over the measured window: T = T_io + T_proc + T_sleep + T_empty; the iterations
 * that carried packets hold the first two, t_d each in the mean, the empty ones T_empty, t_e each.
 */
#include "program/result.h"

#include <stdio.h>
#include <string.h>

#include "framework.h"

static const char *const side_names[] = { "both", "send", "receive" };

static double
share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void
put_table(json_t *object, const struct lull_loop *loop)
{
	const void *counters;
	const struct lull_counter_info *table = lull_loop_stage_counters(loop, &counters);

	lull_result_put_table(object, table, counters);
}

/* ---- one measured side ---- */

static double
side_pct(double part, double whole)
{
	return 100 * LULL_CLAMP(share(part, whole), 0.0, 1.0);
}

static uint64_t
side_rests(const struct lull_idle_counters *counters)
{
	uint64_t rests = 0;

	for (int idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++)
		rests += counters->rests[idle_state];
	return rests;
}

/* eta and U from the real rests, and as the paper has them from the requested ones. */
static void
side_put_times(json_t *object, const struct model_reading *begin, const struct model_reading *end)
{
	const struct lull_idle_counters *a = &begin->idle, *b = &end->idle;
	double busy = (double)(b->busy_ns - a->busy_ns);
	double empty = (double)(b->empty_ns - a->empty_ns);
	double rest = (double)(b->rest_ns - a->rest_ns);
	double asked = (double)(b->rest_requested_ns - a->rest_requested_ns);
	double whole = busy + empty + rest;
	double iterations_empty = (double)(b->iterations_empty - a->iterations_empty);
	double iterations_data = (double)(b->iterations - a->iterations) - iterations_empty;
	double rests = (double)(side_rests(b) - side_rests(a));

	lull_result_put_real(object, "empty_pct", side_pct(empty, whole));
	lull_result_put_real(object, "usage_pct", side_pct(whole - rest, whole));
	lull_result_put_real(object, "empty_requested_pct", side_pct(whole - busy - asked, whole));
	lull_result_put_real(object, "usage_requested_pct", side_pct(whole - asked, whole));
	lull_result_put_real(object, "bursts", iterations_data);
	lull_result_put_real(object, "iterations_empty", iterations_empty);
	lull_result_put_real(object, "data_iteration_ns", share(busy, iterations_data));
	lull_result_put_real(object, "empty_iteration_ns", share(empty, iterations_empty));
	lull_result_put_real(object, "rests", rests);
	lull_result_put_real(object, "rest_mean_ns", share(rest, rests));
	lull_result_put_real(object, "rest_requested_mean_ns", share(asked, rests));
	lull_result_put_real(object, "burst_mean_pkts",
			     share((double)(b->pkts - a->pkts), iterations_data));
}

static void
side_put_rates(json_t *object, const struct model_reading *begin, const struct model_reading *end,
	       uint32_t size)
{
	double seconds = (double)(end->now_ns - begin->now_ns) / LULL_NS_PER_S;
	double pkts = (double)(end->forward.tx_pkts - begin->forward.tx_pkts);

	lull_result_put_real(object, "window_s", seconds);
	lull_result_put_real(
		object, "cpu_pct",
		100 * share((double)(end->cpu_ns - begin->cpu_ns) / LULL_NS_PER_S, seconds));
	lull_result_put_count(object, "steal_ns", end->steal_ns - begin->steal_ns);
	lull_result_put_count(object, "pkts", end->forward.tx_pkts - begin->forward.tx_pkts);
	lull_result_put_real(object, "packets_per_s", share(pkts, seconds));
	lull_result_put_real(object, "bits_per_s", share(pkts * size * 8, seconds));
}

static json_t *
side_result(const struct framework *framework, enum model_role role, const struct rest_spec *rest)
{
	const struct model_loop *loop = &framework->loops[role];
	const struct lull_idle_counters *total;
	struct lull_loop_snapshot snapshot;
	char text[LULL_OPTION_VALUE_TEXT];
	uint64_t missed, nombuf;
	json_t *object;

	if (loop->loop == NULL)
		return json_null();
	object = json_object();
	lull_result_put_text(object, "rest", rest_spec_print(rest, text, sizeof(text)));
	lull_result_put_count(object, "cpu", (uint64_t)lull_loop_cpu(loop->loop));
	side_put_rates(object, &loop->begin, &loop->end, framework->settings.size);
	side_put_times(object, &loop->begin, &loop->end);
	/* since the start, so that losses add up */
	total = lull_loop_counters(loop->loop);
	lull_result_put_count(object, "total_taken", LULL_COUNTER_READ(total->pkts));
	put_table(object, loop->loop);
	lull_loop_missed(loop->loop, &missed, &nombuf);
	lull_result_put_count(object, "missed", missed + nombuf);
	lull_loop_snapshot(loop->loop, &snapshot);
	lull_result_put_text(object, "verdict", lull_verdict_state_name(snapshot.verdict.state));
	lull_result_put_text(
		object, "verdict_text",
		lull_verdict_explain(&snapshot.verdict, &snapshot.limits, text, sizeof(text)));
	return object;
}

/* ---- the whole ---- */

static json_t *
result_stage(const struct framework *framework, enum model_role role)
{
	const struct lull_loop *loop = framework->loops[role].loop;
	json_t *object;

	if (loop == NULL)
		return json_null();
	object = json_object();
	put_table(object, loop);
	return object;
}

static json_t *
result_costs(const struct framework *framework)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < framework->cost_count; i++) {
		const struct lull_burst_cost *cost = &framework->costs[i];
		json_t *object = json_object();

		lull_result_put_count(object, "burst", cost->burst_pkts);
		lull_result_put_count(object, "size",
				      cost->burst_pkts > 0 ? cost->len_bytes + MODEL_CRC_BYTES : 0);
		lull_result_put_count(object, "samples", cost->samples);
		json_object_set_new(object, "rx_ns",
				    cost->samples > 0 ? lull_result_real(cost->rx_ns) :
							json_null());
		json_object_set_new(object, "tx_ns",
				    cost->samples > 0 ? lull_result_real(cost->tx_ns) :
							json_null());
		json_array_append_new(list, object);
	}
	return list;
}

/* What the sender took for sending and the receiver never had; both sides must be here. */
static void
result_loss(const struct framework *framework, json_t *result)
{
	const struct lull_loop *sender = framework->loops[MODEL_SENDER].loop;
	const struct lull_loop *receiver = framework->loops[MODEL_RECEIVER].loop;
	uint64_t sent, received;

	if (sender == NULL || receiver == NULL) {
		json_object_set_new(result, "lost", json_null());
		json_object_set_new(result, "loss_ppm", json_null());
		return;
	}
	sent = LULL_COUNTER_READ(lull_loop_counters(sender)->pkts);
	received = LULL_COUNTER_READ(lull_loop_counters(receiver)->pkts);
	lull_result_put_count(result, "lost", sent - received);
	lull_result_put_real(result, "loss_ppm",
			     share((double)(sent - received) * LULL_PPM, (double)sent));
	lull_result_put_count(json_object_get(result, "receiver"), "lost", sent - received);
}

void
framework_result(void *state, json_t *result)
{
	const struct framework *framework = state;
	const struct model_settings *settings = &framework->settings;

	lull_result_put_text(result, "side", side_names[settings->side]);
	if (settings->burst_cost) {
		json_object_set_new(result, "burst_cost", result_costs(framework));
		return;
	}
	json_object_set_new(result, "sender",
			    side_result(framework, MODEL_SENDER, &settings->send_rest));
	json_object_set_new(result, "receiver",
			    side_result(framework, MODEL_RECEIVER, &settings->receive_rest));
	result_loss(framework, result);
	json_object_set_new(result, "producer", result_stage(framework, MODEL_PRODUCER));
	json_object_set_new(result, "link", result_stage(framework, MODEL_LINK));
	json_object_set_new(result, "consumer", result_stage(framework, MODEL_CONSUMER));
}

/* ---- in a few lines ---- */

static double
print_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void
print_side(const json_t *result, const char *name, FILE *out)
{
	const json_t *side = json_object_get(result, name);

	if (!json_is_object(side))
		return;
	fprintf(out,
		"%-8s  rest %s  CPU %.1f %%  empty polling %.1f %%  usage %.1f %%  %.0f packets/s  "
		"%.1f Mbit/s\n",
		name, json_string_value(json_object_get(side, "rest")),
		print_number(side, "cpu_pct"), print_number(side, "empty_pct"),
		print_number(side, "usage_pct"), print_number(side, "packets_per_s"),
		print_number(side, "bits_per_s") / 1e6);
}

static void
print_costs(const json_t *costs, FILE *out)
{
	const json_t *cost;
	size_t i;

	fprintf(out, "%5s  %5s  %9s  %9s\n", "burst", "bytes", "rx ns", "tx ns");
	json_array_foreach(costs, i, cost)
		fprintf(out, "%5.0f  %5.0f  %9.1f  %9.1f\n", print_number(cost, "burst"),
			print_number(cost, "size"), print_number(cost, "rx_ns"),
			print_number(cost, "tx_ns"));
}

static void
print_result(const json_t *result, FILE *out)
{
	if (json_is_array(json_object_get(result, "burst_cost"))) {
		print_costs(json_object_get(result, "burst_cost"), out);
		return;
	}
	print_side(result, "sender", out);
	print_side(result, "receiver", out);
	if (json_is_integer(json_object_get(result, "lost")))
		fprintf(out, "lost      %.0f packets, %.1f ppm\n", print_number(result, "lost"),
			print_number(result, "loss_ppm"));
}

void
framework_print(void *state)
{
	const struct framework *framework = state;
	json_t *result;

	if (strcmp(framework->settings.json, "-") == 0)
		return;
	result = json_object();
	framework_result(state, result);
	print_result(result, stdout);
	json_decref(result);
}
