/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/range.h"
#include "dispatch_state.h"

#define DEFAULT_BUCKET_BITS 16
#define DEFAULT_THRESHOLD_PPM 250000
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define IDLE_NS_MIN (1 * LULL_NS_PER_MS)
#define IDLE_NS_MAX (24 * 3600 * LULL_NS_PER_S)

void
lull_dispatch_config_default(struct lull_dispatch_config *config)
{
	if (config->bucket_bits == 0)
		config->bucket_bits = DEFAULT_BUCKET_BITS;
	if (config->threshold_ppm == 0)
		config->threshold_ppm = DEFAULT_THRESHOLD_PPM;
	if (config->idle_ns == 0)
		config->idle_ns = DEFAULT_IDLE_NS;
}

static struct lull_dispatch_config
config_full(const struct lull_dispatch_config *config)
{
	struct lull_dispatch_config full = *config;

	lull_dispatch_config_default(&full);
	return full;
}

int
lull_dispatch_config_check(const struct lull_dispatch_config *config, struct lull_range *error)
{
	const struct lull_dispatch_config full = config_full(config);
	const struct lull_range ranges[] = {
		{ "scheduler", full.scheduler != NULL, 1, 1 },
		{ "order", (uint32_t)full.order, 0, LULL_ORDER_RESEQUENCE },
		{ "worker_count", full.worker_count, 1, LULL_DISPATCH_WORKERS_MAX },
		{ "bucket_bits", full.bucket_bits, 8, 22 },
		{ "threshold_ppm", full.threshold_ppm, 1, LULL_PPM },
		{ "enter_ppm", full.enter_ppm, 0, LULL_PPM },
		{ "leave_ppm", full.leave_ppm, 0,
		  full.enter_ppm != 0 ? full.enter_ppm - 1 : LULL_PPM },
		{ "idle_ns", full.idle_ns, IDLE_NS_MIN, IDLE_NS_MAX },
		{ "pin_pkts", full.pin_pkts, 0, UINT16_MAX - 1 },
		{ "weights", (uint32_t)full.weights, 0, LULL_WEIGHTS_AVX512 },
	};

	if (LULL_RANGES_CHECK(ranges, error) != 0)
		return -EINVAL;
	if (!lull_weights_available(full.weights))
		return lull_range_refuse("weights", full.weights, 0, LULL_WEIGHTS_SCALAR, error);
	return 0;
}
