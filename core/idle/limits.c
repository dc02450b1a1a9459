/* SPDX-License-Identifier: BSD-3-Clause */
#include "limits.h"

#include <errno.h>

#include "base/range.h"
#include "record_table.h"

#define PPS_MAX 1000000000000ULL
#define DEFAULT_LATENCY_NS (200 * LULL_NS_PER_US)
#define DEFAULT_PERCENTILE_PPM 990000
#define DEFAULT_REST_NS_MAX (1 * LULL_NS_PER_MS)
#define DEFAULT_REST_NS (50 * LULL_NS_PER_US)
#define DEFAULT_BACKUP_NS (500 * LULL_NS_PER_US)
#define DEFAULT_RING_PKTS 512
#define DEFAULT_BURST_PKTS 32
/* The evaluation of the source of the kalman governors. */
#define DEFAULT_KALMAN_STEP_NS (10 * LULL_NS_PER_US)
#define DEFAULT_KALMAN_WINDOW_NS (10 * LULL_NS_PER_MS)
#define DEFAULT_KALMAN_TOLERANCE_PPM 10000
#define DEFAULT_KALMAN_ROW_BYTES 10

static void
limits_default_kalman(struct lull_kalman_config *kalman)
{
	if (kalman->step_ns == 0)
		kalman->step_ns = DEFAULT_KALMAN_STEP_NS;
	if (kalman->window_ns == 0)
		kalman->window_ns = DEFAULT_KALMAN_WINDOW_NS;
	if (kalman->tolerance_ppm == 0)
		kalman->tolerance_ppm = DEFAULT_KALMAN_TOLERANCE_PPM;
	if (kalman->row_bytes == 0)
		kalman->row_bytes = DEFAULT_KALMAN_ROW_BYTES;
}

void
lull_limits_default(struct lull_idle_limits *limits)
{
	if (limits->latency_ns == 0)
		limits->latency_ns = DEFAULT_LATENCY_NS;
	if (limits->percentile_ppm == 0)
		limits->percentile_ppm = DEFAULT_PERCENTILE_PPM;
	if (limits->rest_ns_max == 0)
		limits->rest_ns_max = DEFAULT_REST_NS_MAX;
	if (limits->rest_ns == 0)
		limits->rest_ns = DEFAULT_REST_NS;
	if (limits->backup_ns == 0)
		limits->backup_ns = DEFAULT_BACKUP_NS;
	if (limits->ring_pkts == 0)
		limits->ring_pkts = DEFAULT_RING_PKTS;
	if (limits->burst_pkts == 0)
		limits->burst_pkts = DEFAULT_BURST_PKTS;
	if (limits->idle_states == 0)
		limits->idle_states =
			LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	limits_default_kalman(&limits->kalman);
}

static struct lull_idle_limits
limits_full(const struct lull_idle_limits *limits)
{
	struct lull_idle_limits full = *limits;

	lull_limits_default(&full);
	return full;
}

int
lull_idle_config_check(const struct lull_idle_limits *limits, struct lull_range *error)
{
	const struct lull_idle_limits full = limits_full(limits);
	const uint32_t known_idle_states = (LULL_IDLE_STATE_BIT(LULL_IDLE_STATE_COUNT) - 1);
	const uint32_t row_bytes_max = LULL_RECORD_BYTES_MAX - LULL_RECORD_BYTES_MIN + 1;
	const struct lull_kalman_config *kalman = &full.kalman;
	bool learned = full.envelope == LULL_ENVELOPE_LEARNED;
	const struct lull_range ranges[] = {
		{ "latency_ns", full.latency_ns, LULL_NS_PER_US, LULL_NS_PER_S },
		{ "percentile_ppm", full.percentile_ppm, 500000, 999999 },
		{ "loss", (uint32_t)full.loss, 0, LULL_LOSS_TOLERATE },
		{ "rest_ns_max", full.rest_ns_max, 1, LULL_NS_PER_S },
		{ "rest_ns", full.rest_ns, 1, LULL_NS_PER_S },
		{ "backup_ns", full.backup_ns, 1, LULL_NS_PER_S },
		{ "ring_pkts", full.ring_pkts, 1, 1u << 20 },
		{ "ring_pkts_max", full.ring_pkts_max, 0, 1u << 20 },
		{ "envelope", (uint32_t)full.envelope, 0, LULL_ENVELOPE_STATED },
		{ "burst_pkts", full.burst_pkts, 1, 65535 },
		{ "loss_lag_ns", full.loss_lag_ns, 0, 10 * LULL_NS_PER_S },
		{ "kalman.step_ns", kalman->step_ns, 1, 10 * LULL_NS_PER_MS },
		{ "kalman.window_ns", kalman->window_ns, LULL_NS_PER_US, LULL_NS_PER_S },
		{ "kalman.tolerance_ppm", kalman->tolerance_ppm, 1, 500000 },
		{ "kalman.row_bytes", kalman->row_bytes, 1, row_bytes_max },
		{ "kalman.layout", (uint32_t)kalman->layout, 0, LULL_RECORD_SEGMENTS },
		{ "held_pkts", full.held_pkts, 0, full.ring_pkts - 1 },
		{ "pps_max", learned ? 1 : full.pps_max, 1, PPS_MAX },
	};

	if (LULL_RANGES_CHECK(ranges, error) != 0)
		return -EINVAL;
	if ((full.idle_states & ~known_idle_states) != 0)
		return lull_range_refuse("idle_states", full.idle_states, 0, known_idle_states,
					 error);
	return 0;
}
