/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Estimate: packet size and transmission speed by one-dimensional Kalman filters.
 *
 * Source: Algorithms 1 and 2 of the sleep model (docs/sleep-model.md, Eq. 11-25). A filter weighs a
 * *measurement* against an *observation* by their variances; what they are is swapped between the
 * two algorithms:
 *
 *              measurement              observation
 *     size     mean over the window     this burst
 *     speed    this interval            mean over the window
 *
 * The running deviation is kept squared, so no root is drawn. An estimate always lies between
 * measurement and observation, and is the observation where that has no variance.
 * Memory: one fixed struct.
 */
#ifndef LULL_ESTIMATE_H
#define LULL_ESTIMATE_H

#include "sample_window.h"

#define LULL_ESTIMATE_SIZE_SCALE 256.0 /* sizes are read in 1/256 byte */

struct lull_estimate {
	double value;
	double variance; /* e^2 */
	double measurement, observation;
	struct lull_sample_window window;
};

void lull_estimate_init(struct lull_estimate *estimate, uint64_t window_ns);

/**
 * The filter's step alone. A measurement and an observation without variance leave nothing to
 * weigh: the observation is taken.
 */
double lull_estimate_weigh(struct lull_estimate *estimate, double measurement,
			   double measurement_variance, double observation,
			   double observation_variance);

/** A burst of @p pkts > 0 packets; returns the packet size, bytes. */
double lull_estimate_size(struct lull_estimate *estimate, uint64_t now_ns, uint64_t pkts,
			  uint64_t bytes, uint64_t bytes_squared);
/**
 * @p bytes moved in the @p interval_ns > 0 from the begin of one sleep to the begin of the next;
 * returns the speed in bytes per millisecond. @p pkt_bytes: how large packets are.
 */
double lull_estimate_speed(struct lull_estimate *estimate, uint64_t now_ns, uint64_t bytes,
			   uint64_t interval_ns, double pkt_bytes);

#endif
