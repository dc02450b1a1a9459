/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Samples of round trips that a meter is given. */
#ifndef LULL_TEST_BUNDLE_SAMPLES_H
#define LULL_TEST_BUNDLE_SAMPLES_H

#include <lull/bundle.h>

#include "../case.h"
#include "bundle/meter.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define S LULL_NS_PER_S

static struct bundle_meter meter;
static struct bundle_round ended;

/* Of one packet, which ends no round. */
static inline struct bundle_sample
sample_of(uint64_t now_ns, uint64_t rtt_ns)
{
	return (struct bundle_sample){ .now_ns = now_ns,
				       .rtt_ns = rtt_ns,
				       .psn = 1,
				       .psn_next = 1000,
				       .acked_pkts = 1,
				       .acked_bytes = 1500 };
}

static inline bool
add(struct bundle_sample sample)
{
	return bundle_meter_add(&meter, &sample, &ended);
}

/* A round that ends with its only sample. */
static inline void
add_round(uint64_t now_ns, uint64_t rtt_ns, uint64_t wait_ns, uint64_t absent_ns)
{
	struct bundle_sample sample = sample_of(now_ns, rtt_ns);

	sample.psn = UINT64_MAX;
	sample.wait_ns = wait_ns;
	sample.absent_ns = absent_ns;
	assert_true(add(sample));
}

#endif
