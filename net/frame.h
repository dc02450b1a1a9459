/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frame: the Ethernet, IP and UDP headers in front of a payload; the way back from walk.h.
 *
 * A MAC address that is not known is written as zeros. Threads: any. Memory: the caller's.
 */
#ifndef LULL_NET_FRAME_H
#define LULL_NET_FRAME_H

#include "backend.h"

#define LULL_NET_ETHERNET_BYTES 14
#define LULL_NET_HEAD_BYTES_MAX 62

/** How many bytes these headers have. */
uint32_t lull_net_frame_head(const struct lull_net_outgoing *packet);
/** How long the packet is as the MTU counts: without the Ethernet header. */
uint32_t lull_net_frame_mtu(const struct lull_net_outgoing *packet);
/**
 * Write them. @p checksum: also that of UDP over IPv6, for which the payload is read. Over IPv4
 * it is left out, as it may be.
 */
void lull_net_frame_write(uint8_t *frame, const struct lull_net_outgoing *packet, bool checksum);

#endif
