/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Result: what a program has measured, as a JSON file that is whole or not there.
 *
 * The program builds the object with jansson; this module adds the values
 * jansson cannot take and the way into the file system.
 * Threads: the caller's. Memory: the caller keeps the object.
 */
#ifndef LULL_CLI_RESULT_H
#define LULL_CLI_RESULT_H

#include <jansson.h>
#include <stdint.h>

#include <lull/base.h>
#include <lull/histogram.h>
#include <lull/idle.h>
#include <lull/rest.h>

#include "host/error.h"
#include "program.h"

/** A counter; null when it is beyond 63 bits (UINT64_MAX says "none" or "any" in lull). */
json_t *lull_result_count(uint64_t value);
/** A real; null when it is infinite or not a number. */
json_t *lull_result_real(double value);
/** Any bytes as text: what is not printable UTF-8 becomes '?'. */
json_t *lull_result_text(const char *text);

/*
 * Members of results have names that tell their unit: NAME_ns, NAME_bytes, NAME_pkts; shares are
 * NAME_pct, 0..100, or NAME_ppm where they are small; rates are NAME_per_s.
 */

void lull_result_put_count(json_t *object, const char *key, uint64_t value);
void lull_result_put_real(json_t *object, const char *key, double value);
void lull_result_put_text(json_t *object, const char *key, const char *text);
/** @p part of @p whole, times @p scale: 100 for percent; 0 of nothing. */
void lull_result_put_share(json_t *object, const char *key, double part, double whole,
			   double scale);

/** Counters of a table into @p object, by their names. */
void lull_result_put_table(json_t *object, const struct lull_counter_info *table,
			   const void *counters);
/**
 * Count, minimum (as exactly as bins are), mean, quantiles and maximum.
 *
 * @param bins  also [low, count, low, count, ...] of those that hold something
 */
json_t *lull_result_histogram(const struct lull_histogram *histogram, bool bins);
/** What a governor says of its objective. */
json_t *lull_result_verdict(const struct lull_verdict *verdict,
			    const struct lull_idle_limits *limits);
/** Scheduling class of a thread, by the names that telemetry has too. */
void lull_result_put_class(json_t *object, const struct lull_rest_thread_info *info);
/** All settings as lull_option_print() writes them; "": not told. Rows of actions stay out. */
json_t *lull_result_settings(const struct lull_program *program, const void *settings);
/** The machine it ran on; @p dpdk: version of DPDK. */
json_t *lull_result_machine(const char *dpdk);

/**
 * Write @p result, indented. "-" is stdout. A regular file is written as
 * FILE.tmp next to it, synced and renamed, so that FILE is the old result or
 * the new one and nothing else stays behind; devices and pipes are written as
 * they are.
 * @return 0 or -errno and the sentence
 */
int lull_result_write(const char *path, const json_t *result, struct lull_error *error);

/** Before a long run: could the result be written there? Leaves no trace. */
int lull_result_check(const char *path, struct lull_error *error);

#endif
