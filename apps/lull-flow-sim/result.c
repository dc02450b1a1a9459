/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "flow_sim.h"

static json_t *
result_counters(const struct lull_counter_info *table, const void *counters)
{
	json_t *object = json_object();

	lull_result_put_table(object, table, counters);
	return object;
}

static json_t *
result_workers(const struct lull_sim_pipeline_result *result)
{
	json_t *list = json_array();

	for (uint32_t w = 0; w < result->worker_count; w++) {
		json_t *object = json_object();

		lull_result_put_count(object, "packets", result->worker_pkts[w]);
		lull_result_put_share(object, "utilisation_pct", result->worker_busy_ns[w],
				      result->span_ns, 100);
		lull_result_put_count(object, "ring_max_pkts", result->ring_pkts_max[w]);
		json_array_append_new(list, object);
	}
	return list;
}

/* What a run and a search have in common. */
static json_t *
result_head(const struct flow_sim_trial *run)
{
	json_t *object = json_object();

	lull_result_put_text(object, "scheduler", lull_scheduler_name(run->scheduler));
	lull_result_put_text(object, "order", lull_order_name(run->config.dispatch.order));
	lull_result_put_text(object, "start", run->warm ? "warm" : "cold");
	lull_result_put_count(object, "workers", run->config.dispatch.worker_count);
	lull_result_put_share(object, "load", run->config.load_ppm, LULL_PPM, 1);
	lull_result_put_count(object, "seed", run->config.seed);
	return object;
}

static void
result_loss(json_t *object, const struct lull_sim_pipeline_result *result)
{
	uint64_t lost = result->lost_rx + result->lost_ring;

	lull_result_put_count(object, "offered", result->offered);
	lull_result_put_count(object, "delivered", result->delivered);
	lull_result_put_count(object, "lost", lost);
	lull_result_put_count(object, "lost_rx_ring", result->lost_rx);
	lull_result_put_count(object, "lost_worker_ring", result->lost_ring);
	lull_result_put_share(object, "loss_ppm", lost, result->offered, 1e6);
	lull_result_put_count(object, "watched", result->watched);
	lull_result_put_count(object, "watched_lost", result->watched_lost);
	lull_result_put_share(object, "watched_lost_pct", result->watched_lost, result->watched,
			      100);
}

json_t *
flow_sim_result_run(const struct flow_sim_trial *run, const struct lull_sim_pipeline_result *result)
{
	json_t *object = result_head(run);
	uint64_t finished = result->offered - result->lost_rx - result->lost_ring;

	json_object_set_new(object, "capacity_per_s", lull_result_real(result->capacity_pps));
	json_object_set_new(
		object, "offered_per_s",
		lull_result_real(result->capacity_pps * run->config.load_ppm / (double)LULL_PPM));
	result_loss(object, result);
	lull_result_put_count(object, "reordered", result->reordered);
	lull_result_put_share(object, "reordered_pct", result->reordered, finished, 100);
	lull_result_put_count(object, "reordered_output", result->reordered_output);
	lull_result_put_share(object, "reordered_output_pct", result->reordered_output,
			      result->delivered, 100);
	lull_result_put_share(object, "moves_per_1000", result->dispatch.moves,
			      result->dispatch.pkts, 1000);
	lull_result_put_share(object, "moves_inflight_per_1000", result->dispatch.moves_inflight,
			      result->dispatch.pkts, 1000);
	lull_result_put_count(object, "identified", result->identified);
	lull_result_put_count(object, "flows", result->flows);
	lull_result_put_count(object, "partials", result->partials);
	lull_result_put_share(object, "partials_per_flow", result->partials, result->flows, 1);
	lull_result_put_count(object, "span_ns", result->span_ns);
	lull_result_put_share(object, "io_busy_pct", result->io_busy_ns, result->span_ns, 100);
	json_object_set_new(object, "worker", result_workers(result));
	json_object_set_new(object, "latency_ns", lull_result_histogram(&result->latency, false));
	json_object_set_new(object, "wait_ns", lull_result_histogram(&result->wait, false));
	json_object_set_new(object, "dispatch",
			    result_counters(lull_dispatch_counter_table, &result->dispatch));
	json_object_set_new(object, "resequence",
			    result_counters(lull_resequence_counter_table, &result->resequence));
	return object;
}

json_t *
flow_sim_result_bisection(const struct flow_sim_trial *run)
{
	json_t *object = result_head(run);

	lull_result_put_count(object, "seeds", run->seed_count);
	return object;
}

void
flow_sim_result(void *state, json_t *result)
{
	const struct flow_sim *program = state;

	json_object_set(result, "runs", program->runs);
	json_object_set(result, "bisections", program->bisections);
	lull_result_put_count(result, "simulated_pkts", program->pkts);
}
