/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues of a thread. A queue joins by being polled; it is gone when the others come again and
 * again without it. What only the driver knows (ring, link, lost packets) is asked here, in the
 * callback of the queue, because here the program guarantees that the port runs.
 */
#include "plugin.h"

#include <assert.h>
#include <string.h>

#include <rte_ethdev.h>

#include "engine/dpdk/port_device.h"

#define ASK_NS LULL_NS_PER_S /* a link may come up, a restart may have been missed */
#define ABSENCE_POLLS_MAX 65536

static void
queue_know(struct plugin_queue *queue, uint64_t now_ns)
{
	struct rte_eth_dev_info info;
	struct lull_port_driver driver;
	struct lull_port_answer answer;

	if (__atomic_exchange_n(&queue->known, true, __ATOMIC_ACQUIRE) &&
	    now_ns - queue->asked_ns < ASK_NS)
		return;
	queue->asked_ns = now_ns;
	if (rte_eth_dev_info_get(queue->port_id, &info) != 0)
		return;
	driver = lull_port_device(&info);
	answer = lull_port_ask(queue->port_id, queue->queue_id, info.default_rxportconf.ring_size,
			       &info);
	lull_port_facts(&driver, &answer, &queue->facts);
}

static void
queue_tighten(struct plugin_poller *poller)
{
	poller->rings = (struct lull_ring_facts){ .count = 0 };
	for (uint32_t i = 0; i < poller->member_count; i++)
		lull_ring_facts_add(&poller->rings, &poller->members[i]->facts);
}

/* Those beyond LULL_IDLE_QUEUES_MAX share the last place: the sum of all is enough to be right. */
static uint16_t
queue_place(uint32_t member_index)
{
	return (uint16_t)LULL_MIN(member_index, LULL_IDLE_QUEUES_MAX - 1u);
}

static void
queue_join(struct plugin_queue *queue, struct plugin_poller *poller)
{
	if (poller->member_count == PLUGIN_MEMBERS_MAX) {
		if (!poller->crowded)
			plugin_say("%s (thread %s) polls more than %u queues; it will not rest",
				   poller->name, poller->thread, PLUGIN_MEMBERS_MAX);
		poller->crowded = true;
		return;
	}
	/* It was taken for gone too early: the program polls it once in many iterations. */
	if (queue->left == poller)
		poller->absence_polls =
			LULL_MIN(2 * poller->absence_polls, (uint32_t)ABSENCE_POLLS_MAX);
	queue->left = NULL;
	queue->index = queue_place(poller->member_count);
	queue->iteration = poller->iteration - 1;
	poller->members[poller->member_count++] = queue;
	__atomic_store_n(&queue->member, poller, __ATOMIC_RELAXED);
}

/* A queue that threads poll in turns: it stands in the lists of all of them. */
static bool
queue_rejoin(struct plugin_queue *queue, struct plugin_poller *poller)
{
	uint32_t i;

	for (i = 0; i < poller->member_count && poller->members[i] != queue; i++)
		;
	if (i == poller->member_count)
		return false;
	queue->index = queue_place(i);
	queue->iteration = poller->iteration - 1;
	__atomic_store_n(&queue->member, poller, __ATOMIC_RELAXED);
	return true;
}

void
plugin_queue_visit_port(struct plugin_queue *queue, struct plugin_poller *poller, uint64_t now_ns)
{
	if (!__atomic_load_n(&queue->known, __ATOMIC_RELAXED))
		poller->audits[queue->port_id] = (struct lull_loss_audit){ .begun = false };
	queue_know(queue, now_ns);
	plugin_attach_port(queue->port_id);
	plugin_audit_port(poller, queue->port_id);
}

void
plugin_queue_visit(struct plugin_queue *queue, struct plugin_poller *poller, uint16_t count_max)
{
	bool iteration = __atomic_load_n(&queue->poller, __ATOMIC_RELAXED) != NULL;
	uint64_t now_ns;

	if (queue->member != poller && queue_rejoin(queue, poller) && iteration) {
		__atomic_store_n(&queue->poller, poller, __ATOMIC_RELEASE);
		return;
	}
	now_ns = lull_clock_ns();
	if (queue->member != poller)
		queue_join(queue, poller);
	if (queue->member != poller)
		return; /* crowded: each of its polls is a visit */
	queue->visit(queue, poller, now_ns);
	queue_tighten(poller);
	if (poller->burst_pkts == 0 || count_max < poller->burst_pkts)
		poller->burst_pkts = count_max;
	plugin_poller_change(poller);
	__atomic_store_n(&queue->poller, poller, __ATOMIC_RELEASE);
}

void
plugin_queue_drop_all(struct plugin_poller *poller)
{
	for (uint32_t i = 0; i < poller->member_count; i++) {
		struct plugin_queue *queue = poller->members[i];
		struct plugin_poller *owner = poller;

		__atomic_compare_exchange_n(&queue->poller, &owner, NULL, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		owner = poller;
		__atomic_compare_exchange_n(&queue->member, &owner, NULL, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		if (queue->left == poller)
			queue->left = NULL;
	}
	poller->member_count = 0;
}

void
plugin_queue_drop_missing(struct plugin_poller *poller)
{
	uint16_t pkts[LULL_IDLE_QUEUES_MAX] = { 0 };
	uint32_t i, kept = 0;

	for (i = 0; i < poller->member_count; i++) {
		struct plugin_queue *queue = poller->members[i];

		if (__atomic_load_n(&queue->member, __ATOMIC_RELAXED) != poller)
			continue; /* another thread has it by now */
		if (queue->iteration != poller->iteration) {
			queue->left = poller;
			__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELAXED);
			__atomic_store_n(&queue->member, NULL, __ATOMIC_RELAXED);
			continue;
		}
		pkts[queue_place(kept)] += poller->queue_pkts[queue->index];
		poller->queue_pkts[queue->index] = 0; /* a place that several share counts once */
		queue->index = queue_place(kept);
		poller->members[kept++] = queue;
	}
	memcpy(poller->queue_pkts, pkts, sizeof(pkts));
	poller->member_count = kept;
	poller->seen = kept;
	poller->crowded = false;
	queue_tighten(poller);
	plugin_poller_change(poller);
}

void
plugin_queue_doubt(struct plugin_poller *poller)
{
	for (uint32_t i = 0; i < poller->member_count; i++) {
		struct plugin_queue *queue = poller->members[i];

		if (__atomic_load_n(&queue->member, __ATOMIC_RELAXED) != poller)
			continue;
		__atomic_store_n(&queue->known, false, __ATOMIC_RELAXED);
		__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELAXED);
	}
}

void
plugin_queue_recall(struct plugin_poller *poller)
{
	uint32_t ports = 0, i;

	plugin_unseen_look();
	static_assert(PLUGIN_PORTS_MAX <= 32, "a bit for each port");
	for (i = 0; i < poller->member_count; i++) {
		struct plugin_queue *queue = poller->members[i];
		bool of_port = queue->visit == plugin_queue_visit_port;

		if (__atomic_load_n(&queue->poller, __ATOMIC_RELAXED) != poller ||
		    (of_port ? (ports & (1u << queue->port_id)) != 0 :
			       poller->housekeeping_ns - queue->asked_ns < ASK_NS))
			continue;
		ports |= of_port ? 1u << queue->port_id : 0;
		__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELAXED);
	}
}
