/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <lull/base.h>

double
lull_filter_weigh(double *variance, double measurement, double measurement_variance,
		  double observation, double observation_variance)
{
	double predicted = *variance + measurement_variance;
	double gain, value;

	if (!(observation_variance > 0.0)) {
		*variance = 0.0;
		return observation;
	}
	gain = predicted / (predicted + observation_variance);
	value = measurement + gain * (observation - measurement);
	*variance = (1.0 - gain) * predicted;
	/* Rounding must not carry it past either. */
	return measurement < observation ? LULL_CLAMP(value, measurement, observation) :
					   LULL_CLAMP(value, observation, measurement);
}
