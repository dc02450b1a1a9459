/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink state: what sink.c opens and watch.c looks after.
 */
#ifndef LULL_FLOW_SINK_STATE_H
#define LULL_FLOW_SINK_STATE_H

#include <stdalign.h>

#include "collection.h"
#include "exporter.h"

#define SINK_TARGETS_MAX (FLOW_SINK_KINDS * FLOW_SINK_EACH_MAX)

/** A destination; the main thread's. */
struct sink_target {
	enum flow_sink_kind kind;
	const char *to;
	const struct sink_exporter *exporter;
	struct sink_file *file; /* NULL: it goes elsewhere */
	uint64_t volumes;       /* begun since the start */
	bool told_down;
	uint64_t told_ns, told_drops, told_downs; /* as of the last sentence */
};

/** What one aggregator loop writes to. */
struct sink_instance {
	alignas(LULL_CACHE_LINE) struct flow_sink_counters counters[SINK_TARGETS_MAX];
	struct sink_health health[SINK_TARGETS_MAX];
	void *exporters[SINK_TARGETS_MAX]; /* NULL: none */
	const struct flow_sink *sink;
	struct sink_collection collection;
	struct lull_encode_totals totals; /* as of the last iteration */
};

struct flow_sink {
	struct flow_sink_settings settings;
	struct sink_target targets[SINK_TARGETS_MAX];
	uint32_t target_count;
	uint64_t watched_ns;
	struct sink_instance instances[LULL_PIPELINE_AGGREGATOR_MAX];
};

#endif
