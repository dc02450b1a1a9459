/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "net/pcapng_block.h"

#define STEP_MS 100 /* with all: what is in the file is no older */

/* ---- the receiving thread ---- */

static void
packets_kick(const struct cam_packets *packets)
{
	uint64_t one = 1;

	(void)!write(packets->kick_fd, &one, sizeof(one));
}

/* The next segment is clean, or is given up. */
static bool
packets_advance(struct cam_packets *packets)
{
	struct packets_segment *segment;
	uint32_t next;
	bool free;

	pthread_mutex_lock(&packets->lock);
	next = (packets->current + 1) % CAM_PACKETS_SEGMENTS;
	segment = &packets->segments[next];
	free = !segment->kept && (!packets->all || segment->written == segment->used);
	if (free) {
		atomic_store(&segment->used, 0);
		segment->written = 0;
		packets->current = next;
	}
	pthread_mutex_unlock(&packets->lock);
	return free;
}

static uint8_t *
packets_bytes(const struct cam_packets *packets, uint32_t segment)
{
	return packets->memory + (size_t)segment * packets->segment_bytes;
}

/* With the headers that it had, as far as they are known. */
static struct lull_net_outgoing
packets_headers(const struct lull_camera_packet *packet)
{
	struct lull_net_outgoing headers = {
		.data = packet->data,
		.len_bytes = packet->len_bytes,
		.ether_type = packet->ether_type,
		.port = packet->port,
		.source_mac = packet->mac,
	};

	if (packet->ip_version == 4) {
		headers.source = lull_net_ip_from4(packet->source);
		headers.destination = lull_net_ip_from4(packet->destination);
	} else if (packet->ip_version == 6) {
		memcpy(&headers.source, packet->source, sizeof(headers.source));
		memcpy(&headers.destination, packet->destination, sizeof(headers.destination));
	}
	return headers;
}

/* current is changed by this thread alone, so it may read it without the lock. */
static bool
packets_put(struct cam_packets *packets, const struct lull_camera_packet *packet, uint64_t time_ns)
{
	const struct lull_net_outgoing headers = packets_headers(packet);
	size_t size = lull_net_pcapng_size(&headers);
	struct packets_segment *segment = &packets->segments[packets->current];
	uint32_t used = atomic_load_explicit(&segment->used, memory_order_relaxed);

	if (size > packets->segment_bytes - used) {
		if (packets->all)
			packets_kick(packets);
		if (size > packets->segment_bytes || !packets_advance(packets))
			return false;
		segment = &packets->segments[packets->current];
		used = 0;
	}
	lull_net_pcapng_write(packets_bytes(packets, packets->current) + used, &headers, time_ns);
	atomic_store_explicit(&segment->used, used + (uint32_t)size, memory_order_release);
	return true;
}

/* What to add to stamps of CLOCK_MONOTONIC for the time since 1970. */
static uint64_t
packets_epoch_ns(void)
{
	struct timespec real, own;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &own);
	return (uint64_t)(real.tv_sec - own.tv_sec) * LULL_NS_PER_S + (uint64_t)real.tv_nsec -
	       (uint64_t)own.tv_nsec;
}

void
cam_packets_take(void *arg, const struct lull_camera_packet *packets, uint32_t count)
{
	struct cam_packets *taken = arg;
	uint64_t epoch_ns = 0;

	if (count > 0 && packets[0].clock == LULL_CAMERA_CLOCK_POLL)
		epoch_ns = packets_epoch_ns();
	for (uint32_t i = 0; i < count; i++)
		if (!packets_put(taken, &packets[i], packets[i].stamp_ns + epoch_ns))
			LULL_COUNTER_ADD(taken->left_out, 1);
}

/* ---- the writing thread ---- */

static void
packets_fail(struct cam_packets *packets, int code)
{
	if (packets->failed == 0)
		packets->failed = code;
}

static void
packets_write(struct cam_packets *packets, const uint8_t *bytes, size_t count)
{
	while (count > 0 && packets->failed == 0) {
		ssize_t done = write(packets->fd, bytes, count);

		if (done < 0 && errno != EINTR)
			packets_fail(packets, errno);
		if (done > 0) {
			bytes += done;
			count -= (size_t)done;
		}
	}
}

/* How many blocks lie there; each says behind its type how long it is. */
static uint64_t
packets_count(const uint8_t *bytes, uint32_t count)
{
	uint64_t blocks = 0;

	for (uint32_t at = 0, length; at < count; at += length, blocks++)
		memcpy(&length, bytes + at + 4, sizeof(length));
	return blocks;
}

