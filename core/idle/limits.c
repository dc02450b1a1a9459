/* SPDX-License-Identifier: BSD-3-Clause */
#include "limits.h"

#include <errno.h>

#include "record_table.h"

#define DEFAULT_LATENCY_NS (200 * LULL_NS_PER_US)
#define DEFAULT_PERCENTILE_PPM 990000
#define DEFAULT_REST_NS_MAX (1 * LULL_NS_PER_MS)
#define DEFAULT_REST_NS (50 * LULL_NS_PER_US)
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
	if (limits->ring_pkts == 0)
		limits->ring_pkts = DEFAULT_RING_PKTS;
	if (limits->burst_pkts == 0)
		limits->burst_pkts = DEFAULT_BURST_PKTS;
	if (limits->depths == 0)
		limits->depths = LULL_REST_BIT(LULL_REST_PAUSE) | LULL_REST_BIT(LULL_REST_SLEEP);
	limits_default_kalman(&limits->kalman);
}

static int
limits_refuse(struct lull_config_error *error, const char *field, uint64_t value, uint64_t low,
	      uint64_t high)
{
	if (error != NULL)
		*error = (struct lull_config_error){ field, value, low, high };
	return -EINVAL;
}

int
lull_idle_config_check(const struct lull_idle_limits *limits, struct lull_config_error *error)
{
	struct lull_idle_limits full = *limits;
	const uint32_t known_depths = (LULL_REST_BIT(LULL_REST_DEPTH_COUNT) - 1);

	lull_limits_default(&full);
#define CHECK(field, low, high)                                                                    \
	do {                                                                                       \
		if (full.field < (low) || full.field > (high))                                     \
			return limits_refuse(error, #field, full.field, low, high);                \
	} while (0)
	CHECK(latency_ns, LULL_NS_PER_US, LULL_NS_PER_S);
	CHECK(percentile_ppm, 500000, 999999);
	CHECK(loss + 1u, 1, LULL_LOSS_TOLERATE + 1u);
	CHECK(rest_ns_max, 1, LULL_NS_PER_S);
	CHECK(rest_ns, 1, LULL_NS_PER_S);
	CHECK(ring_pkts, 1, 1u << 20);
	CHECK(envelope + 1u, 1, LULL_ENVELOPE_STATED + 1u);
	CHECK(burst_pkts, 1, 65535);
	CHECK(kalman.step_ns, 1, 10 * LULL_NS_PER_MS);
	CHECK(kalman.window_ns, LULL_NS_PER_US, LULL_NS_PER_S);
	CHECK(kalman.tolerance_ppm, 1, 500000);
	CHECK(kalman.row_bytes, 1, LULL_RECORD_BYTES_MAX - LULL_RECORD_BYTES_MIN + 1);
	CHECK(kalman.layout + 1u, 1, LULL_RECORD_SEGMENTS + 1u);
	if (full.held_pkts >= full.ring_pkts)
		return limits_refuse(error, "held_pkts", full.held_pkts, 0, full.ring_pkts - 1);
	if (full.envelope != LULL_ENVELOPE_LEARNED &&
	    (full.pps_max == 0 || full.pps_max > 1000000000000ULL))
		return limits_refuse(error, "pps_max", full.pps_max, 1, 1000000000000ULL);
	if ((full.depths & ~known_depths) != 0)
		return limits_refuse(error, "depths", full.depths, 0, known_depths);
#undef CHECK
	return 0;
}
