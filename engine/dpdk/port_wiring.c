/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ethdev.h>

#include "port.h"

/* peers: written by the main thread, which creates and closes ports. missed: by every sender. */
static uint64_t wiring_missed[RTE_MAX_ETHPORTS];
static uint16_t wiring_peer[RTE_MAX_ETHPORTS]; /* port id + 1; 0: none */

void
lull_port_pair_wire(uint16_t tx_port_id, uint16_t rx_port_id)
{
	__atomic_store_n(&wiring_missed[rx_port_id], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&wiring_peer[tx_port_id], (uint16_t)(rx_port_id + 1), __ATOMIC_RELAXED);
}

void
lull_port_pair_unwire(uint16_t tx_port_id)
{
	__atomic_store_n(&wiring_peer[tx_port_id], 0, __ATOMIC_RELAXED);
}

void
lull_port_pair_refused(uint16_t tx_port_id, uint64_t pkts)
{
	uint16_t peer = __atomic_load_n(&wiring_peer[tx_port_id], __ATOMIC_RELAXED);

	if (peer != 0)
		__atomic_fetch_add(&wiring_missed[peer - 1], pkts, __ATOMIC_RELAXED);
}

uint64_t
lull_port_pair_missed(uint16_t port_id)
{
	return __atomic_load_n(&wiring_missed[port_id], __ATOMIC_RELAXED);
}
