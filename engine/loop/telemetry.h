/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry of DPDK: its socket takes the commands of host/telemetry.h.
 */
#ifndef LULL_TELEMETRY_H
#define LULL_TELEMETRY_H

#include "host/telemetry.h"

/** Have DPDK's socket take the /lull commands; see lull_telemetry_begin(). 0 or -errno. */
int lull_telemetry_register(const struct lull_telemetry_config *config,
			    const struct lull_telemetry_loops *loops);

#endif
