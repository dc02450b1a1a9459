/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/dpdk/port.h"
#include "fwd.h"

#define MBUF_BYTES 2560 /* buffer of an ordinary frame, with all that belongs to it */
#define BYTES_PER_MB (1024 * 1024)
#define MEMORY_MB_LEAST 256

static int
open_wrong(struct lull_error *error, int rc, const char *text)
{
	return lull_error_set(error, rc, "%s", text);
}

/* ---- engine ---- */

/* Both rings of the pair full, and what the threads hold in between. */
static uint32_t
open_traffic_mbufs(const struct fwd_settings *settings)
{
	return 4 * settings->ring + 8 * settings->burst + 1024;
}

static uint32_t
open_memory_mb(const struct fwd_settings *settings)
{
	const struct lull_arrival_config *arrival = &settings->traffic.arrival;
	uint64_t ports = settings->traffic.wanted ? 2 : settings->vdev.count + settings->pci.count;
	uint64_t bytes =
		ports * (settings->queues * (2ULL * settings->ring + 1024) + 2048) * MBUF_BYTES;
	uint32_t frame = 0;

	for (uint32_t i = 0; settings->traffic.wanted && i < arrival->size_count; i++)
		frame = LULL_MAX(frame, (uint32_t)arrival->size_bytes[i]);
	if (settings->traffic.wanted)
		bytes += (uint64_t)open_traffic_mbufs(settings) * (MBUF_BYTES + frame);
	return LULL_MAX(MEMORY_MB_LEAST,
			(uint32_t)(2 * bytes / BYTES_PER_MB) + MEMORY_MB_LEAST / 2);
}

static int
open_engine(const struct fwd_settings *settings, struct lull_error *error)
{
	const char *vdevs[LULL_OPTION_LIST_MAX], *pcis[LULL_OPTION_LIST_MAX];
	struct lull_engine_config config = { .program = fwd_program.name };
	int cpus[FWD_THREADS_MAX + 1];
	char text[LULL_ERROR_SIZE];
	struct fwd_seats seats;
	int rc;

	for (uint32_t i = 0; i < settings->vdev.count; i++)
		vdevs[i] = settings->vdev.items[i];
	for (uint32_t i = 0; i < settings->pci.count; i++)
		pcis[i] = settings->pci.items[i];
	fwd_seats_choose(settings, &seats);
	memcpy(cpus, seats.threads, sizeof(seats.threads));
	cpus[settings->threads] = seats.traffic;
	config.vdevs = vdevs;
	config.vdev_count = settings->vdev.count;
	config.pcis = pcis;
	config.pci_count = settings->pci.count;
	config.cpus = cpus;
	config.cpu_count = settings->threads + settings->traffic.wanted;
	config.main_cpu = seats.rest;
	config.eal = settings->eal[0] != '\0' ? settings->eal : NULL;
	config.memory_mb = open_memory_mb(settings);
	rc = lull_engine_init(&config, text);
	return rc == 0 ? 0 : open_wrong(error, rc, text);
}

/* ---- ports ---- */

