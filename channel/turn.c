/* SPDX-License-Identifier: BSD-3-Clause */
#include "turn.h"

#include <sched.h>

#include "bundle/peer.h"
#include "event.h"

#define TURN_YIELDS_MAX 1000 /* to callers, in front of an iteration */
#define TURN_BURSTS 8        /* of a rail before the others have their turn */
#define TURN_FEW_PKTS 8
#define TURN_ROUNDS 4 /* bursts out of each rail before packets are looked for again */
#define TURN_FULL_NS (100 * LULL_NS_PER_US) /* until a rail that was full is tried again */
/* Quiet for so long, it may rest: to say so costs a packet. */
#define TURN_QUIET_NS (100 * LULL_NS_PER_US)
#define TURN_PARTLY_NS LULL_NS_PER_MS /* without a packet: a message goes on, and nobody rests */

/* ---- out ---- */

/* What found no room before. False: there is still none. */
static bool
turn_flush(struct channel_rail *rail)
{
	if (rail->next < rail->count)
		rail->next += rail->way->send(rail->state, &rail->packets[rail->next],
					      rail->count - rail->next);
	return rail->next >= rail->count;
}

/* A burst; false: that was all, or there is no room. */
static bool
turn_send(struct lull_channel *channel, uint64_t now_ns, uint32_t index)
{
	struct channel_rail *rail = channel->rails[index];

	if (!turn_flush(rail))
		return false;
	rail->next = 0;
	rail->count =
		lull_bundle_tx(channel->bundle, now_ns, index, rail->packets, CHANNEL_SEND_BURST);
	return turn_flush(rail) && rail->count == CHANNEL_SEND_BURST;
}

static void
turn_transmit(struct lull_channel *channel, uint64_t now_ns, uint32_t rounds)
{
	bool more = true;

	for (uint32_t round = 0; round < rounds && more; round++) {
		more = false;
		for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
			if (channel->rails[i] != NULL)
				more |= turn_send(channel, now_ns, i);
	}
}

static bool
turn_full(const struct lull_channel *channel)
{
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		if (channel->rails[i] != NULL && channel->rails[i]->next < channel->rails[i]->count)
			return true;
	return false;
}

/* ---- in ---- */

static uint32_t
turn_receive(struct lull_channel *channel, uint64_t now_ns, uint32_t index)
{
	struct channel_rail *rail = channel->rails[index];
	struct channel_packet packets[CHANNEL_BURST];
	uint32_t total = 0, count = CHANNEL_BURST;

	if (!rail->begun && rail->way->thread != NULL)
		rail->way->thread(rail->state, true);
	rail->begun = true;
	/* A packet would have ended the rest: nobody was absent meanwhile. */
	if (channel->rested && rail->way->watch != NULL)
		lull_bundle_look(channel->bundle, now_ns, index);
	lull_bundle_look(channel->bundle, now_ns, index);
	for (uint32_t i = 0; i < TURN_BURSTS && count == CHANNEL_BURST; i++) {
		count = rail->way->receive(rail->state, packets);
		for (uint32_t k = 0; k < count; k++)
			lull_bundle_rx(channel->bundle, now_ns, index, packets[k].bytes,
				       packets[k].len_bytes, &packets[k].from);
		if (count > 0)
			rail->way->release(rail->state);
		total += count;
		/* An acknowledgement names 128 packets: it leaves before more are looked at. */
		if (count == CHANNEL_BURST)
			turn_transmit(channel, now_ns, 1);
	}
	LULL_COUNTER_ADD(rail->rx_pkts, total);
	return total;
}

/* ---- iterations ---- */

void
channel_give_way(const struct lull_channel *channel)
{
	for (uint32_t i = 0; i < TURN_YIELDS_MAX; i++) {
		if (atomic_load_explicit(&channel->callers, memory_order_relaxed) == 0)
			return;
		sched_yield();
	}
}

void
channel_let_go(struct lull_channel *channel)
{
	struct channel_rail *rail = channel->leaving;

	if (rail != NULL && rail->begun && rail->way->thread != NULL)
		rail->way->thread(rail->state, false);
	channel->leaving = NULL;
	channel_changed(channel);
}

uint32_t
channel_turn(struct lull_channel *channel, uint64_t now_ns)
{
	uint32_t pkts = 0;

	channel->rest_until_ns = 0;
	channel->turned_ns = now_ns;
	if (channel->leaving != NULL)
		channel_let_go(channel);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		if (channel->rails[i] != NULL)
			pkts += turn_receive(channel, now_ns, i);
	channel->rested = false;
	if (pkts > 0)
		channel->came_ns = now_ns;
	if (pkts > TURN_FEW_PKTS) /* some time has passed */
		now_ns = lull_clock_ns();
	lull_bundle_run(channel->bundle, now_ns);
	channel_events(channel, now_ns);
	turn_transmit(channel, now_ns, TURN_ROUNDS);
	return pkts;
}

