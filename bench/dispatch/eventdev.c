/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event devices in software: one producer port, one atomic queue, a port per worker, flow_id from
 * the digest. event_dsw schedules on the threads of its ports, event_sw on a service of its own.
 */
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eventdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_service.h>

#include "peer.h"

#define DEQUEUE_EVENTS 32
#define FLOW_ID_MASK 0xfffffu
#define EVENTS_MAX 4096

struct device;

/* What one lcore does in turn. */
struct seat {
	struct device *device;
	bool schedules;
	uint32_t first_port, end_port, step;
	uint64_t taken_pkts;
};

struct device {
	char name[32];
	uint8_t id;
	bool service; /* somebody has to run the scheduler */
	uint32_t service_id;
	uint32_t worker_count, seat_count;
	bool stop;
	struct seat seats[LANE_WORKERS_MAX + 1];
};

static int
seat_main(void *arg)
{
	struct rte_event events[DEQUEUE_EVENTS];
	struct seat *seat = arg;
	const struct device *device = seat->device;
	uint64_t taken_pkts = 0;

	while (!__atomic_load_n(&device->stop, __ATOMIC_ACQUIRE)) {
		if (seat->schedules)
			rte_service_run_iter_on_app_lcore(device->service_id, 1);
		for (uint32_t i = seat->first_port; i < seat->end_port; i += seat->step)
			taken_pkts += rte_event_dequeue_burst(device->id, (uint8_t)i, events,
							      DEQUEUE_EVENTS, 0);
		__atomic_store_n(&seat->taken_pkts, taken_pkts, __ATOMIC_RELEASE);
	}
	return 0;
}

static uint64_t
taken_pkts(const struct device *device)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < device->seat_count; i++)
		sum += __atomic_load_n(&device->seats[i].taken_pkts, __ATOMIC_ACQUIRE);
	return sum;
}

/* Ports 1..worker_count over the lcores there are; event_sw's scheduler alone if possible. */
static int
seats_plan(struct device *device, char *note)
{
	uint32_t lcores = rte_lcore_count() - 1, workers_at, cpus;
	bool alone = device->service && lcores > 1;

	if (lcores == 0) {
		snprintf(note, PEER_NOTE_SIZE, "needs a second CPU");
		return -1;
	}
	device->seat_count = LULL_MIN(device->worker_count + alone, lcores);
	workers_at = alone ? 1 : 0;
	for (uint32_t i = 0; i < device->seat_count; i++) {
		device->seats[i] = (struct seat){
			.device = device,
			.schedules = device->service && i == 0,
			.first_port = 1 + i - workers_at,
			.end_port = i >= workers_at ? 1 + device->worker_count : 0,
			.step = device->seat_count - workers_at,
		};
		if (i < workers_at)
			device->seats[i].first_port = 1;
	}
	cpus = device->seat_count - workers_at;
	snprintf(note, PEER_NOTE_SIZE, "%u workers on %u CPU%s%s%s", device->worker_count, cpus,
		 cpus > 1 ? "s" : "", cpus < device->worker_count ? ": TOO FEW" : "",
		 !device->service ? "" :
		 alone            ? ", scheduler on one" :
				    ", SCHEDULER AMONG THEM");
	return 0;
}

static int
device_configure(const struct device *device, const struct rte_event_dev_info *info)
{
	const struct rte_event_dev_config config = {
		.nb_events_limit = LULL_MIN(EVENTS_MAX, info->max_num_events),
		.nb_event_queues = 1,
		.nb_event_ports = (uint8_t)(device->worker_count + 1),
		.nb_event_queue_flows = LULL_MIN(FLOW_ID_MASK + 1, info->max_event_queue_flows),
		.nb_event_port_dequeue_depth =
			LULL_MIN((uint32_t)DEQUEUE_EVENTS, info->max_event_port_dequeue_depth),
		.nb_event_port_enqueue_depth =
			LULL_MIN((uint32_t)DEQUEUE_EVENTS, info->max_event_port_enqueue_depth),
	};
	const struct rte_event_queue_conf queue = {
		.nb_atomic_flows = config.nb_event_queue_flows,
		.nb_atomic_order_sequences = config.nb_event_queue_flows,
		.schedule_type = RTE_SCHED_TYPE_ATOMIC,
		.priority = RTE_EVENT_DEV_PRIORITY_NORMAL,
	};
	const struct rte_event_port_conf port = {
		.new_event_threshold = config.nb_events_limit,
		.dequeue_depth = (uint16_t)config.nb_event_port_dequeue_depth,
		.enqueue_depth = (uint16_t)config.nb_event_port_enqueue_depth,
	};
	int rc = rte_event_dev_configure(device->id, &config);

	if (rc == 0)
		rc = rte_event_queue_setup(device->id, 0, &queue);
	for (uint32_t i = 0; rc == 0 && i < config.nb_event_ports; i++)
		rc = rte_event_port_setup(device->id, (uint8_t)i, &port);
	for (uint32_t i = 1; rc == 0 && i < config.nb_event_ports; i++)
		rc = rte_event_port_link(device->id, (uint8_t)i, NULL, NULL, 0) == 1 ? 0 : -1;
	return rc;
}

