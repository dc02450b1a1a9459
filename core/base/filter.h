/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Filter: the step of a Kalman filter of one dimension, for what is estimated in core/idle (sizes
 * and speeds of bursts) and in core/bundle (speeds of paths).
 *
 * Source: Eq. 11-25 of the sleep model (docs/sleep-model.md). The step weighs a measurement against
 * an observation by their variances. The running deviation is kept squared, so no root is drawn. An
 * estimate always lies between measurement and observation, and is the observation where that has
 * no variance.
 * Threads: any. Memory: none.
 */
#ifndef LULL_FILTER_H
#define LULL_FILTER_H

/**
 * One step. A measurement and an observation without variance leave nothing to weigh: the
 * observation is taken.
 * @param variance  in, out: of the estimate, 0 to begin with
 * @return the estimate
 */
double lull_filter_weigh(double *variance, double measurement, double measurement_variance,
			 double observation, double observation_variance);

#endif
