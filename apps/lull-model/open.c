/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/dpdk/port.h"
#include "program/live/start.h"
#include "framework.h"

#define MBUF_BYTES 2560 /* buffer of an ordinary frame, with all that belongs to it */
#define BPS_PER_MBPS 1000000
#define KERNEL_SLACK_NS (50 * LULL_NS_PER_US)
/* The application and the link: they rest so, whatever they have to do. */
#define OTHERS_REST_NS (50 * LULL_NS_PER_US)

/* Is the link made here? A port that sends at a rate of its own needs none. */
static bool
open_has_link(const struct framework *framework)
{
	return framework->settings.link_bps > 0 && framework_has(framework, MODEL_SEND) &&
	       !framework->ports[0].hardware && !framework->settings.burst_cost;
}

const struct lull_port *
framework_tx_port(const struct framework *framework)
{
	return model_settings_ports(&framework->settings) > 0 ? &framework->ports[0] :
								&framework->rx.in;
}

const struct lull_port *
framework_rx_port(const struct framework *framework)
{
	return model_settings_ports(&framework->settings) > 0 ? &framework->ports[1] :
								&framework->rx.out;
}

/* ---- engine ---- */

/* Every ring full, and what the threads hold in between. */
static uint32_t
open_pool_mbufs(const struct model_settings *settings)
{
	return 2 * settings->ring + 2 * settings->public_ring + 8 * settings->burst + 4096;
}

/* Half as much again: pools want theirs in one piece. */
static uint64_t
open_memory_bytes(const struct model_settings *settings)
{
	/* Each port has buffers of its own, though ring ports do not use them. */
	uint64_t rings = 4ULL * (2ULL * settings->ring + 3072) +
			 4ULL * (2ULL * settings->public_ring + 3072);
	uint64_t mbufs = rings + 2 * (2ULL * settings->ring + 3072) + open_pool_mbufs(settings);

	return 3 * mbufs * MBUF_BYTES / 2;
}

/* Measured loops take the last CPUs; the others those that are left, or else share by turns. */
static void
open_placement(const struct framework *framework, struct lull_placement *placement)
{
	static const enum model_role measured[] = { MODEL_SENDER, MODEL_RECEIVER };
	static const enum model_role others[] = { MODEL_LINK, MODEL_PRODUCER, MODEL_CONSUMER };
	const struct lull_cpu_list *wanted = &framework->settings.cpus;
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus), next = count, taken = 0;

	*placement = (struct lull_placement){ .count = MODEL_ROLES, .rest = cpus[0] };
	for (size_t i = 0; i < 2; i++) {
		if (!framework_has(framework, i == 0 ? MODEL_SEND : MODEL_RECEIVE))
			continue;
		next = next > 0 ? next - 1 : count - 1;
		placement->cpus[measured[i]] =
			wanted->count > 0 ? wanted->cpus[taken++] : cpus[next];
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		next = next > 0 ? next - 1 : count - 1;
		placement->cpus[others[i]] = cpus[next];
	}
}

static int
open_engine(const struct framework *framework, struct lull_error *error)
{
	struct lull_placement placement;

	open_placement(framework, &placement);
	return lull_live_engine(framework->run.program, &framework->settings.devices, &placement,
				open_memory_bytes(&framework->settings), error);
}

/* ---- ports ---- */

static int
open_ring(const char *name, uint32_t ring_pkts, uint32_t burst_pkts, struct model_ring *ring,
	  struct lull_error *error)
{
	const struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = (uint16_t)ring_pkts,
		.burst_pkts = (uint16_t)burst_pkts,
	};

	return lull_port_pair(name, &config, &ring->in, &ring->out, error);
}

/* Port 0 sends, the last one receives; a single one does whichever its side does. */
static int
open_ports(struct framework *framework, struct lull_error *error)
{
	const struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = (uint16_t)framework->settings.ring,
		.burst_pkts = (uint16_t)framework->settings.burst,
		.promiscuous = true,
	};
	uint32_t wanted = model_settings_ports(&framework->settings), count;
	uint16_t ids[2];
	int rc = 0;

	count = lull_port_ids(ids, 2);
	if (count != wanted)
		return lull_error_set(error, -ENODEV,
				      "%u ports came up, not %u: look at vdev, pci "
				      "and eal",
				      count, wanted);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = lull_port_open(ids[i], &config, &framework->ports[i], error);
	if (rc == 0 && count == 1)
		framework->ports[1] = framework->ports[0];
	return rc;
}

