/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <lull/engine.h>
#include <lull/rest.h>

#include "engine/dpdk/eal_log.h"
#include "engine/dpdk/port_watch.h"
#include "host/error.h"
#include "net/sums.h"
#include "rx_port_device.h"
#include "rx_port_exception.h"
#include "rx_port_group.h"
#include "rx_port_life.h"
#include "rx_port_rule.h"
#include "rx_port_send.h"
#include "rx_port_xdp.h"

#define MTU_USUAL 1500
#define QUOTE_SIZE 160
/* A packet in several buffers is put together here; longer ones were not asked for. */
#define WHOLE_BYTES 9728u
#define FRAME_EXTRA 64u
#define IGMP 2 /* the number of its protocol */

struct lull_rx_port {
	struct lull_port port;
	char bus[8], name[64]; /* of the device, for taking it away */
	unsigned int if_index;
	uint32_t mtu, queue;
	bool kernel_beside, whole, own_mtu;
	struct lull_error unfiltered, refused;
	bool isolated;
	uint32_t steered, first; /* rules so far; queue that is polled first */
	struct lull_rx_port_exception *exception;
	struct lull_rx_port_sender *sender; /* NULL: it only receives */
	struct lull_rx_port_groups groups;
	uint8_t ip[4]; /* of its own, for IGMP */
	uint64_t too_long;
	uint32_t whole_bytes; /* of a slot of the slab */
	uint8_t *slab;
	uint32_t count; /* packets out */
	struct rte_mbuf *pkts[LULL_RX_PORT_BURST];
};

/* ---- open and close ---- */

static int
rx_port_plug(const struct lull_rx_port_device *device, const char *bus, uint16_t *port_id,
	     struct lull_error *error)
{
	char quote[QUOTE_SIZE] = "";
	int rc;

	if (rte_eth_dev_get_port_by_name(device->name, port_id) == 0)
		return 0;
	rc = lull_eal_log_hold(false);
	if (rc != 0)
		return lull_error_set(error, rc, "cannot divert DPDK's log: %s", strerror(-rc));
	rc = rte_eal_hotplug_add(bus, device->name, device->args);
	if (rc == 0 && rte_eth_dev_get_port_by_name(device->name, port_id) != 0)
		rc = -ENODEV;
	if (rc != 0)
		lull_eal_log_last(quote, sizeof(quote));
	lull_eal_log_release(rc == 0);
	if (rc != 0)
		return lull_error_set(error, rc, "no port of %s,%s: %s", device->name, device->args,
				      quote[0] != '\0' ? quote : strerror(-rc));
	return 0;
}

/* Which packets the kernel keeps, by what the driver is. */
static void
rx_port_bifurcate(struct lull_rx_port *rx_port, const struct lull_rx_port_device *device,
		  const struct rte_eth_dev_info *info)
{
	bool all = device->exception[0] != '\0';

	rx_port->if_index = info->if_index;
	rx_port->queue = device->queue;
	rx_port->own_mtu = strcmp(info->driver_name, "net_af_packet") != 0 &&
			   strcmp(info->driver_name, "net_af_xdp") != 0;
	rx_port->kernel_beside = strcmp(info->driver_name, "net_af_packet") == 0;
	if (device->xdp && lull_rx_port_xdp_open(rx_port->port.port_id, info->if_index, all,
						 &rx_port->unfiltered) == 0)
		rx_port->kernel_beside = !all;
	rx_port->whole = !rx_port->kernel_beside;
}

static int
rx_port_isolate(struct lull_rx_port *rx_port, const struct lull_rx_port_device *device,
		uint16_t port_id, struct lull_error *error)
{
	int rc;

	rx_port->isolated = device->isolate;
	if (!device->isolate)
		return 0;
	rc = lull_rx_port_rule_isolate(port_id, error);
	if (rc != 0) {
		lull_error_prefix(error, "isolate: the driver of %s refuses it: ", device->name);
		lull_error_suffix(error, "%s", "; leave isolate out");
	}
	return rc;
}

