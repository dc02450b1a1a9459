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
#include <lull/rest.h>

#include "error.h"
#include "options.h"

/** A counter; null when it is beyond 63 bits (UINT64_MAX says "none" or "any" in lull). */
json_t *lull_result_count(uint64_t value);
/** A real; null when it is infinite or not a number. */
json_t *lull_result_real(double value);
/** Any bytes as text: what is not printable UTF-8 becomes '?'. */
json_t *lull_result_text(const char *text);

/** Counters of a table into @p object, by their names. */
void lull_result_put_table(json_t *object, const struct lull_counter_info *table,
			   const void *counters);
/** Count, mean, quantiles and maximum. */
json_t *lull_result_histogram(const struct lull_histogram *histogram);
/** Scheduling class of a thread, by the names that telemetry has too. */
void lull_result_put_class(json_t *object, const struct lull_rest_thread_info *info);
/** All settings as lull_option_print() writes them. */
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
