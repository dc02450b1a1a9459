/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline, the I/O core and what comes to it. */
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

/* ---- loads ---- */

static void
io_loads(const struct lull_sim_pipeline *pipeline, struct lull_dispatch_load *loads)
{
	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		const struct lull_sim_pipeline_worker *worker = &pipeline->workers[w];

		loads[w].used_pkts = lull_sim_pipeline_worker_used(worker) + worker->staged_count;
		loads[w].capacity_pkts = pipeline->config.ring_pkts;
		loads[w].done_pkts = worker->done_pkts;
		loads[w].staged_pkts = worker->staged_count;
	}
}

/* ---- out: staging to rings ---- */

static void
io_lose(struct lull_sim_pipeline *pipeline, uint32_t index, const struct lull_sim_pipeline_pkt *pkt)
{
	lull_sim_flows_left(&pipeline->flows, pkt->slot);
	pipeline->ring_lost++;
	pipeline->result.lost_ring += pkt->measured;
	pipeline->lost = pipeline->lost || pkt->measured;
	if (pipeline->config.watch_pkts > 0)
		lull_sim_pipeline_watch_lost(pipeline, index);
}

/* What finds no room stays staged. */
static void
io_send(struct lull_sim_pipeline *pipeline, uint32_t index, uint64_t now_ns)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	uint32_t count = worker->staged_count;
	uint32_t sent =
		lull_sim_pipeline_worker_put(pipeline, index, worker->staged, count, now_ns);

	if (sent < count)
		memmove(worker->staged, worker->staged + sent,
			(count - sent) * sizeof(*worker->staged));
	worker->staged_count = count - sent;
	worker->refused = sent < count;
}

/* Another worker's: behind what is staged there. */
static bool
io_send_other(struct lull_sim_pipeline *pipeline, uint32_t index,
	      const struct lull_sim_pipeline_pkt *pkt, uint64_t now_ns)
{
	io_send(pipeline, index, now_ns);
	return pipeline->workers[index].staged_count == 0 &&
	       lull_sim_pipeline_worker_put(pipeline, index, pkt, 1, now_ns) == 1;
}

/* The ring is full: what is left gets another worker once, or is lost. */
static void
io_refuse(struct lull_sim_pipeline *pipeline, uint32_t index, uint64_t now_ns)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
	struct lull_dispatch_mark marks[LULL_DISPATCH_BURST_MAX];
	uint32_t digests[LULL_DISPATCH_BURST_MAX], count = worker->staged_count;
	uint16_t others[LULL_DISPATCH_BURST_MAX];

	for (uint32_t i = 0; i < count; i++) {
		digests[i] = pipeline->flows.flows[worker->staged[i].slot].digest;
		marks[i] = worker->staged[i].mark;
	}
	io_loads(pipeline, loads);
	lull_dispatch_refused(pipeline->dispatch, now_ns, (uint16_t)index, loads, digests, count,
			      others, pipeline->tracks ? marks : NULL);
	worker->staged_count = 0;
	worker->refused = false;
	for (uint32_t i = 0; i < count; i++) {
		struct lull_sim_pipeline_pkt *pkt = &worker->staged[i];

		pkt->mark = marks[i];
		if (others[i] != index && io_send_other(pipeline, others[i], pkt, now_ns))
			continue;
		if (others[i] != index)
			lull_dispatch_dropped(pipeline->dispatch, others[i], 1);
		io_lose(pipeline, index, pkt);
	}
}

static void
io_flush(struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	bool again = true;

	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		struct lull_sim_pipeline_worker *worker = &pipeline->workers[w];

		if (worker->staged_count >= config->flush_pkts ||
		    (worker->staged_count > 0 && now_ns >= worker->staged_ns + config->flush_ns))
			io_send(pipeline, w, now_ns);
	}
	/* A worker that has to take what others were refused may have no room for its own. */
	while (again) {
		again = false;
		for (uint32_t w = 0; w < pipeline->worker_count; w++)
			if (pipeline->workers[w].refused) {
				io_refuse(pipeline, w, now_ns);
				again = true;
			}
	}
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
io_stage(struct lull_sim_pipeline *pipeline, uint32_t index,
	 const struct lull_sim_pipeline_arrival *arrival, const struct lull_dispatch_mark *mark,
	 uint64_t now_ns)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	struct lull_sim_pipeline_pkt *pkt;

	LULL_ASSERT(index < pipeline->worker_count);
	if (worker->staged_count == 0)
		worker->staged_ns = now_ns;
	pkt = &worker->staged[worker->staged_count++];
	pkt->arrive_ns = arrival->at_ns;
	pkt->slot = arrival->slot;
	pkt->seq = pipeline->flows.flows[arrival->slot].seq++;
	pkt->mark = *mark;
	pkt->measured = arrival->measured;
}

static uint32_t
io_receive(struct lull_sim_pipeline *pipeline, uint64_t now_ns)
{
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
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
	io_loads(pipeline, loads);
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

	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		const struct lull_sim_pipeline_worker *worker = &pipeline->workers[w];

		if (worker->staged_count > 0)
			next_ns = LULL_MIN(next_ns, worker->staged_ns + pipeline->config.flush_ns);
	}
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
		inside += worker->staged_count + (worker->tail - worker->at);
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

	io_flush(pipeline, now_ns);
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
