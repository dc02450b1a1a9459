/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/dpdk/port.h"
#include "program/live/ports.h"
#include "program/live/start.h"
#include "fwd.h"

#define MBUF_BYTES 2560  /* buffer of an ordinary frame, with all that belongs to it */
#define CACHED_MBUFS 512 /* that a thread keeps for itself, at most */

/* ---- engine ---- */

/* Both rings of the pair full, and what the threads hold in between. */
static uint32_t
open_traffic_mbufs(const struct fwd_settings *settings)
{
	return 4 * settings->ring.pkts + 8 * settings->burst + 1024;
}

/* A device on the bus may need a larger one, and most grant so much. */
static uint32_t
open_ring_pkts(const struct fwd_settings *settings)
{
	return settings->ring.automatic && settings->devices.pci.count > 0 ? 4096 :
									     settings->ring.pkts;
}

/* Twice what packets need: pools want it in one piece. */
static uint64_t
open_memory_bytes(const struct fwd_settings *settings)
{
	const struct lull_arrival_config *arrival = &settings->traffic.arrival;
	uint64_t ports = settings->traffic.wanted ? 2 : fwd_settings_ports(settings);
	uint64_t bytes = ports *
			 (settings->queues * (open_ring_pkts(settings) + settings->ring.pkts +
					      1024ULL + LULL_BURST_MAX) +
			  2048) *
			 MBUF_BYTES;
	uint32_t frame = 0;

	if (settings->share_queues)
		bytes += ports * settings->threads * CACHED_MBUFS * MBUF_BYTES;

	for (uint32_t i = 0; settings->traffic.wanted && i < arrival->size_count; i++)
		frame = LULL_MAX(frame, (uint32_t)arrival->size_bytes[i]);
	if (settings->traffic.wanted)
		bytes += (uint64_t)open_traffic_mbufs(settings) * (MBUF_BYTES + frame);
	return 2 * bytes;
}

/* Threads take the last CPUs, traffic the first. */
static void
open_placement(const struct fwd_settings *settings, struct lull_placement *placement)
{
	int cpus[LULL_CPU_MAX + 1], shared;
	uint32_t count = (uint32_t)lull_cpus_allowed(cpus);

	placement->count = settings->threads + settings->traffic.wanted;
	for (uint32_t i = 0; i < settings->threads; i++)
		placement->cpus[i] = settings->cpus.count > i ?
					     settings->cpus.cpus[i] :
					     cpus[count - 1 - (settings->threads - 1 - i) % count];
	if (settings->traffic.wanted)
		placement->cpus[settings->threads] =
			settings->traffic_cpu.count > 0 ? settings->traffic_cpu.cpus[0] : cpus[0];
	lull_placement_rest(placement);
	shared = lull_placement_shared(placement);
	if (shared >= 0)
		fprintf(stderr, "lull-fwd: loops share CPU %d: what they measure is each other\n",
			shared);
}

static int
open_engine(const struct fwd *fwd, struct lull_error *error)
{
	struct lull_placement placement;

	open_placement(&fwd->settings, &placement);
	return lull_live_engine(fwd->run.program, &fwd->settings.devices, &placement,
				open_memory_bytes(&fwd->settings), error);
}

/* ---- ports ---- */

static int
open_ports(struct fwd *fwd, struct lull_error *error)
{
	struct lull_port_config config = {
		.queues = (uint16_t)fwd->settings.queues,
		.ring_pkts = (uint16_t)fwd->settings.ring.pkts,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.held_mbufs = fwd->settings.queues * LULL_BURST_MAX, /* by full Tx rings */
		.interrupt = true,
		.promiscuous = true,
	};
	uint16_t ids[FWD_PORTS_MAX];
	uint32_t count = lull_port_ids(ids, FWD_PORTS_MAX);
	const struct lull_live_ring wish = {
		.size = fwd->settings.ring,
		.resting = &fwd->settings.resting,
		.queue_count = count * ((fwd->settings.queues + fwd->settings.threads - 1) /
					fwd->settings.threads),
	};
	int rc;

	/* Any thread may receive and send on any queue. */
	if (fwd->settings.share_queues)
		config.held_mbufs += fwd->settings.threads * CACHED_MBUFS;
	if (fwd->settings.traffic.wanted) {
		rc = lull_port_pair("traffic", &config, &fwd->traffic_port, &fwd->ports[0], error);
		fwd->port_count = 1;
		return rc;
	}
	if (count > FWD_PORTS_MAX)
		return lull_error_set(error, -E2BIG, "%u ports, at most %d", count, FWD_PORTS_MAX);
	for (; fwd->port_count < count; fwd->port_count++) {
		rc = lull_live_port_open(fwd->run.program->name, ids[fwd->port_count], &config,
					 &wish, &fwd->ports[fwd->port_count], error);
		if (rc != 0)
			return rc;
	}
	lull_live_tell_links(fwd->run.program->name, fwd->ports, fwd->port_count);
	return 0;
}

/* Ports forward in pairs; the last odd one to itself. */
static uint32_t
open_peer(const struct fwd *fwd, uint32_t port_index)
{
	uint32_t peer = port_index ^ 1;

	return peer < fwd->port_count ? peer : port_index;
}

/* ---- threads ---- */

