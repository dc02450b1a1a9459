/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate.h"

#include <lull/base.h>

void
copy_rate_begin(struct copy_rate *rate, uint64_t now_ns)
{
	*rate = (struct copy_rate){ .begin_ns = now_ns, .step_ns = 100 * LULL_NS_PER_MS };
}

/* Each two steps become one. */
static void
rate_halve(struct copy_rate *rate)
{
	for (uint32_t i = 0; i < COPY_RATE_STEPS / 2; i++)
		rate->bytes[i] = rate->bytes[2 * i] + rate->bytes[2 * i + 1];
	for (uint32_t i = COPY_RATE_STEPS / 2; i < COPY_RATE_STEPS; i++)
		rate->bytes[i] = 0;
	rate->count = (rate->count + 1) / 2;
	rate->step_ns *= 2;
}

void
copy_rate_add(struct copy_rate *rate, uint64_t now_ns, uint64_t bytes)
{
	uint64_t passed_ns = now_ns - rate->begin_ns;

	while (passed_ns / rate->step_ns >= COPY_RATE_STEPS)
		rate_halve(rate);
	rate->bytes[passed_ns / rate->step_ns] += bytes - rate->last_bytes;
	rate->count = (uint32_t)LULL_MAX(rate->count, passed_ns / rate->step_ns + 1);
	rate->last_bytes = bytes;
}
