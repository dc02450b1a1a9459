/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: a sink that a case drives by hand, as an aggregator loop and the main thread do.
 */
#ifndef LULL_TEST_SINK_STAND_H
#define LULL_TEST_SINK_STAND_H

#include "export/sink.h"

/** What stderr was told. */
struct told {
	int count;
	char last[1024];
};

struct flow_sink *sink_make(const struct flow_sink_settings *settings);
void sink_iterate(struct flow_sink *sink, uint32_t index);
/** Made-up records @p first and on, to an instance. */
void sink_give(struct flow_sink *sink, uint32_t index, uint32_t first, uint32_t count);
/** Finish without loss, and close. */
void sink_end(struct flow_sink *sink);
/** A flow_sink_tell, of a struct told. */
void sink_tell(void *arg, const char *text);
/** The main thread's turn, not too soon behind the last one. */
void sink_watch(struct flow_sink *sink, struct told *told);

#endif
