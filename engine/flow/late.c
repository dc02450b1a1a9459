/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that stand still. An aggregator compares how far workers have told their records. An I/O
 * loop that stands still makes none of them late, nor does an aggregator that is slow itself.
 */
#include "stage.h"

#define LATE_LOOK_NS LULL_NS_PER_MS

/* The clock of the last packet, when all I/O loops have ended. */
static uint64_t
late_last_ns(const struct lull_pipeline *pipeline)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < pipeline->config.io_count; i++) {
		const struct flow_io *io = pipeline->ios[i];

		if (__atomic_load_n(&io->clock_out, __ATOMIC_ACQUIRE) == FLOW_CLOCK_END)
			last_ns = LULL_MAX(last_ns, io->clock_last);
	}
	return last_ns;
}

/* How far the worker has come that is ahead of all. */
static uint64_t
late_first_ns(const struct flow_aggregator *aggregator)
{
	uint64_t first_ns = 0;

	for (uint32_t i = 0; i < aggregator->worker_count; i++)
		first_ns = LULL_MAX(first_ns, aggregator->watermarks_ns[i]);
	return first_ns == FLOW_CLOCK_END ? late_last_ns(aggregator->pipeline) : first_ns;
}

/* Late until it is well within the bound: else it would be so every other millisecond. */
static bool
late_is(const struct flow_aggregator *aggregator, uint32_t worker, uint64_t first_ns)
{
	bool was = (aggregator->late >> worker & 1) != 0;
	uint64_t bound_ns = was ? aggregator->late_ns / 2 : aggregator->late_ns;
	uint64_t told_ns = aggregator->watermarks_ns[worker];

	/* What it told may still be in its ring. */
	if (!was && aggregator->told[worker].until > 0)
		return false;
	return told_ns < first_ns && first_ns - told_ns > bound_ns;
}

static void
late_begin(struct flow_aggregator *aggregator, uint32_t worker, uint64_t now_ns)
{
	LULL_COUNTER_ADD(aggregator->late_times[worker], 1);
	__atomic_store_n(&aggregator->late_begin_ns[worker], now_ns, __ATOMIC_RELAXED);
	aggregator->counters.late++;
}

static void
late_end(struct flow_aggregator *aggregator, uint32_t worker, uint64_t now_ns)
{
	LULL_COUNTER_ADD(aggregator->late_total_ns[worker],
			 now_ns - aggregator->late_begin_ns[worker]);
}

static uint64_t
late_judge(const struct flow_aggregator *aggregator)
{
	uint64_t first_ns = late_first_ns(aggregator), late = 0;

	for (uint32_t i = 0; i < aggregator->worker_count; i++)
		late |= (uint64_t)late_is(aggregator, i, first_ns) << i;
	return late;
}

static void
late_change(struct flow_aggregator *aggregator, uint64_t late, uint64_t now_ns)
{
	uint64_t changed = late ^ aggregator->late;

	for (uint32_t i = 0; i < aggregator->worker_count; i++) {
		if ((changed >> i & 1) == 0)
			continue;
		if ((late >> i & 1) != 0)
			late_begin(aggregator, i, now_ns);
		else
			late_end(aggregator, i, now_ns);
	}
	__atomic_store_n(&aggregator->late, late, __ATOMIC_RELAXED);
}

/* The smallest watermark of some workers; FLOW_CLOCK_END: there are none. */
static uint64_t
late_least_ns(const struct flow_aggregator *aggregator, uint64_t workers)
{
	uint64_t least_ns = FLOW_CLOCK_END;

	for (uint32_t i = 0; i < aggregator->worker_count; i++) {
		if ((workers >> i & 1) != 0)
			least_ns = LULL_MIN(least_ns, aggregator->watermarks_ns[i]);
	}
	return least_ns;
}

bool
flow_late_look(struct flow_aggregator *aggregator, uint64_t now_ns)
{
	uint64_t late;
	bool changed;

	if (aggregator->late_ns == 0 || now_ns < aggregator->late_check_ns)
		return false;
	aggregator->late_check_ns = now_ns + LATE_LOOK_NS;
	late = late_judge(aggregator);
	changed = late != aggregator->late;
	if (changed)
		late_change(aggregator, late, now_ns);
	if (changed || late != 0)
		lull_flow_merge_late(aggregator->merge, late, late_least_ns(aggregator, late));
	return changed;
}

uint64_t
flow_late_watermark(const struct flow_aggregator *aggregator)
{
	uint64_t least_ns = late_least_ns(aggregator, ~aggregator->late);

	if (aggregator->late == 0)
		return least_ns;
	/* Not the end: those that are late have not flushed. */
	if (least_ns == FLOW_CLOCK_END)
		return aggregator->advanced_ns;
	return least_ns;
}
