/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port filter: the XDP program that parts claimed packets from the rest.
 *
 * Written in instructions, so that neither building nor running takes a compiler for them. A
 * packet goes to the AF_XDP socket of its queue when the table has its UDP port or its ether type;
 * everything else, fragments and IPv6 with extension headers too, goes on to the kernel.
 */
#ifndef LULL_RX_PORT_FILTER_H
#define LULL_RX_PORT_FILTER_H

#include <linux/bpf.h>
#include <stdint.h>

#define LULL_RX_PORT_FILTER_MAX 96
/** The table: an array of so many uint32_t, by UDP port and by ether type, of these bits. */
#define LULL_RX_PORT_FILTER_KEYS 65536
#define LULL_RX_PORT_FILTER_PORT 1u
#define LULL_RX_PORT_FILTER_TYPE 2u

/**
 * @p table, @p sockets: file descriptors of the maps; @p table negative: every packet goes to the
 * socket. Returns the number of instructions.
 */
uint32_t lull_rx_port_filter(struct bpf_insn *insns, int table, int sockets);

#endif
