/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pcapng block: a packet as a block of a pcapng file.
 *
 * Its headers are made from what is known of it: see frame.h. Addresses and ports that are not
 * known are 0.
 * Threads: any. Memory: the caller's.
 */
#ifndef LULL_NET_PCAPNG_BLOCK_H
#define LULL_NET_PCAPNG_BLOCK_H

#include <stddef.h>

#include "backend.h"

#define LULL_NET_PCAPNG_START_MAX 512 /* bytes of lull_net_pcapng_start() */

/**
 * The beginning of a file: who wrote it, and its one interface, Ethernet with stamps in ns.
 *
 * @param program    name and version, up to 64 bytes
 * @param interface  what it is called, up to 128 bytes of it
 * @return how many bytes
 */
size_t lull_net_pcapng_start(uint8_t *bytes, const char *program, const char *interface);
/** How long the block of a packet is, headers and padding included. */
size_t lull_net_pcapng_size(const struct lull_net_outgoing *packet);
/** Write it; @p time_ns: since 1970. */
void lull_net_pcapng_write(uint8_t *bytes, const struct lull_net_outgoing *packet,
			   uint64_t time_ns);

#endif
