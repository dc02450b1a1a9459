/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The aggregator stage: parts of flows become records, records go to the sink.
 */
#include <errno.h>
#include <stddef.h>

#include "stage.h"

/* How old the totals may be that a sink is shown. */
#define TOTALS_NS (10 * LULL_NS_PER_MS)

struct flow_aggregator_stage {
	struct flow_aggregator *aggregator;
	struct flow_aggregator_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct flow_aggregator_counters, member, unit_text, help_text)
static const struct lull_counter_info aggregator_counter_table[] = {
	ROW(messages, "1", "messages received from workers"),
	ROW(announcements, "1", "announcements among the messages"),
	ROW(records, "1", "complete records passed to the exporters"),
	ROW(pkts, "packets", "packets in the records passed on"),
	ROW(late, "1", "times that a worker was late: records no longer waited for it"),
	ROW(held_back, "1", "times that a worker's messages waited because memory was nearly full"),
	{ .name = NULL },
};

/* ---- messages ---- */

static void
aggregator_publish(struct flow_aggregator *aggregator)
{
	const struct lull_flow_merge_counters *merge = lull_flow_merge_counters(aggregator->merge);

	lull_cell_set(&aggregator->words.records, merge->records);
	lull_cell_set(&aggregator->words.pkts, merge->pkts);
	lull_cell_set(&aggregator->words.open_pkts, merge->open_pkts);
	aggregator->counters.records = merge->records;
	aggregator->counters.pkts = merge->pkts;
}

static void
aggregator_add(struct flow_aggregator *aggregator, uint32_t worker, uint32_t count)
{
	uint64_t pkts = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct lull_flow_record *message =
			(const void *)(aggregator->messages + i * aggregator->record_bytes);

		if (message->message == LULL_FLOW_PARTIAL)
			pkts += message->packets[0] + message->packets[1];
		else
			aggregator->counters.announcements++;
		lull_flow_merge_add(aggregator->merge, message);
	}
	aggregator->counters.messages += count;
	lull_cell_begin(&aggregator->sequence);
	LULL_COUNTER_ADD(aggregator->words.got[worker], count);
	LULL_COUNTER_ADD(aggregator->words.got_pkts[worker], pkts);
	aggregator_publish(aggregator);
	lull_cell_end(&aggregator->sequence);
}

/*
 * The watermark counts once everything that it promises has been fetched: what was in the ring when
 * it was read. Waiting for an empty ring would leave it where it is while messages come fast.
 */
static uint32_t
aggregator_fetch(struct flow_aggregator *aggregator, uint32_t worker)
{
	struct flow_told *told = &aggregator->told[worker];
	uint32_t total = 0, count = FLOW_RECORDS;

	if (told->until == 0) {
		told->watermark_ns = __atomic_load_n(
			&aggregator->pipeline->workers[worker]->watermark_ns, __ATOMIC_ACQUIRE);
		told->until = rte_ring_count(aggregator->rings[worker]);
	}
	for (int i = 0; i < FLOW_RECORD_BATCHES && count == FLOW_RECORDS; i++) {
		count = rte_ring_sc_dequeue_burst_elem(
			aggregator->rings[worker], aggregator->messages, aggregator->record_bytes,
			FLOW_RECORDS, NULL);
		if (count > 0)
			aggregator_add(aggregator, worker, count);
		total += count;
	}
	told->until -= LULL_MIN(told->until, total);
	if (told->until == 0)
		aggregator->watermarks_ns[worker] = told->watermark_ns;
	return total;
}

/*
 * The merge is nearly full, and does not wait for this worker: its messages stay in its ring until
 * others have caught up. One of them is the last of all and is always fetched.
 */
static bool
aggregator_holds_back(struct flow_aggregator *aggregator, uint32_t worker, uint64_t last_ns)
{
	const struct lull_flow_merge_counters *merge = lull_flow_merge_counters(aggregator->merge);

	if (merge->open + merge->awaited < aggregator->full_records ||
	    aggregator->watermarks_ns[worker] <= last_ns)
		return false;
	aggregator->counters.held_back++;
	return true;
}

