/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Rx callback: find out when a thread has been round all its queues, and let it rest if none of
 * them had anything.
 *
 * The clock costs more than an empty poll, so it is read only around a rest: rounds after a rest
 * are timed until the rings have run short, others are counted and reported in one go.
 */
#include "plugin.h"

#include <string.h>

#define EMPTY_NEED_IDLE 64 /* empty rounds between looks at the clock while the policy wants none */
#define MAILBOX_ROUNDS 1024 /* a power of two: rounds between looks at the mailbox while busy */
#define BUSY_ROUNDS 65536   /* a power of two: busy rounds between readings of the clock */

/* Initial-exec: one instruction instead of a call per poll. */
static __thread struct lull_loop *self __attribute__((tls_model("initial-exec")));

/* Tell idle.c of the rounds that were only counted. */
static void
poller_report_untimed(struct lull_loop *poller, uint64_t now_ns)
{
	if (poller->turns == 0)
		return;
	lull_idle_polled(poller->idle, now_ns, poller->turns, poller->turns_empty, poller->pkts);
	poller->turns = 0;
	poller->turns_empty = 0;
	poller->pkts = 0;
}

static void
poller_rest(struct lull_loop *poller, const struct lull_rest *rest)
{
	struct lull_wake wake;

	lull_rest_run(poller->ways[rest->depth], NULL, rest, &wake);
	lull_idle_wake(poller->idle, &wake);
	poller->round_begin_ns = wake.end_ns;
}

/* As if it had rested: packets that come before until_ns count as having waited. */
static void
shadow_begin(struct lull_loop *poller, const struct lull_rest *rest, uint64_t now_ns)
{
	struct lull_verdict verdict;

	lull_idle_verdict(poller->idle, &verdict);
	poller->shadow.resting = true;
	poller->shadow.rest = *rest;
	poller->shadow.begin_ns = now_ns;
	poller->shadow.until_ns = now_ns + rest->limit_ns +
				  (rest->depth >= LULL_REST_SLEEP ? verdict.overshoot_p50_ns : 0);
}

static void
shadow_end(struct lull_loop *poller)
{
	struct lull_wake wake = {
		.rest = poller->shadow.rest,
		.begin_ns = poller->shadow.begin_ns,
		.end_ns = poller->shadow.until_ns,
	};

	poller->shadow.resting = false;
	lull_idle_wake(poller->idle, &wake);
	poller->round_begin_ns = poller->shadow.until_ns;
}

static void
poller_clear_round(struct lull_loop *poller)
{
	if (poller->round_pkts == 0)
		return;
	memset(poller->queue_pkts, 0, poller->queue_count * sizeof(poller->queue_pkts[0]));
	poller->round_pkts = 0;
}

static bool
poller_drained(const struct lull_loop *poller)
{
	uint32_t i;

	for (i = 0; i < poller->queue_count; i++)
		if (poller->queue_pkts[i] >= poller->burst_pkts)
			return false;
	return true;
}

/* A round that began at round_begin_ns has ended; @p in_hand packets belong to the next one. */
static void
poller_timed_round(struct lull_loop *poller, uint16_t in_hand)
{
	struct lull_turn turn = {
		.now_ns = poller->round_begin_ns,
		.queue_pkts = poller->queue_pkts,
		.queue_count = poller->queue_count,
	};
	uint64_t now_ns = lull_clock_ns();
	bool empty = poller->round_pkts == 0;
	struct lull_rest rest;

	if (poller->shadow.resting) {
		if (now_ns < poller->shadow.until_ns)
			return; /* what came stays in queue_pkts, as it would in the ring */
		shadow_end(poller);
		turn.now_ns = poller->round_begin_ns;
		empty = poller->round_pkts == 0;
	}
	rest = lull_idle_plan(poller->idle, &turn);
	plugin_chores(poller, now_ns);
	if (empty && in_hand == 0 && rest.depth != LULL_REST_NONE) {
		poller->empty_need = 1;
		if (poller->mode == PLUGIN_ON) {
			poller_rest(poller, &rest);
			return;
		}
		if (poller->mode == PLUGIN_SHADOW) {
			shadow_begin(poller, &rest, now_ns);
			return;
		}
	}
	lull_idle_polled(poller->idle, now_ns, 0, 0, 0);
	poller->round_begin_ns = now_ns;
	if (empty && (rest.depth == LULL_REST_NONE || poller->mode == PLUGIN_PASSIVE))
		poller->empty_need = EMPTY_NEED_IDLE;
	/* Packets in hand of a round that was empty so far: it may yet be followed by a rest. */
	if (!empty && poller_drained(poller))
		poller->timed = false;
	if (empty && poller->empty_need > 1)
		poller->timed = false;
	poller->empty_run = 0;
}

/* Never idle: without this the counters of a saturated thread would stand still. */
static void
poller_busy(struct lull_loop *poller)
{
	poller->round_begin_ns = lull_clock_ns();
	poller_report_untimed(poller, poller->round_begin_ns);
	plugin_chores(poller, poller->round_begin_ns);
}

static void
poller_untimed_round(struct lull_loop *poller)
{
	uint64_t now_ns;

	poller->turns++;
	poller->pkts += poller->round_pkts;
	if (poller->round_pkts > 0) {
		poller->empty_run = 0;
		if ((poller->round & (MAILBOX_ROUNDS - 1)) == 0)
			plugin_mailbox(poller, poller->round_begin_ns);
		if ((poller->round & (BUSY_ROUNDS - 1)) == 0)
			poller_busy(poller);
		return;
	}
	poller->turns_empty++;
	if (++poller->empty_run < poller->empty_need)
		return;
	/* From the next round on it is known when it began. */
	now_ns = lull_clock_ns();
	poller_report_untimed(poller, now_ns);
	plugin_chores(poller, now_ns);
	poller->empty_run = 0;
	poller->timed = true;
	poller->round_begin_ns = now_ns;
}

static void
poller_round(struct lull_loop *poller, uint16_t in_hand)
{
	poller->round++;
	if (poller->mode == PLUGIN_OFF) {
		if ((poller->round & (MAILBOX_ROUNDS - 1)) == 0)
			plugin_mailbox(poller, poller->round_begin_ns);
	} else if (poller->timed) {
		poller_timed_round(poller, in_hand);
		if (poller->shadow.resting)
			return;
	} else {
		poller_untimed_round(poller);
	}
	poller_clear_round(poller);
}

/* A queue this thread has not polled before. The thread's poller, NULL when it cannot have one. */
static struct lull_loop *
poller_adopt(struct plugin_queue *queue, uint16_t count_max)
{
	if (self == NULL)
		self = plugin_poller_take();
	if (self == NULL)
		return NULL;
	plugin_queue_adopt(queue, self);
	if (self->burst_pkts == 0 || count_max < self->burst_pkts)
		self->burst_pkts = count_max;
	plugin_poller_change(self, &self->settings);
	return self;
}

uint16_t
plugin_seen(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count,
	    uint16_t count_max, void *arg)
{
	struct plugin_queue *queue = arg;
	struct lull_loop *poller = self;

	(void)port_id;
	(void)queue_id;
	(void)pkts;
	if (__builtin_expect(poller == NULL || queue->poller != poller, 0)) {
		poller = poller_adopt(queue, count_max);
		if (poller == NULL)
			return count;
	}
	if (queue->round == poller->round)
		poller_round(poller, count);
	queue->round = poller->round;
	if (count > 0) {
		poller->round_pkts += count;
		poller->queue_pkts[queue->index] += count;
	}
	return count;
}
