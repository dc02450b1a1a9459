/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline, the I/O core and what comes to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_state.h"

__extension__ typedef unsigned __int128 io_wide;

/* ---- source ---- */

static void
source_next(struct lull_sim_pipeline *pipeline)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	uint64_t gap = pipeline->gap;

	if (pipeline->next_count >= config->lead_pkts + config->pkts) {
		pipeline->next_ns = NEVER;
		return;
	}
	if (config->gaps == LULL_SIM_GAPS_POISSON)
		gap = (uint64_t)((io_wide)lull_prng_exponential(&pipeline->gap_prng) * gap >>
				 LULL_PRNG_UNIT_BITS);
	gap += pipeline->gap_part;
	pipeline->next_ns += gap >> LULL_SIM_GAP_BITS;
	pipeline->gap_part = gap & ((1u << LULL_SIM_GAP_BITS) - 1);
}

void
lull_sim_pipeline_source_init(struct lull_sim_pipeline *pipeline, uint64_t identified)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	/* of a packet at its worker, in the mean */
	uint64_t cost = (uint64_t)((((io_wide)config->service_ns * config->pkts +
				     (io_wide)config->identify_ns * identified)
				    << LULL_SIM_GAP_BITS) /
				   config->pkts);

	pipeline->gap = (uint64_t)((io_wide)cost * LULL_PPM /
				   ((uint64_t)pipeline->worker_count * config->load_ppm));
	pipeline->result.capacity_pps =
		pipeline->worker_count * 1e9 * (1u << LULL_SIM_GAP_BITS) / (double)cost;
	source_next(pipeline);
}

/* What has come by now is in the ring, or lost: nothing left it since the last look. */
static void
source_arrive(struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	struct lull_sim_pipeline_result *result = &pipeline->result;

	while (pipeline->next_ns <= now_ns) {
		bool measured = pipeline->next_count >= config->lead_pkts;
		uint32_t slot;

		pipeline->next_count++;
		pipeline->arrived++;
		result->offered += measured;
		slot = lull_sim_flows_next(&pipeline->flows);
		if (pipeline->rx_tail - pipeline->rx_head < config->rx_ring_pkts) {
			pipeline->rx[pipeline->rx_tail++ & pipeline->rx_mask] =
				(struct lull_sim_pipeline_arrival){ pipeline->next_ns, slot,
								    measured };
		} else {
			lull_sim_flows_left(&pipeline->flows, slot);
			pipeline->rx_lost++;
			result->lost_rx += measured;
			pipeline->lost = pipeline->lost || measured;
		}
		source_next(pipeline);
	}
}

/* ---- out: staging to rings ---- */

static void
io_look(void *owner, uint32_t index, struct lull_dispatch_load *load)
{
	const struct lull_sim_pipeline *pipeline = owner;
	const struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];

	load->used_pkts = lull_sim_pipeline_worker_used(worker);
	load->capacity_pkts = pipeline->config.ring_pkts;
	load->done_pkts = worker->done_pkts;
}

/* What finds no room stays staged. */
static uint32_t
io_send(void *owner, uint32_t index, void **pkts, uint32_t count)
{
	struct lull_sim_pipeline *pipeline = owner;
	uint32_t sent = 0;

	while (sent < count &&
	       lull_sim_pipeline_worker_put(pipeline, index, pkts[sent], pipeline->io_ns))
		pipeline->spare[pipeline->spare_count++] = pkts[sent++];
	return sent;
}

static uint32_t
io_decided(const void *pkt, struct lull_dispatch_mark *mark)
{
	const struct lull_sim_pipeline_pkt *staged = pkt;

	*mark = staged->mark;
	return staged->digest;
}

static void
io_changed(void *owner, void *pkt, const struct lull_dispatch_mark *mark)
{
	(void)owner;
	if (mark != NULL)
		((struct lull_sim_pipeline_pkt *)pkt)->mark = *mark;
}

static void
io_drop(void *owner, void **pkts, uint32_t count)
{
	struct lull_sim_pipeline *pipeline = owner;

	for (uint32_t i = 0; i < count; i++) {
		struct lull_sim_pipeline_pkt *pkt = pkts[i];

		lull_sim_flows_left(&pipeline->flows, pkt->slot);
		pipeline->ring_lost++;
		pipeline->result.lost_ring += pkt->measured;
		pipeline->lost = pipeline->lost || pkt->measured;
		if (pipeline->config.watch_pkts > 0)
			lull_sim_pipeline_watch_lost(pipeline, pkt->worker);
		pipeline->spare[pipeline->spare_count++] = pkt;
	}
}

static const struct lull_staging_way io_way = {
	.look = io_look,
	.send = io_send,
	.decided = io_decided,
	.changed = io_changed,
	.drop = io_drop,
};

int
lull_sim_pipeline_staging_init(struct lull_sim_pipeline *pipeline)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	uint32_t room = config->burst_pkts + config->flush_pkts * pipeline->worker_count;
	struct lull_staging *staging = calloc(1, sizeof(*staging));

	pipeline->staging = staging;
	pipeline->staged_pkts = calloc(room, sizeof(*pipeline->staged_pkts));
	pipeline->spare = calloc(room, sizeof(pipeline->spare[0]));
	if (staging == NULL || pipeline->staged_pkts == NULL || pipeline->spare == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < room; i++)
		pipeline->spare[i] = &pipeline->staged_pkts[i];
	pipeline->spare_count = room;
	staging->way = &io_way;
	staging->owner = pipeline;
	staging->dispatch = pipeline->dispatch;
	staging->worker_count = pipeline->worker_count;
	staging->flush_pkts = config->flush_pkts;
	staging->flush_ns = config->flush_ns;
	staging->marks = pipeline->tracks;
	return 0;
}

