/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Start: DPDK with the devices and CPUs of a program.
 *
 * Threads: main thread. Memory: none kept.
 */
#ifndef LULL_LIVE_START_H
#define LULL_LIVE_START_H

#include "placement.h"
#include "program/program.h"
#include "program/rows.h"

/** Start the engine; lull_engine_fini() ends it. 0 or -errno and the sentence. */
int lull_live_engine(const struct lull_program *program, const struct lull_devices *devices,
		     const struct lull_placement *placement, uint64_t memory_bytes,
		     struct lull_error *error);
/** The same without DPDK's environment, for who has no devices: see struct lull_engine_config. */
int lull_live_engine_bare(const struct lull_program *program,
			  const struct lull_placement *placement, struct lull_error *error);
/** A number for probes that no earlier start is likely to have had. */
uint16_t lull_live_run_number(void);

#endif
