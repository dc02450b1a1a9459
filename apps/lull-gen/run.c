/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lull/idle.h>
#include <lull/rest.h>

#include "gen.h"

#define STEP_NS (5 * LULL_NS_PER_MS)
#define MBUF_OVERHEAD_BYTES 512
#define BYTES_PER_MB (1024 * 1024)
#define MEMORY_MB_LEAST 256
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

/* ---- set up ---- */

static int
run_wrong(struct lull_error *error, int rc, const char *text)
{
	return lull_error_set(error, rc, "%s", text);
}

/* The first CPU this process may use; for the main thread one that is neither first nor last. */
static void
run_cpus(const struct gen *gen, int *loop_cpu, int *main_cpu)
{
	cpu_set_t allowed;
	int first = 0, second = -1, cpu, count = 0;

	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		for (cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
			if (CPU_ISSET((unsigned int)cpu, &allowed)) {
				second = first;
				first = cpu;
				count++;
			}
	*loop_cpu = gen->settings.cpus.count > 0 ? gen->settings.cpus.cpus[0] : first;
	*main_cpu = count > 2 && second != *loop_cpu ? second : first;
}

static uint16_t
run_frame_max(const struct gen *gen)
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
run_mbufs(const struct gen *gen)
{
	return 4 * gen->settings.ring + 8 * gen->settings.burst + 1024;
}

static int
run_engine(const struct gen *gen, struct lull_error *error)
{
	const struct gen_settings *settings = &gen->settings;
	const char *vdevs[LULL_OPTION_LIST_MAX], *pcis[LULL_OPTION_LIST_MAX];
	struct lull_engine_config config = { .program = gen_program.name };
	uint64_t bytes = (uint64_t)run_mbufs(gen) * (run_frame_max(gen) + MBUF_OVERHEAD_BYTES);
	char text[LULL_ERROR_SIZE];
	int loop_cpu;
	uint32_t i;
	int rc;

	for (i = 0; i < settings->vdev.count; i++)
		vdevs[i] = settings->vdev.items[i];
	for (i = 0; i < settings->pci.count; i++)
		pcis[i] = settings->pci.items[i];
	run_cpus(gen, &loop_cpu, &config.main_cpu);
	config.vdevs = vdevs;
	config.vdev_count = settings->vdev.count;
	config.pcis = pcis;
	config.pci_count = settings->pci.count;
	config.cpus = &loop_cpu;
	config.cpu_count = 1;
	config.eal = settings->eal[0] != '\0' ? settings->eal : NULL;
	config.memory_mb = LULL_MAX(MEMORY_MB_LEAST,
				    (uint32_t)(3 * bytes / BYTES_PER_MB) + MEMORY_MB_LEAST / 2);
	rc = lull_engine_init(&config, text);
	return rc == 0 ? 0 : run_wrong(error, rc, text);
}

static int
run_ports(struct gen *gen, struct lull_error *error)
{
	const struct gen_settings *settings = &gen->settings;
	uint16_t ids[GEN_PORTS_MAX];
	uint32_t count = LULL_MIN(lull_port_ids(ids, GEN_PORTS_MAX), GEN_PORTS_MAX);
	uint32_t tx = settings->tx_port, rx = settings->rx_port;
	uint16_t frame_max = run_frame_max(gen);
	struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = (uint16_t)settings->ring,
		.burst_pkts = (uint16_t)settings->burst,
		.promiscuous = true,
	};
	char text[LULL_ERROR_SIZE];
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
	rc = lull_port_open(ids[tx], &config, &gen->ports[0], text);
	if (rc == 0)
		gen->port_count = 1;
	if (rc == 0 && rx != tx) {
		rc = lull_port_open(ids[rx], &config, &gen->ports[1], text);
		gen->port_count = rc == 0 ? 2 : 1;
	}
	return rc == 0 ? 0 : run_wrong(error, rc, text);
}

/* A number no earlier start is likely to have had; 0 is as good as any. */
static uint16_t
run_number(void)
{
	uint64_t mix = (lull_clock_ns() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15ULL;

	return (uint16_t)(mix >> 48);
}

static int
run_loop(struct gen *gen, struct lull_error *error)
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
	char text[LULL_ERROR_SIZE];
	int rc;

	gen->traffic = (struct lull_traffic_config){
		.source = !gen->settings.rx_only,
		.sink = !gen->settings.tx_only,
		.tx_port_id = gen_tx_port(gen)->port_id,
		.burst_pkts = (uint16_t)gen->settings.burst,
		.run = run_number(),
		.flow_count = gen->settings.flows,
		.count_max = gen->settings.count,
		.arrival = gen->settings.arrival,
		.replay = gen->replay,
	};
	gen->traffic.pool = lull_traffic_pool_create("lull_gen", run_mbufs(gen),
						     &gen->settings.arrival, gen->replay, text);
	if (gen->traffic.pool == NULL)
		return run_wrong(error, -ENOMEM, text);
	rc = lull_loop_create(&config, &gen->loop, text);
	if (rc != 0)
		return run_wrong(error, rc, text);
	gen->loops[0] = gen->loop;
	gen->state = lull_loop_stage_state(gen->loop);
	gen_control_init(gen);
	rc = lull_telemetry_start(&gen->telemetry);
	return rc == 0 ? 0 : lull_error_set(error, rc, "telemetry: %s", strerror(-rc));
}

