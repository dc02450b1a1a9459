/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to all on a link, ports of senders, and waiting for several back ends in one poll(). */
#include "net_stand.h"

#include <errno.h>

#include "net/interface.h"

#define PORT 34567
#define PKTS 20
#define BYTES_MAX 500
#define LIMIT_MS 20000

/* Both hear what is sent to all: they share the port. */
TEST(broadcast__reaches_all_that_claim_it)
{
	struct lull_net_outgoing to = { .port = PORT,
					.source = stand_ip("127.0.0.1"),
					.destination = stand_ip("255.255.255.255") };
	struct stand here, there, sender;
	struct lull_net_packet last;

	stand_open(&here, "kernel:lo");
	stand_open(&there, "kernel:lo");
	stand_open(&sender, "kernel:lo");
	stand_claim(&here, PORT, "255.255.255.255");
	stand_claim(&there, PORT, "255.255.255.255");
	to.source_port = stand_claim(&sender, 0, "127.0.0.1");
	stand_start(&here);
	stand_start(&there);
	stand_start(&sender);
	stand_send(&sender, &to, PKTS, BYTES_MAX);
	last = stand_receive(&here, PKTS, BYTES_MAX);
	assert_int_equal(last.source_port, to.source_port);
	assert_true(lull_net_ip_same(&last.source, &to.source));
	stand_receive(&there, PKTS, BYTES_MAX);
	assert_int_equal(stand_sent(&sender).unreachable, 0);
	stand_close(&here);
	stand_close(&there);
	stand_close(&sender);
}

/* Two back ends, one poll(): receive() asks the socket that is ready, and no other. */
TEST(watch__tells_who_is_ready)
{
	const struct lull_net_config config = { .send_pkts = STAND_SEND_PKTS };
	struct pollfd polls[2 * LULL_NET_CLAIMS_MAX];
	struct lull_net_packet packets[LULL_NET_BURST];
	struct lull_net_outgoing to = { .destination = stand_ip("127.0.0.1") };
	struct stand ends[2] = { { .state = NULL } };
	uint32_t counts[2];

	for (uint32_t i = 0; i < 2; i++) {
		ends[i].backend = &lull_net_kernel;
		assert_int_equal(lull_net_kernel.open(&config, "lo", &ends[i].state, NULL), 0);
		stand_claim(&ends[i], 0, "127.0.0.1");
		stand_start(&ends[i]);
		while (lull_net_kernel.receive(ends[i].state, packets) > 0)
			;
		counts[i] = lull_net_kernel.watch(ends[i].state, &polls[i]);
		assert_int_equal(counts[i], 1);
	}
	to.source_port = ends[0].claims[0].port;
	to.port = ends[1].claims[0].port;
	assert_int_equal(poll(polls, 2, 0), 0);
	stand_send(&ends[0], &to, PKTS, BYTES_MAX);
	assert_int_equal(poll(polls, 2, LIMIT_MS), 1);
	assert_int_not_equal(polls[1].revents, 0);
	assert_int_equal(lull_net_kernel.receive(ends[1].state, packets), 0);
	lull_net_kernel.watched(ends[0].state, &polls[0]);
	assert_int_equal(lull_net_kernel.receive(ends[0].state, packets), 0);
	lull_net_kernel.watched(ends[1].state, &polls[1]);
	stand_receive(&ends[1], PKTS, BYTES_MAX);
	/* Or all are asked, whatever poll() says. */
	stand_send(&ends[0], &to, 1, BYTES_MAX);
	assert_int_equal(poll(polls, 2, LIMIT_MS), 1);
	lull_net_kernel.watched(ends[1].state, NULL);
	stand_receive(&ends[1], 1, BYTES_MAX);
	assert_null(lull_net_kernel_busy.watch);
	stand_close(&ends[0]);
	stand_close(&ends[1]);
}

TEST(interface__tells_its_address)
{
	struct lull_net_ip ip, expected = stand_ip("127.0.0.1");
	struct lull_error error;

	assert_int_equal(lull_net_interface_address("lo", &ip, &error), 0);
	assert_true(lull_net_ip_same(&ip, &expected));
	assert_int_equal(lull_net_interface_address("nosuch0", &ip, &error), -ENODEV);
	assert_string_equal(error.text, "interface nosuch0 does not exist; see 'ip link'");
	/* 127.0.0.1/8 */
	ip = stand_ip("127.200.3.4");
	assert_true(lull_net_interface_same(&expected, &ip));
	ip = stand_ip("128.0.0.1");
	assert_false(lull_net_interface_same(&expected, &ip));
	assert_false(lull_net_interface_same(&ip, &expected)); /* no interface has it */
	ip = stand_ip("::1");
	assert_false(lull_net_interface_same(&expected, &ip));
	ip = stand_ip("255.255.255.255");
	assert_true(lull_net_ip_is_broadcast(&ip));
	ip = stand_ip("255.255.255.254");
	assert_false(lull_net_ip_is_broadcast(&ip));
}
