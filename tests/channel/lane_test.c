/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes and neighbours: both sides in this process, and what one side may do to the other. */
#include "stand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/neighbour.h"

#define PACKET_BYTES 600u
#define PORT 4711u
#define STRIDE 640u
#define ROOM CHANNEL_BURST

/* Two processes with the same rail: what each knows of the other. */
struct two {
	struct lull_bundle_rail rails[2];
	struct channel_neighbours sides[2];
	uint8_t bytes[ROOM * STRIDE];
	struct channel_packet packets[ROOM];
};

static int
files_open(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static uint32_t
ready(const struct channel_neighbours *side)
{
	struct pollfd polls = { .fd = side->watch_fd, .events = POLLIN };

	return poll(&polls, 1, 0) == 1;
}

/* Side 0 has port PORT, side 1 the next one. */
static void
two_meet(struct two *two)
{
	int fds[2][CHANNEL_LANE_FDS];

	assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct channel_attach_meeting meeting = { .port = PORT + 1 - i, .side = i };

		assert_int_equal(
			channel_neighbours_meet(&two->sides[i], &two->rails[i], &meeting, fds[i]),
			0);
	}
}

static void
two_open(struct two *two)
{
	for (uint32_t i = 0; i < 2; i++) {
		two->rails[i] = (struct lull_bundle_rail){
			.packet_bytes = PACKET_BYTES,
			.address = { .len_bytes = 4,
				     .bytes = { 10, 7, (uint8_t)(PORT + i), (PORT + i) >> 8 } }
		};
		assert_int_equal(channel_neighbours_open(&two->sides[i]), 0);
	}
	two_meet(two);
}

static void
two_close(struct two *two)
{
	for (uint32_t i = 0; i < 2; i++)
		channel_neighbours_close(&two->sides[i]);
}

static bool
two_put(struct two *two, uint32_t from, uint32_t number, uint32_t len_bytes)
{
	uint8_t bytes[PACKET_BYTES];
	const struct lull_bundle_packet packet = { .bytes = bytes,
						   .len_bytes = len_bytes,
						   .to = two->rails[1 - from].address };

	stand_fill(bytes, len_bytes, number);
	return channel_neighbours_put(&two->sides[from], &packet);
}

static uint32_t
two_take(struct two *two, uint32_t to)
{
	return channel_neighbours_take(&two->sides[to], two->packets, two->bytes, STRIDE, ROOM);
}

/* All that is there comes from the other, is what was sent, and in order. */
static uint32_t
two_taken(struct two *two, uint32_t to, uint32_t number)
{
	const struct lull_bundle_address *from = &two->rails[1 - to].address;
	uint32_t count = two_take(two, to);

	for (uint32_t i = 0; i < count; i++) {
		const struct channel_packet *packet = &two->packets[i];

		assert_int_equal(packet->from.len_bytes, from->len_bytes);
		assert_memory_equal(packet->from.bytes, from->bytes, from->len_bytes);
		assert_true(stand_holds(packet->bytes, packet->len_bytes, number + i));
	}
	return count;
}

static uint32_t *
two_ring(const struct two *two, uint32_t written_by)
{
	uint8_t *memory = (uint8_t *)two->sides[0].all[0].lane.shared + LULL_CACHE_LINE;

	return (uint32_t *)(void *)(memory + written_by * channel_ring_bytes(PACKET_BYTES));
}

TEST(neighbours__exchange_packets)
{
	static struct two two;
	int files = files_open();

	two_open(&two);
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t from = round % 2, burst = round % 37;

		for (uint32_t i = 0; i < burst; i++)
			assert_true(two_put(&two, from, round + i, 1 + (round + i) % PACKET_BYTES));
		assert_int_equal(two_take(&two, 1 - from), 0);
		channel_neighbours_push(&two.sides[from]);
		assert_int_equal(two_taken(&two, 1 - from, round), burst);
	}
	assert_int_equal(two.sides[0].tx_pkts, two.sides[1].rx_pkts);
	assert_int_equal(two.sides[1].tx_pkts, two.sides[0].rx_pkts);
	assert_int_equal(two.sides[0].count_now, 1);
	assert_int_equal(channel_neighbours_missed(&two.sides[0]), 0);
	two_close(&two);
	assert_int_equal(files_open(), files);
}

