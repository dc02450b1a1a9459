/* SPDX-License-Identifier: BSD-3-Clause */
/* What sockets of the kernel say, put right. */
#include "net_stand.h"

#include <sys/socket.h>
#include <time.h>

#include "net/kernel_socket.h"

#define PKTS 5
#define TRIES 100 /* until all come at once */

/* Linked with --wrap: stamps are changed on their way from the kernel. */
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags,
		    struct timespec *limit);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags,
		    struct timespec *limit);

/* The first ones are stamped later than those behind them. */
static const uint64_t stamps[PKTS] = { 900, 910, 500, 600, 600 };
static const uint64_t ordered[PKTS] = { 500, 500, 500, 600, 600 };
static uint32_t stamped;

static void
stamp_set(struct msghdr *header, uint64_t ns)
{
	const struct timespec when = { .tv_sec = 1, .tv_nsec = (long)ns };

	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part != NULL;
	     part = CMSG_NXTHDR(header, part)) {
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(CMSG_DATA(part), &when, sizeof(when));
			stamped++;
		}
	}
}

int
__wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags,
		struct timespec *limit)
{
	int got = __real_recvmmsg(fd, messages, count, flags, limit);

	for (int i = 0; i < got && i < PKTS; i++)
		stamp_set(&messages[i].msg_hdr, stamps[i]);
	return got;
}

/* The first ones arrived before the kernel stamped, and were stamped when they were read. */
TEST(stamps__of_earlier_packets_are_no_later)
{
	struct lull_net_packet packets[PKTS] = { { .stamp_ns = 0 } };

	for (uint32_t i = 0; i < PKTS; i++)
		packets[i].stamp_ns = stamps[i];
	kernel_stamps_in_order(packets, PKTS);
	for (uint32_t i = 0; i < PKTS; i++)
		assert_int_equal(packets[i].stamp_ns, ordered[i]);
	kernel_stamps_in_order(packets, 0);
	packets[0].stamp_ns = 7;
	kernel_stamps_in_order(packets, 1);
	assert_int_equal(packets[0].stamp_ns, 7);
}

/* The next burst of a socket that has some; 0: none came. */
static uint32_t
burst(struct stand *stand, struct lull_net_packet packets[LULL_NET_BURST])
{
	uint32_t count = stand->backend->receive(stand->state, packets);

	for (uint32_t i = 0; count == 0 && i < TRIES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		count = stand->backend->receive(stand->state, packets);
	}
	return count;
}

/* A burst of PKTS packets, with the stamps above from the kernel. */
static void
stamps_in_order(const char *backend)
{
	struct lull_net_packet packets[LULL_NET_BURST], late[LULL_NET_BURST];
	struct lull_net_outgoing to = { .destination = stand_ip("127.0.0.1") };
	uint32_t count = 0;
	struct stand stand;

	stand_open(&stand, backend);
	to.port = to.source_port = stand_claim(&stand, 0, NULL);
	stand_start(&stand);
	for (uint32_t i = 0; count != PKTS; i++) {
		assert_true(i < TRIES);
		while (stand.backend->receive(stand.state, late) > 0)
			stand.backend->release(stand.state);
		stamped = 0;
		stand_send(&stand, &to, PKTS, 100);
		count = burst(&stand, packets);
	}
	assert_int_equal(stamped, PKTS);
	for (uint32_t i = 0; i < PKTS; i++)
		assert_int_equal(packets[i].stamp_ns, LULL_NS_PER_S + ordered[i]);
	stand.backend->release(stand.state);
	stand_close(&stand);
}

TEST(kernel__receives_stamps_in_order)
{
	stamps_in_order("kernel:lo");
}

TEST(kernel_busy__receives_stamps_in_order)
{
	stamps_in_order("kernel-busy:lo");
}