/* Keep all that is there and not in the file; the oldest segment is the one behind the current. */
static uint32_t
packets_keep(struct cam_packets *packets)
{
	uint32_t oldest;

	pthread_mutex_lock(&packets->lock);
	oldest = (packets->current + 1) % CAM_PACKETS_SEGMENTS;
	for (uint32_t i = 0; i < CAM_PACKETS_SEGMENTS; i++)
		packets->segments[i].kept =
			packets->segments[i].used > packets->segments[i].written;
	pthread_mutex_unlock(&packets->lock);
	return oldest;
}

static void
packets_save(struct cam_packets *packets)
{
	uint32_t oldest = packets_keep(packets);

	for (uint32_t i = 0; i < CAM_PACKETS_SEGMENTS; i++) {
		uint32_t index = (oldest + i) % CAM_PACKETS_SEGMENTS;
		struct packets_segment *segment = &packets->segments[index];
		const uint8_t *bytes = packets_bytes(packets, index);
		uint32_t used;

		if (!segment->kept) /* set by this thread alone */
			continue;
		used = atomic_load_explicit(&segment->used, memory_order_acquire);
		packets_write(packets, bytes + segment->written, used - segment->written);
		if (packets->failed == 0)
			packets->written +=
				packets_count(bytes + segment->written, used - segment->written);
		pthread_mutex_lock(&packets->lock);
		segment->written = used;
		segment->kept = false;
		pthread_mutex_unlock(&packets->lock);
	}
}

static void *
packets_run(void *arg)
{
	struct cam_packets *packets = arg;
	struct pollfd polled = { .fd = packets->kick_fd, .events = POLLIN };
	uint64_t kicks;

	while (!atomic_load(&packets->stop)) {
		if (poll(&polled, 1, packets->all ? STEP_MS : -1) > 0)
			(void)!read(packets->kick_fd, &kicks, sizeof(kicks));
		if (atomic_exchange(&packets->asked, false) || packets->all)
			packets_save(packets);
	}
	return NULL;
}

/* ---- open and close ---- */

static int
packets_start(struct cam_packets *packets, const char *backend, struct lull_error *error)
{
	uint8_t start[LULL_NET_PCAPNG_START_MAX];
	int rc;

	packets->fd = open(packets->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (packets->fd < 0)
		return lull_error_set(error, -errno, "cannot write %s: %s", packets->path,
				      strerror(errno));
	packets->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (packets->memory == NULL || packets->kick_fd < 0)
		return lull_error_set(error, -ENOMEM, "packets: no memory for %u times %u bytes",
				      CAM_PACKETS_SEGMENTS, packets->segment_bytes);
	/* now, not when packets come */
	memset(packets->memory, 1, (size_t)packets->segment_bytes * CAM_PACKETS_SEGMENTS);
	packets_write(packets, start,
		      lull_net_pcapng_start(start, "lull-cam " LULL_VERSION, backend));
	rc = -pthread_create(&packets->thread, NULL, packets_run, packets);
	packets->runs = rc == 0;
	return rc == 0 ? 0 : lull_error_set(error, rc, "packets: no thread: %s", strerror(-rc));
}

int
cam_packets_open(struct cam_packets *packets, const char *path, enum cam_packets_when when,
		 uint64_t room, const char *backend, struct lull_error *error)
{
	packets->path = path;
	packets->all = when == CAM_PACKETS_ALL;
	packets->fd = packets->kick_fd = -1;
	packets->segment_bytes = (uint32_t)(room / CAM_PACKETS_SEGMENTS);
	packets->memory = malloc((size_t)packets->segment_bytes * CAM_PACKETS_SEGMENTS);
	pthread_mutex_init(&packets->lock, NULL);
	return packets_start(packets, backend, error);
}

void
cam_packets_ask(struct cam_packets *packets)
{
	if (packets->path == NULL)
		return;
	atomic_store(&packets->asked, true);
	packets_kick(packets);
}

int
cam_packets_end(struct cam_packets *packets, struct lull_error *error)
{
	if (packets->path == NULL)
		return 0;
	if (packets->runs) {
		packets->runs = false;
		atomic_store(&packets->stop, true);
		packets_kick(packets);
		pthread_join(packets->thread, NULL);
		if (packets->all || packets->asked)
			packets_save(packets);
	}
	if (packets->fd >= 0 && close(packets->fd) != 0)
		packets_fail(packets, errno);
	packets->fd = -1;
	return packets->failed == 0 ? 0 :
				      lull_error_set(error, -packets->failed, "cannot write %s: %s",
						     packets->path, strerror(packets->failed));
}

void
cam_packets_close(struct cam_packets *packets)
{
	if (packets->path == NULL)
		return;
	if (packets->kick_fd >= 0)
		close(packets->kick_fd);
	free(packets->memory);
	pthread_mutex_destroy(&packets->lock);
	packets->path = NULL;
}
