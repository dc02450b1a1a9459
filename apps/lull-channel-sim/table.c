/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "channel_sim.h"

static void
table_path(FILE *out, const struct lull_sim_channel_path *path)
{
	const struct lull_bundle_path_look *look = &path->look;
	const struct lull_bundle_path_counters *c = &look->counters;

	fprintf(out,
		"%4" PRIu32 " %4" PRIu32 " %2" PRIu32 ":%-2" PRIu32
		" %-8s %9.2f %8.3f %8.3f %6" PRIu32 " %9" PRIu64 " %7" PRIu64 " %7" PRIu64
		" %7" PRIu64 "\n",
		path->node, path->peer, look->rail, look->remote_rail,
		lull_bundle_path_state_name(look->state), (double)look->rate_bps / 1e6,
		(double)look->base_rtt_ns / 1e6, (double)look->srtt_ns / 1e6, look->window_pkts,
		c->tx_pkts, c->lost_pkts, c->resent_pkts, c->duplicate_pkts);
}

void
channel_sim_table(FILE *out, const struct channel_sim *program)
{
	const struct lull_sim_channel_result *result = program->result;

	if (program->settings.scenarios > 0) {
		fprintf(out,
			"%" PRIu64 " scenarios, %" PRIu64 " messages, %" PRIu64
			" packets: every promise kept, digest %016" PRIx64 "\n",
			program->scenarios, program->received, program->wire_pkts, program->digest);
		return;
	}
	fprintf(out, "%4s %4s %5s %-8s %9s %8s %8s %6s %9s %7s %7s %7s\n", "node", "peer", "rails",
		"state", "Mbit/s", "base ms", "srtt ms", "window", "sent", "lost", "resent",
		"twice");
	for (uint32_t i = 0; i < result->path_count; i++)
		table_path(out, &result->paths[i]);
	fprintf(out,
		"%" PRIu64 " messages, %.2f Mbit/s of %.2f (%.2f %%), latency p50 %.1f us p99 %.1f "
		"us max %.1f us, digest %016" PRIx64 "\n",
		result->received, channel_sim_share(program) * (double)result->sum_bps / 1e6,
		(double)result->sum_bps / 1e6, channel_sim_share(program) * 100,
		(double)lull_histogram_quantile(&result->latency, 500000) / 1000,
		(double)lull_histogram_quantile(&result->latency, 990000) / 1000,
		(double)result->latency.max / 1000, program->digest);
}
