/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Incast: when the next of many senders that answer at once sends.
 *
 * Senders begin at uniform times of the jitter, wanted in their order. Sums of
 * exponential steps, divided by the sum of one more step than senders, are just
 * that, so nothing is stored or sorted: the steps are drawn twice from the same
 * numbers, first for the sum, a period ahead, then for the times.
 */
#ifndef LULL_ARRIVAL_INCAST_H
#define LULL_ARRIVAL_INCAST_H

#include <lull/traffic.h>

#include "base/prng.h"

struct lull_arrival_incast {
	uint64_t begin_ns;      /* of the period */
	uint32_t senders_left;  /* in it */
	uint32_t pkts_left;     /* of the present sender */
	double sum;             /* of the steps up to the present sender */
	double ns_per_step;     /* jitter over the sum of the period's steps */
	double ahead_sum;       /* of the next period's steps, as far as drawn */
	struct lull_prng prng;  /* of the times */
	struct lull_prng ahead; /* of the sum */
	uint32_t count, pkts;   /* as configured, these and the following */
	uint64_t period_ns, jitter_ns;
};

/** Before the first packet, the first period beginning at @p now_ns. */
void lull_arrival_incast_init(struct lull_arrival_incast *incast,
			      const struct lull_arrival_config *config,
			      const struct lull_prng *prng, uint64_t now_ns);
/** Go on to the next sender and its first packet; false: the clock ends before that. */
bool lull_arrival_incast_next(struct lull_arrival_incast *incast, uint64_t *due_ns);

#endif