/* Packets to anybody else go where they went before. */
TEST(neighbours__take_what_is_for_them)
{
	static struct two two;
	struct lull_bundle_packet packet = { .bytes = two.bytes, .len_bytes = 9 };

	two_open(&two);
	assert_false(channel_neighbours_put(&two.sides[0], &packet)); /* everybody */
	packet.to = two.rails[0].address;                             /* itself */
	assert_false(channel_neighbours_put(&two.sides[0], &packet));
	packet.to = two.rails[1].address;
	packet.to.bytes[0]++; /* another node */
	assert_false(channel_neighbours_put(&two.sides[0], &packet));
	packet.to = two.rails[1].address;
	packet.to.len_bytes--;
	assert_false(channel_neighbours_put(&two.sides[0], &packet));
	packet.to.len_bytes = 1;
	assert_false(channel_neighbours_put(&two.sides[0], &packet));
	packet.to = two.rails[1].address;
	assert_true(channel_neighbours_put(&two.sides[0], &packet));
	two_close(&two);
}

/* Nothing goes into a lane whose other side nobody has taken yet. */
TEST(neighbours__wait_for_each_other)
{
	int fds[2][CHANNEL_LANE_FDS];
	const struct channel_attach_meeting meeting = { .port = PORT + 1, .side = 0 };
	static struct two two;
	struct channel_lane other;

	two_open(&two);
	assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
	assert_int_equal(channel_neighbours_meet(&two.sides[0], &two.rails[0], &meeting, fds[0]),
			 0);
	assert_int_equal(two.sides[0].count, 1); /* in the place of the lane before */
	assert_false(two_put(&two, 0, 1, 10));
	assert_int_equal(channel_lane_open(&other, fds[1], 1, PACKET_BYTES), 0);
	assert_true(two_put(&two, 0, 1, 10));
	channel_lane_close(&other);
	two_close(&two);
}

TEST(neighbours__count_what_finds_no_room)
{
	static struct two two;
	uint32_t taken = 0, count;

	two_open(&two);
	for (uint32_t i = 0; i < CHANNEL_RING_PKTS + 5; i++) {
		assert_true(two_put(&two, 0, i, 10));
		if (i % 32 == 0)
			channel_neighbours_push(&two.sides[0]);
	}
	channel_neighbours_push(&two.sides[0]);
	assert_int_equal(channel_neighbours_missed(&two.sides[1]), 5);
	assert_int_equal(channel_neighbours_missed(&two.sides[0]), 0);
	while ((count = two_taken(&two, 1, taken)) > 0)
		taken += count;
	assert_int_equal(taken, CHANNEL_RING_PKTS);
	assert_true(two_put(&two, 0, 7, 10));
	channel_neighbours_push(&two.sides[0]);
	assert_int_equal(two_taken(&two, 1, 7), 1);
	channel_neighbours_clear(&two.sides[1]);
	assert_int_equal(channel_neighbours_missed(&two.sides[1]), 5);
	two_close(&two);
}

/* One bell for one rest, and none without. */
TEST(neighbours__end_rests)
{
	static struct two two;

	two_open(&two);
	two_put(&two, 0, 1, 10);
	channel_neighbours_push(&two.sides[0]);
	assert_false(ready(&two.sides[1]));
	assert_true(channel_neighbours_rest(&two.sides[1])); /* it is here already */
	channel_neighbours_wake(&two.sides[1]);
	assert_int_equal(two_taken(&two, 1, 1), 1);
	assert_false(channel_neighbours_rest(&two.sides[1]));
	assert_false(ready(&two.sides[1]));
	for (uint32_t i = 0; i < 3; i++) {
		two_put(&two, 0, i, 10);
		channel_neighbours_push(&two.sides[0]);
	}
	assert_true(ready(&two.sides[1]));
	channel_neighbours_hear(&two.sides[1]);
	assert_false(ready(&two.sides[1]));
	assert_int_equal(two_taken(&two, 1, 0), 3);
	/* Who did not ask poll() hears it all the same. */
	assert_false(channel_neighbours_rest(&two.sides[1]));
	two_put(&two, 0, 1, 10);
	channel_neighbours_push(&two.sides[0]);
	assert_true(ready(&two.sides[1]));
	channel_neighbours_wake(&two.sides[1]);
	assert_false(ready(&two.sides[1]));
	two_close(&two);
}

