/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole pipeline as one stage: where there is one I/O loop and one aggregator, their stages and
 * that of the first worker take turns on one thread; further workers have loops of their own.
 * Packets and records go the same ways, by rings that stay in this CPU's cache.
 *
 * Where workers read, each of them is such a thread: the feed has the place of the I/O stage, and
 * the first workers have an aggregator each.
 */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>

#include "stage.h"

/* What is done before the loop looks at anything else. */
#define ROUNDS 8
#define PART_BYTES 512

enum whole_part { WHOLE_IO, WHOLE_WORKER, WHOLE_AGGREGATOR, WHOLE_PARTS };

static const struct lull_stage *const whole_stages[WHOLE_PARTS] = {
	[WHOLE_IO] = &lull_stage_flow_io,
	[WHOLE_WORKER] = &lull_stage_flow_worker,
	[WHOLE_AGGREGATOR] = &lull_stage_flow_aggregator,
};

struct whole_counters {
	uint64_t rx_pkts, rx_bytes, not_ip, link, truncated, malformed, frames_cut, clock_back;
	uint64_t pkts, unrecorded, identified, records;
};

struct flow_whole_stage {
	struct lull_pipeline *pipeline;
	struct flow_worker *worker; /* of this thread */
	uint32_t first, end;        /* its parts */
	struct whole_counters counters;
	struct {
		alignas(LULL_CACHE_LINE) uint8_t state[PART_BYTES];
	} parts[WHOLE_PARTS];
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct whole_counters, member, unit_text, help_text)
static const struct lull_counter_info whole_counter_table[] = {
	ROW(rx_pkts, "packets", "packets read"),
	ROW(rx_bytes, "bytes", "bytes read, on the wire"),
	ROW(not_ip, "packets", "packets without a flow: not IP"),
	ROW(link, "packets", "packets of an unknown link type"),
	ROW(truncated, "packets", "packets cut before the end of their headers"),
	ROW(malformed, "packets", "packets whose headers contradict each other"),
	ROW(frames_cut, "packets", "frames of a file of which only 65535 bytes were kept"),
	ROW(clock_back, "1", "times that stamps of files went back by more than 10 s"),
	ROW(pkts, "packets", "packets recorded in a flow"),
	ROW(unrecorded, "packets", "packets without a record because the flow table was full"),
	ROW(identified, "1", "flows whose protocol was identified before they ended"),
	ROW(records, "1", "records passed to the exporters"),
	{ .name = NULL },
};

static uint32_t
whole_pull_part(struct flow_whole_stage *stage, enum whole_part part, uint64_t now_ns)
{
	return whole_stages[part]->pull(stage->parts[part].state, now_ns);
}

/*
 * Beside other workers the own one does what they leave: while its packets wait the dispatcher
 * gives more to those others, and when their rings are full too it works instead of waiting.
 */
static bool
whole_works(const struct flow_whole_stage *stage, uint32_t read)
{
	const struct rte_ring *ring = stage->pipeline->ios[0]->rings[0];

	return read == 0 || stage->pipeline->config.worker_count == 1 ||
	       rte_ring_count(ring) >= rte_ring_get_capacity(ring) / 2;
}

static uint32_t
whole_pull_ring(struct flow_whole_stage *stage, uint64_t now_ns)
{
	uint32_t count = whole_pull_part(stage, WHOLE_IO, now_ns);

	if (whole_works(stage, count))
		count += whole_pull_part(stage, WHOLE_WORKER, now_ns);
	return count;
}

/* What is there is taken before more is read: it is still in the cache. */
static uint32_t
whole_pull_feed(struct flow_whole_stage *stage, uint64_t now_ns)
{
	struct flow_feed *feed = stage->pipeline->feed;
	struct flow_worker *worker = stage->worker;
	bool ready = flow_worker_ready(worker, now_ns);
	uint32_t count = 0;

	flow_feed_settle(feed, worker);
	if (ready)
		count = flow_feed_take(feed, worker);
	if (count == 0)
		count = flow_feed_read(feed, worker);
	return count;
}