static int
open_rings(struct framework *framework, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	uint32_t burst = settings->burst;
	int rc = 0;

	if (model_settings_ports(settings) == 0)
		rc = open_ring("rx", settings->ring, burst, &framework->rx, error);
	if (rc == 0 && open_has_link(framework))
		rc = open_ring("tx", settings->ring, burst, &framework->tx, error);
	if (rc == 0 && framework_has(framework, MODEL_SEND))
		rc = open_ring("send", settings->public_ring, burst, &framework->public_send,
			       error);
	if (rc == 0 && framework_has(framework, MODEL_RECEIVE))
		rc = open_ring("receive", settings->public_ring, burst, &framework->public_receive,
			       error);
	return rc;
}

static int
open_pool(struct framework *framework, struct lull_error *error)
{
	framework->pool = lull_pool_create("lull_model", open_pool_mbufs(&framework->settings),
					   (uint16_t)framework->settings.size, error);
	return framework->pool != NULL ? 0 : -ENOMEM;
}

/* ---- loops ---- */

static int
open_loop(struct framework *framework, enum model_role role, struct lull_loop_config *config,
	  struct lull_error *error)
{
	config->lcore_id = (unsigned int)role + 1;
	config->burst_pkts = (uint16_t)framework->settings.burst;
	return lull_loop_create(config, &framework->loops[role].loop, error);
}

/* The application and the link rest a little each time, for they share CPUs with the measured. */
static int
open_other(struct framework *framework, enum model_role role, const char *name,
	   const struct lull_stage *stage, const void *stage_config, const struct lull_port *rx,
	   struct lull_error *error)
{
	struct lull_loop_config config = {
		.kind = stage->name,
		.queue_count = rx != NULL,
		.queues = { { .port_id = rx != NULL ? rx->port_id : 0 } },
		.governor = lull_idle_governor_find("fixed"),
		.sched_policy = LULL_SCHED_OTHER,
		.limits = { .rest_ns = OTHERS_REST_NS },
		.stage = stage,
		.stage_config = stage_config,
	};

	snprintf(config.name, sizeof(config.name), "%s", name);
	return open_loop(framework, role, &config, error);
}

/* What is received at @p rx leaves at @p tx. */
static int
open_measured(struct framework *framework, enum model_role role, const struct lull_port *rx,
	      const struct lull_port *tx, bool wait, uint64_t pps_max, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	bool sender = role == MODEL_SENDER;
	const struct rest_spec *rest = sender ? &settings->send_rest : &settings->receive_rest;
	const struct lull_ring_facts rings = lull_port_rings(rx);
	const struct lull_forward_config forward = {
		.mode = LULL_FORWARD_IO,
		.wait = wait,
		.queue_count = 1,
		.tx = { { .port_id = tx->port_id } },
	};
	struct lull_loop_config config = {
		.kind = "forward",
		.queue_count = 1,
		.queues = { { .port_id = rx->port_id } },
		.governor = rest->governor,
		.sched_policy = LULL_SCHED_OTHER, /* the sleeps published are those of such */
		.limits = model_settings_limits(settings, sender, &rings, pps_max),
		.stage = &lull_stage_forward,
		.stage_config = &forward,
		.way = rest->sleep != NULL ? &rest->sleep->way : NULL,
		.slack_ns = settings->slack_ns,
	};
	int rc;

	if (config.slack_ns == 0 && rest->sleep != NULL)
		config.slack_ns = KERNEL_SLACK_NS;
	snprintf(config.name, sizeof(config.name), "%s", sender ? "sender" : "receiver");
	rc = open_loop(framework, role, &config, error);
	if (rc == 0)
		framework->measured[framework->measured_count++] = framework->loops[role].loop;
	return rc;
}

