/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"

#include "base/assert.h"
#include "dispatch_state.h"

void
lull_dispatch_decide(const struct lull_dispatch *dispatch, const uint32_t *digests,
		     const uint32_t *crcs, uint32_t count, uint16_t *workers)
{
	struct lull_schedule_view view = dispatch->view;

	LULL_ASSERT_HOT(!dispatch->scheduler->splits);
	view.crcs = crcs;
	dispatch->scheduler->burst(dispatch->state, &view, digests, count, workers);
}

void
lull_dispatch_decided(struct lull_dispatch *dispatch, const uint64_t *worker_pkts)
{
	struct lull_dispatch_counters *counters = &dispatch->counters;
	uint64_t pkts = 0;

	for (uint32_t worker = 0; worker < dispatch->view.worker_count; worker++) {
		LULL_COUNTER_ADD(counters->worker_pkts[worker], worker_pkts[worker]);
		pkts += worker_pkts[worker];
	}
	LULL_COUNTER_ADD(counters->pkts, pkts);
	LULL_COUNTER_ADD(counters->bursts, 1);
}
