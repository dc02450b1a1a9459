/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fixed: decisions of a scheduler that looks at nothing but the flow, as hrw does. They need no
 * order: any thread makes them, and they are counted later.
 *
 * Threads: decide by any at the same time, decided by one at a time.
 */
#ifndef LULL_DISPATCH_FIXED_H
#define LULL_DISPATCH_FIXED_H

#include <lull/dispatch.h>

/**
 * Choose a worker for each digest; the scheduler of @p dispatch does not split flows.
 * @param crcs  as for lull_dispatch_burst()
 */
void lull_dispatch_decide(const struct lull_dispatch *dispatch, const uint32_t *digests,
			  const uint32_t *crcs, uint32_t count, uint16_t *workers);
/** Count a burst of which each worker was given so many packets. */
void lull_dispatch_decided(struct lull_dispatch *dispatch, const uint64_t *worker_pkts);

#endif
