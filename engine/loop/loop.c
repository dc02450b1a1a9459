/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one loop. A turn reads the clock once, receives, lets the stage finish, plans, rests, wakes.
 */
#include "loop.h"

#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "engine/dpdk/port.h"

#define CHORES_NS (10 * LULL_NS_PER_MS)
#define PUBLISH_BEFORE_REST_NS LULL_NS_PER_MS

void
lull_loop_publish(struct lull_loop *loop, uint64_t now_ns)
{
	struct lull_loop_snapshot snapshot;

	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.now_ns = now_ns;
	snapshot.window_begin_ns = loop->window_begin_ns;
	snapshot.window = loop->window;
	snapshot.governor = lull_idle_governor(loop->idle);
	snapshot.limits = *lull_idle_limits(loop->idle);
	lull_idle_verdict(loop->idle, &snapshot.verdict);
	lull_snapshot_write(&loop->snapshot, &snapshot);
}

/* ---- chores: every 10 ms ---- */

/* Ports belong to the process, and so do claims on what they lost. */
static struct lull_loss_claim loop_claims[RTE_MAX_ETHPORTS];

/* Returns whether the port has been asked. */
static bool
loop_audit_port(struct lull_loop *loop, uint32_t i, bool last, uint64_t *risen)
{
	uint16_t port_id = loop->port_ids[i];
	struct lull_loss_answer answer = {
		.begin_ns = lull_clock_ns(),
		.rest_ns = lull_idle_counters(loop->idle)->rest_ns,
		.last = last,
	};

	if (!last && !lull_loss_audit_due(&loop->audits[i], answer.begin_ns))
		return false;
	answer.valid = lull_port_lost(port_id, &answer.loss) == 0;
	answer.end_ns = lull_clock_ns();
	*risen += lull_loss_audit_enter(&loop->audits[i], &loop_claims[port_id], &answer);
	return true;
}

void
lull_loop_audit(struct lull_loop *loop, uint64_t now_ns, bool last)
{
	uint64_t risen = 0;
	bool asked = false;

	for (uint32_t i = 0; i < loop->port_count; i++)
		asked = loop_audit_port(loop, i, last, &risen) || asked;
	/* It takes the rests since the last call for those that may have lost something. */
	if (asked)
		lull_idle_miss(loop->idle, now_ns, risen);
}

/* Wake-ups in the class that it had say nothing about those in this one. */
static void
loop_look_at_class(struct lull_loop *loop)
{
	uint64_t changes = lull_rest_thread_changes(loop->class);

	if (changes == loop->class_changes)
		return;
	loop->class_changes = changes;
	lull_idle_forget(loop->idle);
}

static void
loop_chores(struct lull_loop *loop, uint64_t now_ns)
{
	loop->chores_ns = now_ns + CHORES_NS;
	loop_look_at_class(loop);
	lull_loop_audit(loop, now_ns, false);
	lull_loop_publish(loop, now_ns);
}

/* ---- commands ---- */

static void
loop_mark(struct lull_loop *loop, uint32_t window, uint64_t now_ns)
{
	loop->window = window;
	loop->window_begin_ns = now_ns;
	lull_idle_mark(loop->idle);
	if (loop->stage->mark != NULL)
		loop->stage->mark(loop->stage_state, now_ns);
}

static void
loop_obey(struct lull_loop *loop, const struct lull_message *message, uint64_t now_ns)
{
	const struct loop_change *change = (const void *)message->data;
	uint32_t window;

	switch (message->kind) {
	case LOOP_MESSAGE_CHANGE:
		/* Checked before it was posted. */
		lull_idle_change(loop->idle, change->governor, &change->limits);
		break;
	case LOOP_MESSAGE_MARK:
		memcpy(&window, message->data, sizeof(window));
		loop_mark(loop, window, now_ns);
		break;
	case LOOP_MESSAGE_STAGE:
		if (loop->stage->command != NULL)
			loop->stage->command(loop->stage_state, message->data, message->size,
					     now_ns);
		break;
	}
}

/* At most one mailbox full, however fast others post. */
static void
loop_read_mailbox(struct lull_loop *loop, uint64_t now_ns)
{
	const struct lull_message *message = lull_mailbox_peek(&loop->mailbox);

	if (message == NULL)
		return;
	for (int i = 0; i < LULL_MAILBOX_SLOTS && message != NULL; i++) {
		loop_obey(loop, message, now_ns);
		lull_mailbox_pop(&loop->mailbox);
		message = lull_mailbox_peek(&loop->mailbox);
	}
	lull_loop_publish(loop, now_ns);
}

