/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <string.h>

#include "program.h"

static void
put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
put_share(json_t *object, const char *key, uint64_t part, uint64_t whole, double scale)
{
	json_object_set_new(object, key,
			    lull_result_real(whole > 0 ? (double)part / (double)whole * scale : 0));
}

static void
put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

static json_t *
result_histogram(const struct lull_histogram *histogram)
{
	json_t *object = json_object();

	put_count(object, "count", histogram->count);
	put_share(object, "mean_ns", histogram->sum, histogram->count, 1);
	put_count(object, "p50_ns", lull_histogram_quantile(histogram, 500000));
	put_count(object, "p99_ns", lull_histogram_quantile(histogram, 990000));
	put_count(object, "p999_ns", lull_histogram_quantile(histogram, 999000));
	put_count(object, "max_ns", histogram->max);
	return object;
}

static json_t *
result_counters(const struct lull_counter_info *table, const void *counters)
{
	json_t *object = json_object();

	for (; table->name != NULL; table++) {
		uint64_t value;

		memcpy(&value, (const char *)counters + table->offset, sizeof(value));
		put_count(object, table->name, value);
	}
	return object;
}

static json_t *
result_workers(const struct lull_sim_pipeline_result *result)
{
	json_t *list = json_array();

	for (uint32_t w = 0; w < result->worker_count; w++) {
		json_t *object = json_object();

		put_count(object, "packets", result->worker_pkts[w]);
		put_share(object, "utilisation_pct", result->worker_busy_ns[w], result->span_ns,
			  100);
		put_count(object, "ring_max_pkts", result->ring_pkts_max[w]);
		json_array_append_new(list, object);
	}
	return list;
}

/* What a run and a search have in common. */
static json_t *
result_head(const struct flow_sim_run *run)
{
	json_t *object = json_object();

	put_text(object, "scheduler", lull_scheduler_name(run->scheduler));
	put_text(object, "order", lull_order_name(run->config.dispatch.order));
	put_text(object, "start", run->warm ? "warm" : "cold");
	put_count(object, "workers", run->config.dispatch.worker_count);
	put_share(object, "load", run->config.load_ppm, LULL_PPM, 1);
	put_count(object, "seed", run->config.seed);
	return object;
}

static void
result_loss(json_t *object, const struct lull_sim_pipeline_result *result)
{
	uint64_t lost = result->lost_rx + result->lost_ring;

	put_count(object, "offered", result->offered);
	put_count(object, "delivered", result->delivered);
	put_count(object, "lost", lost);
	put_count(object, "lost_rx_ring", result->lost_rx);
	put_count(object, "lost_worker_ring", result->lost_ring);
	put_share(object, "loss_ppm", lost, result->offered, 1e6);
	put_count(object, "watched", result->watched);
	put_count(object, "watched_lost", result->watched_lost);
	put_share(object, "watched_lost_pct", result->watched_lost, result->watched, 100);
}

json_t *
flow_sim_result_run(const struct flow_sim_run *run, const struct lull_sim_pipeline_result *result)
{
	json_t *object = result_head(run);
	uint64_t finished = result->offered - result->lost_rx - result->lost_ring;

	json_object_set_new(object, "capacity_pps", lull_result_real(result->capacity_pps));
	json_object_set_new(
		object, "offered_pps",
		lull_result_real(result->capacity_pps * run->config.load_ppm / (double)LULL_PPM));
	result_loss(object, result);
	put_count(object, "reordered", result->reordered);
	put_share(object, "reordered_pct", result->reordered, finished, 100);
	put_count(object, "reordered_output", result->reordered_output);
	put_share(object, "reordered_output_pct", result->reordered_output, result->delivered, 100);
	put_share(object, "moves_per_1000", result->dispatch.moves, result->dispatch.pkts, 1000);
	put_share(object, "moves_inflight_per_1000", result->dispatch.moves_inflight,
		  result->dispatch.pkts, 1000);
	put_count(object, "identified", result->identified);
	put_count(object, "flows", result->flows);
	put_count(object, "partials", result->partials);
	put_share(object, "partials_per_flow", result->partials, result->flows, 1);
	put_count(object, "span_ns", result->span_ns);
	put_share(object, "io_busy_pct", result->io_busy_ns, result->span_ns, 100);
	json_object_set_new(object, "worker", result_workers(result));
	json_object_set_new(object, "latency", result_histogram(&result->latency));
	json_object_set_new(object, "wait", result_histogram(&result->wait));
	json_object_set_new(object, "dispatch",
			    result_counters(lull_dispatch_counter_table, &result->dispatch));
	json_object_set_new(object, "resequence",
			    result_counters(lull_resequence_counter_table, &result->resequence));
	return object;
}

json_t *
flow_sim_result_bisection(const struct flow_sim_run *run)
{
	json_t *object = result_head(run);

	put_count(object, "seeds", run->seed_count);
	return object;
}

json_t *
flow_sim_result(const struct flow_sim *program)
{
	char text[LULL_OPTION_VALUE_TEXT];
	json_t *object = json_object(), *settings = json_object();
	const struct lull_option *option;

	for (option = flow_sim_program.options; option->key != NULL; option++)
		put_text(settings, option->key,
			 lull_option_print(option, &program->settings, text, sizeof(text)));
	put_text(object, "program", flow_sim_program.name);
	put_text(object, "version", flow_sim_program.version);
	json_object_set_new(object, "settings", settings);
	json_object_set(object, "runs", program->runs);
	json_object_set(object, "bisections", program->bisections);
	put_count(object, "simulated_pkts", program->pkts);
	json_object_set_new(object, "wall_s", lull_result_real(program->wall_s));
	return object;
}
