/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/range.h"
#include "eal_log.h"
#include "host/error.h"
#include "port_clock.h"
#include "port_device.h"
#include "port_memif.h"
#include "port_mtu.h"
#include "port_rss.h"
#include "port_watch.h"

#define QUOTE_SIZE 160
#define PAIRS_MAX 8
#define NO_PORT UINT16_MAX
#define SLOT_BYTES_MAX 65000ul
#define CHECKSUMS (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)

/* ---- pairs: two ports wired back to back ---- */

struct pair {
	bool used;
	uint16_t queues;
	uint16_t port_id[2];
	char device[2][RTE_ETH_NAME_MAX_LEN];                 /* behind the ports */
	struct rte_ring *rings[2][RTE_PMD_RING_MAX_RX_RINGS]; /* [i]: port i receives from it */
};

/*
 * Ports belong to the process, so their wiring does too: written by the main thread, which creates
 * and closes ports.
 */
static struct pair pairs[PAIRS_MAX];

/* Closed ports leave their device on the bus, and with it the name taken. */
static void
pair_free(struct pair *pair)
{
	for (int side = 0; side < 2; side++) {
		if (pair->device[side][0] != '\0')
			rte_eal_hotplug_remove("vdev", pair->device[side]);
	}
	for (int side = 0; side < 2; side++) {
		for (uint16_t i = 0; i < pair->queues; i++) {
			struct rte_mbuf *pkt;

			while (pair->rings[side][i] != NULL &&
			       rte_ring_dequeue(pair->rings[side][i], (void **)&pkt) == 0)
				rte_pktmbuf_free(pkt);
			rte_ring_free(pair->rings[side][i]);
		}
	}
	memset(pair, 0, sizeof(*pair));
}

static void
pair_forget(uint16_t port_id)
{
	for (int i = 0; i < PAIRS_MAX; i++) {
		struct pair *pair = &pairs[i];

		if (!pair->used)
			continue;
		for (int side = 0; side < 2; side++) {
			if (pair->port_id[side] == port_id)
				pair->port_id[side] = NO_PORT;
		}
		if (pair->port_id[0] == NO_PORT && pair->port_id[1] == NO_PORT)
			pair_free(pair);
	}
	lull_port_pair_unwire(port_id);
}

/* ---- one port ---- */

uint32_t
lull_port_ids(uint16_t *port_ids, uint32_t count_max)
{
	uint32_t count = 0;
	uint16_t port_id;

	RTE_ETH_FOREACH_DEV(port_id)
	{
		if (count < count_max)
			port_ids[count] = port_id;
		count++;
	}
	return count;
}

bool
lull_port_link_up(const struct lull_port *port)
{
	return lull_port_read_link(port->port_id).up;
}

uint64_t
lull_port_missed(const struct lull_port *port)
{
	struct lull_port_reading reading;

	lull_port_read(port->port_id, &reading);
	return reading.missed + reading.nombuf;
}

static int
port_describe(struct lull_port *port, struct rte_eth_dev_info *info, struct lull_error *error)
{
	int rc;

	if (!rte_eth_dev_is_valid_port(port->port_id))
		return lull_error_set(error, -ENODEV, "port %u does not exist, there are %u",
				      port->port_id, rte_eth_dev_count_avail());
	rc = rte_eth_dev_info_get(port->port_id, info);
	if (rc != 0)
		return lull_error_set(error, rc, "port %u: cannot read its properties: %s",
				      port->port_id, strerror(-rc));
	rte_eth_dev_get_name_by_port(port->port_id, port->name);
	snprintf(port->driver, sizeof(port->driver), "%s", info->driver_name);
	port->node = rte_eth_dev_socket_id(port->port_id);
	return 0;
}

static int
port_check(const struct lull_port *port, const struct rte_eth_dev_info *info,
	   const struct lull_port_config *config, struct lull_error *error)
{
	uint16_t queues_max = LULL_MIN(info->max_rx_queues, info->max_tx_queues);
	struct lull_range wrong;

	if (config->queues == 0 || config->queues > queues_max)
		return lull_error_set(error, -EINVAL,
				      "queues: %u is not in 1..%u (the range of port %s)",
				      config->queues, queues_max, port->name);
	if (config->mtu != 0 && (config->mtu < info->min_mtu || config->mtu > info->max_mtu))
		return lull_error_set(error, -EINVAL,
				      "mtu: %u is not in %u..%u (the range of port %s)",
				      config->mtu, info->min_mtu, info->max_mtu, port->name);
	if (lull_range_check("burst", config->burst_pkts, 1, LULL_BURST_MAX, &wrong) != 0)
		return lull_error_range(error, &wrong);
	return 0;
}

