/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include "perf.h"

/* ---- figures ---- */

static double
result_rate(double count, uint64_t ns)
{
	return ns > 0 ? count * (double)LULL_NS_PER_S / (double)ns : 0;
}

double
perf_jain(const struct perf *perf)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < perf->session_count; i++) {
		double bytes = (double)perf->fair_bytes[i];

		sum += bytes;
		squares += bytes * bytes;
	}
	return squares > 0 ? sum * sum / (perf->session_count * squares) : 0;
}

static void
result_put_report(json_t *object, const struct perf_report *report)
{
	lull_result_put_count(object, "messages", report->messages);
	lull_result_put_count(object, "bytes", report->bytes);
	lull_result_put_count(object, "busy_ns", report->busy_ns);
	lull_result_put_count(object, "wall_ns", report->wall_ns);
	lull_result_put_count(object, "cpu_ns", report->cpu_ns);
	lull_result_put_share(object, "cpu_pct", (double)report->cpu_ns, (double)report->wall_ns,
			      100);
	lull_result_put_count(object, "bad_messages", report->bad_messages);
	lull_result_put_count(object, "misordered_messages", report->misordered_messages);
	lull_result_put_real(object, "goodput_bits_per_s",
			     result_rate(8.0 * (double)report->bytes, report->busy_ns));
	lull_result_put_real(object, "messages_per_s",
			     result_rate((double)report->messages, report->busy_ns));
}

/* ---- paths ---- */

/* What a side moved over its paths: sent and acknowledged, or received. */
static void
result_put_shares(json_t *peer, bool sends)
{
	json_t *paths = json_object_get(peer, "paths"), *path;
	const char *key = sends ? "delivered_bytes" : "rx_bytes";
	double sum = 0;
	size_t index;

	json_array_foreach(paths, index, path) sum +=
		(double)json_integer_value(json_object_get(path, key));
	json_array_foreach(paths, index, path) lull_result_put_share(
		path, "share_pct", (double)json_integer_value(json_object_get(path, key)), sum,
		100);
}

json_t *
perf_session_result(const struct perf_session *session)
{
	const struct perf_report report = perf_session_report(session);
	json_t *object = lull_link_peer_result(&session->first, &session->last);

	lull_result_put_text(object, "name", session->name);
	lull_result_put_text(object, "role", perf_session_role(session)->name);
	lull_result_put_count(object, "message_bytes", session->plan.message_bytes);
	lull_result_put_count(object, "window", session->plan.window);
	result_put_report(object, &report);
	result_put_shares(object, session->role != PERF_SINK);
	if (session->plan.period_ns > 0 && session->role == PERF_SOURCE)
		lull_result_put_count(object, "bursts", session->bursts);
	if (session->role == PERF_ASKER)
		json_object_set_new(
			object, session->plan.window == 1 ? "half_round_trip_ns" : "round_trip_ns",
			lull_result_histogram(&session->latency, true));
	if (session->caller) {
		json_t *far = json_object();

		result_put_report(far, &session->far);
		json_object_set_new(object, "far", far);
	}
	return object;
}

/* ---- the whole ---- */

static void
result_caller(const struct perf *perf, json_t *result)
{
	struct perf_report sum = { .messages = 0 };
	json_t *peers = json_array();

	for (uint32_t i = 0; i < perf->session_count; i++) {
		const struct perf_report report = perf_session_report(perf->sessions[i]);

		sum.messages += report.messages;
		sum.bytes += report.bytes;
		sum.busy_ns = LULL_MAX(sum.busy_ns, report.busy_ns);
		sum.wall_ns = LULL_MAX(sum.wall_ns, report.wall_ns);
		sum.cpu_ns = LULL_MAX(sum.cpu_ns, report.cpu_ns);
		sum.bad_messages += report.bad_messages;
		sum.misordered_messages += report.misordered_messages;
		json_array_append_new(peers, perf_session_result(perf->sessions[i]));
	}
	lull_result_put_text(result, "job", perf_job_name(perf->settings.job));
	result_put_report(result, &sum);
	if (perf->settings.job == PERF_JOB_INCAST)
		lull_result_put_real(result, "jain", perf_jain(perf));
	json_object_set_new(result, "peers", peers);
}

void
perf_result(void *state, json_t *result)
{
	struct perf *perf = state;

	if (perf->settings.listen) {
		lull_result_put_count(result, "jobs", perf->jobs);
		lull_result_put_count(result, "broken_jobs", perf->broken_jobs);
		json_object_set(result, "peers", perf->results);
	} else {
		result_caller(perf, result);
	}
	lull_link_result(&perf->link, result);
}
