/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "case.h"
#include "idle/kalman_meter.h"

static struct lull_kalman_meter meter;

static void
begin(void)
{
	memset(&meter, 0, sizeof(meter));
	lull_kalman_meter_init(&meter, 10 * LULL_NS_PER_MS);
}

static void
iterate(uint64_t now_ns, uint32_t pkts, uint32_t size_pkts, uint64_t each)
{
	struct lull_idle_iteration iteration = {
		.now_ns = now_ns,
		.pkt_count = pkts,
		.size_pkts = size_pkts,
		.bytes = size_pkts * each,
		.bytes_squared = size_pkts * each * each,
	};

	lull_kalman_meter_iteration(&meter, &iteration);
}

/* Packets of which nobody knows how large they are count as 64 bytes. */
TEST(iteration__counts_bytes)
{
	begin();
	assert_true(meter.packet_bytes == 64.0);
	iterate(5, 0, 0, 0);
	assert_int_equal(meter.moved_ns, 0);
	assert_int_equal(meter.bytes, 0);
	iterate(6, 3, 0, 0);
	assert_int_equal(meter.moved_ns, 6);
	assert_int_equal(meter.bytes, 192);
	assert_true(meter.packet_bytes == 64.0);
	begin();
	iterate(7, 3, 5, 1000);
	assert_int_equal(meter.bytes, 5000);
	assert_true(meter.packet_bytes == 1000.0);
	/* sizes that were told with an iteration that gave nothing */
	iterate(8, 0, 2, 1000);
	assert_int_equal(meter.bytes, 7000);
	assert_int_equal(meter.moved_ns, 8);
}

/* Speed is what moved from the begin of one sleep to that of the next. */
TEST(sleep__ends_an_interval)
{
	begin();
	iterate(500, 0, 5, 1000);
	lull_kalman_meter_sleep(&meter, 1000);
	assert_true(meter.speed == 0.0);
	assert_int_equal(meter.bytes, 0);
	assert_int_equal(meter.sleep_ns, 1000);
	iterate(1500, 0, 5, 1000);
	/* the same moment, and one before: no interval */
	lull_kalman_meter_sleep(&meter, 1000);
	lull_kalman_meter_sleep(&meter, 999);
	assert_int_equal(meter.bytes, 5000);
	assert_true(meter.speed == 0.0);
	lull_kalman_meter_sleep(&meter, 1000 + LULL_NS_PER_MS);
	assert_true(meter.speed == 5000.0);
	assert_int_equal(meter.bytes, 0);
	assert_int_equal(meter.sleep_ns, 1000 + LULL_NS_PER_MS);
}
