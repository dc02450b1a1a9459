/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets out on a port, seen from the other end of a pair of rings. */
#include <errno.h>

#include <rte_ethdev.h>

#include "net/dpdk/rx_port_send.h"
#include "net/walk.h"
#include "stand.h"

#define RING 64
#define PKTS 100
#define BYTES 200
#define MTU 1500

static const uint8_t next[] = { 2, 0, 0, 0, 0, 9 };
static uint8_t payload[PKTS + 2][BYTES], longer[2 * MTU];
static struct lull_net_outgoing packets[PKTS + 2];

static struct lull_net_ip
ip(const char *text)
{
	struct lull_net_ip made;

	assert_int_equal(lull_net_ip_parse(text, &made), 0);
	return made;
}

static void
fill(void)
{
	for (uint32_t i = 0; i < PKTS + 2; i++) {
		payload[i][0] = (uint8_t)i;
		packets[i] = (struct lull_net_outgoing){
			.data = payload[i],
			.len_bytes = BYTES,
			.source_port = 4000,
			.port = 5004,
			.source = ip("192.0.2.1"),
			.destination = ip("192.0.2.2"),
			.mac = next,
		};
	}
}

static struct lull_rx_port_sender *
send_open(const struct lull_port *port)
{
	struct lull_rx_port_sender *sender;
	struct lull_error error = { "" };

	if (lull_rx_port_send_open(port->port_id, PKTS, MTU, NULL, &sender, &error) != 0)
		fail_msg("%s", error.text);
	return sender;
}

/* Take what is in the ring: @p number of the next packet, which some have lost. */
static uint32_t
drain(const struct lull_port *port, uint32_t number)
{
	struct rte_mbuf *pkts[RING];
	uint16_t count = rte_eth_rx_burst(port->port_id, 0, pkts, RING);

	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkts[i], const uint8_t *);
		struct lull_net_walked walked;

		if (number == 3 || number == 5)
			number++;
		assert_int_equal(lull_net_walk(frame, pkts[i]->data_len, &walked),
				 LULL_NET_WALK_UDP);
		assert_int_equal(walked.len_bytes, BYTES);
		assert_int_equal(walked.data[0], number++);
		assert_memory_equal(frame, next, sizeof(next));
	}
	rte_pktmbuf_free_bulk(pkts, count);
	return number;
}

/* A full ring takes a part, in order; what can never be sent is counted once, not once a try. */
TEST(send__takes_what_there_is_room_for)
{
	struct lull_rx_port_sender *sender;
	struct lull_port near, far;
	struct lull_net_sent sent;
	uint32_t done, number;

	stand_pair("send", 1, RING, &near, &far);
	sender = send_open(&near);
	fill();
	packets[3].data = longer;
	packets[3].len_bytes = sizeof(longer);
	packets[5].mac = NULL;
	done = lull_rx_port_send(sender, packets, PKTS + 2);
	lull_rx_port_sent(sender, &sent);
	assert_in_range(done, RING / 2, RING + 2);
	assert_int_equal(sent.pkts, done - 2);
	assert_int_equal(sent.bytes, (done - 2) * BYTES);
	assert_int_equal(sent.full, PKTS + 2 - done);
	number = drain(&far, 0);
	assert_int_equal(number, done);
	assert_int_equal(lull_rx_port_send(sender, packets + done, PKTS + 2 - done),
			 PKTS + 2 - done);
	assert_int_equal(drain(&far, number), PKTS + 2);
	lull_rx_port_sent(sender, &sent);
	assert_int_equal(sent.pkts, PKTS);
	assert_int_equal(sent.too_long, 1);
	assert_int_equal(sent.unreachable, 1);
	lull_port_close(&near);
	lull_port_close(&far);
	lull_rx_port_send_close(sender);
}

/* RFC 1112 and RFC 2464: what the address of a group is on Ethernet. */
TEST(send__knows_the_address_of_a_group)
{
	static const uint8_t four[] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
	static const uint8_t six[] = { 0x33, 0x33, 0x00, 0x01, 0x02, 0x03 };
	struct lull_rx_port_sender *sender;
	struct rte_ether_addr own;
	struct lull_port near, far;
	struct rte_mbuf *pkts[2];
	const uint8_t *frame;

	stand_pair("group", 1, RING, &near, &far);
	sender = send_open(&near);
	fill();
	packets[0].mac = packets[1].mac = NULL;
	packets[0].destination = ip("239.129.2.3");
	packets[1].source = ip("fe80::1");
	packets[1].destination = ip("ff02::1:203");
	assert_int_equal(lull_rx_port_send(sender, packets, 2), 2);
	assert_int_equal(rte_eth_rx_burst(far.port_id, 0, pkts, 2), 2);
	frame = rte_pktmbuf_mtod(pkts[0], const uint8_t *);
	assert_memory_equal(frame, four, sizeof(four));
	rte_eth_macaddr_get(near.port_id, &own);
	assert_memory_equal(frame + 6, &own, sizeof(own));
	assert_memory_equal(rte_pktmbuf_mtod(pkts[1], const uint8_t *), six, sizeof(six));
	rte_pktmbuf_free_bulk(pkts, 2);
	lull_port_close(&near);
	lull_port_close(&far);
	lull_rx_port_send_close(sender);
}

TEST_GROUP(stand_setup, stand_stop);
