/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port: the packets of one port for a library that does not name DPDK.
 *
 * EAL is started by the first of a process, unless the program has done so, and ends with the
 * process: it cannot be started twice. The calling thread keeps its CPUs.
 * Threads: open, steer and close from one thread; receive and release from the one that receives.
 */
#ifndef LULL_NET_RX_PORT_H
#define LULL_NET_RX_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/backend.h"

#define LULL_RX_PORT_BURST 64

struct lull_rx_port_config {
	const char *program;
	/**
	 * "af_packet=IF", "af_xdp=IF,queue=N", "tap=IF", "net_DRIVER,...", or a PCI address; then
	 * ",exception=NAME": see lull_rx_port_except(); ",mtu=BYTES": the longest packet;
	 * ",scatter=yes": in buffers of 2 KiB, several for a long packet; ",ip=ADDRESS": its own;
	 * ",queues=N": for streams by rules; ",isolate=yes": nothing else.
	 */
	const char *device;
	const char *eal;    /**< further EAL arguments; may be NULL */
	uint32_t ring_pkts; /**< asked for */
	uint32_t mtu;       /**< of a port without an interface, if the device says none; 0: 1500 */
	bool sums;          /**< let the NIC look at checksums, if it can */
	uint32_t send_pkts; /**< room for packets on their way out; 0: it only receives */
};
struct lull_rx_port_packet {
	const uint8_t *data; /**< from the Ethernet header on, in one piece */
	uint32_t len_bytes;
	uint32_t sums; /**< LULL_NET_SUMS_...: these the NIC has found right */
};
/** How a port lets through what is sent to groups. */
enum lull_rx_port_group_way {
	LULL_RX_PORT_GROUP_NONE, /**< nobody asked for any */
	LULL_RX_PORT_GROUP_LIST, /**< those of a list, and no others */
	LULL_RX_PORT_GROUP_ALL,  /**< all */
	LULL_RX_PORT_GROUP_OPEN, /**< the driver knows no filter: what comes, comes */
};

struct lull_rx_port_info {
	const char *name, *driver;
	uint32_t ring_pkts;
	/** Of the kernel's interface: behind the port, or the TAP beside it; 0: none. */
	unsigned int if_index;
	bool kernel_beside; /**< the kernel serves that interface as well */
	bool whole;         /**< the port takes all packets from the kernel */
	bool exception;     /**< and what is nobody's goes to the kernel through a TAP */
	uint32_t mtu;       /**< longest packet, without Ethernet header */
	bool own_mtu;       /**< mtu= sets it: no interface has it */
	uint32_t queues;    /**< that are polled */
	bool isolated;      /**< nothing comes but what rules bring */
	/** What the driver said of the first rule that it refused; "": none. */
	const char *refused;
	uint32_t queue; /**< of the interface, where the driver is bound to one of them */
	enum lull_rx_port_group_way group_way;
	uint32_t group_count; /**< addresses in the list of the driver */
	uint32_t igmp_count;  /**< groups that lull reports itself */
	/** Why an AF_XDP port has no filter; "": it has one, or needs none. */
	const char *unfiltered;
};
/** What a port is to bring: UDP packets, frames of an ether type, or a protocol. */
struct lull_rx_port_rule {
	uint16_t port, ether_type;
	uint8_t protocol;       /**< neither of them: of IPv4 */
	const uint8_t *address; /**< network order; NULL: any */
	uint32_t address_bytes; /**< 4 or 16 */
};
struct lull_rx_port; /* opaque */

/** @p error may be NULL. */
int lull_rx_port_open(const struct lull_rx_port_config *config, struct lull_rx_port **rx_port,
		      struct lull_error *error);
void lull_rx_port_close(struct lull_rx_port *rx_port);
void lull_rx_port_info(const struct lull_rx_port *rx_port, struct lull_rx_port_info *info);
/** At most LULL_RX_PORT_BURST packets, borrowed until release. */
uint32_t lull_rx_port_receive(struct lull_rx_port *rx_port, struct lull_rx_port_packet *packets);
void lull_rx_port_release(struct lull_rx_port *rx_port);
/** The calling thread begins to receive, or ends: gives it the port and a cache of buffers. */
void lull_rx_port_thread(struct lull_rx_port *rx_port, bool begins);
/** Lost by the port. Any thread. */
uint64_t lull_rx_port_missed(const struct lull_rx_port *rx_port);
/** Came without their end, as they were longer than the port is set up for. Any thread. */
uint64_t lull_rx_port_too_long(const struct lull_rx_port *rx_port);

/**
 * Ask for what the rule says: the filter of an AF_XDP port brings nothing else, other ports may
 * take it as a rule, into their queues but the first in turn. 0, or a negative errno of a port that
 * takes no such rules: its packets come anyway, unless it is isolated.
 */
int lull_rx_port_steer(struct lull_rx_port *rx_port, const struct lull_rx_port_rule *rule,
		       struct lull_error *error);
/** Have what is sent to the claim's group come, if it has one. */
int lull_rx_port_join(struct lull_rx_port *rx_port, const struct lull_net_claim *claim,
		      struct lull_error *error);
/**
 * Packet @p index of those out is for nobody here: to the kernel, with ",exception=NAME". Nothing
 * otherwise. Never waits.
 */
void lull_rx_port_except(struct lull_rx_port *rx_port, uint32_t index);
/** Any thread. */
void lull_rx_port_exceptions(const struct lull_rx_port *rx_port,
			     struct lull_net_exceptions *counters);
/** See struct lull_net_backend; 0 without send_pkts. */
uint32_t lull_rx_port_transmit(struct lull_rx_port *rx_port,
			       const struct lull_net_outgoing *packets, uint32_t count);
void lull_rx_port_transmitted(const struct lull_rx_port *rx_port, struct lull_net_sent *sent);
void lull_rx_port_link(const struct lull_rx_port *rx_port, struct lull_net_link *link);

#endif
