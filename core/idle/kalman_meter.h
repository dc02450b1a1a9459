/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Kalman meter: packet size and speed as the governors kalman and kalman-guarded both see them.
 *
 * Memory: one fixed struct, zeroed before it is set up.
 */
#ifndef LULL_KALMAN_METER_H
#define LULL_KALMAN_METER_H

#include "estimate.h"
#include "governor.h"

/** A packet whose size nobody measured. */
#define LULL_KALMAN_BYTES 64u

struct lull_kalman_meter {
	double packet_bytes; /* estimated */
	double speed;        /* estimated, bytes per millisecond */
	uint64_t bytes;      /* since the last sleep began */
	uint64_t sleep_ns;   /* when that was */
	uint64_t moved_ns;   /* the last iteration that carried packets */
	struct lull_estimate size_estimate;
	struct lull_estimate speed_estimate;
};

void lull_kalman_meter_init(struct lull_kalman_meter *meter, uint64_t window_ns);
/** Algorithm 1: each iteration, before anything else. */
void lull_kalman_meter_iteration(struct lull_kalman_meter *meter,
				 const struct lull_idle_iteration *iteration);
/** Algorithm 2: a sleep is about to begin at @p now_ns. */
void lull_kalman_meter_sleep(struct lull_kalman_meter *meter, uint64_t now_ns);

#endif
