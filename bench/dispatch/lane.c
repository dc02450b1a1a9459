/* SPDX-License-Identifier: BSD-3-Clause */
#include "lane.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_prefetch.h>

#define WINDOW_PKTS 512
#define BURST_NS 1000 /* of invented time */

int
lane_open(struct lane *lane, const struct lane_config *config, struct headers *headers,
	  struct lull_flow_parser *parser, struct ticks *ticks)
{
	memset(lane, 0, sizeof(*lane));
	lane->config = *config;
	lane->headers = headers;
	lane->parser = parser;
	lane->ticks = ticks;
	lane->window_bursts = LULL_MAX(WINDOW_PKTS / config->burst_pkts, 1u);
	for (uint32_t i = 0; i < config->worker_count; i++) {
		lane->rings[i] =
			headers_memory(headers, (size_t)rte_ring_get_memsize(config->ring_pkts));
		if (lane->rings[i] == NULL ||
		    rte_ring_init(lane->rings[i], "lane", config->ring_pkts,
				  RING_F_SP_ENQ | RING_F_SC_DEQ) != 0)
			return -1;
	}
	return 0;
}

void
lane_digests(const struct lane *lane, uint32_t first, uint32_t count, uint32_t *digests,
	     uint32_t *crcs)
{
	const uint8_t *const *frames = lane->headers->frames + first;
	const uint32_t ahead = lane->config.prefetch;
	struct lull_flow_packet packet;

	for (uint32_t i = 0; i < ahead && i < count; i++)
		rte_prefetch0(frames[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (i + ahead < count)
			rte_prefetch0(frames[i + ahead]);
		lull_flow_parse(lane->parser, 1, frames[i], HEADERS_FRAME_BYTES,
				HEADERS_FRAME_BYTES, lane->now_ns, &packet);
		digests[i] = packet.digest;
		if (crcs != NULL)
			crcs[i] = lull_flow_key_crc32(&packet.key);
	}
}

static void
lane_loads(const struct lane *lane, const struct lane_row *row, struct lull_dispatch_load *loads)
{
	for (uint32_t i = 0; i < lane->config.worker_count; i++)
		loads[i] = (struct lull_dispatch_load){
			.used_pkts = rte_ring_count(lane->rings[i]) + lane->staged[i].count,
			.capacity_pkts = lane->config.ring_pkts - 1,
			.done_pkts = row->done_pkts[i],
		};
	if (lane->config.hot)
		loads[0].used_pkts += lane->config.ring_pkts / 2;
}

static void
lane_in_turn(struct lane *lane, uint32_t count, uint16_t *workers)
{
	uint32_t next = lane->next;

	for (uint32_t i = 0; i < count; i++) {
		workers[i] = (uint16_t)next;
		next = next + 1 < lane->config.worker_count ? next + 1 : 0;
	}
	lane->next = next;
}

static void
lane_flush(struct lane *lane, uint32_t worker)
{
	struct lane_staged *staged = &lane->staged[worker];
	uint32_t taken =
		rte_ring_sp_enqueue_burst(lane->rings[worker], staged->pkts, staged->count, NULL);

	lane->lost += staged->count - taken;
	staged->count = 0;
}

static void
lane_stage(struct lane *lane, uint32_t first, uint32_t count, const uint16_t *workers)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lane_staged *staged = &lane->staged[workers[i]];
		const void *frame = lane->headers->frames[first + i];

		/* A ring carries what mbufs would be: not const. */
		memcpy(&staged->pkts[staged->count++], &frame, sizeof(frame));
		if (staged->count == LANE_FLUSH_PKTS)
			lane_flush(lane, workers[i]);
	}
}

static void
lane_burst(struct lane *lane, struct lane_row *row, uint32_t first, uint32_t count)
{
	struct lull_dispatch_load loads[LANE_WORKERS_MAX];
	struct lull_dispatch_mark marks[LANE_BURST_MAX];
	uint32_t digests[LANE_BURST_MAX], crcs[LANE_BURST_MAX];
	bool needs_crcs = row->dispatch != NULL && lull_dispatch_needs_crcs(row->dispatch);
	uint16_t workers[LANE_BURST_MAX];

	lane->now_ns += BURST_NS;
	if (row->parses)
		lane_digests(lane, first, count, digests, needs_crcs ? crcs : NULL);
	else
		memset(digests, 0, count * sizeof(digests[0]));
	lane_loads(lane, row, loads);
	if (row->dispatch != NULL)
		lull_dispatch_burst(row->dispatch, lane->now_ns, loads, digests,
				    needs_crcs ? crcs : NULL, count, workers,
				    row->tracks ? marks : NULL);
	else
		lane_in_turn(lane, count, workers);
	lane_stage(lane, first, count, workers);
}

/* Be the workers: empty the rings; each frame must come once. @p sum: of their indices. */
static uint32_t
lane_drain(struct lane *lane, struct lane_row *row, uint64_t *sum)
{
	uint32_t taken = 0, count;
	void *pkts[LANE_FLUSH_PKTS];

	for (uint32_t i = 0; i < lane->config.worker_count; i++)
		while ((count = rte_ring_sc_dequeue_burst(lane->rings[i], pkts, LANE_FLUSH_PKTS,
							  NULL)) > 0) {
			for (uint32_t k = 0; k < count; k++)
				*sum += (uint64_t)((const uint8_t *)pkts[k] -
						   lane->headers->memory) /
					HEADERS_FRAME_BYTES;
			row->done_pkts[i] += count;
			taken += count;
		}
	return taken;
}

double
lane_pass(struct lane *lane, struct lane_row *row)
{
	const uint32_t total = lane->headers->count, burst_pkts = lane->config.burst_pkts;
	const uint32_t window_pkts = burst_pkts * lane->window_bursts;
	uint64_t taken = 0, sum = 0, window_count = 0;
	double mean;

	ticks_clear(lane->ticks);
	/* What is left of the frames behind the last whole window is not taken. */
	for (uint32_t first = 0; first + window_pkts <= total; first += window_pkts) {
		uint64_t begin = rte_rdtsc_precise();

		for (uint32_t i = 0; i < lane->window_bursts; i++)
			lane_burst(lane, row, first + i * burst_pkts, burst_pkts);
		for (uint32_t i = 0; i < lane->config.worker_count; i++)
			lane_flush(lane, i);
		ticks_add(lane->ticks, rte_rdtsc_precise() - begin);
		taken += lane_drain(lane, row, &sum);
		window_count++;
	}
	if (taken != window_count * window_pkts)
		lane->strayed++;
	if (taken == total && sum != (uint64_t)total * (total - 1) / 2)
		lane->strayed++;
	mean = ticks_mean(lane->ticks);
	return mean / window_pkts;
}
