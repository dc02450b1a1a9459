/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "flow.h"
#include "program/live/ports.h"
#include "program/live/start.h"
#include "program/result.h"

#define MBUF_BYTES 2688 /* buffer of an ordinary frame, with all that belongs to it */
#define ORDINARY_MTU 1500
#define FRAME_BYTES 9728 /* the same of a frame in a file, which may be a large one */

/* ---- engine ---- */

/* Packets that rings and loops hold when all are full. */
static uint32_t
open_held_mbufs(const struct flow_settings *settings)
{
	uint32_t pairs = settings->io * settings->workers;
	uint32_t held = pairs * (settings->ring + 4 * LULL_BURST_MAX) +
			settings->io * LULL_FLOW_EARLY_MAX + 4096;

	if (flow_settings_has_output(settings))
		held += settings->workers * settings->ring + settings->resequence_window;
	return held;
}

static void
open_pipeline_flows(const struct flow_settings *settings, struct lull_pipeline_config *config)
{
	config->parser.inner = settings->inner;
	config->parser.key_parts = settings->key;
	config->parser.fragment_wait_ns = settings->fragment_wait_ns;
	config->parser.seed = (uint32_t)settings->seed;
	config->table = (struct lull_flow_table_config){
		.entries_max = settings->flows_max,
		.idle_ns = settings->idle_ns,
		.active_ns = settings->active_ns,
		.closed_ns = settings->closed_ns,
		.payload_bytes = settings->payload_bytes,
		.half_open_rate = settings->half_open_rate,
		.prefix4_bits = settings->prefix4,
		.prefix6_bits = settings->prefix6,
		/* Of captures the same each time, else a secret, as that of the digests. */
		.seed = settings->seed * 0x9e3779b97f4a7c15u,
	};
	config->identify = settings->identify;
}

static uint64_t
open_pipeline_bytes(const struct flow_settings *settings)
{
	struct lull_pipeline_config config = {
		.io_count = settings->io,
		.worker_count = settings->workers,
		.aggregator_count = settings->aggregators,
		.dispatch = flow_settings_dispatch(settings),
	};

	open_pipeline_flows(settings, &config);
	return lull_pipeline_bytes(&config);
}

/* Twice what packets need, for pools want it in one piece; tables are such pieces. */
static uint64_t
open_memory_bytes(const struct flow_settings *settings)
{
	uint64_t ports = flow_settings_ports(settings);
	uint64_t held = open_held_mbufs(settings);
	uint64_t mbufs = settings->io * (2ULL * settings->ring + 1024) + 2048 + held;
	uint64_t longer = settings->mtu > ORDINARY_MTU ? settings->mtu - ORDINARY_MTU : 0;
	uint64_t bytes = ports * mbufs * (MBUF_BYTES + longer);

	if (flow_settings_from_files(settings))
		bytes += held * FRAME_BYTES;
	return 2 * bytes + open_pipeline_bytes(settings);
}

static int
open_engine(struct flow *flow, struct lull_error *error)
{
	struct flow_settings *settings = &flow->settings;
	struct lull_placement placement;

	flow_place(settings, &placement);
	if (flow_settings_bare(settings))
		return lull_live_engine_bare(flow->run.program, &placement, error);
	return lull_live_engine(flow->run.program, &settings->devices, &placement,
				open_memory_bytes(settings), error);
}

/* ---- ports, files, exports ---- */

static int
open_ports(struct flow *flow, struct lull_error *error)
{
	const struct flow_settings *settings = &flow->settings;
	struct lull_port_config config = {
		.ring_pkts = (uint16_t)settings->ring,
		.burst_pkts = (uint16_t)settings->burst,
		.private_bytes = LULL_PIPELINE_PRIVATE,
		.mtu = (uint16_t)settings->mtu,
		.held_mbufs = open_held_mbufs(settings),
		.interrupt = true,
		.promiscuous = true,
		.symmetric = true,
		.rx_stamps = true,
	};
	uint16_t ids[FLOW_PORTS_MAX];
	uint32_t count = lull_port_ids(ids, FLOW_PORTS_MAX);
	int rc;

	if (count > FLOW_PORTS_MAX)
		return lull_error_set(error, -E2BIG, "%u ports, at most %d", count, FLOW_PORTS_MAX);
	flow->port_queues = count >= settings->io ? 1 : (uint16_t)settings->io;
	config.queues = flow->port_queues;
	for (; flow->port_count < count; flow->port_count++) {
		rc = lull_port_open(ids[flow->port_count], &config, &flow->ports[flow->port_count],
				    error);
		if (rc != 0 && config.queues > 1)
			lull_error_prefix(error,
					  "each of the %u I/O threads reads a queue of each "
					  "port: ",
					  settings->io);
		if (rc != 0)
			return rc;
	}
	for (uint32_t i = 0; i < flow->port_count; i++)
		flow_interfaces_add(&flow->interfaces, flow->ports[i].port_id + 1u,
				    flow->ports[i].name, strlen(flow->ports[i].name),
				    flow->ports[i].driver, strlen(flow->ports[i].driver));
	lull_live_tell_links(flow->run.program->name, flow->ports, flow->port_count);
	return 0;
}

