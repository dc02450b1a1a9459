/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "program/number.h"
#include "flow.h"

/* "1.5M" for a count over a time. */
static char *
progress_rate(uint64_t now, uint64_t before, double seconds, char *text, size_t size)
{
	return lull_real_print((double)(uint64_t)((double)(now - before) / seconds), text, size);
}

static uint64_t
progress_lost(const struct lull_encode_totals *totals)
{
	return totals->drop_ring + totals->missed + totals->nombuf + totals->errors;
}

/* ", LATE worker0 worker3" */
static void
progress_late(const struct flow *flow)
{
	struct lull_pipeline_late late;

	lull_pipeline_late(flow->pipeline, &late);
	if (late.workers == 0)
		return;
	fprintf(stderr, ", LATE");
	for (uint32_t i = 0; i < flow->settings.workers; i++) {
		if ((late.workers >> i & 1) != 0)
			fprintf(stderr, " worker%u", i);
	}
}

void
flow_progress_print(const struct flow *flow, struct flow_progress *last)
{
	uint64_t now_ns = lull_clock_ns();
	double seconds = (double)(now_ns - last->now_ns) / LULL_NS_PER_S;
	char pkts[LULL_NUMBER_TEXT], records[LULL_NUMBER_TEXT];
	struct lull_pipeline_totals totals;

	lull_pipeline_totals(flow->pipeline, &totals);
	fprintf(stderr,
		"%6.1f s  %s pkt/s, %s flows/s, lost %" PRIu64 ", in flight %" PRIu64
		", open %" PRIu64,
		(double)(now_ns - flow->run.begin_ns) / LULL_NS_PER_S,
		progress_rate(totals.totals.rx, last->totals.rx, seconds, pkts, sizeof(pkts)),
		progress_rate(totals.totals.records, last->totals.records, seconds, records,
			      sizeof(records)),
		progress_lost(&totals.totals), totals.in_flight, totals.open);
	progress_late(flow);
	fprintf(stderr, ", CPU");
	for (uint32_t i = 0; i < flow->loops.count; i++) {
		uint64_t cpu_ns = lull_live_loop_cpu_ns(&flow->loops.items[i]);

		fprintf(stderr, " %s %.0f%%", lull_loop_name(flow->loops.loops[i]),
			(double)(cpu_ns - last->cpu_ns[i]) / seconds / 1e7);
		last->cpu_ns[i] = cpu_ns;
	}
	fprintf(stderr, flow->violations > 0 ? " PACKETS DO NOT ADD UP\n" : "\n");
	last->totals = totals.totals;
	last->now_ns = now_ns;
}

/* ---- in the end ---- */

static void
summary_loss(const struct lull_encode_totals *totals)
{
	for (const struct lull_counter_info *row = lull_encode_totals_table; row->name != NULL;
	     row++) {
		const uint64_t *counter = (const void *)((const char *)totals + row->offset);

		if (*counter > 0 && counter != &totals->rx && counter != &totals->dispatched &&
		    counter != &totals->recorded && counter != &totals->records)
			fprintf(stderr, ", %s %" PRIu64, row->name, *counter);
	}
}

static void
summary_late(const struct flow *flow)
{
	struct lull_pipeline_late late;

	lull_pipeline_late(flow->pipeline, &late);
	for (uint32_t i = 0; i < flow->settings.workers; i++) {
		if (late.times[i] > 0)
			fprintf(stderr,
				"lull-flow: worker%u was late for %.3f s (times: %" PRIu64 ")\n", i,
				(double)late.ns[i] / LULL_NS_PER_S, late.times[i]);
	}
	if (late.records + late.parts > 0)
		fprintf(stderr,
			"lull-flow: %" PRIu64 " records did not wait for it, %" PRIu64
			" parts came too late\n",
			late.records, late.parts);
	if (late.behind > 0)
		fprintf(stderr,
			"lull-flow: %" PRIu64 " packets came behind their watermark: a "
			"defect of this program\n",
			late.behind);
}

void
flow_print(void *state)
{
	const struct flow *flow = state;
	const struct lull_encode_totals *totals = &flow->totals.totals;
	struct flow_sink_counters sink;

	fprintf(stderr,
		"lull-flow: %" PRIu64 " packets in %.3f s, %" PRIu64 " recorded in %" PRIu64
		" flows",
		totals->rx, (double)(flow->run.end_ns - flow->run.begin_ns) / LULL_NS_PER_S,
		totals->recorded, totals->records);
	if (flow->filter != NULL)
		fprintf(stderr, ", filtered %" PRIu64, flow_filter_count(flow->filter));
	summary_loss(totals);
	fprintf(stderr, "\n");
	if (flow->files.skipped > 0)
		fprintf(stderr, "lull-flow: passed over %u files that are no captures\n",
			flow->files.skipped);
	summary_late(flow);
	for (int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		flow_sink_read(flow->sink, (enum flow_sink_kind)kind, &sink);
		if (sink.drops > 0)
			fprintf(stderr, "lull-flow: %s lost %" PRIu64 " of %" PRIu64 " records\n",
				flow_sink_kind_name((enum flow_sink_kind)kind), sink.drops,
				sink.taken);
	}
}