/* A device of its own for each number of workers: event_sw does not take another one later. */
static int
device_open(struct device *device, const char *driver, uint32_t worker_count, char *note)
{
	struct rte_event_dev_info info;
	int id = -1, rc;

	memset(device, 0, sizeof(*device));
	device->worker_count = worker_count;
	snprintf(device->name, sizeof(device->name), "%s%u", driver, worker_count);
	if (rte_vdev_init(device->name, NULL) == 0)
		id = rte_event_dev_get_dev_id(device->name);
	if (id < 0) {
		snprintf(note, PEER_NOTE_SIZE, "not in this DPDK");
		return -1;
	}
	device->id = (uint8_t)id;
	device->service = rte_event_dev_service_id_get(device->id, &device->service_id) == 0;
	if (seats_plan(device, note) != 0)
		return -1;
	rc = rte_event_dev_info_get(device->id, &info);
	if (rc == 0)
		rc = device_configure(device, &info);
	if (rc == 0 && device->service) {
		rte_service_runstate_set(device->service_id, 1);
		rte_service_set_runstate_mapped_check(device->service_id, 0);
	}
	if (rc == 0)
		rc = rte_event_dev_start(device->id);
	if (rc != 0)
		snprintf(note, PEER_NOTE_SIZE, "cannot be configured for %u workers", worker_count);
	return rc;
}

static void
events_send(const struct device *device, struct rte_event *events, uint32_t count)
{
	for (uint32_t sent = 0; sent < count;)
		sent += rte_event_enqueue_new_burst(device->id, 0, events + sent,
						    (uint16_t)(count - sent));
}

static double
device_pass(struct device *device, const struct lane *lane)
{
	const uint32_t burst_pkts = lane->config.burst_pkts;
	uint32_t digests[LANE_BURST_MAX], next_mbuf = 0, seat = 0;
	struct rte_event events[LANE_BURST_MAX];
	unsigned int lcore_id;
	uint64_t begin, ticks, sent = 0;

	__atomic_store_n(&device->stop, false, __ATOMIC_RELEASE);
	RTE_LCORE_FOREACH_WORKER(lcore_id)
	{
		if (seat == device->seat_count)
			break;
		device->seats[seat].taken_pkts = 0;
		rte_eal_remote_launch(seat_main, &device->seats[seat++], lcore_id);
	}
	begin = rte_rdtsc_precise();
	for (uint32_t first = 0; first + burst_pkts <= lane->headers->count; first += burst_pkts) {
		lane_digests(lane, first, burst_pkts, digests, NULL);
		for (uint32_t i = 0; i < burst_pkts; i++)
			events[i] = (struct rte_event){
				.flow_id = digests[i] & FLOW_ID_MASK,
				.op = RTE_EVENT_OP_NEW,
				.sched_type = RTE_SCHED_TYPE_ATOMIC,
				.mbuf = peer_mbufs[next_mbuf++ & (PEER_MBUFS - 1)],
			};
		events_send(device, events, burst_pkts);
		sent += burst_pkts;
	}
	/* Nothing to send: event_dsw sends what it has buffered. */
	while (taken_pkts(device) < sent)
		rte_event_enqueue_burst(device->id, 0, events, 0);
	ticks = rte_rdtsc_precise() - begin;
	__atomic_store_n(&device->stop, true, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
	return taken_pkts(device) == sent ? (double)ticks / (double)sent : -1;
}

static void
device_close(struct device *device)
{
	rte_event_dev_stop(device->id);
	rte_vdev_uninit(device->name);
}

static struct device sw;

static int
sw_open(uint32_t worker_count, char *note)
{
	return device_open(&sw, "event_sw", worker_count, note);
}

static double
sw_pass(const struct lane *lane)
{
	return device_pass(&sw, lane);
}

static void
sw_close(void)
{
	device_close(&sw);
}

const struct peer peer_event_sw = {
	.name = "event_sw",
	.open = sw_open,
	.pass = sw_pass,
	.close = sw_close,
};

static struct device dsw;

static int
dsw_open(uint32_t worker_count, char *note)
{
	return device_open(&dsw, "event_dsw", worker_count, note);
}

static double
dsw_pass(const struct lane *lane)
{
	return device_pass(&dsw, lane);
}

static void
dsw_close(void)
{
	device_close(&dsw);
}

const struct peer peer_event_dsw = {
	.name = "event_dsw",
	.open = dsw_open,
	.pass = dsw_pass,
	.close = dsw_close,
};
