/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps by the clock of a network card. A driver whose clock cannot be read is not asked. */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_read_clock */
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include "port.h"
#include "port_clock.h"

int
lull_port_clock(uint16_t port_id, uint64_t *ticks)
{
	return rte_eth_read_clock(port_id, ticks);
}

void
lull_port_clock_ask(uint16_t port_id, const struct rte_eth_dev_info *info,
		    const struct lull_port_config *config, struct rte_eth_conf *conf)
{
	uint64_t ticks;

	if (config->rx_stamps && (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
	    lull_port_clock(port_id, &ticks) == 0 &&
	    rte_mbuf_dyn_rx_timestamp_register(NULL, NULL) == 0)
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
}

bool
lull_port_clock_granted(uint16_t port_id, const struct rte_eth_conf *conf)
{
	uint64_t ticks;

	return (conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
	       lull_port_clock(port_id, &ticks) == 0;
}