static int
port_configure(struct lull_port *port, const struct rte_eth_dev_info *info,
	       const struct lull_port_config *config, bool interrupt)
{
	struct rte_eth_conf conf = { .rxmode = { .mtu = lull_port_mtu_asked(info, config) } };
	int rc;

	if (lull_port_scatters(info, config))
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	if (config->checksums)
		conf.rxmode.offloads |= info->rx_offload_capa & CHECKSUMS;
	lull_port_rss_ask(info, config, &conf);
	conf.intr_conf.rxq = interrupt;
	conf.intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	conf.intr_conf.rmv = (*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	lull_port_clock_ask(port->port_id, info, config, &conf);
	rc = rte_eth_dev_configure(port->port_id, config->queues, config->queues, &conf);
	port->rx_stamps = rc == 0 && lull_port_clock_granted(port->port_id, &conf);
	return rc != 0 ? rc : lull_port_mtu_set(port->port_id, info, config);
}

/* af_packet wants buffers for whole slots of its ring, however long the packets are. */
static uint16_t
port_slot_bytes(const struct lull_port *port)
{
	struct rte_eth_dev_info info;
	const char *framesz = NULL;

	if (strcmp(port->driver, "net_af_packet") == 0 &&
	    rte_eth_dev_info_get(port->port_id, &info) == 0 && info.device != NULL &&
	    rte_dev_devargs(info.device) != NULL && rte_dev_devargs(info.device)->args != NULL)
		framesz = strstr(rte_dev_devargs(info.device)->args, "framesz=");
	return framesz == NULL ? 0 :
				 (uint16_t)LULL_MIN(strtoul(framesz + 8, NULL, 10), SLOT_BYTES_MAX);
}

/* Buffers for full rings both ways, what caches hold back and what loops have in hand. */
static struct rte_mempool *
port_pool(const struct lull_port *port, const struct lull_port_config *config, uint16_t rx_desc,
	  uint16_t tx_desc, bool scatters, struct lull_error *error)
{
	uint32_t held = (port->ring_pkts > rx_desc ? port->ring_pkts : rx_desc) + tx_desc;
	uint32_t count =
		config->queues * (held + 2u * config->burst_pkts) + 2048 + config->held_mbufs;
	uint16_t room = (uint16_t)(scatters ? 0 : lull_port_packet_bytes(config));
	struct rte_mempool *pool;
	char name[RTE_MEMPOOL_NAMESIZE];

	/* A port opened again gets its buffers back if there are enough. */
	room = LULL_MAX(room, config->buffer_bytes);
	room = LULL_MAX(room, port_slot_bytes(port));
	snprintf(name, sizeof(name), "lp%x_%x_%x_%x", port->port_id, count, room,
		 config->private_bytes);
	pool = rte_mempool_lookup(name);
	if (pool != NULL)
		return pool;
	if (strcmp(port->driver, "net_af_xdp") == 0)
		return lull_pool_create_packed(name, count, room, config->private_bytes, port->node,
					       error);
	return lull_pool_create_private(name, count, room, config->private_bytes, port->node,
					error);
}

static int
port_queues(struct lull_port *port, const struct rte_eth_dev_info *info,
	    const struct lull_port_config *config, struct lull_error *error)
{
	uint16_t rx_desc = config->ring_pkts;
	uint16_t tx_desc = config->tx_ring_pkts != 0 ? config->tx_ring_pkts : rx_desc;
	int socket = rte_eth_dev_socket_id(port->port_id);
	struct rte_mempool *pool;
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->port_id, &rx_desc, &tx_desc);

	if (rc != 0)
		return lull_error_set(error, rc, "port %s: ring of %u packets: %s", port->name,
				      config->ring_pkts, strerror(-rc));
	if (port->ring_pkts == 0)
		port->ring_pkts = rx_desc;
	pool = port_pool(port, config, rx_desc, tx_desc, lull_port_scatters(info, config), error);
	if (pool == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; rc == 0 && i < config->queues; i++) {
		rc = rte_eth_rx_queue_setup(port->port_id, i, rx_desc, (unsigned int)socket, NULL,
					    pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port->port_id, i, tx_desc, (unsigned int)socket,
						    NULL);
	}
	if (rc != 0)
		return lull_error_set(error, rc, "port %s: %u queues of %u descriptors: %s",
				      port->name, config->queues, rx_desc, strerror(-rc));
	return 0;
}

