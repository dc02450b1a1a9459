/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline's parts, rings and end. Everything is made before its loops are and goes after them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "host/error.h"
#include "pipeline_config.h"
#include "pipeline_part.h"
#include "engine/dpdk/memory.h"
#include "engine/dpdk/port.h"

/* Frames of files up to jumbo size keep their whole payload. */
#define FRAME_BYTES 9216
#define POOL_CACHED 384 /* a loop's cache of buffers at its fullest */
#define FINISH_POLL_US 100

/* ---- rings ---- */

static struct rte_ring *
pipeline_ring(const struct lull_pipeline *pipeline, const char *kind, const uint32_t *pair,
	      uint32_t element_bytes, uint32_t count, struct lull_error *error)
{
	ssize_t bytes = rte_ring_get_memsize_elem(element_bytes, rte_align32pow2(count + 1));
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring = NULL;
	int rc = -ENOMEM;

	snprintf(name, sizeof(name), "%08x%s%u_%u", (uint32_t)pipeline->id, kind, pair[0], pair[1]);
	if (bytes > 0)
		ring = lull_memory_zalloc("lull_ring", (size_t)bytes, LULL_MEMORY_ANY_NODE);
	if (ring != NULL)
		rc = rte_ring_init(ring, name, count,
				   RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (rc == 0)
		return ring;
	lull_memory_free(ring);
	lull_error_set(error, rc, "pipeline: ring of %u: %s", count, strerror(-rc));
	return NULL;
}

/* What an I/O loop and a worker have between them. */
static int
pipeline_wire_input(struct lull_pipeline *pipeline, uint32_t io, uint32_t worker,
		    struct lull_error *error)
{
	struct flow_input *input = &pipeline->workers[worker]->inputs[io];
	const uint32_t pair[] = { io, worker };

	input->io = pipeline->ios[io];
	pipeline->workers[worker]->boards[io] = pipeline->boards[io];
	input->ring = pipeline_ring(pipeline, "i", pair, sizeof(void *), pipeline->config.ring_pkts,
				    error);
	pipeline->ios[io]->rings[worker] = input->ring;
	if (input->ring == NULL)
		return -ENOMEM;
	input->notes =
		pipeline_ring(pipeline, "n", pair, sizeof(struct flow_note), FLOW_NOTES, error);
	pipeline->ios[io]->notes[worker] = input->notes;
	return input->notes != NULL ? 0 : -ENOMEM;
}

static int
pipeline_wire_worker(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	struct flow_worker *worker = pipeline->workers[index];
	int rc = 0;

	/* A feed has no rings: it is the only input. */
	worker->inputs[0].io = pipeline->ios[0];
	for (uint32_t i = 0; rc == 0 && pipeline->feed == NULL && i < config->io_count; i++)
		rc = pipeline_wire_input(pipeline, i, index, error);
	for (uint32_t i = 0; rc == 0 && i < config->aggregator_count; i++) {
		const uint32_t pair[] = { index, i };

		worker->aggregators[i] = pipeline_ring(pipeline, "l", pair, worker->record_bytes,
						       config->aggregator_ring, error);
		pipeline->aggregators[i]->rings[index] = worker->aggregators[i];
		rc = worker->aggregators[i] != NULL ? 0 : -ENOMEM;
	}
	if (rc == 0 && pipeline->output != NULL) {
		const uint32_t pair[] = { index, 0 };

		worker->out = pipeline_ring(pipeline, "o", pair, sizeof(void *), config->ring_pkts,
					    error);
		pipeline->output->rings[index] = worker->out;
		rc = worker->out != NULL ? 0 : -ENOMEM;
	}
	return rc;
}

/* ---- buffers ---- */

struct rte_mempool *
lull_pipeline_pool(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
		   struct lull_error *error)
{
	return lull_pool_create_private(name, mbuf_count, len_bytes, LULL_PIPELINE_PRIVATE,
					(int)rte_socket_id(), error);
}

/* As many as can be anywhere at once: a source never waits for one that is not on its way. */
static uint32_t
pipeline_pool_pkts(const struct lull_pipeline_config *config)
{
	uint32_t loops = config->io_count + config->worker_count + 2;
	uint32_t per_pair = config->ring_pkts + config->flush_pkts;
	uint32_t per_worker = config->io_count * per_pair + 2 * FLOW_HANDS(config->io_count);
	uint32_t count = config->worker_count * per_worker;

	if (config->output)
		count += config->worker_count * config->ring_pkts + config->resequence.window_pkts;
	return count + config->io_count * (2 * LULL_BURST_MAX + LULL_FLOW_EARLY_MAX) +
	       loops * POOL_CACHED;
}

/* Each source has frames of its own. */
static int
pipeline_make_frames(struct lull_pipeline *pipeline, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	bool framed = false;

	for (uint32_t i = 0; i < config->io_count; i++) {
		if (config->sources[i].read == NULL)
			continue;
		pipeline->ios[i]->frames =
			flow_frames_create(pipeline_pool_pkts(config), config->worker_count,
					   !config->sources[i].stays);
		if (pipeline->ios[i]->frames == NULL)
			return lull_error_set(error, -ENOMEM, "pipeline: no memory for packets");
		framed = true;
	}
	for (uint32_t i = 0; i < config->worker_count; i++)
		pipeline->workers[i]->framed = framed;
	return 0;
}

static int
pipeline_make_pool(struct lull_pipeline *pipeline, struct lull_error *error)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	bool wanted = false;

	/* What is sent needs buffers of a pool. */
	if (pipeline->feed != NULL)
		return 0;
	if (!pipeline->config.output)
		return pipeline_make_frames(pipeline, error);
	for (uint32_t i = 0; i < pipeline->config.io_count; i++)
		wanted = wanted || pipeline->config.sources[i].read != NULL;
	if (!wanted)
		return 0;
	snprintf(name, sizeof(name), "%08xp", (uint32_t)pipeline->id);
	pipeline->pool =
		lull_pipeline_pool(name, pipeline_pool_pkts(&pipeline->config), FRAME_BYTES, error);
	return pipeline->pool != NULL ? 0 : -ENOMEM;
}

