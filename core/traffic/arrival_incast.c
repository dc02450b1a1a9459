/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrival_incast.h"

/* Draw one more step of the sum of the next period. */
static void
incast_ahead(struct lull_arrival_incast *incast)
{
	incast->ahead_sum += (double)lull_prng_exponential(&incast->ahead);
}

/* The next period's sum is complete: it becomes the present one. */
static void
incast_begin(struct lull_arrival_incast *incast)
{
	incast->senders_left = incast->count;
	incast->ns_per_step = (double)incast->jitter_ns / incast->ahead_sum;
	incast->sum = 0;
	incast->ahead_sum = 0;
}

void
lull_arrival_incast_init(struct lull_arrival_incast *incast,
			 const struct lull_arrival_config *config, const struct lull_prng *prng,
			 uint64_t now_ns)
{
	*incast = (struct lull_arrival_incast){
		.begin_ns = now_ns,
		.prng = *prng,
		.ahead = *prng,
		.count = config->sender_count,
		.pkts = config->sender_pkts,
		.period_ns = config->period_ns,
		.jitter_ns = config->jitter_ns,
	};
	for (uint32_t i = 0; i <= incast->count; i++)
		incast_ahead(incast);
	incast_begin(incast);
}

bool
lull_arrival_incast_next(struct lull_arrival_incast *incast, uint64_t *due_ns)
{
	uint64_t delay_ns;

	if (incast->senders_left == 0) {
		lull_prng_exponential(&incast->prng); /* the one step more */
		incast_ahead(incast);
		incast_begin(incast);
		if (__builtin_add_overflow(incast->begin_ns, incast->period_ns, &incast->begin_ns))
			return false;
	}
	incast->senders_left--;
	incast->pkts_left = incast->pkts;
	incast->sum += (double)lull_prng_exponential(&incast->prng);
	incast_ahead(incast);
	delay_ns = (uint64_t)(incast->sum * incast->ns_per_step);
	if (incast->jitter_ns > 0) /* rounding may have come up to it */
		delay_ns = LULL_MIN(delay_ns, incast->jitter_ns - 1);
	return !__builtin_add_overflow(incast->begin_ns, delay_ns, due_ns);
}
