/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectors that are away, vanish or read slowly. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "case.h"
#include "export/names.h"
#include "stand.h"

#define ITERATIONS_MAX 20000
#define ITERATION_US 500

struct peer {
	int fd;
	uint16_t port;
	char to[64];
};

/* On peer->port; 0: any that is free. */
static void
peer_open(struct peer *peer, int kind)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				       .sin_port = htons(peer->port) };
	socklen_t size = sizeof(address);
	int yes = 1;

	peer->fd = socket(AF_INET, kind, 0);
	assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(peer->fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&address, &size), 0);
	if (kind == SOCK_STREAM)
		assert_int_equal(listen(peer->fd, 4), 0);
	peer->port = ntohs(address.sin_port);
	snprintf(peer->to, sizeof(peer->to), "%s://127.0.0.1:%u",
		 kind == SOCK_STREAM ? "tcp" : "udp", peer->port);
}

/* Iterations until the only destination is up, or not. */
static void
sink_await(struct flow_sink *sink, bool up)
{
	struct flow_sink_state state;

	for (int i = 0; i < ITERATIONS_MAX; i++) {
		sink_iterate(sink, 0);
		flow_sink_state(sink, 0, &state);
		if (state.up == up)
			return;
		usleep(ITERATION_US);
	}
	fail_msg("it is not %s", up ? "up" : "down");
}

TEST(outage__is_told_once_and_its_end_too)
{
	struct flow_sink_settings settings = { 0 };
	struct peer peer = { .port = 0 };
	struct flow_sink_counters counters;
	struct told told = { 0 };
	struct flow_sink *sink;
	struct lull_error error;

	peer_open(&peer, SOCK_STREAM);
	close(peer.fd); /* nobody listens there now */
	settings.to[FLOW_SINK_JSON][0] = peer.to;
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 10);
	sink_await(sink, false);
	for (int i = 0; i < 5; i++)
		sink_watch(sink, &told);
	assert_int_equal(told.count, 1);
	assert_non_null(strstr(told.last, "Connection refused; trying again"));
	assert_non_null(strstr(told.last, peer.to));
	peer_open(&peer, SOCK_STREAM);
	sink_await(sink, true);
	for (int i = 0; i < 5; i++)
		sink_watch(sink, &told);
	assert_int_equal(told.count, 2);
	assert_non_null(strstr(told.last, "takes records again"));
	flow_sink_read(sink, FLOW_SINK_JSON, &counters);
	assert_true(counters.error_refused > 0);
	assert_int_equal(counters.error_refused, counters.errors);
	(void)flow_sink_finish(sink, &error);
	flow_sink_close(sink);
	close(peer.fd);
}

/* The descriptor of ours that is connected to this port. */
static int
connection_to(uint16_t port)
{
	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_in address = { 0 };
		socklen_t size = sizeof(address);

		if (getpeername(fd, (struct sockaddr *)&address, &size) == 0 &&
		    address.sin_family == AF_INET && ntohs(address.sin_port) == port)
			return fd;
	}
	return -1;
}

TEST(outage__a_peer_that_vanished_is_noticed)
{
	struct flow_sink_settings settings = { .timeout_ns = 7 * LULL_NS_PER_S };
	struct peer peer = { .port = 0 };
	struct flow_sink *sink;
	int fd, value,
		options[][3] = {
			{ SOL_SOCKET, SO_KEEPALIVE, 1 },
			{ IPPROTO_TCP, TCP_USER_TIMEOUT, 7000 },
			{ IPPROTO_TCP, TCP_KEEPIDLE, 1 },
		};
	socklen_t size = sizeof(value);
	struct lull_error error;

	peer_open(&peer, SOCK_STREAM);
	settings.to[FLOW_SINK_IPFIX][0] = peer.to;
	sink = sink_make(&settings);
	for (int i = 0; i < ITERATIONS_MAX && connection_to(peer.port) < 0; i++)
		sink_iterate(sink, 0);
	fd = connection_to(peer.port);
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		assert_int_equal(getsockopt(fd, options[i][0], options[i][1], &value, &size), 0);
		assert_int_equal(value, options[i][2]);
	}
	(void)flow_sink_finish(sink, &error);
	flow_sink_close(sink);
	close(peer.fd);
}

static uint32_t
datagrams_read(int fd)
{
	char bytes[2048];
	uint32_t count = 0;

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		count++;
	return count;
}

/* A collector over UDP that is away: its records wait, but for those that ask after it. */
TEST(outage__datagrams_wait_for_their_collector)
{
	struct flow_sink_settings settings = { 0 };
	struct peer peer = { .port = 0 };
	struct flow_sink_counters counters;
	struct flow_sink *sink;
	struct lull_error error;
	uint32_t got;

	peer_open(&peer, SOCK_DGRAM);
	close(peer.fd);
	settings.to[FLOW_SINK_JSON][0] = peer.to;
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 200);
	for (int i = 0; i < 600; i++) {
		sink_iterate(sink, 0);
		usleep(ITERATION_US);
	}
	flow_sink_read(sink, FLOW_SINK_JSON, &counters);
	assert_true(counters.error_refused > 0);
	assert_true(counters.records < 40); /* the burst at the beginning, and some that ask */
	peer_open(&peer, SOCK_DGRAM);
	sink_await(sink, true);
	(void)flow_sink_finish(sink, &error);
	got = datagrams_read(peer.fd);
	assert_in_range(got, 160, 200);
	flow_sink_close(sink);
	close(peer.fd);
}

