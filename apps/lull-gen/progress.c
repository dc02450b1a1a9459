/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <lull/rest.h>

#include "gen.h"

static double
progress_rate(uint64_t now, uint64_t before, double seconds)
{
	/* a new window starts from 0 */
	return (double)(now >= before ? now - before : now) / seconds;
}

/* Latency of the whole window: a short interval would not hold a p99. */
static void
progress_latency(const struct gen *gen)
{
	const struct lull_histogram *latency =
		lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATENCY);

	if (LULL_COUNTER_READ(latency->count) == 0)
		return;
	fprintf(stderr, "  latency p50 %.1f us p99 %.1f us max %.1f us",
		(double)lull_histogram_quantile(latency, 500000) / LULL_NS_PER_US,
		(double)lull_histogram_quantile(latency, 990000) / LULL_NS_PER_US,
		(double)LULL_COUNTER_READ(latency->max) / LULL_NS_PER_US);
}

void
gen_progress_print(const struct gen *gen, struct gen_progress *last)
{
	const struct lull_traffic_counters *counters = lull_traffic_counters(gen->state);
	struct gen_progress now = {
		.now_ns = lull_clock_ns(),
		.offered = LULL_COUNTER_READ(counters->offered),
		.received = lull_traffic_received(gen->state),
	};
	double seconds = (double)(now.now_ns - last->now_ns) / LULL_NS_PER_S;

	fprintf(stderr, "%6.1f s  offered %.0f/s  received %.0f/s",
		(double)(now.now_ns - gen->run.begin_ns) / LULL_NS_PER_S,
		progress_rate(now.offered, last->offered, seconds),
		progress_rate(now.received, last->received, seconds));
	if (gen->settings.rx_only || gen->settings.tx_only)
		fprintf(stderr, "  lost %" PRIu64, lull_traffic_lost(gen->state));
	else
		fprintf(stderr, "  missing %" PRIu64, lull_traffic_lost(gen->state));
	progress_latency(gen);
	fprintf(stderr, "\n");
	*last = now;
}
