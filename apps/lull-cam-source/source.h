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

#include "program/program.h"
#include "gvcp_server.h"

struct source {
	struct lull_run run;
	struct source_settings settings;
	struct camera_stage stage;
	struct camera cameras[SOURCE_CAMERAS_MAX];
	struct gvcp_server servers[SOURCE_CAMERAS_MAX];
	int signals;       /* signalfd, 0: none */
	uint64_t quiet_ns; /* since when all frames are sent, 0: they are not */
	struct source_progress {
		uint64_t now_ns, frames, packets, bytes;
	} shown;
};

/** What the table leaves to the program. */
void source_preset(void *settings);
/** Defaults that depend on the protocol, and what rows cannot say about each other. */
int source_check(void *state, struct lull_error *error);
/** Sockets, pictures, log. */
int source_open(void *state, struct lull_error *error);
void source_close(void *state);
/** Send until the end. */
int source_run(void *state, struct lull_error *error);
void source_result(void *state, json_t *result);
/** One line about what happened since the last one. */
void source_progress_print(struct source *source, uint64_t now_ns);

#endif