/* ---- in: Rx ring to staging ---- */

static void
io_measure(struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	pipeline->measuring = true;
	pipeline->begin_ns = now_ns;
	pipeline->lead = *lull_dispatch_counters(pipeline->dispatch);
}

static void
io_stage(struct lull_sim_pipeline *pipeline, uint16_t index,
	 const struct lull_sim_pipeline_arrival *arrival, const struct lull_dispatch_mark *mark,
	 uint64_t now_ns)
{
	struct lull_sim_flow *flow = &pipeline->flows.flows[arrival->slot];
	struct lull_sim_pipeline_pkt *pkt;

	LULL_ASSERT(index < pipeline->worker_count && pipeline->spare_count > 0);
	pkt = pipeline->spare[--pipeline->spare_count];
	*pkt = (struct lull_sim_pipeline_pkt){
		.arrive_ns = arrival->at_ns,
		.slot = arrival->slot,
		.seq = flow->seq++,
		.digest = flow->digest,
		.worker = index,
		.mark = *mark,
		.measured = arrival->measured,
	};
	lull_staging_add(pipeline->staging, index, pkt, now_ns);
}

static uint32_t
io_receive(struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	const struct lull_dispatch_load *loads = pipeline->staging->loads;
	struct lull_dispatch_mark marks[LULL_SIM_PIPELINE_BURST_MAX];
	struct lull_sim_pipeline_arrival burst[LULL_SIM_PIPELINE_BURST_MAX];
	uint32_t digests[LULL_SIM_PIPELINE_BURST_MAX], crcs[LULL_SIM_PIPELINE_BURST_MAX], count;
	uint16_t workers[LULL_SIM_PIPELINE_BURST_MAX];
	uint64_t waiting = pipeline->rx_tail - pipeline->rx_head;
	uint64_t watch_above =
		(uint64_t)pipeline->config.dispatch.threshold_ppm * pipeline->config.ring_pkts;

	count = (uint32_t)LULL_MIN(waiting, pipeline->config.burst_pkts);
	if (count == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		burst[i] = pipeline->rx[pipeline->rx_head++ & pipeline->rx_mask];
		digests[i] = pipeline->flows.flows[burst[i].slot].digest;
		crcs[i] = pipeline->flows.flows[burst[i].slot].crc;
	}
	if (!pipeline->measuring && burst[count - 1].measured)
		io_measure(pipeline, now_ns);
	pipeline->received += count;
	lull_staging_look(pipeline->staging);
	if (!pipeline->tracks)
		memset(marks, 0, count * sizeof(marks[0]));
	lull_dispatch_burst(pipeline->dispatch, now_ns, loads, digests, crcs, count, workers,
			    pipeline->tracks ? marks : NULL);
	for (uint32_t i = 0; i < count; i++)
		io_stage(pipeline, workers[i], &burst[i], &marks[i], now_ns);
	for (uint32_t i = 0; pipeline->config.watch_pkts > 0 && i < count; i++)
		lull_sim_pipeline_watch_sent(pipeline, workers[i],
					     loads[workers[i]].used_pkts * LULL_PPM >= watch_above);
	return count;
}

/* ---- iterations ---- */

/* Polls until something is to be done find nothing: go to the one that does. */
static uint64_t
io_next_ns(const struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	uint64_t iteration_ns = pipeline->config.io_iteration_ns, next_ns = pipeline->next_ns;
	uint64_t deadline_ns = lull_staging_deadline_ns(pipeline->staging);

	if (deadline_ns != 0)
		next_ns = LULL_MIN(next_ns, deadline_ns);
	if (next_ns == NEVER)
		return NEVER;
	if (next_ns <= now_ns + iteration_ns)
		return now_ns + iteration_ns;
	return now_ns + (next_ns - now_ns + iteration_ns - 1) / iteration_ns * iteration_ns;
}

static void
io_conserve(const struct lull_sim_pipeline *pipeline)
{
	uint64_t inside = pipeline->held_room - pipeline->unused_count;

	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		const struct lull_sim_pipeline_worker *worker = &pipeline->workers[w];

		LULL_ASSERT(worker->tail - worker->head <= pipeline->config.ring_pkts);
		inside += pipeline->staging->workers[w].count + (worker->tail - worker->at);
	}
	LULL_ASSERT(pipeline->arrived == pipeline->rx_lost +
						 (pipeline->rx_tail - pipeline->rx_head) +
						 pipeline->received);
	LULL_ASSERT(pipeline->received == pipeline->ring_lost + inside + pipeline->left);
}

void
lull_sim_pipeline_io_iterate(struct lull_sim_pipeline *pipeline)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	uint64_t now_ns = pipeline->io_ns, cost_ns;
	uint32_t count;

	lull_staging_flush(pipeline->staging, now_ns, now_ns, false);
	for (uint32_t i = 0; i < pipeline->note_count; i++)
		lull_dispatch_note(pipeline->dispatch, pipeline->notes[i].digest,
				   pipeline->notes[i].app);
	pipeline->note_count = 0;
	source_arrive(pipeline, now_ns);
	io_conserve(pipeline);
	count = io_receive(pipeline, now_ns);
	if (count > 0) {
		cost_ns = config->io_iteration_ns + count * config->io_pkt_ns;
		pipeline->io_ns = now_ns + cost_ns;
		if (pipeline->measuring)
			pipeline->result.io_busy_ns += cost_ns;
	} else {
		pipeline->io_ns = io_next_ns(pipeline, now_ns);
	}
	pipeline->iterations++;
}
