/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the text leaves open, and how it is read here.
 *
 * - The window [t - W, t] holds the burst, or the interval, of time t as well.
 * - Variances are those of the whole population: divided by the count.
 * - Eq. 24 (predicted deviation of the speed) lost its symbols, and one interval has no variance of
 *   its own. What is unsure about it is where it cuts the flow: up to a packet at either end, which
 *   is a variance of (packet / interval)^2 / 6. A speed that falls beyond that is believed at once,
 *   as the published search needs, which ends one step behind the threshold.
 */
#include "estimate.h"

#include <lull/base.h>

#include "base/filter.h"

void
lull_estimate_init(struct lull_estimate *estimate, uint64_t window_ns)
{
	estimate->value = 0.0;
	estimate->variance = 0.0;
	estimate->measurement = 0.0;
	estimate->observation = 0.0;
	lull_sample_window_init(&estimate->window, window_ns);
}

double
lull_estimate_weigh(struct lull_estimate *estimate, double measurement, double measurement_variance,
		    double observation, double observation_variance)
{
	estimate->measurement = measurement;
	estimate->observation = observation;
	estimate->value = lull_filter_weigh(&estimate->variance, measurement, measurement_variance,
					    observation, observation_variance);
	return estimate->value;
}

double
lull_estimate_size(struct lull_estimate *estimate, uint64_t now_ns, uint64_t pkts, uint64_t bytes,
		   uint64_t bytes_squared)
{
	uint64_t mean = (uint64_t)((double)bytes * LULL_ESTIMATE_SIZE_SCALE / (double)pkts + 0.5);

	lull_sample_window_add(&estimate->window, now_ns, mean);
	mean = LULL_MIN(mean, (uint64_t)LULL_SAMPLE_MAX);
	return lull_estimate_weigh(
		estimate, lull_sample_window_mean(&estimate->window) / LULL_ESTIMATE_SIZE_SCALE,
		lull_sample_window_variance(&estimate->window) /
			(LULL_ESTIMATE_SIZE_SCALE * LULL_ESTIMATE_SIZE_SCALE),
		(double)mean / LULL_ESTIMATE_SIZE_SCALE,
		lull_sample_variance(pkts, bytes, bytes_squared));
}

double
lull_estimate_speed(struct lull_estimate *estimate, uint64_t now_ns, uint64_t bytes,
		    uint64_t interval_ns, double pkt_bytes)
{
	double speed = (double)bytes * (double)LULL_NS_PER_MS / (double)interval_ns;
	double packet = pkt_bytes * (double)LULL_NS_PER_MS / (double)interval_ns;
	uint64_t reading;

	speed = LULL_MIN(speed, (double)LULL_SAMPLE_MAX);
	reading = (uint64_t)(speed + 0.5);
	lull_sample_window_add(&estimate->window, now_ns, reading);
	return lull_estimate_weigh(estimate, (double)reading, packet * packet / 6,
				   lull_sample_window_mean(&estimate->window),
				   lull_sample_window_variance(&estimate->window));
}
