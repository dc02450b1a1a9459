/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port device: what a device string says, in the words of a driver.
 *
 *     af_packet=IF   af_xdp=IF   tap=IF   net_DRIVER,ARGUMENT=...   0000:01:00.0,ARGUMENT=...
 *
 * and, after any of them, ",queue=N" (af_xdp: the queue of the interface), ",mtu=BYTES",
 * ",scatter=yes", ",ip=ADDRESS", ",queues=N", ",isolate=yes" and ",exception=NAME".
 */
#ifndef LULL_RX_PORT_DEVICE_H
#define LULL_RX_PORT_DEVICE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "rx_port.h"

#define LULL_RX_PORT_DEVICE_SIZE 256

struct lull_rx_port_device {
	char name[64], args[LULL_RX_PORT_DEVICE_SIZE];
	char exception[IFNAMSIZ]; /**< TAP for what is nobody's; "": none */
	bool pci;
	bool xdp;           /**< net_af_xdp, without a program of the user's */
	uint32_t queue;     /**< of the interface, with xdp */
	uint32_t mtu;       /**< of the interface, or asked for; 0: not known */
	uint32_t mtu_asked; /**< of the driver; 0: nothing */
	uint8_t ip[4];      /**< of the port's own; all zero: none */
	bool sums;          /**< the NIC may look at checksums */
	bool isolate;       /**< nothing comes but what rules bring */
	bool scatter;       /**< long packets into several small buffers */
	uint16_t ring_pkts, buffer_bytes, queues;
};

/** @p error may be NULL. */
int lull_rx_port_device_parse(const struct lull_rx_port_config *config,
			      struct lull_rx_port_device *device, struct lull_error *error);

#endif
