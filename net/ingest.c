/* SPDX-License-Identifier: BSD-3-Clause */
#include "ingest.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "engine/dpdk/eal_log.h"
#include "engine/dpdk/error.h"
#include "ingest_device.h"
#include "ingest_exception.h"
#include "ingest_rule.h"
#include "ingest_xdp.h"

#define MTU_USUAL 1500
#define QUOTE_SIZE 160
#define EXIT_WAIT_US 10000 /* longer than a turn */

struct lull_ingest {
	struct lull_port port;
	char bus[8], name[64]; /* of the device, for taking it away */
	unsigned int if_index;
	uint32_t mtu, queue;
	bool kernel_beside, whole;
	char unfiltered[LULL_ERROR_SIZE];
	struct lull_ingest_exception *exception;
	uint64_t scattered;
	uint32_t count; /* packets out */
	struct rte_mbuf *pkts[LULL_INGEST_BURST];
};

/* ---- EAL ---- */

/* The program ends with ports open: threads may still poll them. */
static bool ingest_over;

static void
ingest_exit(void)
{
	__atomic_store_n(&ingest_over, true, __ATOMIC_SEQ_CST);
	usleep(EXIT_WAIT_US);
	lull_ingest_xdp_end();
	lull_engine_fini();
}

bool
lull_ingest_over(void)
{
	return __atomic_load_n(&ingest_over, __ATOMIC_RELAXED);
}

/* EAL pins the thread that starts it; ours goes on where it was. */
static int
ingest_start(const struct lull_ingest_config *config, const struct lull_ingest_device *device,
	     char *error)
{
	struct lull_engine_config engine = {
		.program = config->program,
		.pcis = &config->device,
		.pci_count = device->pci,
		.eal = config->eal,
	};
	cpu_set_t before;
	int rc;

	if (lull_engine_running())
		return 0;
	if (sched_getaffinity(0, sizeof(before), &before) != 0)
		return lull_engine_error(error, -errno, "no CPUs: %s", strerror(errno));
	while (engine.main_cpu < CPU_SETSIZE - 1 &&
	       !CPU_ISSET((unsigned int)engine.main_cpu, &before))
		engine.main_cpu++;
	rc = lull_engine_init(&engine, error);
	sched_setaffinity(0, sizeof(before), &before);
	if (rc == 0)
		atexit(ingest_exit);
	return rc;
}

static int
ingest_plug(const struct lull_ingest_device *device, const char *bus, uint16_t *port_id,
	    char *error)
{
	char quote[QUOTE_SIZE] = "";
	int rc;

	if (rte_eth_dev_get_port_by_name(device->name, port_id) == 0)
		return 0;
	rc = lull_eal_log_hold(false);
	if (rc != 0)
		return lull_engine_error(error, rc, "cannot divert DPDK's log: %s", strerror(-rc));
	rc = rte_eal_hotplug_add(bus, device->name, device->args);
	if (rc == 0 && rte_eth_dev_get_port_by_name(device->name, port_id) != 0)
		rc = -ENODEV;
	if (rc != 0)
		lull_eal_log_last(quote, sizeof(quote));
	lull_eal_log_release(rc == 0);
	if (rc != 0)
		return lull_engine_error(error, rc, "no port of %s,%s: %s", device->name,
					 device->args, quote[0] != '\0' ? quote : strerror(-rc));
	return 0;
}

/* Which packets the kernel keeps, by what the driver is. */
static void
ingest_bifurcate(struct lull_ingest *ingest, const struct lull_ingest_device *device,
		 const struct rte_eth_dev_info *info)
{
	bool all = device->exception[0] != '\0';

	ingest->if_index = info->if_index;
	ingest->queue = device->queue;
	ingest->kernel_beside = strcmp(info->driver_name, "net_af_packet") == 0;
	if (device->xdp && lull_ingest_xdp_open(ingest->port.port_id, info->if_index, all,
						ingest->unfiltered) == 0)
		ingest->kernel_beside = !all;
	ingest->whole = !ingest->kernel_beside;
}

static int
ingest_port(struct lull_ingest *ingest, const struct lull_ingest_device *device, uint16_t port_id,
	    char *error)
{
	bool exception = device->exception[0] != '\0';
	struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = device->ring_pkts,
		.burst_pkts = LULL_INGEST_BURST,
		.buffer_bytes = device->buffer_bytes,
		.held_mbufs = exception ? LULL_INGEST_EXCEPTION_PKTS : 0,
	};
	struct rte_eth_dev_info info;
	int rc;

	if (device->xdp)
		lull_ingest_xdp_prepare();
	rc = lull_port_open(port_id, &config, &ingest->port, error);
	if (rc != 0)
		return rc;
	rte_eth_allmulticast_enable(port_id); /* a driver without it receives all anyway */
	ingest->mtu = device->mtu != 0 ? device->mtu : MTU_USUAL;
	if (rte_eth_dev_info_get(port_id, &info) == 0)
		ingest_bifurcate(ingest, device, &info);
	if (exception)
		rc = lull_ingest_exception_open(port_id, device->exception, ingest->mtu,
						&ingest->exception, error);
	if (rc != 0) {
		lull_port_close(&ingest->port);
		return rc;
	}
	if (exception) {
		ingest->if_index = lull_ingest_exception_index(ingest->exception);
		ingest->kernel_beside = true;
	}
	return 0;
}