static int
open_ports(struct fwd *fwd, struct lull_error *error)
{
	const struct lull_port_config config = {
		.queues = (uint16_t)fwd->settings.queues,
		.ring_pkts = (uint16_t)fwd->settings.ring,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.interrupt = true,
		.promiscuous = true,
	};
	uint16_t ids[FWD_PORTS_MAX];
	uint32_t count = lull_port_ids(ids, FWD_PORTS_MAX);
	char text[LULL_ERROR_SIZE];
	int rc;

	if (fwd->settings.traffic.wanted) {
		rc = lull_port_pair("traffic", &config, &fwd->traffic_port, &fwd->ports[0], text);
		fwd->port_count = 1;
		return rc == 0 ? 0 : open_wrong(error, rc, text);
	}
	if (count > FWD_PORTS_MAX)
		return lull_error_set(error, -E2BIG, "%u ports, at most %d", count, FWD_PORTS_MAX);
	for (; fwd->port_count < count; fwd->port_count++) {
		rc = lull_port_open(ids[fwd->port_count], &config, &fwd->ports[fwd->port_count],
				    text);
		if (rc != 0)
			return open_wrong(error, rc, text);
	}
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
	struct fwd_thread *thread = &fwd->threads[thread_index];
	struct lull_forward_config *forward = &thread->forward;

	forward->mode = (enum lull_forward_mode)fwd->settings.mode;
	for (uint32_t p = 0; p < fwd->port_count; p++) {
		const struct lull_ring_facts rings = lull_port_rings(&fwd->ports[p]);

		for (uint32_t q = thread_index; q < fwd->settings.queues;
		     q += fwd->settings.threads) {
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
		lull_ring_facts_add(&thread->rings, &rings);
	}
	forward->queue_count = config->queue_count;
	return 0;
}

int
fwd_thread_limits(const struct fwd_thread *thread, struct lull_idle_limits *limits,
		  struct lull_error *error)
{
	const struct lull_resting *resting = &thread->settings.resting;
	struct lull_range wrong;

	*limits = lull_resting_limits(resting, &thread->rings);
	if (limits->envelope == LULL_ENVELOPE_LINK && limits->pps_max == 0)
		return lull_error_set(
			error, -EINVAL,
			"pps-max: a port tells no link rate; say learned or a number");
	if (lull_idle_config_check(limits, &wrong) != 0)
		return lull_error_range(error, &wrong);
	return 0;
}

static int
open_thread(struct fwd *fwd, uint32_t thread_index, struct lull_error *error)
{
	struct fwd_thread *thread = &fwd->threads[thread_index];
	struct lull_loop_config config = {
		.kind = "forward",
		.lcore_id = thread_index + 1,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.governor = lull_resting_governor(&fwd->settings.resting),
		.sched_policy = (enum lull_sched_policy)fwd->settings.resting.sched_policy,
		.stage = &lull_stage_forward,
		.stage_config = &thread->forward,
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	snprintf(config.name, sizeof(config.name), "fwd%u", thread_index);
	thread->settings = fwd->settings;
	rc = open_thread_queues(fwd, thread_index, &config, error);
	if (rc == 0)
		rc = fwd_thread_limits(thread, &config.limits, error);
	if (rc != 0)
		return rc;
	rc = lull_loop_create(&config, &thread->loop, text);
	if (rc != 0)
		return open_wrong(error, rc, text);
	fwd->loops[fwd->loop_count++] = thread->loop;
	return 0;
}

/* ---- traffic ---- */

/* A number no earlier start is likely to have had; 0 is as good as any. */
static uint16_t
open_run_number(void)
{
	uint64_t mix = (lull_clock_ns() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15ULL;

	return (uint16_t)(mix >> 48);
}

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
		.limits = { .ring_pkts = fwd->settings.ring, .envelope = LULL_ENVELOPE_LEARNED },
		.stage = &lull_stage_traffic,
		.stage_config = &fwd->traffic_config,
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	fwd->traffic_config = (struct lull_traffic_config){
		.source = true,
		.sink = true,
		.tx_port_id = fwd->traffic_port.port_id,
		.burst_pkts = (uint16_t)fwd->settings.burst,
		.run = open_run_number(),
		.flow_count = fwd->settings.flows,
		.arrival = fwd->settings.traffic.arrival,
	};
	fwd->traffic_config.pool =
		lull_traffic_pool_create("lull_traffic", open_traffic_mbufs(&fwd->settings),
					 &fwd->settings.traffic.arrival, NULL, text);
	if (fwd->traffic_config.pool == NULL)
		return open_wrong(error, -ENOMEM, text);
	rc = lull_loop_create(&config, &fwd->traffic, text);
	if (rc != 0)
		return open_wrong(error, rc, text);
	fwd->loops[fwd->loop_count++] = fwd->traffic;
	return 0;
}

/* ---- all of it ---- */

static int
open_loops(struct fwd *fwd, struct lull_error *error)
{
	int rc = 0;

	for (; rc == 0 && fwd->thread_count < fwd->settings.threads; fwd->thread_count++)
		rc = open_thread(fwd, fwd->thread_count, error);
	if (rc == 0 && fwd->settings.traffic.wanted)
		rc = open_traffic(fwd, error);
	if (rc != 0)
		return rc;
	fwd_control_init(fwd);
	rc = lull_telemetry_start(&fwd->telemetry);
	return rc == 0 ? 0 : lull_error_set(error, rc, "telemetry: %s", strerror(-rc));
}

int
fwd_open(struct fwd *fwd, struct lull_error *error)
{
	int rc;

	/* Blocked before any other thread exists: this thread takes them when it likes. */
	sigemptyset(&fwd->signals);
	sigaddset(&fwd->signals, SIGINT);
	sigaddset(&fwd->signals, SIGTERM);
	sigaddset(&fwd->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &fwd->signals, NULL);
	rc = open_engine(&fwd->settings, error);
	if (rc != 0)
		return rc;
	fwd->engine = true;
	rc = open_ports(fwd, error);
	return rc == 0 ? open_loops(fwd, error) : rc;
}

void
fwd_close(struct fwd *fwd)
{
	lull_telemetry_stop();
	for (uint32_t i = 0; i < fwd->loop_count; i++)
		lull_loop_stop(fwd->loops[i]);
	for (uint32_t i = 0; i < fwd->loop_count; i++)
		lull_loop_destroy(fwd->loops[i]);
	/* Closes the ports too. */
	if (fwd->engine)
		lull_engine_fini();
}
