/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Log: what went wrong on purpose, a line of JSON for each packet concerned.
 *
 * Threads: one. Memory: the file's buffer.
 */
#ifndef LULL_CAM_SOURCE_LOG_H
#define LULL_CAM_SOURCE_LOG_H

#include <stdio.h>

#include "ranges.h"

enum source_event {
	SOURCE_LOSE,        /**< not sent */
	SOURCE_DUPLICATE,   /**< sent twice */
	SOURCE_REORDER,     /**< sent after others */
	SOURCE_LATE,        /**< sent later */
	SOURCE_REFUSED,     /**< not taken by the kernel: not sent either */
	SOURCE_RESENT,      /**< the answer to a request */
	SOURCE_RESEND_LOSE, /**< an answer not sent */
	SOURCE_EVENT_COUNT
};

struct source_log {
	FILE *file; /* NULL: none */
	struct ranges ranges;
};
struct source_log_entry {
	enum source_event event;
	uint32_t camera, session;
	uint64_t frame, key, number;
	uint32_t packet;
};
void source_log_event(struct source_log *log, const struct source_log_entry *entry,
		      const struct lull_packet_plan *plan, const char *protocol);
/** A frame all of whose packets have had their turn; times of CLOCK_MONOTONIC. */
struct source_log_frame {
	uint32_t camera, session;
	uint64_t frame, key;
	uint32_t packets;
	uint64_t due_ns, first_ns, last_ns;
};
void source_log_frame(struct source_log *log, const struct source_log_frame *frame);

#endif