static uint16_t
whole_pull(void *state, uint64_t now_ns)
{
	struct flow_whole_stage *stage = state;
	bool reads = stage->pipeline->feed != NULL;
	uint32_t total = 0, count = 1;

	for (int round = 0; round < ROUNDS && count > 0; round++) {
		count = reads ? whole_pull_feed(stage, now_ns) : whole_pull_ring(stage, now_ns);
		if (stage->end > WHOLE_AGGREGATOR)
			count += whole_pull_part(stage, WHOLE_AGGREGATOR, now_ns);
		total += count;
	}
	return (uint16_t)LULL_MIN(total, (uint32_t)UINT16_MAX);
}

static void
whole_count(struct flow_whole_stage *stage)
{
	const struct flow_io_counters *io = stage->pipeline->feed != NULL ?
						    &stage->worker->read :
						    &stage->pipeline->ios[0]->counters;
	const struct flow_worker_counters *worker = &stage->worker->counters;
	struct whole_counters counters = {
		.rx_pkts = io->rx_pkts,
		.rx_bytes = io->rx_bytes,
		.not_ip = io->not_ip,
		.link = io->link,
		.truncated = io->truncated,
		.malformed = io->malformed,
		.frames_cut = io->frames_cut,
		.clock_back = io->clock_back,
		.pkts = worker->pkts,
		.unrecorded = worker->unrecorded,
		.identified = worker->identified,
	};

	if (stage->end > WHOLE_AGGREGATOR)
		counters.records =
			stage->pipeline->aggregators[stage->worker->index]->counters.records;
	flow_counters_copy(&stage->counters, &counters, sizeof(counters));
}

static uint64_t
whole_iterate(void *state, uint64_t now_ns)
{
	struct flow_whole_stage *stage = state;
	uint64_t first_ns = 0;

	for (uint32_t part = stage->first; part < stage->end; part++) {
		uint64_t wanted_ns = whole_stages[part]->iterate(stage->parts[part].state, now_ns);

		if (wanted_ns != 0 && (first_ns == 0 || wanted_ns < first_ns))
			first_ns = wanted_ns;
	}
	whole_count(stage);
	return first_ns;
}

static void
whole_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct flow_whole_stage *stage = state;

	/* Each takes what is meant for it. */
	for (uint32_t part = stage->first; part < stage->end; part++)
		whole_stages[part]->command(stage->parts[part].state, data, size, now_ns);
}

static int
whole_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	const struct lull_pipeline_config *pipeline = &place->pipeline->config;
	struct flow_whole_stage *stage = state;
	int rc = 0;

	if (pipeline->io_count != 1 || pipeline->output || pipeline->sources[0].read == NULL ||
	    place->index >= pipeline->worker_count)
		return -EINVAL;
	if (!pipeline->workers_read && (place->index != 0 || pipeline->aggregator_count != 1))
		return -EINVAL;
	stage->pipeline = place->pipeline;
	stage->worker = place->pipeline->workers[place->index];
	stage->first = pipeline->workers_read ? WHOLE_WORKER : WHOLE_IO;
	stage->end = place->index < pipeline->aggregator_count ? WHOLE_PARTS : WHOLE_AGGREGATOR;
	for (uint32_t part = stage->first; rc == 0 && part < stage->end; part++) {
		rc = whole_stages[part]->state_size <= PART_BYTES ? 0 : -EINVAL;
		if (rc == 0)
			rc = whole_stages[part]->init(stage->parts[part].state, config, now_ns);
	}
	return rc;
}

const struct lull_stage lull_stage_flow_whole = {
	.name = "flow_whole",
	.summary = "read packets, keep the records of flows and export them, all on one thread",
	.state_size = sizeof(struct flow_whole_stage),
	.init = whole_init,
	.pull = whole_pull,
	.iterate = whole_iterate,
	.command = whole_command,
	.counters = whole_counter_table,
	.counters_offset = offsetof(struct flow_whole_stage, counters),
};
