/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Verdict: what is measured and predicted besides what a governor says of itself.
 *
 * Threads: the loop's. Memory: none of its own.
 */
#ifndef LULL_VERDICT_H
#define LULL_VERDICT_H

#include "governor.h"
#include "waits.h"

/**
 * Fill in the rest of @p verdict, which has what the governor knows: late packets, stalls, the
 * arrival curve, the prediction. Takes "feasible" back where the packets say otherwise.
 */
void lull_verdict_complete(struct lull_verdict *verdict, const struct lull_idle_view *view,
			   const struct lull_waits *waits, uint64_t now_ns);

#endif
