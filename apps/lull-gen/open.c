/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <lull/idle.h>

#include "program/live/start.h"
#include "gen.h"

#define MBUF_OVERHEAD_BYTES 512
#define ETHERNET_HEADER_BYTES 14
#define MTU_USUAL 1500

const struct lull_port *
gen_tx_port(const struct gen *gen)
{
	return &gen->ports[0];
}

const struct lull_port *
gen_rx_port(const struct gen *gen)
{
	return &gen->ports[gen->port_count - 1];
}

static uint16_t
open_frame_max(const struct gen *gen)
{
	const struct lull_arrival_config *arrival = &gen->settings.arrival;
	uint16_t frame_max = LULL_PROBE_FRAME_MIN;
	uint32_t i;

	if (gen->replay != NULL)
		return lull_replay_info(gen->replay)->frame_max_bytes;
	for (i = 0; i < arrival->size_count; i++)
		frame_max = LULL_MAX(frame_max, arrival->size_bytes[i]);
	return frame_max;
}

/* Both rings of both ports full, and what the threads hold in between. */
static uint32_t
open_mbufs(const struct gen *gen)
{
	return 4 * gen->settings.ring + 8 * gen->settings.burst + 1024;
}

/* The loop on the first CPU; the main thread on one that is neither first nor last. */
static int
open_engine(const struct gen *gen, struct lull_error *error)
{
	uint64_t bytes = (uint64_t)open_mbufs(gen) * (open_frame_max(gen) + MBUF_OVERHEAD_BYTES);
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus);
	struct lull_placement placement = { .count = 1 };

	placement.cpus[0] = gen->settings.cpus.count > 0 ? gen->settings.cpus.cpus[0] : cpus[0];
	placement.rest = count > 2 && cpus[1] != placement.cpus[0] ? cpus[1] : cpus[0];
	return lull_live_engine(gen->run.program, &gen->settings.devices, &placement, 3 * bytes,
				error);
}

static int
open_ports(struct gen *gen, struct lull_error *error)
{
	const struct gen_settings *settings = &gen->settings;
	uint16_t ids[GEN_PORTS_MAX];
	uint32_t count = LULL_MIN(lull_port_ids(ids, GEN_PORTS_MAX), GEN_PORTS_MAX);
	uint32_t tx = settings->tx_port, rx = settings->rx_port;
	uint16_t frame_max = open_frame_max(gen);
	struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = (uint16_t)settings->ring,
		.burst_pkts = (uint16_t)settings->burst,
		.promiscuous = true,
	};
	int rc;

	if (frame_max > MTU_USUAL + ETHERNET_HEADER_BYTES)
		config.mtu = frame_max - ETHERNET_HEADER_BYTES;
	if (rx == GEN_PORT_LAST)
		rx = count > 0 ? count - 1 : 0;
	if (settings->rx_only)
		tx = rx;
	if (settings->tx_only)
		rx = tx;
	if (tx >= count || rx >= count)
		return lull_error_set(error, -ENODEV, "%s-port: there is no port %u, ports: %u",
				      tx >= count ? "tx" : "rx", tx >= count ? tx : rx, count);
	rc = lull_port_open(ids[tx], &config, &gen->ports[0], error);
	if (rc == 0)
		gen->port_count = 1;
	if (rc == 0 && rx != tx) {
		rc = lull_port_open(ids[rx], &config, &gen->ports[1], error);
		gen->port_count = rc == 0 ? 2 : 1;
	}
	return rc;
}

static int
open_loop(struct gen *gen, struct lull_error *error)
{
	struct lull_loop_config config = {
		.name = "gen0",
		.kind = "traffic",
		.lcore_id = 1,
		.queue_count = gen->settings.tx_only ? 0 : 1,
		.queues = { { .port_id = gen_rx_port(gen)->port_id } },
		.burst_pkts = (uint16_t)gen->settings.burst,
		.governor = lull_idle_governor_find("spin"),
		.sched_policy = LULL_SCHED_OTHER, /* it never rests */
		.limits = { .ring_pkts = gen_rx_port(gen)->ring_pkts,
			    .held_pkts = gen_rx_port(gen)->held_pkts },
		.stage = &lull_stage_traffic,
		.stage_config = &gen->traffic,
	};
	int rc;

	gen->traffic = (struct lull_traffic_config){
		.source = !gen->settings.rx_only,
		.sink = !gen->settings.tx_only,
		.tx_port_id = gen_tx_port(gen)->port_id,
		.burst_pkts = (uint16_t)gen->settings.burst,
		.run = lull_live_run_number(),
		.flow_count = gen->settings.flows,
		.count_max = gen->settings.count,
		.arrival = gen->settings.arrival,
		.replay = gen->replay,
	};
	gen->traffic.pool = lull_traffic_pool_create("lull_gen", open_mbufs(gen),
						     &gen->settings.arrival, gen->replay, error);
	if (gen->traffic.pool == NULL)
		return -ENOMEM;
	rc = lull_live_loops_add(&gen->loops, &config, error);
	if (rc == 0)
		gen->state = lull_loop_stage_state(gen->loops.loops[0]);
	return rc;
}

static int
open_replay(struct gen *gen, struct lull_error *error)
{
	const struct lull_replay_config config = {
		.path = gen->settings.pcap,
		.speed = gen->settings.pcap_speed,
		.loop_count = gen->settings.pcap_loop,
	};
	int rc;

	if (gen->settings.pcap[0] == '\0')
		return 0;
	rc = lull_replay_open(&config, &gen->replay, error);
	if (rc != 0)
		lull_error_prefix(error, "pcap: ");
	return rc;
}

int
gen_open(void *state, struct lull_error *error)
{
	struct gen *gen = state;
	int rc = open_replay(gen, error);

	if (rc == 0)
		rc = open_engine(gen, error);
	if (rc == 0)
		rc = open_ports(gen, error);
	if (rc == 0)
		rc = open_loop(gen, error);
	return rc == 0 ? gen_control_start(gen, error) : rc;
}

void
gen_close(void *state)
{
	struct gen *gen = state;

	lull_telemetry_stop();
	lull_live_loops_destroy(&gen->loops);
	/* Closes the ports too. */
	if (lull_engine_running())
		lull_engine_fini();
	lull_replay_close(gen->replay);
}
