/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <inttypes.h>

#include "channel_sim.h"

double
channel_sim_share(const struct channel_sim *program)
{
	const struct lull_sim_channel_result *result = program->result;

	if (result->measured_ns == 0 || result->sum_bps == 0)
		return 0;
	return (double)result->received_bytes * 8e9 / (double)result->measured_ns /
	       (double)result->sum_bps;
}

static json_t *
result_path(const struct lull_sim_channel_path *path)
{
	const struct lull_bundle_path_look *look = &path->look;
	json_t *object = json_object(), *counters = json_object();

	lull_result_put_count(object, "node", path->node);
	lull_result_put_count(object, "peer", path->peer);
	lull_result_put_count(object, "rail", look->rail);
	lull_result_put_count(object, "remote_rail", look->remote_rail);
	lull_result_put_text(object, "state", lull_bundle_path_state_name(look->state));
	lull_result_put_count(object, "base_rtt_ns", look->base_rtt_ns);
	lull_result_put_count(object, "srtt_ns", look->srtt_ns);
	lull_result_put_count(object, "rttvar_ns", look->rttvar_ns);
	lull_result_put_count(object, "rate_per_s", look->rate_bps);
	lull_result_put_count(object, "window_pkts", look->window_pkts);
	lull_result_put_count(object, "credit_pkts", look->credit_pkts);
	lull_result_put_table(counters, lull_bundle_path_counter_table, &look->counters);
	json_object_set_new(object, "counters", counters);
	return object;
}

static json_t *
result_traffic(const struct lull_sim_channel_traffic *traffic)
{
	json_t *object = json_object();

	lull_result_put_count(object, "tx_pkts", traffic->tx_pkts);
	lull_result_put_count(object, "resent_pkts", traffic->resent_pkts);
	lull_result_put_count(object, "dropped_pkts", traffic->dropped_pkts);
	lull_result_put_count(object, "ring_dropped_pkts", traffic->ring_pkts);
	return object;
}

static json_t *
result_nodes(const struct channel_sim *program)
{
	json_t *list = json_array();

	for (uint32_t n = 0; n < program->config.node_count; n++) {
		const struct lull_sim_channel_work *work = &program->result->work[n];
		uint64_t requested_ns = work->rests > 0 ? work->requested_ns / work->rests : 0;
		json_t *object = json_object();

		lull_result_put_count(object, "node", n);
		lull_result_put_real(object, "cpu_pct", lull_sim_channel_cpu(work) * 100);
		lull_result_put_real(object, "empty_pct", lull_sim_channel_empty(work) * 100);
		lull_result_put_count(object, "rest_ns", work->rest_ns);
		lull_result_put_count(object, "rests", work->rests);
		lull_result_put_count(object, "rest_requested_mean_ns", requested_ns);
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
result_curve(const struct channel_sim *program)
{
	json_t *list = json_array();
	uint64_t bins = program->config.calm_ns / LULL_NS_PER_MS;

	for (uint64_t i = 0; i < LULL_MIN(bins, LULL_SIM_CHANNEL_BINS); i++)
		json_array_append_new(list, lull_result_count(program->result->curve_bytes[i]));
	return list;
}

static json_t *
result_world(const struct channel_sim *program)
{
	const struct lull_sim_channel_result *result = program->result;
	json_t *object = json_object(), *paths = json_array(), *counters = json_object();
	uint32_t senders = program->config.node_count == 2 ? 1 : program->config.node_count - 1;

	lull_result_put_real(object, "goodput_per_s",
			     result->measured_ns > 0 ? (double)result->received_bytes * 8e9 /
							       (double)result->measured_ns :
						       0);
	lull_result_put_count(object, "sum_per_s", result->sum_bps);
	lull_result_put_real(object, "share_pct", channel_sim_share(program) * 100);
	lull_result_put_real(object, "jain",
			     lull_sim_channel_jain(result, senders == 1 ? 0 : 1, senders));
	lull_result_put_count(object, "measured_ns", result->measured_ns);
	lull_result_put_count(object, "rest_ns", result->rest_ns);
	lull_result_put_count(object, "messages_sent", result->sent);
	lull_result_put_count(object, "messages_received", result->received);
	lull_result_put_count(object, "messages_failed", result->failed);
	lull_result_put_count(object, "connections_ended", result->falls);
	lull_result_put_count(object, "wire_pkts", result->wire_pkts);
	lull_result_put_count(object, "wire_lost_pkts", result->wire_lost);
	lull_result_put_count(object, "queue_dropped_pkts", result->queue_drops);
	lull_result_put_count(object, "ring_dropped_pkts", result->ring_drops);
	json_object_set_new(object, "latency_ns", lull_result_histogram(&result->latency, false));
	json_object_set_new(object, "traffic", result_traffic(&result->traffic));
	json_object_set_new(object, "nodes", result_nodes(program));
	for (uint32_t i = 0; i < result->path_count; i++)
		json_array_append_new(paths, result_path(&result->paths[i]));
	json_object_set_new(object, "paths", paths);
	lull_result_put_table(counters, lull_bundle_counter_table, &result->counters);
	json_object_set_new(object, "counters", counters);
	if (program->settings.curve)
		json_object_set_new(object, "delivered_bytes_by_ms", result_curve(program));
	return object;
}

static json_t *
result_scenarios(const struct channel_sim *program)
{
	json_t *object = json_object();

	lull_result_put_count(object, "count", program->scenarios);
	lull_result_put_count(object, "messages_sent", program->sent);
	lull_result_put_count(object, "messages_received", program->received);
	lull_result_put_count(object, "connections_ended", program->falls);
	lull_result_put_count(object, "attacks", program->attacks);
	lull_result_put_count(object, "wire_pkts", program->wire_pkts);
	return object;
}

void
channel_sim_result(void *state, json_t *result)
{
	const struct channel_sim *program = state;
	bool scenarios = program->settings.scenarios > 0;
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, program->digest);
	lull_result_put_text(result, "digest", digest);
	json_object_set_new(result, "world", scenarios ? json_null() : result_world(program));
	json_object_set_new(result, "scenarios",
			    scenarios ? result_scenarios(program) : json_null());
}
