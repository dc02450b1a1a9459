/* SPDX-License-Identifier: BSD-3-Clause */
#include "kalman_meter.h"

void
lull_kalman_meter_init(struct lull_kalman_meter *meter, uint64_t window_ns)
{
	meter->packet_bytes = LULL_KALMAN_BYTES;
	lull_estimate_init(&meter->size_estimate, window_ns);
	lull_estimate_init(&meter->speed_estimate, window_ns);
}

void
lull_kalman_meter_iteration(struct lull_kalman_meter *meter,
			    const struct lull_idle_iteration *iteration)
{
	uint64_t pkts = iteration->size_pkts, bytes = iteration->bytes,
		 squares = iteration->bytes_squared;

	if (pkts == 0) {
		pkts = iteration->pkt_count;
		bytes = pkts * LULL_KALMAN_BYTES;
		squares = bytes * LULL_KALMAN_BYTES;
	}
	if (pkts == 0)
		return;
	meter->bytes += bytes;
	meter->moved_ns = iteration->now_ns;
	meter->packet_bytes =
		lull_estimate_size(&meter->size_estimate, iteration->now_ns, pkts, bytes, squares);
}

void
lull_kalman_meter_sleep(struct lull_kalman_meter *meter, uint64_t now_ns)
{
	if (now_ns > meter->sleep_ns) {
		if (meter->sleep_ns > 0) /* the first one ends no interval */
			meter->speed =
				lull_estimate_speed(&meter->speed_estimate, now_ns, meter->bytes,
						    now_ns - meter->sleep_ns, meter->packet_bytes);
		meter->sleep_ns = now_ns;
		meter->bytes = 0;
	}
}