/* What was sent before the other side died is taken; then it is gone, and nothing is sent to it. */
TEST(neighbours__outlive_each_other)
{
	static struct two two;

	two_open(&two);
	two_put(&two, 0, 3, 10);
	channel_neighbours_push(&two.sides[0]);
	channel_neighbours_close(&two.sides[0]);
	assert_true(ready(&two.sides[1]));
	channel_neighbours_hear(&two.sides[1]);
	assert_false(ready(&two.sides[1]));                  /* poll() does not spin */
	assert_true(channel_neighbours_rest(&two.sides[1])); /* there is something to do */
	assert_false(two_put(&two, 1, 1, 10));
	assert_int_equal(two_taken(&two, 1, 3), 1);
	assert_int_equal(two.sides[1].count, 1);
	assert_int_equal(two_take(&two, 1), 0);
	assert_int_equal(two.sides[1].count, 0);
	assert_int_equal(two.sides[1].count_now, 0);
	assert_false(channel_neighbours_rest(&two.sides[1]));
	channel_neighbours_close(&two.sides[1]);
}

static void
two_wrong(uint32_t head, uint32_t len_bytes, uint32_t address_bytes)
{
	static struct two two;
	uint32_t *ring;

	two_open(&two);
	ring = two_ring(&two, 0);
	ring[2 * LULL_CACHE_LINE / sizeof(*ring)] = len_bytes;
	ring[2 * LULL_CACHE_LINE / sizeof(*ring) + 1] = address_bytes;
	ring[0] = head;
	assert_int_equal(two_take(&two, 1), 0);
	assert_int_equal(two.sides[1].count, 0);
	assert_true(ready(&two.sides[0])); /* it is hung up on */
	two_close(&two);
}

TEST(neighbours__drop_who_writes_nonsense)
{
	static struct two two;

	two_wrong(CHANNEL_RING_PKTS + 1, 10, 0);
	two_wrong(UINT32_MAX, 10, 0);
	two_wrong(1, 0, 0);
	two_wrong(1, PACKET_BYTES + 1, 0);
	two_wrong(1, 10, LULL_BUNDLE_ADDRESS_SIZE + 1);
	two_open(&two); /* the index of who reads */
	two_ring(&two, 0)[LULL_CACHE_LINE / sizeof(uint32_t)] = 77;
	assert_false(two_put(&two, 0, 1, 10));
	assert_int_equal(two.sides[0].count, 0);
	assert_true(ready(&two.sides[1]));
	two_close(&two);
}

