/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rail over net/: UDP sockets on an interface, or raw Ethernet on a port of DPDK.
 */
#ifndef LULL_CHANNEL_RAIL_NET_H
#define LULL_CHANNEL_RAIL_NET_H

#include "rail.h"

/** Opens @p rail, whose text is filled in; 0 or a negative errno. */
int channel_rail_net_open(const struct channel_rail_config *config, struct channel_rail *rail,
			  struct lull_error *error);

#endif
