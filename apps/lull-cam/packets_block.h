/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets block: a packet as a block of a pcapng file.
 *
 * What receivers read has no headers any more: they are made again from what is known. Addresses
 * and ports that are not known are 0, and UDP over IPv6 has no checksum.
 * Threads: any. Memory: the caller's.
 */
#ifndef LULL_CAM_PACKETS_BLOCK_H
#define LULL_CAM_PACKETS_BLOCK_H

#include <stddef.h>

#include <lull/camera.h>

#define PACKETS_BLOCK_START_MAX 512 /* bytes of packets_block_start() */

/**
 * The beginning of a file: who wrote it, and its one interface, Ethernet with stamps in ns.
 *
 * @param program    name and version, up to 64 bytes
 * @param interface  what it is called, up to 128 bytes of it
 * @return how many bytes
 */
size_t packets_block_start(uint8_t *bytes, const char *program, const char *interface);
/** How long the block of a packet is, headers and padding included. */
size_t packets_block_size(const struct lull_camera_packet *packet);
/** Write it; @p time_ns: since 1970. */
void packets_block_write(uint8_t *bytes, const struct lull_camera_packet *packet, uint64_t time_ns);

#endif
