/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink health: does a destination take records, and what went wrong with it.
 *
 * Threads: one writer, the instance's loop; any thread reads.
 * Memory:  plain data; reasons are constant texts.
 */
#ifndef LULL_FLOW_SINK_HEALTH_H
#define LULL_FLOW_SINK_HEALTH_H

#include "sink.h"

struct sink_health {
	bool down;
	uint64_t downs;     /**< how often it went down */
	const char *reason; /**< of the last time; NULL: none */
};

void sink_health_down(struct sink_health *health, const char *reason);
void sink_health_up(struct sink_health *health);

/** Count a failure by its cause, an errno. */
void sink_count_error(struct flow_sink_counters *counters, int code);
/** Count lost records; @p cause: one of the members drop_... of @p counters. */
void sink_count_drops(struct flow_sink_counters *counters, uint64_t *cause, uint64_t records);

#endif
