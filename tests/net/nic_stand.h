/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * NIC: the back end dpdk:PORT on a port that behaves as a NIC would.
 *
 * Packets go through rings (net_ring: what is sent on a queue comes to the same). What lull asks of
 * the driver is answered here, by --wrap, and recorded; the tests say what the NIC can do.
 */
#ifndef LULL_TEST_NET_NIC_STAND_H
#define LULL_TEST_NET_NIC_STAND_H

#include <rte_ethdev.h>

#include "net/backend.h"
#include "stand.h"

#define NIC "net_ring7"
#define NIC_FRAME_MAX 10000

struct nic {
	/* what it can do */
	uint32_t mtu_max;
	uint64_t offloads;
	int list_rc;             /* what it answers to a list of groups */
	const char *refuses;     /* rules, with this sentence; NULL: it takes them */
	const char *isolates_no; /* the same for isolation */
	/* what it was asked for */
	bool configured;
	uint16_t queues;
	struct rte_eth_conf conf;
	uint32_t mtu;        /* by a call of its own */
	uint32_t room_bytes; /* of a buffer, behind its headroom */
	uint32_t mac_count;  /* groups in its filter */
	struct rte_ether_addr macs[16];
	bool all_groups;
	uint32_t rule_count;
	struct {
		uint16_t queue, port, ether_type;
		uint8_t protocol;
	} rules[16];
	bool isolated; /* before it was configured */
	/* the back end */
	const struct lull_net_backend *backend;
	void *state;
	uint16_t port_id;
	uint32_t claim_count;
	struct lull_net_claim claims[8];
};
extern struct nic nic;

/** An X550, as far as lull asks: 9710 bytes, packets in several buffers, checksums. */
void nic_reset(void);
/** "dpdk:" NIC @p words; fails the test with the reason. */
void nic_open(const char *words);
/** It is refused, and the sentence has @p words in it. */
void nic_refuses(const char *device, const char *words);
void nic_claim(uint16_t port, const char *address);
/** It is refused, and the sentence has @p words in it. */
void nic_claim_refused(uint16_t port, const char *words);
/** An ether type; @p mac: NULL for any. */
void nic_claim_ethernet(uint16_t ether_type, const char *mac);
void nic_start(void);
void nic_close(void);

/** A UDP packet to @p port with @p len_bytes of payload that count up from @p number. */
uint32_t nic_frame(uint8_t *frame, uint16_t port, uint32_t number, uint32_t len_bytes);
/** It comes to @p queue in so many buffers of about the same size, with these flags. */
void nic_comes(uint16_t queue, const uint8_t *frame, uint32_t size, uint32_t segments,
	       uint64_t flags);
/** What lull has sent on the first queue; 0: nothing. It comes no more. */
uint32_t nic_sent(uint8_t *frame);
/** What there is; the packets are released by the next call. */
uint32_t nic_receive(struct lull_net_packet *packets);
/** What the self-check says of @p subject; fails the test when it says nothing. */
struct lull_finding nic_finding(const char *subject);
/** The payload of nic_frame(). */
void nic_expect(const struct lull_net_packet *packet, uint32_t number, uint32_t len_bytes);

#endif
