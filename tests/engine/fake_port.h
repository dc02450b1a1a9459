/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fake port: the Rx side of a port as the test wants it: bursts, how many wait, the memory that the
 * next packet writes, and interrupts.
 *
 * The port is one of a stand_pair(); its fast path is replaced in rte_eth_fp_ops, which DPDK leaves
 * to applications to see, and the rest by --wrap. The test sends into it with fake_port_send().
 */
#ifndef LULL_TEST_FAKE_PORT_H
#define LULL_TEST_FAKE_PORT_H

#include "engine/loop/rest_device.h"

#define FAKE_QUEUES 16
#define FAKE_SLOTS 1024

struct fake_queue {
	uint32_t sent, taken; /* counts; sent is the word that a driver would have watched */
	struct rte_mbuf *slots[FAKE_SLOTS];
	bool armed;
	uint32_t arms, disarms, words;
	int file;       /* where its interrupts go */
	int enable_rc;  /* what arming answers */
	int address_rc; /* what asking for the address answers */
};

struct fake_port {
	struct lull_port near, far; /* far is the fake */
	uint32_t queue_count;
	bool counts;     /* it has rx_queue_count */
	bool interrupts; /* it was configured with them */
	uint32_t polls;  /* bursts asked for */
	/* Called once: before the address of a queue is told, before it is armed. */
	int at_address, at_arm; /* queue into which a packet is sent then; -1: none */
	int at_queue;           /* in the turn of which queue; -1: of any */
	struct fake_queue queues[FAKE_QUEUES];
};
extern struct fake_port fake_port;

/** Open it; with @p shared all queues have one file. */
void fake_port_open(uint32_t queue_count, bool counts, bool shared);
void fake_port_close(void);
/** A packet comes to @p queue; false: it has no room, the packet is freed. Any one thread. */
bool fake_port_send(uint32_t queue, uint32_t number);
/** Sent and not yet taken. */
uint32_t fake_port_waiting(void);

/** Open the port, and a rest device on all of its queues. */
void fake_device_open(struct lull_rest_device *device, uint32_t queue_count, bool counts,
		      bool shared);
/** Take what waits in its stash and in the queues; returns how many packets. */
uint32_t fake_device_drain(struct lull_rest_device *device);
void fake_device_close(struct lull_rest_device *device);

#endif
