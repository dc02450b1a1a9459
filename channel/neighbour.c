/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/bytes.h"

#define NEIGHBOUR_PORT_BYTES 2u /* at the end of an address */
#define NEIGHBOUR_EVENTS 16     /* at once */

/* ---- who is there ---- */

int
channel_neighbours_open(struct channel_neighbours *neighbours)
{
	*neighbours = (struct channel_neighbours){ .watch_fd = epoll_create1(EPOLL_CLOEXEC) };
	neighbours->all = calloc(CHANNEL_NEIGHBOURS_MAX, sizeof(*neighbours->all));
	neighbours->last = neighbours->all;
	return neighbours->watch_fd >= 0 && neighbours->all != NULL ? 0 : -ENOMEM;
}

/* It hung up: nothing is sent to it, and it is dropped when its ring is empty. */
static void
neighbour_gone(struct channel_neighbours *neighbours, struct channel_neighbour *other)
{
	if (!other->gone)
		epoll_ctl(neighbours->watch_fd, EPOLL_CTL_DEL, other->lane.bell_fd, NULL);
	other->gone = true;
}

/* The last one takes its place. */
static void
neighbour_drop(struct channel_neighbours *neighbours, struct channel_neighbour *gone)
{
	LULL_COUNTER_ADD(neighbours->missed_pkts, channel_lane_missed(&gone->lane));
	if (!gone->gone)
		epoll_ctl(neighbours->watch_fd, EPOLL_CTL_DEL, gone->lane.bell_fd, NULL);
	channel_lane_close(&gone->lane);
	*gone = neighbours->all[--neighbours->count];
	LULL_COUNTER_ADD(neighbours->count_now, -1ULL);
}

void
channel_neighbours_clear(struct channel_neighbours *neighbours)
{
	while (neighbours->count > 0)
		neighbour_drop(neighbours, &neighbours->all[neighbours->count - 1]);
}

void
channel_neighbours_close(struct channel_neighbours *neighbours)
{
	channel_neighbours_clear(neighbours);
	if (neighbours->watch_fd >= 0)
		close(neighbours->watch_fd);
	free(neighbours->all);
	*neighbours = (struct channel_neighbours){ .watch_fd = -1 };
}

static struct channel_neighbour *
neighbour_find(struct channel_neighbours *neighbours, uint32_t port)
{
	if (neighbours->last->port == port &&
	    neighbours->last < neighbours->all + neighbours->count)
		return neighbours->last;
	for (uint32_t i = 0; i < neighbours->count; i++)
		if (neighbours->all[i].port == port)
			return neighbours->last = &neighbours->all[i];
	return NULL;
}

int
channel_neighbours_meet(struct channel_neighbours *neighbours, const struct lull_bundle_rail *rail,
			const struct channel_attach_meeting *meeting,
			const int fds[CHANNEL_LANE_FDS])
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = meeting->port };
	struct channel_neighbour *old = neighbour_find(neighbours, meeting->port), *other;
	struct channel_lane lane;
	int rc = channel_lane_open(&lane, fds, meeting->side, rail->packet_bytes);

	if (old != NULL)
		neighbour_drop(neighbours, old);
	if (rc == 0 && neighbours->count == CHANNEL_NEIGHBOURS_MAX)
		rc = -ENOSPC;
	if (rc == 0 && epoll_ctl(neighbours->watch_fd, EPOLL_CTL_ADD, lane.bell_fd, &event) != 0)
		rc = -EPROTO;
	if (rc != 0) {
		channel_lane_close(&lane);
		return rc;
	}
	other = &neighbours->all[neighbours->count++];
	*other = (struct channel_neighbour){ .port = meeting->port,
					     .address = rail->address,
					     .lane = lane };
	lull_bytes_put_little(
		&other->address.bytes[other->address.len_bytes - NEIGHBOUR_PORT_BYTES],
		meeting->port, NEIGHBOUR_PORT_BYTES);
	LULL_COUNTER_ADD(neighbours->count_now, 1);
	return 0;
}

/* ---- packets ---- */