/* A full bell, one made to wait, foreign descriptors: nothing waits, nothing stays open. */
TEST(lane__is_not_held_up)
{
	int fds[2][CHANNEL_LANE_FDS], nothing[CHANNEL_LANE_FDS], files = files_open();
	struct channel_lane lane, other;

	assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
	assert_int_equal(channel_lane_open(&lane, fds[0], 0, PACKET_BYTES), 0);
	assert_int_equal(channel_lane_open(&other, fds[1], 1, PACKET_BYTES), 0);
	assert_int_equal(fcntl(lane.bell_fd, F_SETFL, 0), 0);
	assert_int_equal(channel_lane_hear(&lane), 0);
	for (uint32_t i = 0; i < 100000; i++)
		channel_lane_ring(&lane);
	assert_int_equal(channel_lane_hear(&other), 0);
	channel_lane_hang_up(&other);
	assert_int_equal(channel_lane_hear(&lane), -ECONNRESET);
	channel_lane_ring(&lane);
	channel_lane_close(&other);
	channel_lane_close(&lane);
	channel_lane_close(&lane);

	nothing[CHANNEL_LANE_MEMORY] = channel_lane_memory(100);
	nothing[CHANNEL_LANE_BELL] = dup(0);
	assert_int_equal(channel_lane_open(&lane, nothing, 0, PACKET_BYTES), -EPROTO);
	nothing[CHANNEL_LANE_MEMORY] = memfd_create("", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	nothing[CHANNEL_LANE_BELL] = dup(0);
	assert_int_equal(
		ftruncate(nothing[CHANNEL_LANE_MEMORY], (off_t)channel_lane_bytes(PACKET_BYTES)),
		0); /* it could shrink */
	assert_int_equal(channel_lane_open(&lane, nothing, 0, PACKET_BYTES), -EPROTO);
	nothing[CHANNEL_LANE_MEMORY] = dup(0); /* no memory at all */
	nothing[CHANNEL_LANE_BELL] = dup(0);
	assert_int_equal(channel_lane_open(&lane, nothing, 0, PACKET_BYTES), -EPROTO);
	assert_int_equal(files_open(), files);
}

TEST(neighbours__are_so_many_at_most)
{
	static struct two two;
	int files = files_open();

	two_open(&two);
	for (uint32_t i = 0; i < CHANNEL_NEIGHBOURS_MAX; i++) {
		struct channel_attach_meeting meeting = { .port = i + 1, .side = i % 2 };
		int fds[2][CHANNEL_LANE_FDS], rc;

		assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
		rc = channel_neighbours_meet(&two.sides[0], &two.rails[0], &meeting, fds[0]);
		assert_int_equal(rc, i < CHANNEL_NEIGHBOURS_MAX - 1 ? 0 : -ENOSPC);
		close(fds[1][CHANNEL_LANE_MEMORY]);
		close(fds[1][CHANNEL_LANE_BELL]);
	}
	assert_int_equal(two.sides[0].count, CHANNEL_NEIGHBOURS_MAX);
	assert_true(two_put(&two, 0, 1, 10));
	channel_neighbours_hear(&two.sides[0]);
	for (uint32_t i = 0; i < 8 * CHANNEL_NEIGHBOURS_MAX; i++) {
		channel_neighbours_hear(&two.sides[0]);
		two_take(&two, 0);
	}
	assert_int_equal(two.sides[0].count, 1); /* the others hung up */
	channel_neighbours_push(&two.sides[0]);
	assert_int_equal(two_taken(&two, 1, 1), 1);
	two_close(&two);
	assert_int_equal(files_open(), files);
}

/* ---- what comes over the attachment socket ---- */

static void
send_fds(int to, const void *bytes, size_t size, uint32_t count)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(16 * sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (count > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		memset(CMSG_DATA(head), 0, count * sizeof(int)); /* each is stdin */
	}
	assert_int_equal(sendmsg(to, &message, 0), size);
}

/* Descriptors that nobody asked for do not stay open, however many there are. */
TEST(attach__keeps_no_descriptor_it_did_not_want)
{
	struct channel_attach_answer answer = { .port = 1 };
	struct channel_attach_meeting meeting = { .port = 1 };
	int pair[2], fds[CHANNEL_LANE_FDS], files;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(channel_attach_meet(pair[0], &meeting, NULL), 0); /* fills its head in */
	assert_int_equal(channel_attach_meeting_read(pair[1], &meeting, fds), -EMFILE);
	assert_int_equal(channel_attach_reply(pair[0], &answer, NULL), 0);
	assert_int_equal(channel_attach_read(pair[1], &answer, fds), -EPROTO);
	files = files_open();
	for (uint32_t count = 0; count <= 16; count++) {
		send_fds(pair[0], &answer, sizeof(answer), count);
		assert_int_equal(channel_attach_read(pair[1], &answer, fds),
				 count == CHANNEL_LANE_FDS ? 0 : -EPROTO);
		for (uint32_t i = 0; i < CHANNEL_LANE_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		send_fds(pair[0], &meeting, sizeof(meeting), count);
		assert_int_equal(channel_attach_meeting_read(pair[1], &meeting, fds),
				 count == CHANNEL_LANE_FDS ? 0 :
				 count < CHANNEL_LANE_FDS  ? -EMFILE :
							     -EPROTO);
		for (uint32_t i = 0; i < CHANNEL_LANE_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		send_fds(pair[0], &meeting, sizeof(meeting) - 1, count);
		assert_int_equal(channel_attach_meeting_read(pair[1], &meeting, fds), -EPROTO);
		assert_int_equal(files_open(), files);
	}
	close(pair[0]);
	assert_int_equal(channel_attach_meeting_read(pair[1], &meeting, fds), -ECONNRESET);
	close(pair[1]);
}
