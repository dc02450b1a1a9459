/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Tunnel: from a packet to the one that it carries.
 */
#ifndef LULL_FLOW_TUNNEL_H
#define LULL_FLOW_TUNNEL_H

#include "ip.h"

/**
 * Does the packet @p ip carry another one? IP in IP (4 and 6 in either), GRE (0 and 1, with NVGRE,
 * PPP and ERSPAN), VXLAN, VXLAN-GPE, Geneve, GTP-U, Teredo, AH of IPv4; by protocol or well-known
 * port, and only when all headers down to the inner IP header hold and its packet fits into the
 * outer one. Of a first fragment the inner packet ends with it.
 *
 * @param walk  behind lull_flow_ip_read() of @p ip; at the inner packet when true is returned
 * @param ip    in: outer packet; out, for true: inner packet
 */
bool lull_flow_tunnel_enter(struct lull_flow_walk *walk, struct lull_flow_ip *ip);

#endif
