/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

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

static int
config_refuse(struct lull_config_error *error, const char *field, uint64_t value, uint64_t low,
	      uint64_t high)
{
	if (error != NULL)
		*error = (struct lull_config_error){ field, value, low, high };
	return -EINVAL;
}

int
lull_dispatch_config_check(const struct lull_dispatch_config *config,
			   struct lull_config_error *error)
{
	struct lull_dispatch_config full = *config;

	lull_dispatch_config_default(&full);
	if (full.scheduler == NULL)
		return config_refuse(error, "scheduler", 0, 1, 1);
#define CHECK_MOST(field, high)                                                                    \
	do {                                                                                       \
		if ((uint64_t)full.field > (high))                                                 \
			return config_refuse(error, #field, (uint64_t)full.field, 0, high);        \
	} while (0)
#define CHECK(field, low, high)                                                                    \
	do {                                                                                       \
		if (full.field < (low) || full.field > (high))                                     \
			return config_refuse(error, #field, full.field, low, high);                \
	} while (0)
	CHECK_MOST(order, LULL_ORDER_RESEQUENCE);
	CHECK(worker_count, 1, LULL_DISPATCH_WORKERS_MAX);
	CHECK(bucket_bits, 8, 22);
	CHECK(threshold_ppm, 1, LULL_PPM);
	CHECK_MOST(enter_ppm, LULL_PPM);
	CHECK_MOST(leave_ppm, LULL_PPM);
	CHECK(idle_ns, IDLE_NS_MIN, IDLE_NS_MAX);
	CHECK_MOST(pin_pkts, UINT16_MAX - 1);
	CHECK_MOST(weights, LULL_WEIGHTS_AVX512);
#undef CHECK
#undef CHECK_MOST
	if (full.enter_ppm != 0 && full.leave_ppm >= full.enter_ppm)
		return config_refuse(error, "leave_ppm", full.leave_ppm, 0, full.enter_ppm - 1);
	if (!lull_weights_available(full.weights))
		return config_refuse(error, "weights", full.weights, 0, LULL_WEIGHTS_SCALAR);
	return 0;
}
