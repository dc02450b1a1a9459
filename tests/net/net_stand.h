/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: a back end with claims, and packets that tell their number by every byte.
 */
#ifndef LULL_TEST_NET_NET_STAND_H
#define LULL_TEST_NET_NET_STAND_H

#include <stdio.h>
#include <string.h>

#include "case.h"
#include "net/backend.h"

#define STAND_WAIT_NS (20 * LULL_NS_PER_S) /* generous: the machine may be busy */
#define STAND_SEND_PKTS 256
#define STAND_BYTES_MAX 9000

struct stand {
	const struct lull_net_backend *backend;
	void *state;
	uint32_t claim_count;
	struct lull_net_claim claims[8];
};

/** "kernel:lo"; fails the test with the reason. */
void stand_open(struct stand *stand, const char *text);
/** Claim UDP @p port, 0: a free one; returns it. @p address: NULL for any. */
uint16_t stand_claim(struct stand *stand, uint16_t port, const char *address);
void stand_start(struct stand *stand);
void stand_close(struct stand *stand);

struct lull_net_ip stand_ip(const char *text);
/** What packet @p number has in it: 1 + number * 7 % @p bytes_max bytes. */
uint32_t stand_fill(uint32_t number, uint32_t bytes_max, uint8_t *bytes);
/** Packets to @p to, numbered from 0 on; all of them are sent, by as many calls as it takes. */
void stand_send(struct stand *stand, const struct lull_net_outgoing *to, uint32_t count,
		uint32_t bytes_max);
/** Receive @p count packets and check that they are those, each once; the last one is kept. */
struct lull_net_packet stand_receive(struct stand *stand, uint32_t count, uint32_t bytes_max);
struct lull_net_sent stand_sent(struct stand *stand);

#endif
