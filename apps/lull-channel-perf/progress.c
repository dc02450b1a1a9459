/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/* ---- a line per second ---- */

/* What the session moves: sent and acknowledged, or received. */
static uint64_t
progress_moved(const struct perf_session *session, const struct lull_bundle_path_counters *counters)
{
	return session->role == PERF_SINK ? counters->rx_bytes : counters->delivered_bytes;
}

static void
progress_paths(const struct perf *perf, struct perf_progress *now)
{
	for (uint32_t i = 0; i < perf->session_count; i++)
		for (uint32_t j = 0; j < LULL_BUNDLE_PATHS_MAX; j++) {
			const struct perf_session *session = perf->sessions[i];
			struct lull_bundle_path_look look;

			if (lull_channel_path_look(session->channel, session->peer, j, &look) != 0)
				continue;
			now->paths[j] += progress_moved(session, &look.counters);
			now->lost_pkts += look.counters.lost_pkts;
			now->resent_pkts += look.counters.resent_pkts;
		}
}

/* "  paths 60 40 %": what each carried of it. */
static void
progress_shares(const struct perf_progress *now, const struct perf_progress *last)
{
	uint64_t sum = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++) {
		sum += now->paths[i] - last->paths[i];
		if (now->paths[i] > 0)
			count = i + 1;
	}
	if (sum == 0)
		return;
	fputs("  paths", stderr);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stderr, " %.0f",
			100.0 * (double)(now->paths[i] - last->paths[i]) / (double)sum);
	fputs(" %", stderr);
}

void
perf_progress_print(struct perf *perf, uint64_t now_ns)
{
	struct perf_progress now = { .now_ns = now_ns, .cpu_ns = perf_cpu_ns() };
	const struct perf_progress *last = &perf->shown;
	double seconds = (double)(now_ns - last->now_ns) / LULL_NS_PER_S;

	if (perf->session_count == 0) {
		perf->shown = now;
		return;
	}
	for (uint32_t i = 0; i < perf->session_count; i++) {
		now.bytes += perf->sessions[i]->bytes;
		now.messages += perf->sessions[i]->messages;
	}
	progress_paths(perf, &now);
	/* A job of a listener that has ended took its figures along. */
	if (now.bytes >= last->bytes && now.lost_pkts >= last->lost_pkts) {
		fprintf(stderr, "%6.1f s  %.1f Mb/s  %.0f messages/s",
			(double)(now_ns - perf->run.begin_ns) / LULL_NS_PER_S,
			(double)(now.bytes - last->bytes) * 8 / seconds / 1e6,
			(double)(now.messages - last->messages) / seconds);
		progress_shares(&now, last);
		fprintf(stderr, "  lost %" PRIu64 "  resent %" PRIu64 "  cpu %.0f %%",
			now.lost_pkts - last->lost_pkts, now.resent_pkts - last->resent_pkts,
			(double)(now.cpu_ns - last->cpu_ns) / seconds / 1e7);
		if (perf->sessions[0]->role == PERF_ASKER)
			lull_run_latency(&perf->sessions[0]->latency);
		fputs("\n", stderr);
	}
	perf->shown = now;
}

/* ---- in the end ---- */

static void
print_latency(FILE *out, const struct perf_session *session)
{
	const struct lull_histogram *latency = &session->latency;

	fprintf(out, "  %s p50 %.1f us  p99 %.1f us  p99.9 %.1f us  max %.1f us\n",
		session->plan.window == 1 ? "half round trip" : "round trip",
		(double)lull_histogram_quantile(latency, 500000) / LULL_NS_PER_US,
		(double)lull_histogram_quantile(latency, 990000) / LULL_NS_PER_US,
		(double)lull_histogram_quantile(latency, 999000) / LULL_NS_PER_US,
		(double)latency->max / LULL_NS_PER_US);
}

static void
print_paths(FILE *out, const struct perf_session *session)
{
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++) {
		const struct lull_bundle_path_look *look = &session->last.paths[i];
		const struct lull_bundle_path_counters counters =
			lull_link_since(&session->first.paths[i], look);

		if (look->state == LULL_BUNDLE_PATH_NONE)
			continue;
		fprintf(out,
			"  path %u (rail %u to %u) %s: %.1f MB, lost %" PRIu64 ", resent %" PRIu64
			", rtt %.0f us\n",
			i, look->rail, look->remote_rail, lull_bundle_path_state_name(look->state),
			(double)progress_moved(session, &counters) / 1e6, counters.lost_pkts,
			counters.resent_pkts, (double)look->srtt_ns / LULL_NS_PER_US);
	}
}

void
perf_print(void *state)
{
	const struct perf *perf = state;
	FILE *out = strcmp(perf->settings.json, "-") == 0 ? stderr : stdout;

	for (uint32_t i = 0; i < perf->session_count && !perf->settings.listen; i++) {
		const struct perf_session *session = perf->sessions[i];
		const struct perf_report near = perf_session_report(session);
		const struct perf_report *far = &session->far;

		fprintf(out,
			"%s %s: %" PRIu64 " messages of %" PRIu64
			" bytes in %.3f s, %.2f Mb/s, cpu %.1f %% here, %.1f %% there\n",
			perf_job_name(perf->settings.job), session->name, near.messages,
			session->plan.message_bytes, (double)near.wall_ns / LULL_NS_PER_S,
			(double)near.bytes * 8e3 / (double)LULL_MAX(near.busy_ns, 1U),
			100.0 * (double)near.cpu_ns / (double)LULL_MAX(near.wall_ns, 1U),
			100.0 * (double)far->cpu_ns / (double)LULL_MAX(far->wall_ns, 1U));
		if (session->role == PERF_ASKER)
			print_latency(out, session);
		print_paths(out, session);
	}
	if (perf->settings.job == PERF_JOB_INCAST && !perf->settings.listen)
		fprintf(out, "fairness (Jain) %.3f\n", perf_jain(perf));
}
