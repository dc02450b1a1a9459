/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline, the workers. */
#include <string.h>

#include "pipeline_state.h"

/* ---- identification ---- */

/* What this packet's flow costs on top, at the begin of its service. */
static uint64_t
worker_identify(struct lull_sim_pipeline *pipeline, uint32_t index,
		const struct lull_sim_pipeline_pkt *pkt)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	struct lull_sim_flow *flow = &pipeline->flows.flows[pkt->slot];
	uint8_t *seen = &pipeline->flows.seen[(size_t)pkt->slot * pipeline->worker_count + index];

	if ((flow->workers >> index & 1) == 0) {
		pipeline->result.flows += flow->workers == 0;
		pipeline->result.partials++;
		flow->workers |= 1u << index;
	}
	if (*seen >= config->identify_pkts)
		return 0;
	if (config->hand_over && pkt->mark.app != 0) {
		*seen = (uint8_t)config->identify_pkts;
		return 0;
	}
	++*seen;
	pipeline->result.identified += pkt->measured;
	return config->identify_ns;
}

/* The last of its first packets is done: the I/O core may know. One note per iteration and flow. */
static void
worker_note(struct lull_sim_pipeline *pipeline, uint32_t index,
	    const struct lull_sim_pipeline_pkt *pkt)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	uint8_t seen = pipeline->flows.seen[(size_t)pkt->slot * pipeline->worker_count + index];

	if (!config->hand_over || !pipeline->tracks || config->identify_pkts == 0 ||
	    seen < config->identify_pkts || pkt->mark.app != 0 ||
	    pipeline->note_count == pipeline->note_room)
		return;
	pipeline->notes[pipeline->note_count++] = (struct lull_sim_pipeline_note){
		.digest = pipeline->flows.flows[pkt->slot].digest,
		.app = (uint16_t)(pkt->slot % 65535 + 1),
	};
}

/* ---- service ---- */

static void
worker_begin_pkt(struct lull_sim_pipeline *pipeline, uint32_t index, uint64_t now_ns)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];

	worker->cost_ns = pipeline->service_low_ns;
	if (pipeline->jitter_span > 0)
		worker->cost_ns +=
			lull_prng_below(&pipeline->service_prng, pipeline->jitter_span + 1);
	worker->cost_ns +=
		worker_identify(pipeline, index, &worker->pkts[worker->at & worker->mask]);
	pipeline->worker_ns[index] = now_ns + worker->cost_ns;
	if (now_ns >= worker->stall_at_ns) {
		pipeline->worker_ns[index] += config->stall_ns;
		worker->stall_at_ns += config->stall_every_ns;
	}
}

static void
worker_take(struct lull_sim_pipeline *pipeline, uint32_t index, uint64_t now_ns)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	uint32_t used = lull_sim_pipeline_worker_used(worker);

	if (used == 0) {
		pipeline->worker_ns[index] = NEVER;
		return;
	}
	worker->begun_pkts = LULL_MIN(used, pipeline->config.worker_burst_pkts);
	worker->head += worker->begun_pkts;
	worker_begin_pkt(pipeline, index, now_ns);
}

static void
worker_finish(struct lull_sim_pipeline *pipeline, uint32_t index, uint64_t now_ns)
{
	struct lull_sim_pipeline_result *result = &pipeline->result;
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	const struct lull_sim_pipeline_pkt *pkt = &worker->pkts[worker->at & worker->mask];
	bool late = lull_order_late(&pipeline->flows.flows[pkt->slot].done_seq, pkt->seq);

	if (pkt->measured) {
		result->reordered += late;
		result->worker_pkts[index]++;
		lull_histogram_add(&result->latency, now_ns - pkt->arrive_ns, 1);
	}
	if (pipeline->measuring)
		result->worker_busy_ns[index] +=
			LULL_MIN(worker->cost_ns, now_ns - pipeline->begin_ns);
	worker_note(pipeline, index, pkt);
	worker->at++;
	lull_sim_pipeline_output_add(pipeline, pkt, now_ns);
}

/* ---- the I/O core's side and the event ---- */

bool
lull_sim_pipeline_worker_put(struct lull_sim_pipeline *pipeline, uint32_t index,
			     const struct lull_sim_pipeline_pkt *pkt, uint64_t now_ns)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	uint32_t used = lull_sim_pipeline_worker_used(worker);
	uint64_t *most = &pipeline->result.ring_pkts_max[index];

	if (used == pipeline->config.ring_pkts)
		return false;
	worker->pkts[worker->tail++ & worker->mask] = *pkt;
	*most = LULL_MAX(*most, used + 1);
	if (pipeline->worker_ns[index] == NEVER) {
		worker->waking = true;
		pipeline->worker_ns[index] = now_ns + pipeline->config.wake_ns;
	}
	return true;
}

void
lull_sim_pipeline_worker_iterate(struct lull_sim_pipeline *pipeline, uint32_t index)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	uint64_t now_ns = pipeline->worker_ns[index];

	if (worker->waking) {
		worker->waking = false;
		worker_take(pipeline, index, now_ns);
		return;
	}
	worker_finish(pipeline, index, now_ns);
	if (worker->at < worker->head) {
		worker_begin_pkt(pipeline, index, now_ns);
		return;
	}
	worker->done_pkts += worker->begun_pkts;
	worker_take(pipeline, index, now_ns);
}