static bool
port_has_interrupt(const struct lull_port *port)
{
	return rte_eth_dev_rx_intr_enable(port->port_id, 0) == 0 &&
	       rte_eth_dev_rx_intr_disable(port->port_id, 0) == 0;
}

static int
port_start(struct lull_port *port, const struct rte_eth_dev_info *info,
	   const struct lull_port_config *config, bool interrupt, struct lull_error *error)
{
	int rc = port_configure(port, info, config, interrupt);

	if (rc != 0)
		return lull_error_set(error, rc, "port %s cannot be configured: %s", port->name,
				      strerror(-rc));
	rc = port_queues(port, info, config, error);
	if (rc != 0)
		return rc;
	rc = lull_port_memif_start(port->port_id, info);
	if (rc != 0)
		return lull_error_set(error, rc, "port %s does not start: %s", port->name,
				      strerror(-rc));
	port->interrupt = interrupt && port_has_interrupt(port);
	return 0;
}

static void
port_set_facts(struct lull_port *port, const struct rte_eth_dev_info *info,
	       const struct lull_port_answer *answer)
{
	struct lull_port_driver driver = lull_port_device(info);
	struct lull_ring_facts facts;

	lull_port_facts(&driver, answer, &facts);
	port->ring_pkts = facts.ring_pkts;
	port->held_pkts = facts.held_pkts;
	port->link_mbps = answer->link_mbps;
	port->hardware = facts.hardware_pps != 0;
	port->short_leaves = facts.short_leaves;
	port->loss_lag_ns = facts.loss_lag_ns;
}

static void
port_read_facts(struct lull_port *port, const struct rte_eth_dev_info *info)
{
	struct lull_port_answer answer = lull_port_ask(port->port_id, 0, port->ring_pkts, info);

	answer.asked_pkts = port->ring_pkts;
	port_set_facts(port, info, &answer);
}

/* Drivers that do not tell leave what DPDK has filled in. */
static uint32_t
port_ring_most(const struct rte_eth_dev_info *info)
{
	const struct rte_eth_desc_lim *limit = &info->rx_desc_lim;
	uint32_t align = LULL_MAX(limit->nb_align, 1u);

	return limit->nb_max == UINT16_MAX ? 0 : limit->nb_max / align * align;
}

/* The ring that the driver has whatever is asked for, else what is asked for. */
static void
port_read_ring(struct lull_port *port, const struct rte_eth_dev_info *info,
	       const struct lull_port_config *config)
{
	struct lull_port_driver driver = lull_port_device(info);

	port->ring_pkts = lull_port_driver_ring(&driver, config->ring_pkts);
	port->ring_pkts_max = port->ring_pkts == 0 ? port_ring_most(info) : 0;
}

int
lull_port_offer(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
		struct lull_error *error)
{
	struct rte_eth_dev_info info;
	int rc;

	*port = (struct lull_port){ .port_id = port_id, .queues = config->queues };
	rc = port_describe(port, &info, error);
	if (rc != 0)
		return rc;
	port_read_ring(port, &info, config);
	if (port->ring_pkts == 0)
		port->ring_pkts = config->ring_pkts;
	port_set_facts(port, &info,
		       &(struct lull_port_answer){
			       .otherwise_pkts = port->ring_pkts,
			       .asked_pkts = port->ring_pkts,
			       .link_mbps = lull_port_link_mbps(port_id, &info),
		       });
	return 0;
}

static int
port_open(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
	  struct lull_error *error)
{
	struct rte_eth_dev_info info;
	int rc;

	*port = (struct lull_port){ .port_id = port_id, .queues = config->queues };
	rc = port_describe(port, &info, error);
	if (rc == 0)
		rc = port_check(port, &info, config, error);
	if (rc != 0)
		return rc;
	port_read_ring(port, &info, config);
	rc = port_start(port, &info, config, config->interrupt, error);
	if (rc != 0 && config->interrupt)
		rc = port_start(port, &info, config, false, error);
	if (rc != 0)
		return rc;
	if (config->promiscuous)
		rte_eth_promiscuous_enable(port_id); /* a driver without it receives all anyway */
	lull_port_packet_open(port_id, &info);
	port_read_facts(port, &info);
	port->spread = lull_port_rss_settle(port_id, &info, config);
	lull_port_watch_add(port_id);
	return 0;
}

