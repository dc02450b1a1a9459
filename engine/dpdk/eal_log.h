/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * EAL log: keep DPDK quiet, and remember what it complained about.
 *
 * While it is *held*, all that DPDK, getopt and drivers print is kept back so
 * that one sentence can quote it; afterwards errors go to stderr, the rest
 * nowhere. A user who asks for a log level gets everything.
 * One EAL per process, hence one log per process.
 */
#ifndef LULL_EAL_LOG_H
#define LULL_EAL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Begin holding: around rte_eal_init() and whatever else may complain at length.
 * @p verbose: pass all through to stderr, hold nothing.
 */
int lull_eal_log_hold(bool verbose);
/** What it was told last. */
bool lull_eal_log_verbose(void);
/** End of holding: errors held back are shown when @p show, forgotten otherwise. */
void lull_eal_log_release(bool show);
/**
 * What EAL complained about last, in words that say more than "it failed", or
 * what getopt did; "" when there is nothing. All of these write one line
 * without line feed, cut at @p size, and return @p text.
 */
char *lull_eal_log_last(char *text, size_t size);
/** The last line that contains @p words, else "". */
char *lull_eal_log_with(const char *words, char *text, size_t size);
/** Why vdev @p name was given up: the driver's first complaint, else the bus's, else "". */
char *lull_eal_log_vdev(const char *name, char *text, size_t size);

#endif