/* Captures give the same decisions each time; who sends to ports must not know them in advance. */
static int
open_seed(struct flow_settings *settings, struct lull_error *error)
{
	uint32_t seed = 0;

	if (settings->seed != FLOW_SEED_NOT_CHOSEN)
		return 0;
	if (!flow_settings_from_files(settings) && getrandom(&seed, sizeof(seed), 0) < 0)
		return lull_error_set(error, -errno, "seed: %s", strerror(errno));
	settings->seed = seed;
	return 0;
}

/* What can be refused before anything is started. */
static int
open_inputs(struct flow *flow, struct lull_error *error)
{
	int rc = open_seed(&flow->settings, error);

	if (rc == 0 && flow_settings_from_files(&flow->settings))
		rc = flow_files_open(&flow->files, &flow->settings.pcap,
				     (flow->settings.key & LULL_FLOW_KEY_INTERFACE) != 0 ?
					     &flow->interfaces :
					     NULL,
				     error);
	if (rc == 0 && flow->settings.filter[0] != '\0')
		rc = flow_filter_open(&flow->filter, flow->settings.filter, error);
	if (rc == 0 && flow->settings.trace[0] != '\0')
		rc = flow_decisions_open(&flow->decisions, flow->settings.trace, error);
	return rc;
}

/* ---- pipeline ---- */

static int
open_pipeline(struct flow *flow, struct lull_error *error)
{
	const struct flow_settings *settings = &flow->settings;
	struct lull_pipeline_config config = {
		.io_count = settings->io,
		.worker_count = settings->workers,
		.aggregator_count = flow_aggregator_count(flow),
		.workers_read = flow_workers_read(flow),
		.ring_pkts = settings->ring,
		.burst_pkts = settings->burst,
		.flush_pkts = settings->flush_burst,
		.flush_ns = settings->flush_ns,
		.wait = flow_settings_from_files(settings),
		.late_ns = settings->late_ns,
		.dispatch = flow_settings_dispatch(settings),
		.resequence = { .window_pkts = settings->resequence_window,
				.delay_ns = settings->resequence_delay_ns },
		.output = flow_settings_has_output(settings),
		.output_send = settings->output.wanted,
		.work_ns = settings->worker_delay_ns,
	};
	int rc;

	open_pipeline_flows(settings, &config);
	if (settings->output.wanted)
		config.output_port = flow->ports[settings->output.port_index].port_id;
	if (config.wait)
		config.sources[0] = (struct lull_pipeline_source){
			.read = flow_files_read,
			.arg = &flow->files,
			.stays = flow_files_stay(&flow->files),
		};
	for (uint32_t i = 0; i < config.aggregator_count; i++)
		config.sinks[i] = flow_sink_instance(flow->sink, i);
	if (flow->filter != NULL) {
		config.accept = flow_filter_accept;
		config.accept_arg = flow->filter;
	}
	if (flow->decisions.file != NULL) {
		config.trace = flow_decisions_write;
		config.trace_arg = &flow->decisions;
	}
	rc = lull_pipeline_create(&config, &flow->pipeline, error);
	if (rc != 0)
		return rc;
	/* What they lose counts, except where one is there for the output alone. */
	for (uint32_t i = 0; rc == 0 && !config.wait && i < flow->port_count; i++)
		rc = lull_pipeline_port(flow->pipeline, &flow->ports[i]);
	return rc == 0 ? 0 : lull_error_set(error, rc, "%u ports are too many", flow->port_count);
}

/* ---- all of it ---- */

/* What the user may not do in the end is told before anything is received. */
static int
open_leave_root(struct flow *flow, struct lull_error *error)
{
	const char *json = flow->settings.json;
	int rc = 0;

	if (flow->user.wanted && json[0] != '\0') {
		lull_user_files(&flow->user, true);
		rc = lull_result_check(json, error);
		lull_user_files(&flow->user, false);
	}
	return rc == 0 ? lull_user_become(&flow->user, error) : rc;
}

int
flow_open(void *state, struct lull_error *error)
{
	struct flow *flow = state;
	bool bare = flow_settings_bare(&flow->settings);
	int rc = lull_user_begin(&flow->user, error);

	if (rc == 0)
		rc = open_inputs(flow, error);
	if (rc == 0)
		rc = open_engine(flow, error);
	if (rc == 0)
		rc = lull_user_keep(&flow->user, lull_engine_runtime_dir(), error);
	if (rc == 0 && !bare)
		rc = open_ports(flow, error);
	if (rc == 0)
		rc = flow_open_export(flow, error);
	if (rc == 0)
		rc = open_pipeline(flow, error);
	if (rc == 0)
		rc = flow_open_threads(flow, error);
	if (rc == 0)
		rc = flow_control_start(flow, error);
	return rc == 0 ? open_leave_root(flow, error) : rc;
}

void
flow_close(void *state)
{
	struct lull_error unheard;
	struct flow *flow = state;

	lull_telemetry_stop();
	lull_live_forget(&flow->live);
	lull_live_loops_destroy(&flow->loops);
	lull_pipeline_destroy(flow->pipeline);
	flow_sink_close(flow->sink);
	flow_decisions_close(&flow->decisions, flow->settings.trace, &unheard);
	flow_files_close(&flow->files);
	flow_interfaces_free(&flow->interfaces);
	flow_filter_close(flow->filter);
	/* Closes the ports too. */
	if (lull_engine_running())
		lull_engine_fini();
	lull_user_end(&flow->user);
}
