/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Interface: what address the kernel gave an interface.
 */
#ifndef LULL_NET_INTERFACE_H
#define LULL_NET_INTERFACE_H

#include <lull/base.h>

#include "address.h"

/**
 * Where others reach interface @p name: its first IPv4 address, else its IPv6 address of the link.
 * 0, -ENODEV: there is no such interface, -EADDRNOTAVAIL: it has neither.
 */
int lull_net_interface_address(const char *name, struct lull_net_ip *ip, struct lull_error *error);

/** Is the second address in a network that the first one's interface is in? False: nobody tells. */
bool lull_net_interface_same(const struct lull_net_ip *own, const struct lull_net_ip *other);

#endif
