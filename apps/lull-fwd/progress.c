/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "program/number.h"
#include "fwd.h"

static uint64_t
progress_rests(const struct lull_idle_counters *counters)
{
	uint64_t rests = 0;

	for (int idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++)
		rests += LULL_COUNTER_READ(counters->rests[idle_state]);
	return rests;
}

/* "fwd0 300k/s 12 % CPU 5.4k rests/s p99 wait 199 us" */
static void
progress_loop(const struct lull_live_loop *item, struct fwd_progress *last, uint32_t index,
	      double seconds)
{
	const struct lull_loop *loop = item->loop;
	const struct lull_idle_counters *counters = lull_loop_counters(loop);
	uint64_t pkts = LULL_COUNTER_READ(counters->pkts), rests = progress_rests(counters);
	uint64_t cpu_ns = lull_live_loop_cpu_ns(item);
	char rate[LULL_NUMBER_TEXT], rest_rate[LULL_NUMBER_TEXT];

	lull_real_print((double)(uint64_t)((double)(pkts - last->loops[index].pkts) / seconds),
			rate, sizeof(rate));
	lull_real_print((double)(uint64_t)((double)(rests - last->loops[index].rests) / seconds),
			rest_rate, sizeof(rest_rate));
	fprintf(stderr, "  %s %s pkt/s %.0f %% CPU", lull_loop_name(loop), rate,
		(double)(cpu_ns - last->loops[index].cpu_ns) / seconds / 1e7);
	if (rests > 0)
		fprintf(stderr, " %s rests/s, p99 wait %.0f us", rest_rate,
			(double)lull_histogram_quantile(lull_loop_wait_histogram(loop), 990000) /
				1e3);
	last->loops[index].pkts = pkts;
	last->loops[index].rests = rests;
	last->loops[index].cpu_ns = cpu_ns;
}

void
fwd_progress_print(const struct fwd *fwd, struct fwd_progress *last)
{
	uint64_t now_ns = lull_clock_ns();
	double seconds = (double)(now_ns - last->now_ns) / LULL_NS_PER_S;

	fprintf(stderr, "%6.1f s", (double)(now_ns - fwd->run.begin_ns) / LULL_NS_PER_S);
	for (uint32_t i = 0; i < fwd->loops.count; i++)
		progress_loop(&fwd->loops.items[i], last, i, seconds);
	fprintf(stderr, "\n");
	last->now_ns = now_ns;
}

static void
summary_traffic(const struct lull_loop *loop)
{
	const void *state = lull_loop_stage_state(loop);
	const struct lull_histogram *latency = lull_traffic_histogram(state, LULL_TRAFFIC_LATENCY);

	fprintf(stderr,
		"lull-fwd: %s offered %" PRIu64 ", received %" PRIu64 ", lost %" PRIu64
		", latency p50 %.1f us p99 %.1f us max %.1f us\n",
		lull_loop_name(loop), lull_traffic_counters(state)->offered,
		lull_traffic_received(state), lull_traffic_lost(state),
		(double)lull_histogram_quantile(latency, 500000) / 1e3,
		(double)lull_histogram_quantile(latency, 990000) / 1e3, (double)latency->max / 1e3);
}

/* ", vacation 51.2 us, 3.1 % of 9321 tries failed" */
static void
summary_share(const struct lull_share_member *share)
{
	const struct lull_share_counters *counters = &share->counters;

	fprintf(stderr, ", mean vacation %.1f us, %.1f %% of %" PRIu64 " tries failed",
		(double)lull_share_vacation_ns(share) / 1e3,
		(double)counters->tries_failed * 100 / (double)LULL_MAX(counters->tries, 1u),
		counters->tries);
}

static void
summary_thread(const struct fwd *fwd, uint32_t index)
{
	const struct lull_live_loop *item = &fwd->loops.items[index];
	const struct lull_loop *loop = item->loop;
	const struct lull_idle_counters *counters = lull_loop_counters(loop);
	struct lull_loop_snapshot snapshot;
	uint64_t missed, nombuf;
	char text[256];

	lull_loop_snapshot(loop, &snapshot);
	lull_loop_missed(loop, &missed, &nombuf);
	fprintf(stderr,
		"lull-fwd: %s on CPU %d took %" PRIu64 " packets at %.1f %% CPU, missed %" PRIu64
		", rested %" PRIu64 " times",
		lull_loop_name(loop), lull_loop_cpu(loop), counters->pkts,
		(double)lull_live_loop_cpu_ns(item) * 100 /
			(double)(fwd->run.end_ns - item->begin_ns),
		missed + nombuf, progress_rests(counters));
	if (progress_rests(counters) > 0)
		fprintf(stderr, ", p99 wait below %.1f us",
			(double)lull_histogram_quantile(lull_loop_wait_histogram(loop), 990000) /
				1e3);
	if (item->share != NULL)
		summary_share(item->share);
	fprintf(stderr, "\n");
	fprintf(stderr, "lull-fwd: %s %s\n", lull_loop_name(loop),
		lull_verdict_explain(&snapshot.verdict, &snapshot.limits, text, sizeof(text)));
}

void
fwd_print(void *state)
{
	const struct fwd *fwd = state;

	for (uint32_t i = 0; i < fwd->settings.threads; i++)
		summary_thread(fwd, i);
	if (fwd->traffic != NULL)
		summary_traffic(fwd->traffic);
}
