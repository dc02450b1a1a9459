/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sums: are the checksums of IP and UDP right, where no kernel has looked?
 *
 * Threads: any. Memory: none.
 */
#ifndef LULL_NET_SUMS_H
#define LULL_NET_SUMS_H

#include <stdint.h>

#include "walk.h"

/** What a NIC says of a frame: these are right. Of the others it says nothing that counts. */
#define LULL_NET_SUMS_IP 1u
#define LULL_NET_SUMS_UDP 2u

/**
 * Of a whole UDP packet, after its walk; @p known: LULL_NET_SUMS_... . A checksum that is 0 was
 * left out (that of IP: in a capture on the sender), and holds. So does one of UDP that a NIC was
 * to finish, and that has met none on its way (veth): it is the sum of the pseudo header alone.
 */
bool lull_net_sums_hold(const struct lull_net_walked *walked, uint32_t known);

#endif
