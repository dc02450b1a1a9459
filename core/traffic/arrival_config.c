/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include <lull/traffic.h>

#include "base/range.h"

#define PPS_MIN 1e-6
#define PPS_MAX 2e8
#define SIZE_BYTES_MAX 9600
#define HURST_MIN 0.501
#define HURST_MAX 0.999
#define SENDER_PKTS_MAX 65535
/* The room a packet needs at PPS_MAX. */
#define PKT_NS_MIN 5
#define HOUR_NS (3600 * LULL_NS_PER_S)

static int
config_rate(struct lull_range *error, const char *field, double pps, bool zero_allowed)
{
	uint64_t value = 0;

	if ((pps >= PPS_MIN && pps <= PPS_MAX) || (zero_allowed && fpclassify(pps) == FP_ZERO))
		return 0;
	if (pps > PPS_MAX)
		value = pps < 0x1p63 ? (uint64_t)pps : UINT64_MAX;
	return lull_range_refuse(field, value, !zero_allowed, (uint64_t)PPS_MAX, error);
}

static bool
config_swings(const struct lull_arrival_config *config)
{
	return config->kind == LULL_ARRIVAL_TIDAL || config->kind == LULL_ARRIVAL_RAMP ||
	       config->kind == LULL_ARRIVAL_STEP;
}

static int
config_check_swing(const struct lull_arrival_config *config, struct lull_range *error)
{
	bool zero_allowed = config->pps > 0;
	int rc = config_rate(error, "pps_high", config->pps_high, zero_allowed);

	if (rc == 0)
		rc = lull_range_check("period_ns", config->period_ns, LULL_NS_PER_MS, 24 * HOUR_NS,
				      error);
	return rc;
}

static int
config_check_onoff(const struct lull_arrival_config *config, struct lull_range *error)
{
	int rc = lull_range_check("on_ns", config->on_ns, LULL_NS_PER_US, HOUR_NS, error);

	if (rc == 0)
		rc = lull_range_check("off_ns", config->off_ns, LULL_NS_PER_US, HOUR_NS, error);
	return rc;
}

static int
config_check_selfsimilar(const struct lull_arrival_config *config, struct lull_range *error)
{
	double hurst = config->hurst;
	uint64_t value = 0;

	if (hurst >= HURST_MIN && hurst <= HURST_MAX)
		return lull_range_check("source_count", config->source_count, 1,
					LULL_ARRIVAL_SOURCES_MAX, error);
	if (hurst > 0) /* rounded away from the range */
		value = (uint64_t)(LULL_MIN(hurst, 1e6) * 1000) + (hurst > HURST_MAX);
	return lull_range_refuse("hurst", value, 501, 999, error);
}

static int
config_check_incast(const struct lull_arrival_config *config, struct lull_range *error)
{
	uint64_t pkts = (uint64_t)config->sender_count * config->sender_pkts;
	int rc = lull_range_check("sender_count", config->sender_count, 1, LULL_ARRIVAL_SENDERS_MAX,
				  error);

	if (rc == 0)
		rc = lull_range_check("sender_pkts", config->sender_pkts, 1, SENDER_PKTS_MAX,
				      error);
	if (rc == 0)
		rc = lull_range_check("period_ns", config->period_ns,
				      LULL_MAX(LULL_NS_PER_US, pkts * PKT_NS_MIN), 24 * HOUR_NS,
				      error);
	if (rc == 0)
		rc = lull_range_check("jitter_ns", config->jitter_ns, 0, config->period_ns, error);
	return rc;
}

static int
config_check_times(const struct lull_arrival_config *config, struct lull_range *error)
{
	int rc = 0;

	if (config->kind != LULL_ARRIVAL_INCAST)
		rc = config_rate(error, "pps", config->pps, config_swings(config));
	if (rc != 0)
		return rc;
	if (config_swings(config))
		return config_check_swing(config, error);
	switch (config->kind) {
	case LULL_ARRIVAL_ONOFF:
		return config_check_onoff(config, error);
	case LULL_ARRIVAL_SELFSIMILAR:
		return config_check_selfsimilar(config, error);
	case LULL_ARRIVAL_INCAST:
		return config_check_incast(config, error);
	default:
		return 0;
	}
}

static int
config_check_sizes(const struct lull_arrival_config *config, struct lull_range *error)
{
	int rc = lull_range_check("size_count", config->size_count, 1, LULL_SIZE_MIX_MAX, error);

	for (uint32_t i = 0; rc == 0 && i < config->size_count; i++) {
		rc = lull_range_check("size_bytes", config->size_bytes[i], LULL_PROBE_FRAME_MIN,
				      SIZE_BYTES_MAX, error);
		if (rc == 0)
			rc = lull_range_check("size_weight", config->size_weight[i], 1, UINT16_MAX,
					      error);
	}
	return rc;
}

int
lull_arrival_config_check(const struct lull_arrival_config *config, struct lull_range *error)
{
	int rc = lull_range_check("kind", (uint64_t)config->kind, 0, LULL_ARRIVAL_INCAST, error);

	if (rc != 0 || config->kind == LULL_ARRIVAL_OFF)
		return rc;
	rc = config_check_times(config, error);
	if (rc == 0)
		rc = config_check_sizes(config, error);
	return rc;
}
