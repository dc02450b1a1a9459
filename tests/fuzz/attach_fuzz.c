/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes over the socket of lull-channel-node, with descriptors of all kinds, and what a
 * hostile process writes into the memory of a lane.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/neighbour.h"
#include "fuzz.h"

#define PACKET_BYTES 64u
#define STRIDE 64u
#define FDS_MAX 12u
#define STEPS_MAX 64u

static const struct lull_bundle_rail rail = { .packet_bytes = PACKET_BYTES,
					      .address = { .len_bytes = 8,
							   .bytes = { 10, 0, 0, 1, 1, 2, 3, 4 } } };

/* The next bytes of an input; zeros behind its end. */
struct input {
	const uint8_t *at;
	size_t left;
};

static uint32_t
input_next(struct input *input, uint32_t bytes)
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < bytes; i++) {
		value = value << 8 | (input->left > 0 ? *input->at : 0);
		input->at += input->left > 0;
		input->left -= input->left > 0;
	}
	return value;
}

/* The lowest number that is free: the same before and after, or something stayed open. */
static int
fuzz_files(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);

	FUZZ_CHECK(fd >= 0);
	close(fd);
	return fd;
}

/* ---- messages ---- */

static int
fuzz_fd(uint32_t kind)
{
	switch (kind % 4) {
	case 0:
		return channel_lane_memory(channel_lane_bytes(PACKET_BYTES));
	case 1:
		return channel_lane_memory(100);
	case 2:
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	default:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	}
}

static void
fuzz_send(int to, const uint8_t *bytes, size_t size, uint32_t kinds, uint32_t count)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[FDS_MAX];

	if (count > 0) {
		struct cmsghdr *head;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		for (uint32_t i = 0; i < count; i++)
			fds[i] = fuzz_fd(kinds >> 2 * i);
		memcpy(CMSG_DATA(head), fds, count * sizeof(int));
	}
	FUZZ_CHECK(sendmsg(to, &message, 0) == (ssize_t)size);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
}

static void
fuzz_answer(int from)
{
	struct channel_attach_answer answer;
	int fds[CHANNEL_LANE_FDS], rc = channel_attach_read(from, &answer, fds);
	struct channel_lane lane = { .bell_fd = -1 };
	bool attached = rc == 0 && answer.error == 0 && answer.port != 0;

	FUZZ_CHECK((fds[CHANNEL_LANE_MEMORY] >= 0) == attached);
	FUZZ_CHECK((fds[CHANNEL_LANE_BELL] >= 0) == attached);
	if (attached)
		(void)channel_lane_open(&lane, fds, CHANNEL_ATTACH_PROCESS, PACKET_BYTES);
	channel_lane_close(&lane);
}

static void
fuzz_meeting(int from)
{
	struct channel_attach_meeting meeting;
	struct channel_neighbours neighbours;
	int fds[CHANNEL_LANE_FDS], rc;

	FUZZ_CHECK(channel_neighbours_open(&neighbours) == 0);
	rc = channel_attach_meeting_read(from, &meeting, fds);
	FUZZ_CHECK((fds[CHANNEL_LANE_MEMORY] >= 0) == (rc == 0));
	FUZZ_CHECK((fds[CHANNEL_LANE_BELL] >= 0) == (rc == 0));
	if (rc == 0) {
		FUZZ_CHECK(meeting.port > 0 && meeting.port <= UINT16_MAX && meeting.side < 2);
		rc = channel_neighbours_meet(&neighbours, &rail, &meeting, fds);
		FUZZ_CHECK((neighbours.count == 1) == (rc == 0));
	}
	channel_neighbours_close(&neighbours);
}

