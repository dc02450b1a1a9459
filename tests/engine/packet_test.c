/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An af_packet port on the loopback of a network namespace of its own: what the kernel drops
 * because nobody polls is known to the port, and charged by a loop.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stand.h"

#define RING 64
#define SKIP 77

static struct lull_port port;

static void
refused(const char *what)
{
	printf("skipped: needs network namespaces: %s: %s\n", what, strerror(errno));
	exit(SKIP);
}

static void
lo_up(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0)
		refused("loopback");
	request.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &request) != 0)
		refused("loopback");
	close(fd);
}

static void
send_datagrams(int count)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	for (int i = 0; i < count; i++)
		sendto(fd, "x", 1, 0, (const void *)&address, sizeof(address));
	close(fd);
}

TEST(missed__counts_what_the_kernel_dropped)
{
	uint64_t missed;

	assert_int_equal(port.ring_pkts, RING);
	assert_int_equal(lull_port_missed(&port), 0);
	send_datagrams(RING / 4);
	assert_int_equal(lull_port_missed(&port), 0);
	send_datagrams(4 * RING);
	missed = lull_port_missed(&port);
	/* Each passes the loopback once or twice as the socket sees it, and some call back. */
	assert_true(missed >= RING);
	assert_int_equal(lull_port_missed(&port), missed);
}

/* The last packet socket: the one the driver opened for its port. */
static int
send_room_bytes(void)
{
	int bytes = 0, last = 0;
	socklen_t size;

	for (int fd = 0; fd < 1024; fd++) {
		int domain = 0;

		size = sizeof(domain);
		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
		    domain != AF_PACKET)
			continue;
		size = sizeof(bytes);
		if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0)
			last = bytes;
	}
	return last;
}

/* More than any ring holds: with less, packets stand in it until others follow them. */
TEST(port__has_room_to_send_all_that_its_ring_holds)
{
	assert_true(send_room_bytes() >= 192 << 20);
}

TEST(audit__charges_what_the_kernel_dropped)
{
	struct lull_forward_config forward;
	struct lull_loop_config config = stand_loop("fwd0", 1, &port, &forward);
	const struct lull_idle_counters *counters;
	struct lull_loop *loop;

	forward.mode = LULL_FORWARD_SINK;
	config.governor = lull_idle_governor_find("fixed");
	config.limits.ring_pkts = port.ring_pkts;
	config.limits.rest_ns = 100 * LULL_NS_PER_MS;
	config.limits.rest_ns_max = LULL_NS_PER_S;
	loop = stand_run(&config);
	counters = lull_loop_counters(loop);
	STAND_WAIT(LULL_COUNTER_READ(counters->rests[LULL_IDLE_SLEEP]) > 2);
	/* Far more than the ring holds, for as long as it takes to meet a rest. */
	STAND_WAIT((send_datagrams(4 * RING), LULL_COUNTER_READ(counters->misses) > 0));
	lull_loop_destroy(loop);
}

static int
setup(void **state)
{
	static const char *const vdevs[] = {
		"net_af_packet0,iface=lo,framecnt=64,framesz=2048,blocksz=4096", NULL
	};
	const struct lull_port_config config = { .queues = 1, .ring_pkts = 1024, .burst_pkts = 32 };
	struct lull_error error = { "" };

	(void)state;
	if (unshare(CLONE_NEWNET) != 0)
		refused("unshare");
	lo_up();
	if (stand_start(vdevs) != 0)
		return -1;
	if (lull_port_open(0, &config, &port, &error) == 0)
		return 0;
	fprintf(stderr, "%s\n", error.text);
	return -1;
}

TEST_GROUP(setup, stand_stop);
