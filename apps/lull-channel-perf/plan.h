/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Plan: what the two sides of a job tell each other, as messages of 64-bit numbers.
 *
 * | tag           | from     | what                                             |
 * |---------------|----------|--------------------------------------------------|
 * | PERF_ASK      | caller   | struct perf_plan: what the listener shall do     |
 * | PERF_READY    | listener | 0, or why it will not                            |
 * | PERF_DATA     | source   | a message; an empty one with PERF_LAST is the end |
 * | PERF_REQUEST  | asker    | the same, to be sent back; the low bits: slot    |
 * | PERF_ANSWER   | echo     | it comes back                                    |
 * | PERF_STOP     | caller   | send no more                                     |
 * | PERF_REPORT   | listener | struct perf_report                               |
 *
 * Threads: plain data. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_PERF_PLAN_H
#define LULL_CHANNEL_PERF_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_TAG_BASE 0x7065726600000000ULL /* "perf" */
#define PERF_SLOT_BITS 0xffffULL            /* of a tag: the slot of a request */
#define PERF_ASK (PERF_TAG_BASE | 0x10000)
#define PERF_STOP (PERF_TAG_BASE | 0x10001)
#define PERF_READY (PERF_TAG_BASE | 0x20000)
#define PERF_REPORT (PERF_TAG_BASE | 0x30000)
#define PERF_DATA (PERF_TAG_BASE | 0x40000)
#define PERF_REQUEST (PERF_TAG_BASE | 0x50000)
#define PERF_ANSWER (PERF_TAG_BASE | 0x60000)
#define PERF_LAST (1ULL << 63) /* in `user`: nothing follows; the other bits: how many came */

#define PERF_WINDOW_MAX 1024U
#define PERF_MESSAGE_BYTES_MAX (1ULL << 30)
#define PERF_MEMORY_BYTES_MAX (1ULL << 30) /* of a window */
#define PERF_CONTROL_BYTES 128U

/** What a side does with messages. */
enum perf_role_id { PERF_SOURCE, PERF_SINK, PERF_ASKER, PERF_ECHO, PERF_ROLE_COUNT };

struct perf_plan {
	uint64_t role; /* of the listener, enum perf_role_id */
	uint64_t window, message_bytes;
	uint64_t count, duration_ns;  /* 0: no limit */
	uint64_t period_ns, burst_ns; /* 0: without rests */
	uint64_t verify;
};
struct perf_report {
	uint64_t messages, bytes, busy_ns, wall_ns, cpu_ns, bad_messages, misordered_messages;
};
struct perf_answer {
	uint64_t refused; /* errno, 0: not */
};

/** The other side's role. */
enum perf_role_id perf_role_other(enum perf_role_id role);
/** 0, -ERANGE: no plan that anybody carries out. */
int perf_plan_check(const struct perf_plan *plan);

/** Each writes at most PERF_CONTROL_BYTES and returns how many. */
uint32_t perf_plan_write(uint8_t *bytes, const struct perf_plan *plan);
uint32_t perf_report_write(uint8_t *bytes, const struct perf_report *report);
uint32_t perf_answer_write(uint8_t *bytes, const struct perf_answer *answer);
/** 0, -EPROTO: no such message, or of another version. */
int perf_plan_read(const uint8_t *bytes, uint64_t len, struct perf_plan *plan);
int perf_report_read(const uint8_t *bytes, uint64_t len, struct perf_report *report);
int perf_answer_read(const uint8_t *bytes, uint64_t len, struct perf_answer *answer);

#endif