static uint16_t
aggregator_pull(void *state, uint64_t now_ns)
{
	struct flow_aggregator *aggregator = ((struct flow_aggregator_stage *)state)->aggregator;
	uint64_t last_ns = flow_late_watermark(aggregator);
	uint32_t total = 0;

	(void)now_ns;
	for (uint32_t i = 0; i < aggregator->worker_count; i++) {
		if (!aggregator_holds_back(aggregator, i, last_ns))
			total += aggregator_fetch(aggregator, i);
	}
	return (uint16_t)total;
}

/* ---- the iteration ---- */

static void
aggregator_advance(struct flow_aggregator *aggregator, uint64_t now_ns)
{
	bool changed = flow_late_look(aggregator, now_ns);
	uint64_t watermark_ns = flow_late_watermark(aggregator);

	/* A worker that is back may be behind what was said without it. */
	watermark_ns = LULL_MAX(watermark_ns, aggregator->advanced_ns);
	if (watermark_ns == aggregator->advanced_ns && !changed)
		return;
	aggregator->advanced_ns = watermark_ns;
	lull_flow_merge_advance(aggregator->merge, watermark_ns);
	lull_cell_begin(&aggregator->sequence);
	aggregator_publish(aggregator);
	lull_cell_end(&aggregator->sequence);
	if (watermark_ns == FLOW_CLOCK_END)
		__atomic_store_n(&aggregator->drained, true, __ATOMIC_RELEASE);
}

/* Every aggregator has given all its records: what the sink is shown now is final. */
static bool
aggregator_all_drained(const struct flow_aggregator *aggregator)
{
	for (uint32_t i = 0; i < aggregator->pipeline->config.aggregator_count; i++) {
		if (!__atomic_load_n(&aggregator->pipeline->aggregators[i]->drained,
				     __ATOMIC_ACQUIRE))
			return false;
	}
	return true;
}

static uint64_t
aggregator_iterate(void *state, uint64_t now_ns)
{
	struct flow_aggregator_stage *stage = state;
	struct flow_aggregator *aggregator = stage->aggregator;
	uint64_t deadline_ns;
	bool last;

	aggregator_advance(aggregator, now_ns);
	last = !aggregator->done && aggregator_all_drained(aggregator);
	if (last || now_ns >= aggregator->totals_next_ns) {
		aggregator->totals_next_ns = now_ns + TOTALS_NS;
		flow_totals(aggregator->pipeline, &aggregator->totals);
	}
	deadline_ns = aggregator->sink.iterate(aggregator->sink.arg, now_ns, &aggregator->totals);
	if (last)
		__atomic_store_n(&aggregator->done, true, __ATOMIC_RELEASE);
	flow_counters_copy(&stage->counters, &aggregator->counters, sizeof(stage->counters));
	return deadline_ns;
}

static void
aggregator_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct flow_aggregator *aggregator = ((struct flow_aggregator_stage *)state)->aggregator;
	const struct lull_pipeline_command *command = flow_command(data, size);

	(void)now_ns;
	if (command != NULL && command->verb == LULL_PIPELINE_IDLE)
		lull_flow_merge_timeouts(aggregator->merge,
					 flow_idle_ns(aggregator->pipeline, command->idle_ns));
}

static int
aggregator_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	struct flow_aggregator_stage *stage = state;

	(void)now_ns;
	if (place->index >= place->pipeline->config.aggregator_count)
		return -EINVAL;
	stage->aggregator = place->pipeline->aggregators[place->index];
	return 0;
}

const struct lull_stage lull_stage_flow_aggregator = {
	.name = "flow_aggregator",
	.summary = "join the parts of flows and pass the records to the exporters",
	.state_size = sizeof(struct flow_aggregator_stage),
	.init = aggregator_init,
	.pull = aggregator_pull,
	.iterate = aggregator_iterate,
	.command = aggregator_command,
	.counters = aggregator_counter_table,
	.counters_offset = offsetof(struct flow_aggregator_stage, counters),
};