static void
fuzz_message(uint32_t kind, struct input *input)
{
	uint32_t count = input_next(input, 1) % (FDS_MAX + 1), kinds = input_next(input, 3);
	struct channel_attach_request request;
	int pair[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	fuzz_send(pair[0], input->at, input->left, kinds, count);
	if (kind == 0)
		fuzz_answer(pair[1]);
	else if (kind == 1)
		fuzz_meeting(pair[1]);
	else
		(void)channel_attach_request_read(pair[1], &request);
	close(pair[0]);
	close(pair[1]);
}

/* ---- the memory of a lane ---- */

/* In buffers of just the size that was promised. */
static void
fuzz_take(struct channel_neighbours *neighbours, uint32_t count)
{
	struct channel_packet *packets = malloc(count * sizeof(*packets));
	uint8_t *bytes = malloc((size_t)count * STRIDE);
	uint32_t taken;

	FUZZ_CHECK(packets != NULL && bytes != NULL);
	taken = channel_neighbours_take(neighbours, packets, bytes, STRIDE, count);
	FUZZ_CHECK(taken <= count);
	for (uint32_t i = 0; i < taken; i++) {
		FUZZ_CHECK(packets[i].bytes == bytes + i * STRIDE);
		FUZZ_CHECK(packets[i].len_bytes > 0 && packets[i].len_bytes <= PACKET_BYTES);
		FUZZ_CHECK(packets[i].from.len_bytes == rail.address.len_bytes);
		FUZZ_CHECK(memcmp(packets[i].from.bytes, rail.address.bytes, 6) == 0);
		FUZZ_CHECK(packets[i].from.bytes[6] == 7 && packets[i].from.bytes[7] == 0);
	}
	free(bytes);
	free(packets);
}

static void
fuzz_put(struct channel_neighbours *neighbours, uint32_t len_bytes)
{
	static uint8_t bytes[PACKET_BYTES];
	struct lull_bundle_packet packet = { .bytes = bytes,
					     .len_bytes = len_bytes % PACKET_BYTES + 1,
					     .to = rail.address };

	packet.to.bytes[6] = 7;
	packet.to.bytes[7] = 0;
	(void)channel_neighbours_put(neighbours, &packet);
}

/* Words in front of the rings, of their heads, of the first slots, and of any place. */
static void
fuzz_write(uint8_t *memory, struct input *input)
{
	size_t ring = input_next(input, 1) % 2 * channel_ring_bytes(PACKET_BYTES);
	uint32_t place = input_next(input, 1), value = input_next(input, 4);
	size_t at = LULL_CACHE_LINE + ring + place % 64 * 8;

	if (place >= 192)
		at = place % 16 * sizeof(value);
	else if (place >= 128)
		at = (size_t)value * sizeof(value) % channel_lane_bytes(PACKET_BYTES);
	memcpy(memory + at, &value, sizeof(value));
}

static void
fuzz_step(struct channel_neighbours *neighbours, struct channel_lane *other, struct input *input)
{
	uint32_t step = input_next(input, 1);

	switch (step % 10) {
	case 0:
	case 1:
		fuzz_write((uint8_t *)other->shared, input);
		break;
	case 2:
		fuzz_put(neighbours, step);
		break;
	case 3:
		channel_neighbours_push(neighbours);
		break;
	case 4:
		fuzz_take(neighbours, step % CHANNEL_BURST + 1);
		break;
	case 5:
		(void)channel_neighbours_rest(neighbours);
		break;
	case 6:
		channel_neighbours_wake(neighbours);
		break;
	case 7:
		channel_neighbours_hear(neighbours);
		break;
	case 8:
		channel_lane_ring(other);
		break;
	default:
		if (step > 200)
			channel_lane_hang_up(other);
		(void)channel_neighbours_missed(neighbours);
		break;
	}
}

static void
fuzz_memory(struct input *input)
{
	const struct channel_attach_meeting meeting = { .port = 7, .side = 0 };
	struct channel_neighbours neighbours;
	int fds[2][CHANNEL_LANE_FDS];
	struct channel_lane other;

	FUZZ_CHECK(channel_neighbours_open(&neighbours) == 0);
	FUZZ_CHECK(channel_lane_make(PACKET_BYTES, fds) == 0);
	FUZZ_CHECK(channel_neighbours_meet(&neighbours, &rail, &meeting, fds[0]) == 0);
	FUZZ_CHECK(channel_lane_open(&other, fds[1], 1, PACKET_BYTES) == 0);
	for (uint32_t i = 0; i < STEPS_MAX && input->left > 0; i++)
		fuzz_step(&neighbours, &other, input);
	channel_neighbours_close(&neighbours);
	channel_lane_close(&other);
}

/* The first byte: an answer, a meeting, a request, or a lane. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint32_t kind = input_next(&input, 1) % 4;
	int files = fuzz_files();

	if (size == 0 || size > 4096)
		return 0;
	if (kind < 3)
		fuzz_message(kind, &input);
	else
		fuzz_memory(&input);
	FUZZ_CHECK(fuzz_files() == files);
	return 0;
}