/* What the driver complained about belongs into the sentence, not in front of it. */
static void
port_quote(struct lull_error *error)
{
	char quote[QUOTE_SIZE];

	if (lull_eal_log_last(quote, sizeof(quote))[0] != '\0')
		lull_error_suffix(error, ": %s", quote);
}

int
lull_port_open(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
	       struct lull_error *error)
{
	int rc = lull_eal_log_hold(lull_eal_log_verbose());

	if (rc != 0)
		return lull_error_set(error, rc, "cannot divert DPDK's log: %s", strerror(-rc));
	rc = port_open(port_id, config, port, error);
	if (rc != 0)
		port_quote(error);
	lull_eal_log_release(rc == 0);
	return rc;
}

void
lull_port_close(struct lull_port *port)
{
	lull_port_watch_remove(port->port_id);
	lull_port_packet_close(port->port_id);
	rte_eth_dev_stop(port->port_id);
	rte_eth_dev_close(port->port_id);
	pair_forget(port->port_id);
}

/* ---- a pair ---- */

static int
pair_make_rings(struct pair *pair, const char *name, uint32_t ring_pkts, struct lull_error *error)
{
	for (int side = 0; side < 2; side++) {
		for (uint16_t i = 0; i < pair->queues; i++) {
			char ring_name[RTE_RING_NAMESIZE];

			snprintf(ring_name, sizeof(ring_name), "lull_%.16s_%c%u", name, "ab"[side],
				 i);
			pair->rings[side][i] =
				rte_ring_create(ring_name, ring_pkts, (int)rte_socket_id(),
						RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
			if (pair->rings[side][i] == NULL)
				return lull_error_set(error, -rte_errno,
						      "ring %s of %u packets: %s", ring_name,
						      ring_pkts, strerror(rte_errno));
		}
	}
	return 0;
}

static int
pair_make_port(struct pair *pair, const char *name, int side, struct lull_error *error)
{
	char port_name[RTE_RING_NAMESIZE];
	int port_id;

	snprintf(port_name, sizeof(port_name), "%.16s_%c", name, "ab"[side]);
	port_id = rte_eth_from_rings(port_name, pair->rings[side], pair->queues,
				     pair->rings[1 - side], pair->queues, rte_socket_id());
	if (port_id < 0)
		return lull_error_set(error, -rte_errno, "ring port %s: %s", port_name,
				      strerror(rte_errno));
	pair->port_id[side] = (uint16_t)port_id;
	rte_eth_dev_get_name_by_port(pair->port_id[side], pair->device[side]);
	return 0;
}

static int
pair_open(struct pair *pair, const char *name, const struct lull_port_config *config,
	  struct lull_port *ports[2], struct lull_error *error)
{
	int rc = pair_make_rings(pair, name, config->ring_pkts, error);

	for (int side = 0; rc == 0 && side < 2; side++)
		rc = pair_make_port(pair, name, side, error);
	for (int side = 0; rc == 0 && side < 2; side++)
		lull_port_pair_wire(pair->port_id[side], pair->port_id[1 - side]);
	for (int side = 0; rc == 0 && side < 2; side++) {
		rc = lull_port_open(pair->port_id[side], config, ports[side], error);
		if (rc == 0)
			ports[side]->ring_pkts = config->ring_pkts;
	}
	return rc;
}

int
lull_port_pair(const char *name, const struct lull_port_config *config, struct lull_port *a,
	       struct lull_port *b, struct lull_error *error)
{
	struct lull_port *ports[2] = { a, b };
	struct pair *pair = pairs;
	int rc;

	while (pair < pairs + PAIRS_MAX && pair->used)
		pair++;
	if (pair == pairs + PAIRS_MAX)
		return lull_error_set(error, -ENOSPC, "more than %d pairs of ring ports",
				      PAIRS_MAX);
	if (config->queues == 0 || config->queues > RTE_PMD_RING_MAX_RX_RINGS)
		return lull_error_set(error, -EINVAL, "queues: %u is not in 1..%d for ring ports",
				      config->queues, RTE_PMD_RING_MAX_RX_RINGS);
	*pair = (struct pair){ .used = true,
			       .queues = config->queues,
			       .port_id = { NO_PORT, NO_PORT } };
	rc = pair_open(pair, name, config, ports, error);
	if (rc != 0) {
		for (int side = 0; side < 2; side++) {
			if (pair->port_id[side] == NO_PORT)
				continue;
			lull_port_pair_unwire(pair->port_id[side]);
			rte_eth_dev_close(pair->port_id[side]);
		}
		pair_free(pair);
	}
	return rc;
}
