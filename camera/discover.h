/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Discover: which GigE Vision cameras are there, asked by broadcast.
 *
 * Threads: any. Blocks.
 */
#ifndef LULL_CAMERA_DISCOVER_H
#define LULL_CAMERA_DISCOVER_H

#include <netinet/in.h>

#include <lull/camera.h>

/**
 * Where a camera is that somebody named: an IPv4 address as it stands, of a MAC address that of
 * the camera which answers. 0, -EINVAL: neither of them; -EHOSTUNREACH: nobody answered.
 */
int camera_discover_address(const char *text, struct in_addr *address, struct lull_error *error);

#endif
