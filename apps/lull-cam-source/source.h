/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Source: the whole program, from its settings to its result.
 *
 * One thread does everything: it sends what is due, answers control messages between two batches
 * and sleeps until the next packet. Memory: one struct, and the emulator's.
 */
#ifndef LULL_CAM_SOURCE_SOURCE_H
#define LULL_CAM_SOURCE_SOURCE_H

#include "camera/emulator/emulator.h"
#include "program/program.h"
#include "settings.h"

struct source {
	struct lull_run run;
	struct source_settings settings;
	struct lull_emulator *emulator;
	int signals; /* signalfd, 0: none */
	struct source_progress {
		uint64_t now_ns, frames, packets, bytes;
	} shown;
};

/** What the table leaves to the program. */
void source_preset(void *settings);
/** What rows cannot say about each other. */
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
