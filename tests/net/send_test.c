/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets out: over sockets of loopback, and into a capture that is read again. */
#include "net_stand.h"

#include <stdlib.h>
#include <unistd.h>

#define PKTS 200
#define BYTES_MAX 1400

/* From one back end to another, and the answer back to the port that it came from. */
static void
exchange(const char *address)
{
	struct lull_net_outgoing to = { .destination = stand_ip(address) };
	struct lull_net_packet last;
	struct stand here, there;
	uint64_t bytes = 0;

	stand_open(&here, "kernel:lo");
	stand_open(&there, "kernel:lo");
	to.source_port = stand_claim(&here, 0, NULL);
	to.port = stand_claim(&there, 0, address);
	stand_start(&here);
	stand_start(&there);
	stand_send(&here, &to, PKTS, BYTES_MAX);
	last = stand_receive(&there, PKTS, BYTES_MAX);
	assert_true(lull_net_ip_same(&last.source, &to.destination));
	assert_int_equal(last.first, 1);
	for (uint32_t i = 0; i < PKTS; i++) {
		uint8_t packet[BYTES_MAX];

		bytes += stand_fill(i, BYTES_MAX, packet);
	}
	assert_int_equal(stand_sent(&here).pkts, PKTS);
	assert_int_equal(stand_sent(&here).bytes, bytes);
	assert_int_equal(stand_sent(&there).pkts, 0);
	to = (struct lull_net_outgoing){ .source_port = to.port,
					 .port = to.source_port,
					 .destination = last.source };
	stand_send(&there, &to, 3, BYTES_MAX);
	stand_receive(&here, 3, BYTES_MAX);
	stand_close(&here);
	stand_close(&there);
}

TEST(kernel__sends_over_ipv4)
{
	exchange("127.0.0.1");
}

TEST(kernel__sends_over_ipv6)
{
	if (access("/proc/net/if_inet6", R_OK) != 0) {
		print_message("skipped: needs IPv6\n");
		skip();
	}
	exchange("::1");
}

/* Without a source port the kernel chooses one, and nothing queues there. */
TEST(kernel__sends_from_a_port_of_its_own)
{
	struct lull_net_outgoing to = { .destination = stand_ip("127.0.0.1") };
	struct stand here;

	stand_open(&here, "kernel:lo");
	to.port = stand_claim(&here, 0, NULL);
	stand_start(&here);
	stand_send(&here, &to, PKTS, BYTES_MAX);
	stand_receive(&here, PKTS, BYTES_MAX);
	stand_close(&here);
}

/* What can never leave is dropped and counted by its reason, and holds up nothing behind it. */
TEST(kernel__drops_what_cannot_leave)
{
	static uint8_t bytes[70000];
	struct lull_net_outgoing packets[] = {
		{ .len_bytes = 10 },
		{ .len_bytes = sizeof(bytes) },
		{ .len_bytes = 11 },
		{ .len_bytes = 10, .source_port = 9 },
		{ .len_bytes = 10, .ether_type = 0x99fe },
		{ .len_bytes = 12 },
	};
	const uint32_t count = sizeof(packets) / sizeof(packets[0]);
	struct lull_net_packet got[LULL_NET_BURST];
	struct lull_net_sent sent;
	uint32_t lengths[3], used = 0;
	struct stand here;
	uint16_t port;

	stand_open(&here, "kernel:lo");
	port = stand_claim(&here, 0, NULL);
	stand_start(&here);
	for (uint32_t i = 0; i < count; i++) {
		packets[i].data = bytes;
		packets[i].port = port;
		packets[i].destination = stand_ip("127.0.0.1");
	}
	assert_int_equal(here.backend->send(here.state, packets, count), count);
	sent = stand_sent(&here);
	assert_int_equal(sent.pkts, 3);
	assert_int_equal(sent.bytes, 33);
	assert_int_equal(sent.too_long, 1);
	assert_int_equal(sent.unreachable, 2);
	assert_int_equal(sent.full, 0);
	while (used < 3) {
		uint32_t fetched = here.backend->receive(here.state, got);

		for (uint32_t i = 0; i < fetched; i++)
			lengths[used++] = got[i].len_bytes;
	}
	assert_int_equal(lengths[0], 10);
	assert_int_equal(lengths[1], 11);
	assert_int_equal(lengths[2], 12);
	stand_close(&here);
}

TEST(kernel__tells_its_link)
{
	struct lull_net_link link;
	struct stand here;

	stand_open(&here, "kernel:lo");
	here.backend->link(here.state, &link);
	assert_true(link.up);
	assert_in_range(link.mtu, 1500, 65536);
	assert_int_equal(link.mbps, 0);
	stand_close(&here);
}

/* A back end that was not asked to send does not. */
TEST(kernel__only_receives_unless_asked)
{
	const struct lull_net_config config = { .own_loop = true };
	struct lull_net_outgoing packet = { .destination = stand_ip("127.0.0.1"), .port = 9 };
	struct lull_net_sent sent;
	void *opened;

	assert_int_equal(lull_net_kernel.open(&config, "lo", &opened, NULL), 0);
	assert_int_equal(lull_net_kernel.send(opened, &packet, 1), 0);
	lull_net_kernel.sent(opened, &sent);
	assert_int_equal(sent.pkts + sent.full, 0);
	lull_net_kernel.close(opened);
}

/* ---- captures ---- */

static void
capture_of(struct lull_net_outgoing to)
{
	char path[] = "/tmp/lull-net-XXXXXX", text[64];
	struct lull_net_packet last;
	struct stand out, in;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(text, sizeof(text), "pcap-write:%s", path);
	stand_open(&out, text);
	stand_start(&out);
	stand_send(&out, &to, PKTS, BYTES_MAX);
	assert_int_equal(stand_sent(&out).pkts, PKTS);
	stand_close(&out);
	snprintf(text, sizeof(text), "pcap:%s", path);
	stand_open(&in, text);
	if (to.ether_type == 0) {
		stand_claim(&in, to.port, NULL);
	} else {
		struct lull_net_claim claim = { .ethernet = true, .ether_type = to.ether_type };

		assert_int_equal(in.backend->claim(in.state, &claim, NULL), 0);
	}
	stand_start(&in);
	last = stand_receive(&in, PKTS, BYTES_MAX);
	assert_memory_equal(last.mac, to.source_mac, LULL_NET_MAC_SIZE);
	assert_true(lull_net_ip_same(&last.source, &to.source));
	assert_true(lull_net_ip_same(&last.destination, &to.destination));
	assert_int_equal(in.backend->receive(in.state, &last), 0);
	assert_true(in.backend->ended(in.state));
	assert_int_equal(in.backend->unclaimed(in.state), 0);
	stand_close(&in);
	unlink(path);
}

TEST(capture__is_what_was_sent)
{
	static const uint8_t from[LULL_NET_MAC_SIZE] = { 2, 0, 0, 0, 0, 1 };
	struct lull_net_outgoing to = {
		.source_port = 4000,
		.port = 5004,
		.source = stand_ip("192.0.2.1"),
		.destination = stand_ip("192.0.2.2"),
		.source_mac = from,
	};

	capture_of(to);
	to.source = stand_ip("2001:db8::1");
	to.destination = stand_ip("2001:db8::2");
	capture_of(to);
	capture_of((struct lull_net_outgoing){ .ether_type = 0x99fe, .source_mac = from });
}