/* What can come to the receiver: all packets of ours have one size. */
static uint64_t
open_pps_max(const struct framework *framework)
{
	const struct model_settings *settings = &framework->settings;
	const struct lull_port *rx = framework_rx_port(framework);

	if (rx->hardware)
		return lull_link_pps(rx->link_mbps);
	return settings->link_bps / (8 * (settings->size + MODEL_WIRE_EXTRA_BYTES));
}

static int
open_receive_side(struct framework *framework, struct lull_error *error)
{
	int rc = open_other(framework, MODEL_CONSUMER, "consumer", &lull_stage_consume, NULL,
			    &framework->public_receive.out, error);

	if (rc != 0)
		return rc;
	return open_measured(framework, MODEL_RECEIVER, framework_rx_port(framework),
			     &framework->public_receive.in, false, open_pps_max(framework), error);
}

static int
open_link(struct framework *framework, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	const struct lull_link_config config = {
		.rx_port_id = framework->tx.out.port_id,
		.tx_port_id = framework_tx_port(framework)->port_id,
		.burst_pkts = (uint16_t)settings->burst,
		.ring_pkts = settings->ring,
		.mbps = (uint32_t)(settings->link_bps / BPS_PER_MBPS),
	};

	return open_other(framework, MODEL_LINK, "link", &lull_stage_link, &config, NULL, error);
}

static int
open_send_side(struct framework *framework, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	const struct lull_produce_config produce = {
		.tx_port_id = framework->public_send.in.port_id,
		.len_bytes = (uint16_t)(settings->size - MODEL_CRC_BYTES),
		.burst_pkts = (uint16_t)settings->burst,
		.run = framework->number,
		.ring_pkts = settings->public_ring,
		.pps = settings->pps,
		.pool = framework->pool,
	};
	bool link = open_has_link(framework);
	int rc = link ? open_link(framework, error) : 0;

	if (rc == 0)
		rc = open_measured(framework, MODEL_SENDER, &framework->public_send.out,
				   link ? &framework->tx.in : framework_tx_port(framework), link, 0,
				   error);
	return rc == 0 ? open_other(framework, MODEL_PRODUCER, "producer", &lull_stage_produce,
				    &produce, NULL, error) :
			 rc;
}

/* ---- all of it ---- */

/* Nothing changes while it measures. */
static int
open_telemetry(struct framework *framework, struct lull_error *error)
{
	framework->live = (struct lull_live){
		.telemetry = {
			.loops = framework->measured,
			.loop_count = framework->measured_count,
		},
	};
	return lull_live_start(&framework->live, &framework->run, error);
}

static int
open_loops(struct framework *framework, struct lull_error *error)
{
	int rc = 0;

	if (framework_has(framework, MODEL_RECEIVE))
		rc = open_receive_side(framework, error);
	if (rc == 0 && framework_has(framework, MODEL_SEND))
		rc = open_send_side(framework, error);
	return rc == 0 ? open_telemetry(framework, error) : rc;
}

int
framework_open(void *state, struct lull_error *error)
{
	struct framework *framework = state;
	int rc = open_engine(framework, error);

	framework->number = lull_live_run_number();
	if (rc == 0)
		rc = open_ports(framework, error);
	if (rc == 0)
		rc = open_rings(framework, error);
	if (rc == 0 && framework_has(framework, MODEL_SEND))
		rc = open_pool(framework, error);
	return rc == 0 && !framework->settings.burst_cost ? open_loops(framework, error) : rc;
}

void
framework_close(void *state)
{
	struct framework *framework = state;

	lull_telemetry_stop();
	/* A sender may wait for its link: the link ends after it. */
	for (int role = MODEL_ROLES - 1; role >= 0; role--)
		if (framework->loops[role].loop != NULL)
			lull_loop_stop(framework->loops[role].loop);
	for (int role = 0; role < MODEL_ROLES; role++)
		lull_loop_destroy(framework->loops[role].loop);
	/* Closes the ports too. */
	if (lull_engine_running())
		lull_engine_fini();
	free(framework->costs);
}
