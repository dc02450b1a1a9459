/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sender: a socket, and packets given to it many at a time.
 *
 * Threads: one. Memory: the caller's structs; a batch is large, one serves all cameras.
 */
#ifndef LULL_EMULATOR_SENDER_H
#define LULL_EMULATOR_SENDER_H

#include <netpacket/packet.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include "frame/packet_write.h"
#include "config.h"

#define SENDER_BATCH 64

/** Where packets go. */
struct sender_target {
	union {
		struct sockaddr any;
		struct sockaddr_in ip;
		struct sockaddr_ll link;
	};
	socklen_t len;
};

/** What a packet in a batch is. */
struct sender_packet {
	uint64_t frame;
	uint32_t index;
	uint32_t len;
};

struct sender_batch {
	bool segment; /* the kernel cuts a row of packets apart; it says so if it cannot */
	uint32_t count;
	struct sender_packet packets[SENDER_BATCH];
	uint8_t bytes[SENDER_BATCH][LULL_PACKET_BYTES_MAX];
};

/**
 * Open the socket of camera @p camera; @p target is preset for what --to says. 0 or -errno and the
 * sentence.
 */
int sender_open(const struct lull_emulator_config *config, uint32_t camera, int *fd,
		struct sender_target *target, struct lull_error *error);
struct sender_target sender_target_ip(uint32_t ip, uint16_t port);
/** Address and port of camera @p camera on this side; port 0: the kernel chooses. */
uint32_t sender_ip(const struct lull_emulator_config *config, uint32_t camera);
/** Port that the socket has got. */
uint16_t sender_port(int fd);

/** Send the whole batch. @p taken[i]: did the kernel take packet i? */
void sender_flush(int fd, const struct sender_target *target, struct sender_batch *batch,
		  bool taken[SENDER_BATCH]);

#endif
