/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_send.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <lull/engine.h>

#include "host/error.h"
#include "net/frame.h"
#include "rx_port_exception.h"

#define RING_PKTS 1024 /* that a driver may hold until it sends again */

struct lull_rx_port_sender {
	uint16_t port_id;
	uint32_t mtu;
	struct lull_rx_port_exception *exception;
	struct rte_mempool *pool;
	uint8_t mac[LULL_NET_MAC_SIZE]; /* of the port */
	struct lull_net_sent sent;
};

int
lull_rx_port_send_open(uint16_t port_id, uint32_t pkts, uint32_t mtu,
		       struct lull_rx_port_exception *exception, struct lull_rx_port_sender **out,
		       struct lull_error *error)
{
	struct lull_rx_port_sender *sender = calloc(1, sizeof(*sender));
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_ether_addr mac;
	int rc;

	if (sender == NULL)
		return lull_error_set(error, -ENOMEM, "no memory to send");
	sender->port_id = port_id;
	sender->mtu = mtu;
	sender->exception = exception;
	rc = rte_eth_macaddr_get(port_id, &mac);
	if (rc != 0) {
		free(sender);
		return lull_error_set(error, rc, "the port has no MAC address: %s", strerror(-rc));
	}
	memcpy(sender->mac, &mac, sizeof(sender->mac));
	snprintf(name, sizeof(name), "ls%u", port_id);
	sender->pool = lull_pool_create(name, pkts + RING_PKTS + LULL_NET_BURST,
					(uint16_t)(mtu + LULL_NET_ETHERNET_BYTES), error);
	if (sender->pool == NULL) {
		free(sender);
		return -ENOMEM;
	}
	*out = sender;
	return 0;
}

void
lull_rx_port_send_close(struct lull_rx_port_sender *sender)
{
	if (sender != NULL)
		rte_mempool_free(sender->pool);
	free(sender);
}

/* ---- packets ---- */

/* Groups have the address that follows from theirs. False: nobody knows it. */
static bool
send_mac(const struct lull_net_outgoing *packet, uint8_t mac[LULL_NET_MAC_SIZE])
{
	if (packet->mac != NULL) {
		memcpy(mac, packet->mac, LULL_NET_MAC_SIZE);
		return true;
	}
	if (packet->ether_type != 0 || !lull_net_ip_is_multicast(&packet->destination))
		return false;
	lull_net_ip_group_mac(&packet->destination, mac);
	return true;
}

static void
send_write(const struct lull_rx_port_sender *sender, const struct lull_net_outgoing *packet,
	   const uint8_t *mac, struct rte_mbuf *pkt)
{
	struct lull_net_outgoing whole = *packet;
	uint32_t head = lull_net_frame_head(packet);
	uint8_t *frame = rte_pktmbuf_mtod(pkt, uint8_t *);

	whole.mac = mac;
	if (whole.source_mac == NULL)
		whole.source_mac = sender->mac;
	lull_net_frame_write(frame, &whole, true);
	memcpy(frame + head, packet->data, packet->len_bytes);
	pkt->data_len = (uint16_t)(head + packet->len_bytes);
	pkt->pkt_len = pkt->data_len;
}

/* What counts a packet that can never be sent; NULL: it can. The port has no address of its own. */
static uint64_t *
send_unsound(struct lull_rx_port_sender *sender, const struct lull_net_outgoing *packet)
{
	uint8_t mac[LULL_NET_MAC_SIZE];

	if (lull_net_frame_mtu(packet) > sender->mtu)
		return &sender->sent.too_long;
	if (!send_mac(packet, mac))
		return &sender->sent.unreachable;
	if (packet->ether_type == 0 &&
	    (lull_net_ip_is_any(&packet->source) ||
	     lull_net_ip_is4(&packet->source) != lull_net_ip_is4(&packet->destination)))
		return &sender->sent.unreachable;
	return NULL;
}

/* Packets from the first on, as long as each can be sent and there are buffers. */
static uint16_t
send_run(struct lull_rx_port_sender *sender, const struct lull_net_outgoing *packets,
	 uint32_t count, struct rte_mbuf **pkts)
{
	uint8_t mac[LULL_NET_MAC_SIZE];
	uint16_t run = 0;

	while (run < LULL_MIN(count, LULL_NET_BURST)) {
		const struct lull_net_outgoing *packet = &packets[run];

		if (send_unsound(sender, packet) != NULL || !send_mac(packet, mac))
			break;
		pkts[run] = rte_pktmbuf_alloc(sender->pool);
		if (pkts[run] == NULL)
			break;
		send_write(sender, packet, mac, pkts[run++]);
	}
	return run;
}

static uint16_t
send_burst(struct lull_rx_port_sender *sender, struct rte_mbuf **pkts, uint16_t count)
{
	if (sender->exception != NULL)
		return lull_rx_port_exception_send(sender->exception, pkts, count);
	return rte_eth_tx_burst(sender->port_id, 0, pkts, count);
}

uint32_t
lull_rx_port_send(struct lull_rx_port_sender *sender, const struct lull_net_outgoing *packets,
		  uint32_t count)
{
	struct rte_mbuf *pkts[LULL_NET_BURST];
	uint32_t done = 0;

	while (done < count) {
		uint64_t *unsound = send_unsound(sender, &packets[done]);
		uint16_t run, sent;

		if (unsound != NULL) {
			LULL_COUNTER_ADD(*unsound, 1);
			done++;
			continue;
		}
		run = send_run(sender, &packets[done], count - done, pkts);
		sent = send_burst(sender, pkts, run);
		rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(run - sent));
		LULL_COUNTER_ADD(sender->sent.pkts, sent);
		for (uint16_t i = 0; i < sent; i++)
			LULL_COUNTER_ADD(sender->sent.bytes, packets[done + i].len_bytes);
		done += sent;
		if (sent == 0 || sent < run) {
			LULL_COUNTER_ADD(sender->sent.full, count - done);
			break;
		}
	}
	return done;
}

void
lull_rx_port_sent(const struct lull_rx_port_sender *sender, struct lull_net_sent *sent)
{
	lull_net_sent_read(&sender->sent, sent);
}
