/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Source: the whole program, from its settings to its result.
 *
 * One thread does everything: it sends what is due, answers control messages between two batches
 * and sleeps until the next packet. Memory: one allocation by main().
 */
#ifndef LULL_CAM_SOURCE_SOURCE_H
#define LULL_CAM_SOURCE_SOURCE_H

#include <jansson.h>

#include "gvcp_server.h"

enum source_end { SOURCE_END_FRAMES, SOURCE_END_DURATION, SOURCE_END_SIGNAL };

struct source {
	struct source_settings settings;
	struct camera_stage stage;
	struct camera cameras[SOURCE_CAMERAS_MAX];
	struct gvcp_server servers[SOURCE_CAMERAS_MAX];
	int signals; /* signalfd */
	enum source_end end;
	uint64_t begin_ns;
	uint64_t quiet_ns; /* since when all frames are sent, 0: they are not */
	struct source_progress {
		uint64_t now_ns, frames, packets, bytes;
	} shown;
};

/** Sockets, pictures, log. 0 or -errno and the sentence; close in any case. */
int source_open(struct source *source, struct lull_error *error);
void source_close(struct source *source);
/** Send until the end. 0 or -errno and the sentence. */
int source_run(struct source *source, struct lull_error *error);
/** Counters of all cameras. */
struct camera_counters source_totals(const struct source *source);
/** One line about what happened since the last one. */
void source_progress_print(struct source *source, uint64_t now_ns);
/** The result as a new object, NULL when there is no memory. */
json_t *source_result(const struct source *source);

#endif