static int
rx_port_port(struct lull_rx_port *rx_port, const struct lull_rx_port_device *device,
	     uint16_t port_id, struct lull_error *error)
{
	bool exception = device->exception[0] != '\0';
	struct lull_port_config config = {
		.queues = device->queues,
		.steered = true,
		.ring_pkts = device->ring_pkts,
		.burst_pkts = LULL_RX_PORT_BURST,
		.buffer_bytes = device->buffer_bytes,
		.mtu = (uint16_t)device->mtu_asked,
		.scatter = device->scatter,
		.checksums = device->sums,
		.held_mbufs = exception ? LULL_RX_PORT_EXCEPTION_PKTS : 0,
	};
	struct rte_eth_dev_info info;
	int rc;

	if (device->xdp)
		lull_rx_port_xdp_prepare();
	rc = rx_port_isolate(rx_port, device, port_id, error);
	if (rc != 0)
		return rc;
	rc = lull_port_open(port_id, &config, &rx_port->port, error);
	if (rc != 0)
		return rc;
	memcpy(rx_port->ip, device->ip, sizeof(rx_port->ip));
	rx_port->mtu = device->mtu != 0 ? device->mtu : MTU_USUAL;
	if (rte_eth_dev_info_get(port_id, &info) == 0)
		rx_port_bifurcate(rx_port, device, &info);
	lull_rx_port_group_open(&rx_port->groups, port_id,
				rx_port->own_mtu ? 0 : rx_port->if_index);
	if (exception) /* which groups its kernel is in, nobody tells */
		rc = lull_rx_port_group_add(&rx_port->groups, NULL, error);
	if (exception && rc == 0)
		rc = lull_rx_port_exception_open(port_id, device->exception, rx_port->mtu,
						 &rx_port->exception, error);
	if (rc != 0) {
		lull_rx_port_group_close(&rx_port->groups);
		lull_port_close(&rx_port->port);
		return rc;
	}
	if (exception) {
		rx_port->if_index = lull_rx_port_exception_index(rx_port->exception);
		rx_port->kernel_beside = true;
	}
	return 0;
}

/* Its pages come when they are needed first, if ever. */
static int
rx_port_slab(struct lull_rx_port *rx_port, struct lull_error *error)
{
	uint32_t bytes = LULL_MAX(rx_port->mtu + FRAME_EXTRA, WHOLE_BYTES);

	rx_port->whole_bytes = (bytes + LULL_CACHE_LINE - 1) & ~(LULL_CACHE_LINE - 1u);
	rx_port->slab =
		aligned_alloc(LULL_CACHE_LINE, (size_t)rx_port->whole_bytes * LULL_RX_PORT_BURST);
	return rx_port->slab != NULL ? 0 : lull_error_set(error, -ENOMEM, "no memory for packets");
}

static void
rx_port_unplug(struct lull_rx_port *rx_port)
{
	free(rx_port->slab);
	if (rx_port->bus[0] != '\0')
		rte_eal_hotplug_remove(rx_port->bus, rx_port->name);
	free(rx_port);
}

int
lull_rx_port_open(const struct lull_rx_port_config *config, struct lull_rx_port **out,
		  struct lull_error *error)
{
	struct lull_rx_port *rx_port = calloc(1, sizeof(*rx_port));
	struct lull_rx_port_device device;
	uint16_t port_id = 0;
	int rc;

	if (rx_port == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a port");
	rc = lull_rx_port_device_parse(config, &device, error);
	if (rc == 0)
		rc = lull_rx_port_begin(config, &device, error);
	if (rc == 0)
		rc = rx_port_plug(&device, device.pci ? "pci" : "vdev", &port_id, error);
	if (rc != 0) {
		free(rx_port);
		return rc;
	}
	snprintf(rx_port->bus, sizeof(rx_port->bus), "%s", device.pci ? "pci" : "vdev");
	memcpy(rx_port->name, device.name, sizeof(rx_port->name));
	rc = rx_port_port(rx_port, &device, port_id, error);
	if (rc != 0) {
		rx_port_unplug(rx_port);
		return rc;
	}
	rc = rx_port_slab(rx_port, error);
	if (rc == 0 && config->send_pkts != 0)
		rc = lull_rx_port_send_open(port_id, config->send_pkts, rx_port->mtu,
					    rx_port->exception, &rx_port->sender, error);
	if (rc != 0) {
		lull_rx_port_close(rx_port);
		return rc;
	}
	*out = rx_port;
	return 0;
}

void
lull_rx_port_close(struct lull_rx_port *rx_port)
{
	uint16_t port_id = rx_port->port.port_id;

	if (rx_port->exception != NULL)
		lull_rx_port_exception_stop(rx_port->exception);
	lull_rx_port_rule_remove_all(port_id);
	lull_rx_port_xdp_close(port_id);
	lull_rx_port_group_close(&rx_port->groups);
	lull_port_close(&rx_port->port);
	lull_rx_port_group_free(&rx_port->groups);
	lull_rx_port_send_close(rx_port->sender);
	if (rx_port->exception != NULL)
		lull_rx_port_exception_free(rx_port->exception);
	rx_port_unplug(rx_port);
}

/* ---- packets ---- */

/* Several buffers, one after the other, to slot @p index. */
static void
rx_port_gather(struct lull_rx_port *rx_port, const struct rte_mbuf *pkt, uint32_t index,
	       struct lull_rx_port_packet *packet)
{
	uint8_t *whole = rx_port->slab + (size_t)index * rx_port->whole_bytes;
	uint32_t used = 0;

