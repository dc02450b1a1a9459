/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "error.h"
#include "port.h"

#define PAIRS_MAX 8
#define NO_PORT UINT16_MAX

struct pair {
	bool used;
	uint16_t queues;
	uint16_t port_id[2];
	char device[2][RTE_ETH_NAME_MAX_LEN];                 /* behind the ports */
	struct rte_ring *rings[2][RTE_PMD_RING_MAX_RX_RINGS]; /* [i]: port i receives from it */
};

/*
 * Ports belong to the process, so their wiring does too: written by the main thread, which creates
 * and closes ports. missed: by every sender.
 */
static struct pair pairs[PAIRS_MAX];
static uint64_t pair_missed[RTE_MAX_ETHPORTS];
static uint16_t pair_peer[RTE_MAX_ETHPORTS]; /* port id + 1; 0: none */

void
lull_port_pair_refused(uint16_t tx_port_id, uint64_t pkts)
{
	uint16_t peer = __atomic_load_n(&pair_peer[tx_port_id], __ATOMIC_RELAXED);

	if (peer != 0)
		__atomic_fetch_add(&pair_missed[peer - 1], pkts, __ATOMIC_RELAXED);
}

uint64_t
lull_port_pair_missed(uint16_t port_id)
{
	return __atomic_load_n(&pair_missed[port_id], __ATOMIC_RELAXED);
}

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

void
lull_port_pair_forget(uint16_t port_id)
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
	__atomic_store_n(&pair_peer[port_id], 0, __ATOMIC_RELAXED);
}

static int
pair_make_rings(struct pair *pair, const char *name, uint32_t ring_pkts, char *error)
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
				return lull_engine_error(error, -rte_errno,
							 "ring %s of %u packets: %s", ring_name,
							 ring_pkts, strerror(rte_errno));
		}
	}
	return 0;
}

static int
pair_make_port(struct pair *pair, const char *name, int side, char *error)
{
	char port_name[RTE_RING_NAMESIZE];
	int port_id;

	snprintf(port_name, sizeof(port_name), "%.16s_%c", name, "ab"[side]);
	port_id = rte_eth_from_rings(port_name, pair->rings[side], pair->queues,
				     pair->rings[1 - side], pair->queues, rte_socket_id());
	if (port_id < 0)
		return lull_engine_error(error, -rte_errno, "ring port %s: %s", port_name,
					 strerror(rte_errno));
	pair->port_id[side] = (uint16_t)port_id;
	rte_eth_dev_get_name_by_port(pair->port_id[side], pair->device[side]);
	return 0;
}

static int
pair_open(struct pair *pair, const char *name, const struct lull_port_config *config,
	  struct lull_port *ports[2], char *error)
{
	int rc = pair_make_rings(pair, name, config->ring_pkts, error);

	for (int side = 0; rc == 0 && side < 2; side++)
		rc = pair_make_port(pair, name, side, error);
	for (int side = 0; rc == 0 && side < 2; side++) {
		rc = lull_port_open(pair->port_id[side], config, ports[side], error);
		if (rc == 0)
			ports[side]->ring_pkts = config->ring_pkts;
	}
	return rc;
}

int
lull_port_pair(const char *name, const struct lull_port_config *config, struct lull_port *a,
	       struct lull_port *b, char *error)
{
	struct lull_port *ports[2] = { a, b };
	struct pair *pair = pairs;
	int rc;

	while (pair < pairs + PAIRS_MAX && pair->used)
		pair++;
	if (pair == pairs + PAIRS_MAX)
		return lull_engine_error(error, -ENOSPC, "more than %d pairs of ring ports",
					 PAIRS_MAX);
	if (config->queues == 0 || config->queues > RTE_PMD_RING_MAX_RX_RINGS)
		return lull_engine_error(error, -EINVAL,
					 "queues: %u is not in 1..%d for ring ports",
					 config->queues, RTE_PMD_RING_MAX_RX_RINGS);
	*pair = (struct pair){ .used = true,
			       .queues = config->queues,
			       .port_id = { NO_PORT, NO_PORT } };
	rc = pair_open(pair, name, config, ports, error);
	if (rc != 0) {
		for (int side = 0; side < 2; side++) {
			if (pair->port_id[side] != NO_PORT)
				rte_eth_dev_close(pair->port_id[side]);
		}
		pair_free(pair);
		return rc;
	}
	for (int side = 0; side < 2; side++) {
		pair_missed[pair->port_id[side]] = 0;
		pair_peer[pair->port_id[side]] = (uint16_t)(pair->port_id[1 - side] + 1);
	}
	return 0;
}
