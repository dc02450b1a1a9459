/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rail in this process: pair:NAME, opened twice, is a wire with two ends.
 *
 * Threads: any; each direction has a lock of its own.
 * Memory:  one ring for each end, allocated by the first of the two.
 */
#ifndef LULL_CHANNEL_RAIL_PAIR_H
#define LULL_CHANNEL_RAIL_PAIR_H

#include "rail.h"

/** The end of @p name that is free; -EBUSY: both are taken, -ENOSPC: there are too many names. */
int channel_rail_pair_open(const char *name, struct channel_rail *rail, struct lull_error *error);

#endif
