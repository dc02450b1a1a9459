/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <lull/base.h>

#include "case.h"
#include "base/prng.h"
#include "timing.h"

#define PERIOD_NS (33 * LULL_NS_PER_MS)
#define JITTER_NS (2 * LULL_NS_PER_MS)

/* Distances are the camera's: what the network adds is hardly seen. */
TEST(timing_device__smooth)
{
	struct lull_gst_timing timing = { .begun = false };
	uint64_t last_ns = 0;
	struct lull_prng prng;

	lull_prng_init(&prng, 7, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t device_ns = UINT64_MAX / 2 + i * PERIOD_NS;
		uint64_t arrival_ns =
			LULL_NS_PER_S + i * PERIOD_NS + lull_prng_u64(&prng) % JITTER_NS;
		uint64_t at_ns = lull_gst_timing_device(&timing, device_ns, arrival_ns);

		if (i == 0)
			assert_int_equal(at_ns, arrival_ns);
		else
			assert_true(llabs((int64_t)(at_ns - last_ns) - (int64_t)PERIOD_NS) <=
				    (int64_t)(JITTER_NS / 64 + 1));
		assert_true(llabs((int64_t)(at_ns - arrival_ns)) <= (int64_t)JITTER_NS);
		last_ns = at_ns;
	}
}

/* A camera that is 100 ppm too fast stays where its frames arrive. */
TEST(timing_device__follows_drift)
{
	struct lull_gst_timing timing = { .begun = false };

	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t arrival_ns = i * PERIOD_NS, device_ns = arrival_ns + arrival_ns / 10000;
		uint64_t at_ns = lull_gst_timing_device(&timing, device_ns, arrival_ns);

		assert_true(llabs((int64_t)(at_ns - arrival_ns)) < (int64_t)LULL_NS_PER_MS);
	}
}

/* A camera that starts again counts from somewhere else. */
TEST(timing_device__begins_anew)
{
	struct lull_gst_timing timing = { .begun = false };

	assert_int_equal(lull_gst_timing_device(&timing, 500 * LULL_NS_PER_S, PERIOD_NS),
			 PERIOD_NS);
	assert_int_equal(lull_gst_timing_device(&timing, 7, 2 * PERIOD_NS), 2 * PERIOD_NS);
	assert_int_equal(lull_gst_timing_device(&timing, 7 + PERIOD_NS, 3 * PERIOD_NS),
			 3 * PERIOD_NS);
}

/* Never before the beginning. */
TEST(timing_device__not_negative)
{
	struct lull_gst_timing timing = { .begun = false };

	lull_gst_timing_device(&timing, LULL_NS_PER_S, 0);
	assert_int_equal(lull_gst_timing_device(&timing, LULL_NS_PER_S / 2, 0), 0);
}