/* ---- create ---- */

static int
pipeline_make(struct lull_pipeline *pipeline, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < config->io_count; i++)
		rc = pipeline_make_io(pipeline, i, error);
	if (rc == 0 && config->workers_read) {
		pipeline->feed = flow_feed_create(pipeline);
		if (pipeline->feed == NULL)
			rc = lull_error_set(error, -ENOMEM, "pipeline: no memory to read ahead");
	}
	for (uint32_t i = 0; rc == 0 && i < config->worker_count; i++)
		rc = pipeline_make_worker(pipeline, i, error);
	for (uint32_t i = 0; rc == 0 && i < config->aggregator_count; i++)
		rc = pipeline_make_aggregator(pipeline, i, error);
	if (rc == 0 && config->output)
		rc = pipeline_make_output(pipeline, error);
	for (uint32_t i = 0; rc == 0 && i < config->worker_count; i++)
		rc = pipeline_wire_worker(pipeline, i, error);
	return rc == 0 ? pipeline_make_pool(pipeline, error) : rc;
}

int
lull_pipeline_create(const struct lull_pipeline_config *config, struct lull_pipeline **out,
		     struct lull_error *error)
{
	struct lull_pipeline *pipeline;
	int rc;

	pipeline = lull_memory_zalloc("lull_pipeline", sizeof(*pipeline), LULL_MEMORY_ANY_NODE);
	if (pipeline == NULL)
		return lull_error_set(error, -ENOMEM, "pipeline: out of memory");
	/* Its address tells its rings from those of another pipeline. */
	pipeline->id = (uintptr_t)pipeline / LULL_CACHE_LINE;
	rc = pipeline_config_fill(config, &pipeline->config, error);
	if (rc == 0)
		rc = pipeline_make(pipeline, error);
	if (rc != 0)
		lull_pipeline_destroy(pipeline);
	else
		*out = pipeline;
	return rc;
}

/* Packets first, their pool last. */
void
lull_pipeline_destroy(struct lull_pipeline *pipeline)
{
	if (pipeline == NULL)
		return;
	pipeline_free_output(pipeline->output);
	for (uint32_t i = 0; i < LULL_PIPELINE_AGGREGATOR_MAX; i++)
		pipeline_free_aggregator(pipeline->aggregators[i]);
	for (uint32_t i = 0; i < FLOW_WORKERS; i++)
		pipeline_free_worker(pipeline->workers[i]);
	for (uint32_t i = 0; i < LULL_PIPELINE_IO_MAX; i++) {
		pipeline_free_io(pipeline->ios[i]);
		lull_memory_free(pipeline->boards[i]);
	}
	flow_feed_destroy(pipeline->feed);
	lull_memory_free(pipeline->splits);
	rte_mempool_free(pipeline->pool);
	lull_memory_free(pipeline);
}

/* ---- the end ---- */

bool
lull_pipeline_ended(const struct lull_pipeline *pipeline, uint32_t io_index)
{
	return flow_io_ended(pipeline->ios[io_index]);
}

/* Who is not done, the first in the order of packets; NULL: all are. */
static const char *
pipeline_busy(const struct lull_pipeline *pipeline, uint32_t *index)
{
	const struct lull_pipeline_config *config = &pipeline->config;

	for (*index = 0; *index < config->io_count; ++*index) {
		if (!lull_pipeline_ended(pipeline, *index))
			return "io";
	}
	for (*index = 0; *index < config->worker_count; ++*index) {
		if (!__atomic_load_n(&pipeline->workers[*index]->done_all, __ATOMIC_ACQUIRE))
			return "worker";
	}
	for (*index = 0; *index < config->aggregator_count; ++*index) {
		if (!__atomic_load_n(&pipeline->aggregators[*index]->done, __ATOMIC_ACQUIRE))
			return "aggregator";
	}
	*index = 0;
	if (pipeline->output != NULL && !__atomic_load_n(&pipeline->output->done, __ATOMIC_ACQUIRE))
		return "output";
	return NULL;
}

int
lull_pipeline_finish(struct lull_pipeline *pipeline, uint64_t limit_ns, struct lull_error *error)
{
	uint64_t begin_ns = lull_clock_ns();
	const char *busy;
	uint32_t index;

	__atomic_store_n(&pipeline->closing, true, __ATOMIC_RELEASE);
	while ((busy = pipeline_busy(pipeline, &index)) != NULL) {
		if (lull_clock_ns() - begin_ns > limit_ns)
			return lull_error_set(error, -ETIMEDOUT, "%s %u is not done after %llu ms",
					      busy, index,
					      (unsigned long long)(limit_ns / LULL_NS_PER_MS));
		rte_delay_us_sleep(FINISH_POLL_US);
	}
	return 0;
}
