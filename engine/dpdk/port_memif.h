/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port memif: two programs that start at the same time find each other.
 */
#ifndef LULL_PORT_MEMIF_H
#define LULL_PORT_MEMIF_H

#include <rte_ethdev.h>

/** The longest wait of a client for a server that is about to come. */
#define LULL_PORT_MEMIF_WAIT_NS (3 * 1000000000ull)

/**
 * rte_eth_dev_start(). A client of memif (the role of a port that names none) tries once, when its
 * driver starts: it fails without the server's socket, and is sent away for good by a server whose
 * port does not run yet. So it is started again until its link is up, for
 * LULL_PORT_MEMIF_WAIT_NS at most.
 *
 * Threads: the main thread. @return as rte_eth_dev_start(); 0 also without a link after that time
 */
int lull_port_memif_start(uint16_t port_id, const struct rte_eth_dev_info *info);

#endif
