/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline, the output: packets leave as they come, or in the order of their flows. */
#include "pipeline_state.h"

static void
output_leave(struct lull_sim_pipeline *pipeline, const struct lull_sim_pipeline_pkt *pkt,
	     uint64_t now_ns)
{
	struct lull_sim_pipeline_result *result = &pipeline->result;
	bool late = lull_order_late(&pipeline->flows.flows[pkt->slot].out_seq, pkt->seq);

	pipeline->left++;
	lull_sim_flows_left(&pipeline->flows, pkt->slot);
	if (!pkt->measured)
		return;
	result->delivered++;
	result->reordered_output += late;
	if (pipeline->resequence != NULL)
		lull_histogram_add(&result->wait, now_ns - pkt->done_ns, 1);
}

static void
output_release(struct lull_sim_pipeline *pipeline, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lull_sim_pipeline_pkt *pkt = pipeline->out[i];

		output_leave(pipeline, pkt, now_ns);
		pipeline->unused[pipeline->unused_count++] = pkt;
	}
	pipeline->output_ns = lull_resequence_deadline_ns(pipeline->resequence);
}

void
lull_sim_pipeline_output_add(struct lull_sim_pipeline *pipeline,
			     const struct lull_sim_pipeline_pkt *pkt, uint64_t now_ns)
{
	struct lull_sim_pipeline_pkt *kept;

	if (pipeline->resequence == NULL) {
		output_leave(pipeline, pkt, now_ns);
		return;
	}
	LULL_ASSERT(pipeline->unused_count > 0);
	kept = pipeline->unused[--pipeline->unused_count];
	*kept = *pkt;
	kept->done_ns = now_ns;
	output_release(pipeline,
		       lull_resequence_add(pipeline->resequence, now_ns, pkt->mark.bucket,
					   pkt->mark.seq, kept, pipeline->out),
		       now_ns);
}

void
lull_sim_pipeline_output_iterate(struct lull_sim_pipeline *pipeline)
{
	uint64_t now_ns = pipeline->output_ns;

	output_release(pipeline,
		       lull_resequence_expire(pipeline->resequence, now_ns, pipeline->out), now_ns);
	LULL_ASSERT(pipeline->output_ns > now_ns);
}