static struct channel_neighbour *
neighbour_at(struct channel_neighbours *neighbours, const struct lull_bundle_address *to)
{
	struct channel_neighbour *other;

	if (neighbours->count == 0 || to->len_bytes < NEIGHBOUR_PORT_BYTES)
		return NULL;
	other = neighbour_find(
		neighbours, lull_bytes_little16(&to->bytes[to->len_bytes - NEIGHBOUR_PORT_BYTES]));
	if (other == NULL || other->gone || other->address.len_bytes != to->len_bytes ||
	    memcmp(other->address.bytes, to->bytes, to->len_bytes) != 0)
		return NULL;
	return channel_lane_met(&other->lane) ? other : NULL;
}

bool
channel_neighbours_put(struct channel_neighbours *neighbours,
		       const struct lull_bundle_packet *packet)
{
	static const struct lull_bundle_address known; /* the lane says where it comes from */
	struct channel_neighbour *other = neighbour_at(neighbours, &packet->to);
	int rc;

	if (other == NULL)
		return false;
	rc = channel_lane_put(&other->lane, &known, packet->bytes, packet->len_bytes);
	if (rc == -EPROTO) {
		neighbour_drop(neighbours, other);
		return false;
	}
	if (rc != 0)
		channel_lane_miss(&other->lane);
	else
		LULL_COUNTER_ADD(neighbours->tx_pkts, 1);
	return true;
}

void
channel_neighbours_push(struct channel_neighbours *neighbours)
{
	for (uint32_t i = 0; i < neighbours->count; i++)
		channel_lane_push(&neighbours->all[i].lane);
}

uint32_t
channel_neighbours_take(struct channel_neighbours *neighbours, struct channel_packet *packets,
			uint8_t *bytes, uint32_t stride, uint32_t count)
{
	uint32_t used = 0, others = neighbours->count;

	if (others == 0)
		return 0;
	if (++neighbours->turn >= others)
		neighbours->turn = 0;
	for (uint32_t i = 0; i < others && used < count; i++) {
		uint32_t at = neighbours->turn + i;
		struct channel_neighbour *other = &neighbours->all[at < others ? at : at - others];
		int taken = channel_lane_take(&other->lane, &packets[used],
					      bytes + (size_t)used * stride, stride, count - used);

		if (taken < 0 || (taken == 0 && other->gone)) {
			neighbour_drop(neighbours, other);
			break; /* who comes behind it has its turn the next time */
		}
		for (int k = 0; k < taken; k++)
			packets[used + (uint32_t)k].from = other->address;
		used += (uint32_t)taken;
	}
	LULL_COUNTER_ADD(neighbours->rx_pkts, used);
	return used;
}

/* ---- rests ---- */

bool
channel_neighbours_rest(struct channel_neighbours *neighbours)
{
	bool ready = false;

	for (uint32_t i = 0; i < neighbours->count; i++)
		ready |= channel_lane_rest(&neighbours->all[i].lane) || neighbours->all[i].gone;
	return ready;
}

void
channel_neighbours_wake(struct channel_neighbours *neighbours)
{
	for (uint32_t i = 0; i < neighbours->count; i++)
		if (channel_lane_wake(&neighbours->all[i].lane) != 0)
			neighbour_gone(neighbours, &neighbours->all[i]);
}

void
channel_neighbours_hear(struct channel_neighbours *neighbours)
{
	struct epoll_event events[NEIGHBOUR_EVENTS];
	int count = epoll_wait(neighbours->watch_fd, events, NEIGHBOUR_EVENTS, 0);

	for (int i = 0; i < count; i++) {
		struct channel_neighbour *other = neighbour_find(neighbours, events[i].data.u32);

		if (other == NULL)
			continue;
		(void)channel_ring_wake(&other->lane.in); /* it is heard here, and once */
		if (channel_lane_hear(&other->lane) != 0)
			neighbour_gone(neighbours, other);
	}
}

uint32_t
channel_neighbours_missed(const struct channel_neighbours *neighbours)
{
	uint32_t missed = (uint32_t)LULL_COUNTER_READ(neighbours->missed_pkts);

	for (uint32_t i = 0; i < neighbours->count; i++)
		missed += channel_lane_missed(&neighbours->all[i].lane);
	return missed;
}
