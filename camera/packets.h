/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets: the packets of an iteration for the application's own callback.
 *
 * Threads: the receiving thread.
 */
#ifndef LULL_CAMERA_PACKETS_H
#define LULL_CAMERA_PACKETS_H

#include "receiver.h"

/** Call camera->config.packets with those that are for a stream. */
void camera_packets_report(struct lull_receiver *receiver, const struct lull_net_packet *packets,
			   uint32_t count);

#endif
