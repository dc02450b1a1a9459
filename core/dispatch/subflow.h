/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Subflow: where a subflow goes whose worker is above the threshold. */
#ifndef LULL_SUBFLOW_H
#define LULL_SUBFLOW_H

#include "scheduler.h"

/**
 * The other worker with the largest weight times free share, of those not above the threshold;
 * when all are above it, the other one with the smallest load factor; @p target when they are full.
 */
uint16_t lull_subflow_adjust(const struct lull_schedule_view *view, uint32_t digest,
			     uint16_t target);

#endif