/* ---- names and totals ---- */

/* A look-up by its thread, while the loop goes on. */
TEST(names__are_looked_up_again)
{
	struct sink_names *names = NULL;
	struct lull_error error = { "" };
	const char *reason;
	bool found = false;

	assert_int_equal(sink_names_open("localhost", "4739", SOCK_STREAM, true, &names, &error),
			 0);
	assert_non_null(sink_names_first(names));
	assert_false(sink_names_take(names, &reason)); /* nobody has asked */
	for (int round = 0; round < 3; round++) {
		found = false;
		sink_names_ask(names);
		sink_names_ask(names); /* once is enough */
		for (int i = 0; i < ITERATIONS_MAX && !found; i++) {
			found = sink_names_take(names, &reason);
			usleep(ITERATION_US);
		}
		assert_true(found);
		assert_null(reason);
		assert_non_null(sink_names_first(names));
	}
	sink_names_ask(names);
	sink_names_close(names); /* under way or not */
	assert_int_not_equal(
		sink_names_open("no.such.host.invalid", "1", SOCK_STREAM, false, &names, &error),
		0);
	assert_true(error.text[0] != '\0');
	/* An address has no name. */
	assert_int_equal(sink_names_open("::1", "1", SOCK_DGRAM, true, &names, &error), 0);
	sink_names_ask(names);
	usleep(20000);
	assert_false(sink_names_take(names, &reason));
	sink_names_close(names);
}

/* Options records over UDP while the probe runs, not only at the end. */
TEST(totals__come_over_udp_during_the_run)
{
	struct flow_sink_settings settings = { .totals_ns = 20 * LULL_NS_PER_MS };
	struct peer peer = { .port = 0 };
	struct flow_sink *sink;
	struct lull_error error;
	uint8_t bytes[2048];
	int totals = 0;

	peer_open(&peer, SOCK_DGRAM);
	settings.to[FLOW_SINK_IPFIX][0] = peer.to;
	sink = sink_make(&settings);
	for (int i = 0; i < 800; i++) {
		sink_iterate(sink, 0);
		usleep(ITERATION_US);
	}
	while (recv(peer.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		totals += bytes[16] == 1 && bytes[17] == 2; /* a set of template 258 */
	assert_true(totals >= 2);
	(void)flow_sink_finish(sink, &error);
	flow_sink_close(sink);
	close(peer.fd);
}

/* ---- pace ---- */

struct slow {
	int fd;
	uint32_t records;
	bool end;
};

/* Reads a datagram in half a millisecond, and counts the records in it by the numbers. */
static void *
slow_read(void *arg)
{
	struct slow *slow = arg;
	uint8_t bytes[2048];

	while (!__atomic_load_n(&slow->end, __ATOMIC_ACQUIRE)) {
		ssize_t len = recv(slow->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (len > 16)
			__atomic_add_fetch(&slow->records, 1, __ATOMIC_RELAXED);
		usleep(len > 0 ? 500 : 2000);
	}
	return NULL;
}

static void
pace_try(bool ordered)
{
	struct flow_sink_settings settings = { .ordered = ordered };
	struct peer peer = { .port = 0 };
	struct slow slow;
	struct flow_sink_counters counters;
	struct flow_sink *sink;
	pthread_t reader;
	uint32_t count = 3000;

	peer_open(&peer, SOCK_DGRAM);
	slow = (struct slow){ .fd = peer.fd };
	settings.to[FLOW_SINK_JSON][0] = peer.to;
	pthread_create(&reader, NULL, slow_read, &slow);
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, count); /* they all end together */
	if (!ordered)
		sink_iterate(sink, 0);
	{
		struct lull_error error = { "" };

		if (flow_sink_finish(sink, &error) != 0)
			fail_msg("%s", error.text);
	}
	flow_sink_read(sink, FLOW_SINK_JSON, &counters);
	flow_sink_close(sink);
	for (int i = 0; i < 400 && slow.records < count; i++)
		usleep(5000);
	__atomic_store_n(&slow.end, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	assert_int_equal(counters.records, count);
	assert_int_equal(slow.records, count);
	close(peer.fd);
}

/* An ordinary buffer holds a few hundred: what comes faster than it is read is lost. */
TEST(pace__a_slow_collector_gets_all_of_a_capture)
{
	pace_try(true);
}

TEST(pace__a_slow_collector_gets_flows_that_end_together)
{
	pace_try(false);
}
