/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Options: what dispatch-cost is asked for.
 */
#ifndef LULL_BENCH_OPTIONS_H
#define LULL_BENCH_OPTIONS_H

#include "headers.h"

#define OPTIONS_WORKERS_MAX 8

struct options {
	struct headers_config headers;
	uint32_t workers[OPTIONS_WORKERS_MAX]; /**< numbers of workers to go through */
	uint32_t worker_counts;                /**< of these */
	uint32_t burst_pkts, ring_pkts, prefetch;
	int rounds;
	bool tracks, hot, peers;
	const char *json; /**< NULL: none */
};
/** 0; 1: help was asked for and printed; -1: printed what is wrong. */
int options_read(struct options *options, int argc, char **argv);

#endif
