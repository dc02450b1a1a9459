/* SPDX-License-Identifier: BSD-3-Clause */
#include "lane.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LANE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define LANE_HEAD_BYTES LULL_CACHE_LINE
#define LANE_RINGS_HEARD 64 /* bytes in a bell that are heard at once */

_Static_assert(sizeof(struct channel_lane_shared) <= LANE_HEAD_BYTES, "the head fits");

/* ---- memory ---- */

size_t
channel_lane_bytes(uint32_t packet_bytes)
{
	return LANE_HEAD_BYTES + 2 * channel_ring_bytes(packet_bytes);
}

int
channel_lane_memory(size_t size)
{
	int fd = memfd_create("lull-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) != 0 || fcntl(fd, F_ADD_SEALS, LANE_SEALS) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

void *
channel_lane_map(int fd, size_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat seen;
	void *memory;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &seen) != 0 ||
	    seen.st_size != (off_t)size)
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory != MAP_FAILED ? memory : NULL;
}

/* ---- make, open and close ---- */

int
channel_lane_make(uint32_t packet_bytes, int fds[2][CHANNEL_LANE_FDS])
{
	int memory = channel_lane_memory(channel_lane_bytes(packet_bytes)), again, bells[2];

	if (memory < 0)
		return memory;
	again = fcntl(memory, F_DUPFD_CLOEXEC, 0);
	if (again < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, bells) != 0) {
		int rc = -errno;

		if (again >= 0)
			close(again);
		close(memory);
		return rc;
	}
	fds[0][CHANNEL_LANE_MEMORY] = memory;
	fds[1][CHANNEL_LANE_MEMORY] = again;
	fds[0][CHANNEL_LANE_BELL] = bells[0];
	fds[1][CHANNEL_LANE_BELL] = bells[1];
	return 0;
}

int
channel_lane_open(struct channel_lane *lane, const int fds[CHANNEL_LANE_FDS], uint32_t side,
		  uint32_t packet_bytes)
{
	size_t size = channel_lane_bytes(packet_bytes);
	uint8_t *bytes = channel_lane_map(fds[CHANNEL_LANE_MEMORY], size);
	uint8_t *rings[2];

	close(fds[CHANNEL_LANE_MEMORY]);
	*lane = (struct channel_lane){ .bell_fd = fds[CHANNEL_LANE_BELL],
				       .side = side,
				       .bytes = size,
				       .shared = (struct channel_lane_shared *)(void *)bytes };
	if (bytes == NULL) {
		channel_lane_close(lane);
		return -EPROTO;
	}
	rings[0] = bytes + LANE_HEAD_BYTES;
	rings[1] = rings[0] + channel_ring_bytes(packet_bytes);
	channel_ring_view(&lane->out, rings[side], packet_bytes);
	channel_ring_view(&lane->in, rings[1 - side], packet_bytes);
	atomic_store_explicit(&lane->shared->here[side], 1, memory_order_relaxed);
	return 0;
}

void
channel_lane_close(struct channel_lane *lane)
{
	if (lane->shared != NULL)
		munmap(lane->shared, lane->bytes);
	if (lane->bell_fd >= 0)
		close(lane->bell_fd);
	*lane = (struct channel_lane){ .bell_fd = -1 };
}

/* ---- packets ---- */

int
channel_lane_put(struct channel_lane *lane, const struct lull_bundle_address *address,
		 const uint8_t *bytes, uint32_t len_bytes)
{
	if (lane->room == 0) {
		int room = channel_ring_room(&lane->out);

		if (room < 0)
			return room;
		if ((uint32_t)room <= lane->pushed)
			return -ENOSPC;
		lane->room = (uint32_t)room - lane->pushed;
	}
	lane->room--;
	channel_ring_put(&lane->out, lane->pushed++, address, bytes, len_bytes);
	return 0;
}

void
channel_lane_push(struct channel_lane *lane)
{
	if (lane->pushed > 0 && channel_ring_push(&lane->out, lane->pushed))
		channel_lane_ring(lane);
	lane->pushed = 0;
}

int
channel_lane_take(struct channel_lane *lane, struct channel_packet *packets, uint8_t *bytes,
		  uint32_t stride, uint32_t count)
{
	int ready = channel_ring_ready(&lane->in);
	uint32_t taken = 0;

	if (ready <= 0)
		return ready;
	for (; taken < LULL_MIN((uint32_t)ready, count); taken++) {
		struct channel_packet *packet = &packets[taken];
		int length;

		*packet = (struct channel_packet){ .bytes = bytes + (size_t)taken * stride };
		length = channel_ring_take(&lane->in, taken, &packet->from, packet->bytes);
		if (length < 0)
			return length;
		packet->len_bytes = (uint32_t)length;
	}
	channel_ring_pop(&lane->in, taken);
	return (int)taken;
}

/* ---- rests ---- */

void
channel_lane_ring(const struct channel_lane *lane)
{
	/* Where the bell is full, the other side has not heard what is in it: that is enough. */
	(void)!send(lane->bell_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int
channel_lane_hear(const struct channel_lane *lane)
{
	uint8_t rings[LANE_RINGS_HEARD];
	ssize_t size = recv(lane->bell_fd, rings, sizeof(rings), MSG_DONTWAIT);

	if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	return -ECONNRESET;
}

void
channel_lane_hang_up(const struct channel_lane *lane)
{
	(void)shutdown(lane->bell_fd, SHUT_RDWR);
}

bool
channel_lane_rest(struct channel_lane *lane)
{
	return channel_ring_rest(&lane->in);
}

int
channel_lane_wake(struct channel_lane *lane)
{
	return channel_ring_wake(&lane->in) ? channel_lane_hear(lane) : 0;
}
