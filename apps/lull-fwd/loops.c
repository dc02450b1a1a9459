/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "fwd.h"

#define GENERATOR_LCORES_BEFORE 1 /* lcore 0 is the main thread */

static int
loops_wrong(struct lull_error *error, int rc, const char *text)
{
	return lull_error_set(error, rc, "%s", text);
}

/* Ports forward in pairs; a last odd one to itself. */
static uint32_t
loops_partner(const struct fwd *fwd, uint32_t port)
{
	uint32_t partner = port ^ 1u;

	return partner < fwd->port_count ? partner : port;
}

static void
loops_queues(const struct fwd *fwd, uint32_t thread, struct lull_loop_config *config,
	     struct lull_forward_config *forward)
{
	uint32_t port, queue, n = 0;

	for (port = 0; port < fwd->port_count; port++)
		for (queue = thread; queue < fwd->settings.queues; queue += fwd->settings.threads) {
			if (n == LULL_IDLE_QUEUES_MAX)
				break;
			config->queues[n] = (struct lull_loop_queue){
				.port_id = fwd->ports[port].port_id,
				.queue_id = (uint16_t)queue,
			};
			forward->tx[n].port_id = fwd->ports[loops_partner(fwd, port)].port_id;
			forward->tx[n].queue_id = (uint16_t)queue;
			n++;
		}
	config->queue_count = n;
	forward->queue_count = n;
	forward->mode = (enum lull_forward_mode)fwd->settings.mode;
}

static int
loops_forward(struct fwd *fwd, uint32_t thread, struct lull_error *error)
{
	const struct fwd_settings *settings = &fwd->settings;
	struct lull_loop_config config = {
		.kind = "forward",
		.lcore_id = thread + GENERATOR_LCORES_BEFORE,
		.burst_pkts = (uint16_t)settings->burst,
		.governor = fwd_settings_governor(settings),
		.limits = fwd_settings_limits(settings, fwd->ring.ring_pkts, fwd->ring.held_pkts,
					      fwd->ring.link_pps),
		.stage = &lull_stage_forward,
		.stage_config = &fwd->forward[thread],
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	snprintf(config.name, sizeof(config.name), "fwd%u", thread);
	loops_queues(fwd, thread, &config, &fwd->forward[thread]);
	fwd->loop_settings[thread] = *settings;
	rc = lull_loop_create(&config, &fwd->loops[fwd->loop_count], text);
	if (rc != 0)
		return loops_wrong(error, rc, text);
	fwd->loop_count++;
	return 0;
}

/* A number no earlier start is likely to have had; 0 is as good as any. */
static uint16_t
loops_run_number(void)
{
	uint64_t mix = (lull_clock_ns() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15ULL;

	return (uint16_t)(mix >> 48);
}

static int
loops_traffic(struct fwd *fwd, struct lull_error *error)
{
	const struct fwd_settings *settings = &fwd->settings;
	struct lull_loop_config config = {
		.name = "gen0",
		.kind = "traffic",
		.lcore_id = settings->threads + GENERATOR_LCORES_BEFORE,
		.queue_count = 1,
		.queues = { { .port_id = fwd->traffic_port.port_id } },
		.burst_pkts = (uint16_t)settings->burst,
		.governor = lull_idle_governor_find("spin"),
		.limits = { .ring_pkts = fwd->traffic_port.ring_pkts },
		.stage = &lull_stage_traffic,
		.stage_config = &fwd->traffic,
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	fwd->traffic = (struct lull_traffic_config){
		.source = true,
		.sink = true,
		.tx_port_id = fwd->traffic_port.port_id,
		.burst_pkts = (uint16_t)settings->burst,
		.run = loops_run_number(),
		.flow_count = settings->flows,
		.arrival = settings->traffic.arrival,
		.pool = lull_traffic_pool_create("lull_traffic", 4 * settings->ring + 4096,
						 &settings->traffic.arrival, NULL, text),
	};
	if (fwd->traffic.pool == NULL)
		return loops_wrong(error, -ENOMEM, text);
	rc = lull_loop_create(&config, &fwd->generator, text);
	if (rc != 0)
		return loops_wrong(error, rc, text);
	fwd->loops[fwd->loop_count++] = fwd->generator;
	return 0;
}

int
fwd_loops_create(struct fwd *fwd, struct lull_error *error)
{
	uint32_t thread;
	int rc = 0;

	for (thread = 0; rc == 0 && thread < fwd->settings.threads; thread++)
		rc = loops_forward(fwd, thread, error);
	if (rc == 0 && fwd->settings.traffic.wanted)
		rc = loops_traffic(fwd, error);
	return rc;
}