static int
run_replay(struct gen *gen, struct lull_error *error)
{
	const struct lull_replay_config config = {
		.path = gen->settings.pcap,
		.speed = gen->settings.pcap_speed,
		.loop_count = gen->settings.pcap_loop,
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	if (gen->settings.pcap[0] == '\0')
		return 0;
	rc = lull_replay_open(&config, &gen->replay, text);
	return rc == 0 ? 0 : lull_error_set(error, rc, "pcap: %s", text);
}

int
gen_open(struct gen *gen, struct lull_error *error)
{
	int rc;

	/* blocked before any other thread exists: this thread takes them when it likes */
	sigemptyset(&gen->signals);
	sigaddset(&gen->signals, SIGINT);
	sigaddset(&gen->signals, SIGTERM);
	sigaddset(&gen->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &gen->signals, NULL);
	rc = run_replay(gen, error);
	if (rc != 0)
		return rc;
	rc = run_engine(gen, error);
	if (rc != 0)
		return rc;
	gen->engine = true;
	rc = run_ports(gen, error);
	return rc == 0 ? run_loop(gen, error) : rc;
}

void
gen_close(struct gen *gen)
{
	if (gen->loop != NULL) {
		lull_telemetry_stop();
		lull_loop_stop(gen->loop);
		lull_loop_destroy(gen->loop);
	}
	/* closes the ports too */
	if (gen->engine)
		lull_engine_fini();
	lull_replay_close(gen->replay);
}

/* ---- run ---- */

/* Rest until a signal comes or @p ns have passed; true: a signal. */
static bool
run_signal(const struct gen *gen, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	return sigtimedwait(&gen->signals, NULL, &limit) > 0;
}

static const struct lull_port *
run_port_down(const struct gen *gen)
{
	uint32_t i;

	for (i = 0; i < gen->port_count; i++)
		if (!lull_port_link_up(&gen->ports[i]))
			return &gen->ports[i];
	return NULL;
}

/* 1: a signal came meanwhile. */
static int
run_links(struct gen *gen, struct lull_error *error)
{
	uint64_t begin_ns = lull_clock_ns();
	const struct lull_port *port;

	while ((port = run_port_down(gen)) != NULL) {
		if (lull_clock_ns() - begin_ns >= gen->settings.link_wait_ns)
			return lull_error_set(
				error, -ENETDOWN,
				"port %s has no link: start the other side, or give it "
				"more time with --link-wait",
				port->name);
		if (run_signal(gen, STEP_NS))
			return 1;
	}
	return 0;
}

static bool
run_over(struct gen *gen, uint64_t begin_ns)
{
	const struct gen_settings *settings = &gen->settings;

	if (settings->duration_ns > 0 && lull_clock_ns() - begin_ns >= settings->duration_ns)
		gen->end = GEN_END_DURATION;
	else if (lull_traffic_done(gen->state))
		gen->end = gen->replay != NULL && settings->count == 0 ? GEN_END_REPLAY :
									 GEN_END_COUNT;
	else if (settings->rx_only && settings->count > 0 &&
		 lull_traffic_received(gen->state) >= settings->count)
		gen->end = GEN_END_COUNT;
	else
		return false;
	return true;
}

static void
run_until_end(struct gen *gen)
{
	uint64_t begin_ns = lull_clock_ns();
	struct gen_progress last = { .begin_ns = begin_ns, .now_ns = begin_ns };

	while (!run_over(gen, begin_ns)) {
		if (run_signal(gen, STEP_NS)) {
			gen->end = GEN_END_SIGNAL;
			return;
		}
		if (gen->settings.stats_ns > 0 &&
		    lull_clock_ns() - last.now_ns >= gen->settings.stats_ns)
			gen_progress_print(gen, &last);
	}
}

/* Stop sending, then give what is under way its time; a signal cuts that short. */
static void
run_drain(struct gen *gen)
{
	const struct lull_traffic_counters *counters = lull_traffic_counters(gen->state);
	uint64_t begin_ns;

	gen_control_off(gen);
	while (!lull_traffic_silent(gen->state))
		run_signal(gen, STEP_NS);
	begin_ns = lull_clock_ns();
	/* a sink alone has nothing under way; a source alone cannot see its receiver catch up */
	while (!gen->settings.rx_only &&
	       lull_traffic_received(gen->state) < LULL_COUNTER_READ(counters->sent) &&
	       lull_clock_ns() - begin_ns < gen->settings.drain_ns)
		if (run_signal(gen, LULL_NS_PER_MS))
			break;
}

int
gen_run(struct gen *gen, struct lull_error *error)
{
	int rc;

	rc = run_links(gen, error);
	if (rc < 0)
		return rc;
	gen->begin_steal_ns = lull_steal_ns(lull_loop_cpu(gen->loop));
	if (rc > 0) {
		gen->end = GEN_END_SIGNAL;
		return 0;
	}
	rc = lull_loop_start(gen->loop);
	if (rc != 0)
		return lull_error_set(error, rc, "the loop does not start: %s", strerror(-rc));
	run_until_end(gen);
	run_drain(gen);
	/* from here on the figures stand still */
	lull_loop_stop(gen->loop);
	return 0;
}