	packet->data = whole;
	packet->len_bytes = 0;
	for (const struct rte_mbuf *part = pkt; part != NULL; part = part->next) {
		if (part->data_len > rx_port->whole_bytes - used) {
			LULL_COUNTER_ADD(rx_port->too_long, 1);
			return;
		}
		memcpy(whole + used, rte_pktmbuf_mtod(part, const void *), part->data_len);
		used += part->data_len;
	}
	packet->len_bytes = used;
}

/* What it calls bad is looked at here: of packets without a checksum some NICs say so. */
static uint32_t
rx_port_sums(uint64_t flags)
{
	uint32_t sums = 0;

	if ((flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		sums |= LULL_NET_SUMS_IP;
	if ((flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD)
		sums |= LULL_NET_SUMS_UDP;
	return sums;
}

/* Each queue in its turn: a flood in one leaves the others theirs. */
static uint32_t
rx_port_poll(struct lull_rx_port *rx_port)
{
	uint32_t queues = rx_port->port.queues, queue = rx_port->first, count = 0;

	if (lull_rx_port_over())
		return 0;
	for (uint32_t i = 0; i < queues && count < LULL_RX_PORT_BURST; i++) {
		count += rte_eth_rx_burst(rx_port->port.port_id, (uint16_t)queue,
					  rx_port->pkts + count,
					  (uint16_t)(LULL_RX_PORT_BURST - count));
		queue = queue + 1 < queues ? queue + 1 : 0;
	}
	rx_port->first = rx_port->first + 1 < queues ? rx_port->first + 1 : 0;
	return count;
}

uint32_t
lull_rx_port_receive(struct lull_rx_port *rx_port, struct lull_rx_port_packet *packets)
{
	uint32_t count = rx_port_poll(rx_port);

	rx_port->count = count;
	if (rx_port->groups.igmp != NULL && count < LULL_RX_PORT_BURST)
		lull_rx_port_group_iterate(&rx_port->groups, lull_clock_ns());
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *pkt = rx_port->pkts[i];

		rte_prefetch0(rte_pktmbuf_mtod(pkt, const void *));
		packets[i].data = rte_pktmbuf_mtod(pkt, const uint8_t *);
		packets[i].len_bytes = pkt->data_len;
		packets[i].sums = rx_port_sums(pkt->ol_flags);
		if (pkt->nb_segs != 1)
			rx_port_gather(rx_port, pkt, i, &packets[i]);
	}
	return count;
}

void
lull_rx_port_release(struct lull_rx_port *rx_port)
{
	rte_pktmbuf_free_bulk(rx_port->pkts, rx_port->count); /* steps over those given away */
	rx_port->count = 0;
	if (rx_port->exception != NULL)
		lull_rx_port_exception_flush(rx_port->exception);
}

void
lull_rx_port_thread(struct lull_rx_port *rx_port, bool begins)
{
	if (rx_port->exception != NULL)
		lull_rx_port_exception_hand(rx_port->exception, begins);
	lull_rx_port_register(begins);
}

uint64_t
lull_rx_port_missed(const struct lull_rx_port *rx_port)
{
	struct lull_port_reading reading;

	/* The thread that polls asks too: what was published, at most some milliseconds ago. */
	lull_port_reading(rx_port->port.port_id, &reading);
	return reading.missed + reading.nombuf;
}

uint64_t
lull_rx_port_too_long(const struct lull_rx_port *rx_port)
{
	return LULL_COUNTER_READ(rx_port->too_long);
}

void
lull_rx_port_info(const struct lull_rx_port *rx_port, struct lull_rx_port_info *info)
{
	*info = (struct lull_rx_port_info){
		.name = rx_port->port.name,
		.driver = rx_port->port.driver,
		.ring_pkts = rx_port->port.ring_pkts,
		.if_index = rx_port->if_index,
		.kernel_beside = rx_port->kernel_beside,
		.whole = rx_port->whole,
		.exception = rx_port->exception != NULL,
		.mtu = rx_port->mtu,
		.own_mtu = rx_port->own_mtu,
		.queue = rx_port->queue,
		.queues = rx_port->port.queues,
		.isolated = rx_port->isolated,
		.refused = rx_port->refused.text,
		.group_way = rx_port->groups.way,
		.group_count = rx_port->groups.count,
		.igmp_count = rx_port->groups.igmp != NULL ? rx_port->groups.igmp->count : 0,
		.unfiltered = rx_port->unfiltered.text,
	};
}

uint32_t
lull_rx_port_transmit(struct lull_rx_port *rx_port, const struct lull_net_outgoing *packets,
		      uint32_t count)
{
	if (rx_port->sender == NULL || lull_rx_port_over())
		return 0;
	return lull_rx_port_send(rx_port->sender, packets, count);
}

void
lull_rx_port_transmitted(const struct lull_rx_port *rx_port, struct lull_net_sent *sent)
{
	*sent = (struct lull_net_sent){ .pkts = 0 };
	if (rx_port->sender != NULL)
		lull_rx_port_sent(rx_port->sender, sent);
}

void
lull_rx_port_link(const struct lull_rx_port *rx_port, struct lull_net_link *link)
{
	struct lull_port_link seen = lull_port_link(rx_port->port.port_id);
	struct rte_ether_addr mac;

	*link = (struct lull_net_link){
		.mtu = rx_port->mtu,
		.mbps = seen.mbps,
		.up = seen.up,
		.node = rx_port->port.node + 1,
	};
	if (rte_eth_macaddr_get(rx_port->port.port_id, &mac) == 0)
		memcpy(link->mac, &mac, sizeof(link->mac));
}

/* ---- what is whose ---- */

int
lull_rx_port_steer(struct lull_rx_port *rx_port, const struct lull_rx_port_rule *rule,
		   struct lull_error *error)
{
	uint16_t port_id = rx_port->port.port_id, queues = rx_port->port.queues, queue = 0;
	struct lull_error said = { .text = "" };
	int rc = lull_rx_port_xdp_take(port_id, rule->port, rule->ether_type);

	if (rc != -ENOTSUP)
		return rc;
	/* The first is for what no rule brings: a flood of that leaves the streams theirs. */
	if (queues > 1 && rule->protocol == 0)
		queue = (uint16_t)(1 + rx_port->steered % (queues - 1u));
	rc = lull_rx_port_rule_add(port_id, rule, queue, &said);
	if (rc == 0)
		rx_port->steered += rule->protocol == 0;
	else if (rx_port->refused.text[0] == '\0')
		rx_port->refused = said;
	if (rc != 0 && rx_port->isolated)
		return lull_error_set(error, rc,
				      "isolate: nothing would come, as %s takes no rule for it: "
				      "%.120s; leave isolate out",
				      rx_port->port.name, said.text);
	return rc;
}

int
lull_rx_port_join(struct lull_rx_port *rx_port, const struct lull_net_claim *claim,
		  struct lull_error *error)
{
	bool any = claim->ethernet ? lull_net_mac_is_any(claim->mac) :
				     lull_net_ip_is_any(&claim->address);
	uint8_t mac[LULL_NET_MAC_SIZE];
	int rc;

	if (any && !claim->all_groups)
		return 0;
	if (claim->ethernet)
		return lull_rx_port_group_add(&rx_port->groups, any ? NULL : claim->mac, error);
	/* Sockets on an interface of the kernel do not hear all groups either. */
	if (any)
		return rx_port->own_mtu ? lull_rx_port_group_add(&rx_port->groups, NULL, error) : 0;
	if (!lull_net_ip_is_multicast(&claim->address))
		return 0;
	lull_net_ip_group_mac(&claim->address, mac);
	rc = lull_rx_port_group_add(&rx_port->groups, mac, error);
	if (rc != 0 || rx_port->kernel_beside || !lull_net_ip_is4(&claim->address) ||
	    rx_port->sender != NULL) /* whose thread has the queue */
		return rc;
	rc = lull_rx_port_group_join(&rx_port->groups, rx_port->ip, claim->address.bytes + 12,
				     error);
	/* Queries are for nobody: they need a rule of their own. */
	if (rc == 0 && rx_port->isolated && rx_port->groups.igmp->count == 1)
		rc = lull_rx_port_steer(rx_port, &(struct lull_rx_port_rule){ .protocol = IGMP },
					error);
	return rc;
}

void
lull_rx_port_except(struct lull_rx_port *rx_port, uint32_t index)
{
	if (rx_port->groups.igmp != NULL)
		lull_rx_port_group_hear(&rx_port->groups,
					rte_pktmbuf_mtod(rx_port->pkts[index], const uint8_t *),
					rx_port->pkts[index]->data_len);
	if (rx_port->exception != NULL &&
	    lull_rx_port_exception_give(rx_port->exception, rx_port->pkts[index]))
		rx_port->pkts[index] = NULL;
}

void
lull_rx_port_exceptions(const struct lull_rx_port *rx_port, struct lull_net_exceptions *counters)
{
	*counters = (struct lull_net_exceptions){ .refused = 0 };
	if (rx_port->exception != NULL)
		lull_rx_port_exception_count(rx_port->exception, counters);
}
