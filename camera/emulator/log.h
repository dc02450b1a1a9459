/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Log: what went wrong on purpose, a line of JSON for each packet concerned.
 *
 * Threads: one. Memory: the file's buffer.
 */
#ifndef LULL_EMULATOR_LOG_H
#define LULL_EMULATOR_LOG_H

#include <stdio.h>

#include "ranges.h"

enum emulator_event {
	EMULATOR_LOSE,        /**< not sent */
	EMULATOR_DUPLICATE,   /**< sent twice */
	EMULATOR_REORDER,     /**< sent after others */
	EMULATOR_LATE,        /**< sent later */
	EMULATOR_REFUSED,     /**< not taken by the kernel: not sent either */
	EMULATOR_RESENT,      /**< the answer to a request */
	EMULATOR_RESEND_LOSE, /**< an answer not sent */
	EMULATOR_EVENT_COUNT
};

struct emulator_log {
	FILE *file; /* NULL: none */
	struct ranges ranges;
};
struct emulator_log_entry {
	enum emulator_event event;
	uint32_t camera, session;
	uint64_t frame, key, number;
	uint32_t packet;
};
void emulator_log_event(struct emulator_log *log, const struct emulator_log_entry *entry,
			const struct lull_packet_plan *plan, const char *protocol);
/** A frame all of whose packets have had their turn; times of CLOCK_MONOTONIC. */
struct emulator_log_frame {
	uint32_t camera, session;
	uint64_t frame, key;
	uint32_t packets;
	uint64_t due_ns, first_ns, last_ns;
};
void emulator_log_frame(struct emulator_log *log, const struct emulator_log_frame *frame);

#endif
