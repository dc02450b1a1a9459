/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Kernel check: is the kernel set up so that nothing is lost?
 */
#ifndef LULL_NET_KERNEL_CHECK_H
#define LULL_NET_KERNEL_CHECK_H

#include "kernel_socket.h"

/** What the kernel accounts for a packet on an interface with this MTU, at most. */
uint32_t kernel_check_truesize(uint32_t mtu);
void kernel_check_buffer(const struct kernel_socket *sock, const struct kernel_interface *interface,
			 const struct lull_net_claim *claim, struct lull_findings *findings);
void kernel_check_mtu(const struct kernel_interface *interface, const struct lull_net_claim *claim,
		      struct lull_findings *findings);
/** A program on the interface that takes packets before any socket sees them. */
void kernel_check_interface(const struct kernel_interface *interface,
			    struct lull_findings *findings);

#endif