/* ---- the turn ---- */

static uint16_t
loop_receive_queue(struct lull_loop *loop, uint32_t i, struct rte_mbuf **pkts)
{
	struct lull_rest_device *device = &loop->device;
	uint16_t count;

	if (device->stash_count == 0 || device->stash_queue != i)
		return rte_eth_rx_burst(loop->queues[i].port_id, loop->queues[i].queue_id, pkts,
					loop->burst_pkts);
	/* The last rest received these when it looked again. */
	count = device->stash_count;
	memcpy(pkts, device->stash, count * sizeof(*pkts));
	device->stash_count = 0;
	return count;
}

static void
loop_add_sizes(struct lull_turn *turn, struct rte_mbuf *const *pkts, uint16_t count)
{
	turn->size_pkts += count;
	for (uint16_t i = 0; i < count; i++) {
		turn->bytes += pkts[i]->pkt_len;
		turn->bytes_squared += (uint64_t)pkts[i]->pkt_len * pkts[i]->pkt_len;
	}
}

static void
loop_receive(struct lull_loop *loop, struct lull_turn *turn)
{
	bool wants_sizes = lull_idle_wants_sizes(loop->idle);
	uint64_t now_ns = turn->now_ns;
	struct rte_mbuf *pkts[LULL_BURST_MAX];

	if (loop->queue_count == 0 && loop->stage->pull != NULL)
		loop->queue_pkts[0] = loop->stage->pull(loop->stage_state, now_ns);
	for (uint32_t i = 0; i < loop->queue_count; i++) {
		uint16_t count = loop_receive_queue(loop, i, pkts);

		loop->queue_pkts[i] = count;
		if (wants_sizes)
			loop_add_sizes(turn, pkts, count);
		if (count > 0)
			loop->stage->burst(loop->stage_state, i, pkts, count, now_ns);
	}
}

/* Returns the clock after the rest. */
static uint64_t
loop_rest(struct lull_loop *loop, const struct lull_turn *turn, const struct lull_rest *rest)
{
	struct lull_wake wake;

	if (rest->limit_ns >= PUBLISH_BEFORE_REST_NS)
		lull_loop_publish(loop, turn->now_ns);
	lull_rest_run(loop->ways[rest->depth], &loop->device, rest, &wake);
	lull_idle_wake(loop->idle, &wake);
	if (loop->trace != NULL)
		loop->trace(loop->trace_arg, turn, rest, &wake);
	return wake.end_ns;
}

/* Returns the clock for the next turn. */
static uint64_t
loop_turn(struct lull_loop *loop, uint64_t now_ns)
{
	struct lull_turn turn = {
		.now_ns = now_ns,
		.queue_pkts = loop->queue_pkts,
		/* A loop that only sends has one queue that stays empty. */
		.queue_count = LULL_MAX(loop->queue_count, 1u),
	};
	struct lull_rest rest;

	loop_read_mailbox(loop, now_ns);
	if (now_ns >= loop->chores_ns)
		loop_chores(loop, now_ns);
	loop_receive(loop, &turn);
	turn.deadline_ns = loop->stage->turn(loop->stage_state, now_ns);
	rest = lull_idle_plan(loop->idle, &turn);
	if (loop->trace != NULL)
		loop->trace(loop->trace_arg, &turn, &rest, NULL);
	if (rest.depth == LULL_REST_NONE)
		return lull_clock_ns();
	return loop_rest(loop, &turn, &rest);
}

int
lull_loop_main(void *arg)
{
	struct lull_loop *loop = arg;
	uint64_t now_ns;

	/* Whoever knows the number knows also which class was refused. */
	lull_rest_thread_enter(loop->class, 0);
	__atomic_store_n(&loop->tid, gettid(), __ATOMIC_RELEASE);
	/* Without it every sleep is 50 us longer; calibration sees that. */
	lull_rest_thread_slack(LULL_MAX(loop->slack_ns, 1));
	now_ns = lull_clock_ns();
	/* Once more, now that the clock starts: nothing has been learned yet. */
	lull_idle_init(loop->idle_memory, loop->governor, &loop->limits, now_ns, &loop->idle);
	loop_mark(loop, loop->window, now_ns);
	loop_chores(loop, now_ns);
	while (!__atomic_load_n(&loop->stop, __ATOMIC_RELAXED))
		now_ns = loop_turn(loop, now_ns);
	lull_loop_audit(loop, now_ns, true);
	lull_loop_publish(loop, now_ns);
	lull_rest_thread_leave(loop->class);
	return 0;
}