static int
open_thread_queues(struct fwd *fwd, uint32_t thread_index, struct lull_loop_config *config,
		   struct lull_error *error)
{
	struct lull_live_loop *item = &fwd->loops.items[thread_index];
	struct lull_forward_config *forward = &fwd->forward[thread_index];
	/* Shared: all of them, in the same order for each thread. */
	uint32_t first = fwd->share != NULL ? 0 : thread_index;
	uint32_t step = fwd->share != NULL ? 1 : fwd->settings.threads;

	forward->mode = (enum lull_forward_mode)fwd->settings.mode;
	for (uint32_t p = 0; p < fwd->port_count; p++) {
		const struct lull_ring_facts rings = lull_port_rings(&fwd->ports[p]);

		for (uint32_t q = first; q < fwd->settings.queues; q += step) {
			uint32_t i = config->queue_count;

			if (i == LULL_IDLE_QUEUES_MAX)
				return lull_error_set(error, -E2BIG,
						      "more than %d queues for one thread; give "
						      "more threads",
						      LULL_IDLE_QUEUES_MAX);
			config->queues[i].port_id = fwd->ports[p].port_id;
			config->queues[i].queue_id = (uint16_t)q;
			forward->tx[i].port_id = fwd->ports[open_peer(fwd, p)].port_id;
			forward->tx[i].queue_id = (uint16_t)q;
			config->queue_count++;
		}
		lull_ring_facts_add(&item->rings, &rings);
	}
	forward->queue_count = config->queue_count;
	return 0;
}

static int
open_thread(struct fwd *fwd, uint32_t thread_index, struct lull_error *error)
{
	struct lull_loop_config config = {
		.kind = "forward",
		.lcore_id = thread_index + 1,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.stage = &lull_stage_forward,
		.stage_config = &fwd->forward[thread_index],
	};
	int rc = open_thread_queues(fwd, thread_index, &config, error);

	snprintf(config.name, sizeof(config.name), "fwd%u", thread_index);
	fwd->loops.items[thread_index].resting = fwd->settings.resting;
	if (fwd->share != NULL)
		config.share = &fwd->share->members[thread_index];
	if (rc == 0)
		rc = lull_live_loops_create(&fwd->loops, &config, error);
	if (rc == 0)
		lull_live_tell_nodes(fwd->run.program->name, fwd->loops.loops[thread_index],
				     &config, fwd->ports, fwd->port_count);
	return rc;
}

/* Once more: the options of EAL may have made ports too. */
static int
open_share(struct fwd *fwd, struct lull_error *error)
{
	uint32_t queues = fwd->port_count * fwd->settings.queues;
	int rc;

	if (!fwd->settings.share_queues)
		return 0;
	rc = fwd_share_check(&fwd->settings, queues, error);
	if (rc != 0)
		return rc;
	fwd->share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(fwd->settings.threads));
	if (fwd->share == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for shared queues");
	lull_share_init(fwd->share, queues, fwd->settings.threads, lull_clock_ns());
	return 0;
}

/* ---- traffic ---- */

static int
open_traffic(struct fwd *fwd, struct lull_error *error)
{
	struct lull_loop_config config = {
		.name = "gen0",
		.kind = "traffic",
		.lcore_id = fwd->settings.threads + 1,
		.queue_count = 1,
		.queues = { { .port_id = fwd->traffic_port.port_id } },
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.governor = lull_idle_governor_find("spin"),
		.sched_policy = LULL_SCHED_OTHER, /* it never rests */
		.limits = { .ring_pkts = fwd->settings.ring.pkts,
			    .envelope = LULL_ENVELOPE_LEARNED },
		.stage = &lull_stage_traffic,
		.stage_config = &fwd->traffic_config,
	};
	int rc;

	fwd->traffic_config = (struct lull_traffic_config){
		.source = true,
		.sink = true,
		.tx_port_id = fwd->traffic_port.port_id,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.run = lull_live_run_number(),
		.flow_count = fwd->settings.flows,
		.arrival = fwd->settings.traffic.arrival,
	};
	fwd->traffic_config.pool =
		lull_traffic_pool_create("lull_traffic", open_traffic_mbufs(&fwd->settings),
					 &fwd->settings.traffic.arrival, NULL, error);
	if (fwd->traffic_config.pool == NULL)
		return -ENOMEM;
	rc = lull_live_loops_add(&fwd->loops, &config, error);
	if (rc == 0)
		fwd->traffic = fwd->loops.loops[fwd->settings.threads];
	return rc;
}

int
fwd_open(void *state, struct lull_error *error)
{
	struct fwd *fwd = state;
	int rc = open_engine(fwd, error);

	if (rc == 0)
		rc = open_ports(fwd, error);
	if (rc == 0)
		rc = open_share(fwd, error);
	for (uint32_t i = 0; rc == 0 && i < fwd->settings.threads; i++)
		rc = open_thread(fwd, i, error);
	if (rc == 0 && fwd->settings.traffic.wanted)
		rc = open_traffic(fwd, error);
	return rc == 0 ? fwd_control_start(fwd, error) : rc;
}

void
fwd_close(void *state)
{
	struct fwd *fwd = state;

	lull_telemetry_stop();
	lull_live_loops_destroy(&fwd->loops);
	/* Closes the ports too. */
	if (lull_engine_running())
		lull_engine_fini();
	free(fwd->share);
	fwd->share = NULL;
}
