/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink exporter: one kind of export of one instance. A new kind is one file and one line in sink.c.
 */
#ifndef LULL_FLOW_SINK_EXPORTER_H
#define LULL_FLOW_SINK_EXPORTER_H

#include "sink.h"
#include "health.h"
#include "volume.h"

/** What is begun leaves after so long even if it is not full. */
#define SINK_FLUSH_NS (100 * LULL_NS_PER_MS)
/** Something waits for its destination: look again. */
#define SINK_WAIT_NS LULL_NS_PER_MS
/** A file may have been rotated: look so often. */
#define SINK_LOOK_NS (LULL_NS_PER_S / 2)
/** Nothing moved for so long at the end: given up. */
#define SINK_STALL_NS_ORDERED (10 * LULL_NS_PER_S)
#define SINK_STALL_NS_LIVE (2 * LULL_NS_PER_S)

/** What an exporter is opened with; borrowed until it is closed. */
struct sink_job {
	const struct flow_sink_settings *settings; /**< complete */
	const char *to;
	uint32_t instance;
	struct sink_file *file;              /**< shared by the instances; NULL: not to one */
	struct flow_sink_counters *counters; /**< one writer, the instance's loop */
	struct sink_health *health;          /**< the same */
};

/** Every member is required, but for mend. */
struct sink_exporter {
	const char *name;
	/** Is the destination well written, and what the settings say of this kind? */
	int (*check)(const struct flow_sink_settings *settings, const char *to,
		     struct lull_error *error);
	/** Of a file that is continued, as struct sink_file_config has it; NULL: never a file. */
	int (*mend)(int fd, uint64_t size, struct lull_error *error);
	int (*open)(const struct sink_job *job, void **state, struct lull_error *error);
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