static void
ingest_unplug(struct lull_ingest *ingest)
{
	if (ingest->bus[0] != '\0')
		rte_eal_hotplug_remove(ingest->bus, ingest->name);
	free(ingest);
}

int
lull_ingest_open(const struct lull_ingest_config *config, struct lull_ingest **out, char *error)
{
	struct lull_ingest *ingest = calloc(1, sizeof(*ingest));
	struct lull_ingest_device device;
	uint16_t port_id = 0;
	int rc;

	if (ingest == NULL)
		return lull_engine_error(error, -ENOMEM, "no memory for a port");
	rc = lull_ingest_device_parse(config, &device, error);
	if (rc == 0)
		rc = ingest_start(config, &device, error);
	if (rc == 0)
		rc = ingest_plug(&device, device.pci ? "pci" : "vdev", &port_id, error);
	if (rc != 0) {
		free(ingest);
		return rc;
	}
	snprintf(ingest->bus, sizeof(ingest->bus), "%s", device.pci ? "pci" : "vdev");
	memcpy(ingest->name, device.name, sizeof(ingest->name));
	rc = ingest_port(ingest, &device, port_id, error);
	if (rc != 0) {
		ingest_unplug(ingest);
		return rc;
	}
	*out = ingest;
	return 0;
}

void
lull_ingest_close(struct lull_ingest *ingest)
{
	uint16_t port_id = ingest->port.port_id;

	if (ingest->exception != NULL)
		lull_ingest_exception_stop(ingest->exception);
	lull_ingest_rule_remove_all(port_id);
	lull_ingest_xdp_close(port_id);
	lull_port_close(&ingest->port);
	if (ingest->exception != NULL)
		lull_ingest_exception_free(ingest->exception);
	ingest_unplug(ingest);
}

/* ---- packets ---- */

uint32_t
lull_ingest_receive(struct lull_ingest *ingest, struct lull_ingest_packet *packets)
{
	uint32_t count = 0;

	if (!lull_ingest_over())
		count = rte_eth_rx_burst(ingest->port.port_id, 0, ingest->pkts, LULL_INGEST_BURST);
	ingest->count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *pkt = ingest->pkts[i];

		rte_prefetch0(rte_pktmbuf_mtod(pkt, const void *));
		packets[i].data = rte_pktmbuf_mtod(pkt, const uint8_t *);
		packets[i].len_bytes = pkt->nb_segs == 1 ? pkt->data_len : 0;
		if (pkt->nb_segs != 1)
			LULL_COUNTER_ADD(ingest->scattered, 1);
	}
	return count;
}

void
lull_ingest_release(struct lull_ingest *ingest)
{
	rte_pktmbuf_free_bulk(ingest->pkts, ingest->count); /* steps over those given away */
	ingest->count = 0;
	if (ingest->exception != NULL)
		lull_ingest_exception_flush(ingest->exception);
}

/* Without a registration every buffer goes through the ring that all threads share. */
void
lull_ingest_thread(struct lull_ingest *ingest, bool begins)
{
	if (ingest != NULL && ingest->exception != NULL)
		lull_ingest_exception_hand(ingest->exception, begins);
	if (begins)
		rte_thread_register();
	else if (rte_lcore_id() != LCORE_ID_ANY)
		rte_thread_unregister();
}

uint64_t
lull_ingest_missed(const struct lull_ingest *ingest)
{
	return lull_port_missed(&ingest->port);
}

uint64_t
lull_ingest_scattered(const struct lull_ingest *ingest)
{
	return LULL_COUNTER_READ(ingest->scattered);
}

void
lull_ingest_look(const struct lull_ingest *ingest, struct lull_ingest_look *look)
{
	*look = (struct lull_ingest_look){
		.name = ingest->port.name,
		.driver = ingest->port.driver,
		.ring_pkts = ingest->port.ring_pkts,
		.if_index = ingest->if_index,
		.kernel_beside = ingest->kernel_beside,
		.whole = ingest->whole,
		.exception = ingest->exception != NULL,
		.mtu = ingest->mtu,
		.queue = ingest->queue,
		.unfiltered = ingest->unfiltered,
	};
}

/* ---- what is whose ---- */

int
lull_ingest_steer(struct lull_ingest *ingest, const struct lull_ingest_rule *rule)
{
	uint16_t port_id = ingest->port.port_id;
	int rc = lull_ingest_xdp_take(port_id, rule->port, rule->ether_type);

	return rc == -ENOTSUP ? lull_ingest_rule_add(port_id, rule) : rc;
}

void
lull_ingest_except(struct lull_ingest *ingest, uint32_t index)
{
	if (ingest->exception != NULL &&
	    lull_ingest_exception_give(ingest->exception, ingest->pkts[index]))
		ingest->pkts[index] = NULL;
}

void
lull_ingest_exceptions(const struct lull_ingest *ingest, struct lull_ingest_exceptions *counters)
{
	*counters = (struct lull_ingest_exceptions){ .refused = 0 };
	if (ingest->exception != NULL)
		lull_ingest_exception_count(ingest->exception, counters);
}
