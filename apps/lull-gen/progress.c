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
	/* Of the whole window: a short interval would not hold a p99. */
	lull_run_latency(lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATENCY));
	fprintf(stderr, "\n");
	*last = now;
}
