/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log stage: parts of flows become records, records go to the sink.
 */
#include <errno.h>
#include <stddef.h>

#include "stage.h"

/* How old the totals may be that a sink is shown. */
#define TOTALS_NS (10 * LULL_NS_PER_MS)

struct flow_log_stage {
	struct flow_log *log;
	struct flow_log_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct flow_log_counters, member, unit_text, help_text)
static const struct lull_counter_info log_counter_table[] = {
	ROW(messages, "1", "messages received from workers"),
	ROW(announcements, "1", "announcements among the messages"),
	ROW(records, "1", "complete records passed to the exporters"),
	ROW(pkts, "packets", "packets in the records passed on"),
	{ .name = NULL },
};

/* ---- messages ---- */

static void
log_publish(struct flow_log *log)
{
	const struct lull_flow_merge_counters *merge = lull_flow_merge_counters(log->merge);

	flow_cell_set(&log->words.records, merge->records);
	flow_cell_set(&log->words.pkts, merge->pkts);
	flow_cell_set(&log->words.open_pkts, merge->open_pkts);
	log->counters.records = merge->records;
	log->counters.pkts = merge->pkts;
}

static void
log_add(struct flow_log *log, uint32_t worker, uint32_t count)
{
	uint64_t pkts = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct lull_flow_record *message =
			(const void *)(log->messages + i * log->record_bytes);

		if (message->message == LULL_FLOW_PARTIAL)
			pkts += message->packets[0] + message->packets[1];
		else
			log->counters.announcements++;
		lull_flow_merge_add(log->merge, message);
	}
	log->counters.messages += count;
	flow_cell_begin(&log->sequence);
	LULL_COUNTER_ADD(log->words.got[worker], count);
	LULL_COUNTER_ADD(log->words.got_pkts[worker], pkts);
	log_publish(log);
	flow_cell_end(&log->sequence);
}

/* The watermark counts once everything it promises has been fetched. */
static uint32_t
log_fetch(struct flow_log *log, uint32_t worker)
{
	uint64_t watermark_ns =
		__atomic_load_n(&log->pipeline->workers[worker]->watermark_ns, __ATOMIC_ACQUIRE);
	uint32_t total = 0, count = FLOW_RECORDS;

	for (int i = 0; i < FLOW_RECORD_BATCHES && count == FLOW_RECORDS; i++) {
		count = rte_ring_sc_dequeue_burst_elem(log->rings[worker], log->messages,
						       log->record_bytes, FLOW_RECORDS, NULL);
		if (count > 0)
			log_add(log, worker, count);
		total += count;
	}
	if (count < FLOW_RECORDS)
		log->watermarks_ns[worker] = watermark_ns;
	return total;
}

static uint16_t
log_pull(void *state, uint64_t now_ns)
{
	struct flow_log *log = ((struct flow_log_stage *)state)->log;
	uint32_t total = 0;

	(void)now_ns;
	for (uint32_t i = 0; i < log->worker_count; i++)
		total += log_fetch(log, i);
	return (uint16_t)total;
}

/* ---- the turn ---- */

static void
log_advance(struct flow_log *log)
{
	uint64_t watermark_ns = FLOW_CLOCK_END;

	for (uint32_t i = 0; i < log->worker_count; i++)
		watermark_ns = LULL_MIN(watermark_ns, log->watermarks_ns[i]);
	if (watermark_ns == log->advanced_ns)
		return;
	log->advanced_ns = watermark_ns;
	lull_flow_merge_advance(log->merge, watermark_ns);
	flow_cell_begin(&log->sequence);
	log_publish(log);
	flow_cell_end(&log->sequence);
	if (watermark_ns == FLOW_CLOCK_END)
		__atomic_store_n(&log->drained, true, __ATOMIC_RELEASE);
}

/* Every log has given all its records: what the sink is shown now is final. */
static bool
log_all_drained(const struct flow_log *log)
{
	for (uint32_t i = 0; i < log->pipeline->config.log_count; i++) {
		if (!__atomic_load_n(&log->pipeline->logs[i]->drained, __ATOMIC_ACQUIRE))
			return false;
	}
	return true;
}

static uint64_t
log_turn(void *state, uint64_t now_ns)
{
	struct flow_log_stage *stage = state;
	struct flow_log *log = stage->log;
	uint64_t deadline_ns;
	bool last;

	log_advance(log);
	last = !log->done && log_all_drained(log);
	if (last || now_ns >= log->totals_next_ns) {
		log->totals_next_ns = now_ns + TOTALS_NS;
		flow_totals(log->pipeline, &log->totals);
	}
	deadline_ns = log->sink.turn(log->sink.arg, now_ns, &log->totals);
	if (last)
		__atomic_store_n(&log->done, true, __ATOMIC_RELEASE);
	flow_counters_copy(&stage->counters, &log->counters, sizeof(stage->counters));
	return deadline_ns;
}

static void
log_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct flow_log *log = ((struct flow_log_stage *)state)->log;
	const struct lull_pipeline_command *command = flow_command(data, size);

	(void)now_ns;
	if (command != NULL && command->verb == LULL_PIPELINE_IDLE)
		lull_flow_merge_timeouts(log->merge, flow_idle_ns(log->pipeline, command->idle_ns));
}

static int
log_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	struct flow_log_stage *stage = state;

	(void)now_ns;
	if (place->index >= place->pipeline->config.log_count)
		return -EINVAL;
	stage->log = place->pipeline->logs[place->index];
	return 0;
}

const struct lull_stage lull_stage_flow_log = {
	.name = "flow_log",
	.summary = "join the parts of flows and pass the records to the exporters",
	.state_size = sizeof(struct flow_log_stage),
	.init = log_init,
	.pull = log_pull,
	.turn = log_turn,
	.command = log_command,
	.counters = log_counter_table,
	.counters_offset = offsetof(struct flow_log_stage, counters),
};
