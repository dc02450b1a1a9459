/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "flow_sim.h"

static double
table_share(uint64_t part, uint64_t whole, double scale)
{
	return whole > 0 ? (double)part / (double)whole * scale : 0;
}

void
flow_sim_table_head(FILE *out, bool bisect)
{
	if (bisect)
		fprintf(out, "%-14s %-5s %6s  %s\n", "scheduler", "start", "seeds",
			"largest load without loss");
	else
		fprintf(out, "%-14s %-5s %6s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n",
			"scheduler", "start", "load", "loss %", "rx loss %", "moves/1k", "late %",
			"output %", "parts", "p50 us", "p99 us", "wait p99", "busiest %");
}

void
flow_sim_table_run(FILE *out, const struct flow_sim_trial *run,
		   const struct lull_sim_pipeline_result *result)
{
	uint64_t lost = result->lost_rx + result->lost_ring, finished = 0, busiest_ns = 0;

	for (uint32_t w = 0; w < result->worker_count; w++) {
		finished += result->worker_pkts[w];
		busiest_ns = LULL_MAX(busiest_ns, result->worker_busy_ns[w]);
	}
	fprintf(out,
		"%-14s %-5s %6.3f %9.4f %9.4f %9.3f %9.4f %9.4f %9.3f %9.1f %9.1f %9.1f %9.1f\n",
		lull_scheduler_name(run->scheduler), run->warm ? "warm" : "cold",
		run->config.load_ppm / 1e6, table_share(lost, result->offered, 100),
		table_share(result->lost_rx, result->offered, 100),
		table_share(result->dispatch.moves, result->dispatch.pkts, 1000),
		table_share(result->reordered, finished, 100),
		table_share(result->reordered_output, result->delivered, 100),
		table_share(result->partials, result->flows, 1),
		(double)lull_histogram_quantile(&result->latency, 500000) / 1000,
		(double)lull_histogram_quantile(&result->latency, 990000) / 1000,
		(double)lull_histogram_quantile(&result->wait, 990000) / 1000,
		table_share(busiest_ns, result->span_ns, 100));
	fflush(out);
}

void
flow_sim_table_bisection(FILE *out, const struct flow_sim_trial *run)
{
	fprintf(out, "%-14s %-5s %6" PRIu32 "  %.4f\n", lull_scheduler_name(run->scheduler),
		run->warm ? "warm" : "cold", run->seed_count, run->config.load_ppm / 1e6);
	fflush(out);
}
