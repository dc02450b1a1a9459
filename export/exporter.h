/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink exporter: one kind of export of one instance. A new kind is one file and one line in sink.c.
 */
#ifndef LULL_FLOW_SINK_EXPORTER_H
#define LULL_FLOW_SINK_EXPORTER_H

#include "sink.h"

/** What is begun leaves after so long even if it is not full. */
#define SINK_FLUSH_NS (100 * LULL_NS_PER_MS)
/** Something waits for its destination: look again. */
#define SINK_WAIT_NS LULL_NS_PER_MS
/** Nothing moved for so long at the end: given up. */
#define SINK_STALL_NS_ORDERED (10 * LULL_NS_PER_S)
#define SINK_STALL_NS_LIVE (2 * LULL_NS_PER_S)

/** Every member is required. */
struct sink_exporter {
	const char *name;
	/** Is the destination well written? */
	int (*check)(const char *to, struct lull_error *error);
	/**
	 * @p settings complete and borrowed for good; @p counters: one writer, the instance's loop.
	 */
	int (*open)(const struct flow_sink_settings *settings, uint32_t instance,
		    struct flow_sink_counters *counters, void **state, struct lull_error *error);
	void (*record)(void *state, const struct lull_flow_record *record);
	/** Returns in how long it wants the next iteration, ns; 0: no wish. */
	uint64_t (*iterate)(void *state, const struct lull_encode_totals *totals);
	/** Write all; error->text stays "" unless something went wrong. */
	void (*finish)(void *state, const struct lull_encode_totals *totals,
		       struct lull_error *error);
	void (*close)(void *state);
};

extern const struct sink_exporter sink_exporter_json;
extern const struct sink_exporter sink_exporter_ipfix;
extern const struct sink_exporter sink_exporter_kafka;

#endif
