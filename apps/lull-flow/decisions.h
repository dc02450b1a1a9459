/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Decisions: what a dispatcher decided, to a file, and from there once more.
 *
 * Threads: written on the I/O loop's thread, opened and closed on the main one.
 * Memory:  a buffer of stdio.
 */
#ifndef LULL_FLOW_DECISIONS_H
#define LULL_FLOW_DECISIONS_H

#include <stdio.h>

#include <lull/dispatch.h>

#include "host/error.h"

struct flow_decisions {
	FILE *file; /* NULL: nothing is recorded */
	int error;  /* errno of the first write that failed */
};

int flow_decisions_open(struct flow_decisions *decisions, const char *path,
			struct lull_error *error);
/** A lull_dispatch_tracer. */
void flow_decisions_write(void *decisions, const uint8_t *bytes, size_t size);
/** 0 or -errno and the sentence: what is in the file is not all. */
int flow_decisions_close(struct flow_decisions *decisions, const char *path,
			 struct lull_error *error);

/**
 * Decide once more what @p path has recorded, by @p scheduler or, if that is NULL, by the one of
 * the trace, and print what came out differently as JSON to stdout. 0 or -errno and the sentence.
 */
int flow_decisions_replay(const char *path, const struct lull_scheduler *scheduler,
			  struct lull_error *error);

#endif
