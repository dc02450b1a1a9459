/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <lull/rest.h>
#include <stdio.h>

#include "sim_program.h"

void
sim_table_head(FILE *out, bool competitor)
{
	fprintf(out, "%-16s %-8s %6s %9s %9s %9s %9s %12s %10s %8s %7s %s %s\n", "governor", "side",
		"CPU %", "p50 us", "p99 us", "p99.9 us", "max us", "packets", "lost", "wakes/s",
		"empty %", competitor ? "other %" : "", "verdict");
}

/* What the other program got; nothing where there is none. */
static const char *
table_competitor(const struct lull_sim_result *result, char *text, size_t size)
{
	text[0] = '\0';
	if (result->competitor_time_ns > 0)
		snprintf(text, size, "%7.2f",
			 (double)result->competitor_ns * 100 / (double)result->competitor_time_ns);
	return text;
}

static double
table_us(const struct lull_histogram *histogram, uint32_t ppm)
{
	return (double)lull_histogram_quantile(histogram, ppm) / 1000;
}

static void
table_side(FILE *out, const struct sim_trial *run, enum lull_sim_side side)
{
	const struct lull_sim_result *result = run->sides[side];
	const struct lull_sim_policy *policy = &run->config.policy[side];
	double time_ns = (double)LULL_MAX(result->time_ns, 1);
	char name[32], other[16], text[SIM_VERDICT_TEXT];

	snprintf(name, sizeof(name), "%s", lull_idle_governor_name(policy->governor));
	if (policy->limits.rest_ns > 0)
		snprintf(name, sizeof(name), "%s:%gus", lull_idle_governor_name(policy->governor),
			 (double)policy->limits.rest_ns / 1000);
	fprintf(out,
		"%-16s %-8s %6.2f %9.1f %9.1f %9.1f %9.1f %12" PRIu64 " %10" PRIu64
		" %8.0f %7.2f %s %s\n",
		name, side == LULL_SIM_SIDE_SEND ? "send" : "receive",
		(double)result->cpu_ns / time_ns * 100, table_us(&result->added, 500000),
		table_us(&result->added, 990000), table_us(&result->added, 999000),
		(double)result->added.max / 1000, result->delivered, result->lost,
		(double)lull_sim_wakes(result) / time_ns * 1e9,
		(double)result->counters.empty_ns / time_ns * 100,
		table_competitor(result, other, sizeof(other)),
		lull_verdict_state_name(result->verdict.state));
	if (result->verdict.state != LULL_VERDICT_NONE)
		fprintf(out, "  %s\n",
			lull_verdict_explain(&result->verdict, &result->limits, text,
					     sizeof(text)));
}

void
sim_table_run(FILE *out, const struct sim_trial *run)
{
	for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++)
		if (run->sides[side] != NULL)
			table_side(out, run, (enum lull_sim_side)side);
	fflush(out);
}
