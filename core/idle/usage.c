/* SPDX-License-Identifier: BSD-3-Clause */
/* The two figures of the time model: empty polling rate and CPU usage. */
#include <lull/idle.h>

uint32_t
lull_idle_empty_ppm(const struct lull_idle_counters *counters)
{
	uint64_t empty_ns = LULL_COUNTER_READ(counters->empty_ns);
	uint64_t total_ns = empty_ns + LULL_COUNTER_READ(counters->busy_ns) +
			    LULL_COUNTER_READ(counters->rest_ns);

	/* Microseconds: a product in ns would overflow after five hours. */
	total_ns /= LULL_NS_PER_US;
	return total_ns == 0 ? 0 : (uint32_t)(empty_ns / LULL_NS_PER_US * LULL_PPM / total_ns);
}

uint32_t
lull_idle_usage_ppm(const struct lull_idle_counters *counters)
{
	uint64_t rest_ns = LULL_COUNTER_READ(counters->rest_ns);
	uint64_t total_ns = rest_ns + LULL_COUNTER_READ(counters->busy_ns) +
			    LULL_COUNTER_READ(counters->empty_ns);

	total_ns /= LULL_NS_PER_US;
	if (total_ns == 0)
		return LULL_PPM;
	return (uint32_t)(LULL_PPM - rest_ns / LULL_NS_PER_US * LULL_PPM / total_ns);
}
