/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry: what the engine itself must know of it.
 */
#ifndef LULL_TELEMETRY_H
#define LULL_TELEMETRY_H

#include <stddef.h>

#include <lull/histogram.h>

#include "host/explain.h"

/** No handler runs from here on: loops may go. */
void lull_telemetry_stop(void);

struct lull_telemetry_reply;
struct rte_tel_data;
/** A reply that writes into @p data, a dictionary that has been started. */
struct lull_telemetry_reply *lull_telemetry_reply_over(struct rte_tel_data *data);

/** Pairs (smallest value, count) of the non-empty bins. */
struct lull_telemetry_bins {
	uint32_t count;
	struct {
		uint64_t low, count;
	} bins[LULL_HISTOGRAM_BINS];
};

/** At most @p count_max pairs: neighbours are merged until they fit. */
void lull_telemetry_bins(const struct lull_histogram *histogram, uint32_t count_max,
			 struct lull_telemetry_bins *bins);

#endif