static void
turn_announce(struct lull_channel *channel, uint64_t now_ns, uint64_t rest_ns)
{
	if (channel->announced_ns == rest_ns)
		return;
	channel->announced_ns = rest_ns;
	lull_bundle_rest(channel->bundle, now_ns, rest_ns);
	turn_transmit(channel, now_ns, TURN_ROUNDS);
}

static uint64_t
turn_deadline_ns(const struct lull_channel *channel, uint64_t now_ns)
{
	uint64_t due_ns = lull_bundle_deadline_ns(channel->bundle);

	/* While a rail is full, the bundle has something to send: that is not due, but this is. */
	if (turn_full(channel))
		return now_ns + TURN_FULL_NS;
	return LULL_MAX(due_ns, now_ns);
}

/* The rest of a message is expected; not for long from who has fallen silent in the middle. */
static bool
turn_partly(const struct lull_channel *channel, uint64_t now_ns)
{
	return now_ns - channel->came_ns < TURN_PARTLY_NS && lull_bundle_partly(channel->bundle);
}

/* By what it was asked the bundle notices that the process stood still: while a loop polls too. */
static uint64_t
turn_at_once(struct lull_channel *channel, uint64_t now_ns)
{
	(void)lull_bundle_deadline_ns(channel->bundle);
	return now_ns;
}

uint64_t
channel_due_ns(struct lull_channel *channel, uint64_t now_ns)
{
	if (channel->removing)
		return now_ns;
	if (!channel->polled) { /* a packet ends each rest */
		turn_announce(channel, now_ns, 0);
		if (turn_partly(channel, now_ns))
			return turn_at_once(channel, now_ns);
	} else if (lull_bundle_busy(channel->bundle)) {
		channel->idle_ns = 0;
		turn_announce(channel, now_ns, 0);
		return turn_at_once(channel, now_ns);
	} else {
		if (channel->idle_ns == 0)
			channel->idle_ns = now_ns;
		if (now_ns - channel->idle_ns < TURN_QUIET_NS)
			return turn_at_once(channel, now_ns);
		turn_announce(channel, now_ns, channel->max_latency_ns);
	}
	channel->rest_until_ns = turn_deadline_ns(channel, now_ns);
	return channel->rest_until_ns;
}

void
channel_act(struct lull_channel *channel, uint64_t now_ns)
{
	channel_events(channel, now_ns);
	turn_transmit(channel, now_ns, TURN_ROUNDS);
	if (channel->rest_until_ns == 0 ||
	    turn_deadline_ns(channel, now_ns) >= channel->rest_until_ns)
		return;
	channel->rest_until_ns = 0;
	channel_kick(channel);
}

/* ---- rests ---- */

void
channel_watch(struct lull_channel *channel, struct channel_polls *polls)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];
		uint32_t count = 0;

		if (rail != NULL && rail->way->watch != NULL)
			count = rail->way->watch(rail->state, &polls->polls[used]);
		for (uint32_t k = 0; k < count; k++)
			polls->rail[used++] = (uint8_t)i;
	}
	polls->polls[used] = (struct pollfd){ .fd = channel->kick_fd, .events = POLLIN };
	polls->count = used;
	polls->epoch = channel->rails_epoch;
}

enum lull_wake_reason
channel_rest(struct lull_channel *channel, struct channel_polls *polls, uint64_t limit_ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
					.tv_nsec = (long)(limit_ns % LULL_NS_PER_S) };
	int ready = ppoll(polls->polls, polls->count + 1, &limit, NULL);
	uint64_t kicks;

	if (ready <= 0) {
		for (uint32_t i = 0; i <= polls->count; i++)
			polls->polls[i].revents = 0;
		return LULL_WAKE_TIMER;
	}
	if (polls->polls[polls->count].revents == 0)
		return LULL_WAKE_PACKET;
	(void)!read(channel->kick_fd, &kicks, sizeof(kicks));
	return LULL_WAKE_KICK;
}

void
channel_watched(struct lull_channel *channel, const struct channel_polls *polls)
{
	uint32_t at = 0;

	if (polls != NULL && polls->epoch != channel->rails_epoch)
		polls = NULL;
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];

		if (rail == NULL || rail->way->watched == NULL)
			continue;
		rail->way->watched(rail->state, polls == NULL ? NULL : &polls->polls[at]);
		while (polls != NULL && at < polls->count && polls->rail[at] == i)
			at++;
	}
}

void
channel_rails_changed(struct lull_channel *channel)
{
	channel->rails_epoch++;
	channel->polled = false;
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		if (channel->rails[i] != NULL && channel->rails[i]->way->watch == NULL)
			channel->polled = true;
	channel->callers_rest.old = true;
}
