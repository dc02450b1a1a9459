/* SPDX-License-Identifier: BSD-3-Clause */
/* Where packets of an engine's loop come from: its queues, or the stage pulls them. */
#include "loop.h"

#include <string.h>

#include <rte_ethdev.h>

#include "engine/dpdk/port.h"
#include "engine/dpdk/port_watch.h"
#include "host/loop_run.h"

/* ---- events of ports ---- */

/* Queues of devices that have been removed are polled no more; they stay empty. */
static void
source_pick_queues(struct engine_loop *own)
{
	own->polled_count = 0;
	for (uint32_t i = 0; i < own->queue_count; i++) {
		if (lull_port_is_gone(own->queues[i].port_id)) {
			own->loop.queue_pkts[i] = 0;
			continue;
		}
		own->polled[own->polled_count] = own->queues[i];
		own->places[own->polled_count++] = i;
	}
}

static __attribute__((noinline, cold)) void
source_follow_ports(struct engine_loop *own, uint64_t now_ns)
{
	uint32_t count = own->polled_count;

	if (own->device.stash_count > 0)
		return; /* packets that the last rest received come first */
	own->epoch = lull_port_watch_epoch();
	source_pick_queues(own);
	/* No rest looks at queues that others hold. */
	if (own->polled_count != count && own->loop.share == NULL)
		lull_rest_device_change(&own->device, own->polled_count);
	lull_loop_limit_anew(&own->loop, now_ns);
}

/* The fastest of its links; a port that is down may come up as it was. */
static void
source_limit(const struct lull_loop *loop, struct lull_idle_limits *limits)
{
	const struct engine_loop *own = (const struct engine_loop *)loop;
	uint64_t pps_max = 0;

	if (limits->envelope != LULL_ENVELOPE_LINK)
		return;
	for (uint32_t i = 0; i < own->port_count; i++) {
		struct lull_port_link link = lull_port_link(own->port_ids[i]);

		if (lull_port_is_gone(own->port_ids[i]))
			continue;
		pps_max = LULL_MAX(pps_max, link.up && link.mbps != 0 ? lull_link_pps(link.mbps) :
									limits->pps_max);
	}
	if (pps_max > 0)
		limits->pps_max = pps_max;
}

/* ---- receive ---- */

static uint16_t
source_receive_queue(struct engine_loop *own, uint32_t i, struct rte_mbuf **pkts)
{
	struct lull_rest_device *device = &own->device;
	uint16_t count;

	if (device->stash_count == 0 || device->stash_queue != i)
		return rte_eth_rx_burst(own->polled[i].port_id, own->polled[i].queue_id, pkts,
					own->burst_pkts);
	/* The last rest received these when it looked again. */
	count = device->stash_count;
	memcpy(pkts, device->stash, count * sizeof(*pkts));
	device->stash_count = 0;
	return count;
}

static void
source_add_sizes(struct lull_iteration *iteration, struct rte_mbuf *const *pkts, uint16_t count)
{
	iteration->size_pkts += count;
	for (uint16_t i = 0; i < count; i++) {
		iteration->bytes += pkts[i]->pkt_len;
		iteration->bytes_squared += (uint64_t)pkts[i]->pkt_len * pkts[i]->pkt_len;
	}
}

/* Inline in the iteration: an idle one costs 2 ns less of 43 than with a call. */
static inline __attribute__((always_inline)) void
source_receive(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct engine_loop *own = engine_loop_of(loop);
	bool wants_sizes = lull_idle_wants_sizes(loop->idle);
	uint64_t now_ns = iteration->now_ns;
	struct rte_mbuf *pkts[LULL_BURST_MAX];

	if (own->epoch != lull_port_watch_epoch())
		source_follow_ports(own, now_ns);
	if (own->queue_count == 0 && loop->stage->pull != NULL)
		loop->queue_pkts[0] = loop->stage->pull(loop->stage_state, now_ns);
	for (uint32_t i = 0; i < own->polled_count; i++) {
		uint16_t count = source_receive_queue(own, i, pkts);
		uint32_t place = own->places[i];

		loop->queue_pkts[place] = count;
		if (wants_sizes)
			source_add_sizes(iteration, pkts, count);
		if (count > 0)
			loop->stage->burst(loop->stage_state, place, pkts, count, now_ns);
	}
}

/* The one queue that this thread may have, if another does not hold it. */
static inline __attribute__((always_inline)) void
source_receive_shared(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct engine_loop *own = engine_loop_of(loop);
	struct rte_mbuf *pkts[LULL_BURST_MAX];
	const struct lull_loop_queue *queue;
	uint32_t index;
	uint16_t count;

	if (own->epoch != lull_port_watch_epoch())
		source_follow_ports(own, iteration->now_ns);
	loop->queue_pkts[0] = 0;
	if (!lull_idle_take(loop->idle, iteration->now_ns, &index))
		return;
	queue = &own->queues[index];
	if (lull_port_is_gone(queue->port_id))
		return;
	count = rte_eth_rx_burst(queue->port_id, queue->queue_id, pkts, own->burst_pkts);
	loop->queue_pkts[0] = count;
	if (lull_idle_wants_sizes(loop->idle))
		source_add_sizes(iteration, pkts, count);
	if (count > 0)
		loop->stage->burst(loop->stage_state, index, pkts, count, iteration->now_ns);
}

/* ---- losses ---- */

/* Ports belong to the process, and so do claims on what they lost. */
static struct lull_loss_claim source_claims[RTE_MAX_ETHPORTS];

static void
source_audit_port(struct engine_loop *own, uint32_t i, bool last, struct lull_loss_charge *charge)
{
	struct lull_loss_audit *audit = &own->audits[i];
	struct lull_loss_claim *claim = &source_claims[own->port_ids[i]];
	struct lull_port_reading reading;
	struct lull_loss_reading lost;

	if (last)
		lull_port_read(own->port_ids[i], &reading);
	else if (!lull_port_reading_try(own->port_ids[i], &reading))
		return; /* it is just being written: the next time is 10 ms away */
	lost = lull_port_reading_loss(&reading);
	if (reading.end_ns != 0 && lull_loss_audit_due(audit, &lost))
		lull_loss_audit_enter(
			audit, claim, &lost,
			lull_idle_suspects(own->loop.idle, audit->begin_ns, reading.end_ns),
			charge);
	if (last)
		lull_loss_audit_end(audit, claim, charge);
}

static void
source_audit(struct lull_loop *loop, bool last, struct lull_loss_charge *charge)
{
	struct engine_loop *own = engine_loop_of(loop);

	for (uint32_t i = 0; i < own->port_count; i++)
		source_audit_port(own, i, last, charge);
}

static void
source_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	const struct engine_loop *own = (const struct engine_loop *)loop;

	for (uint32_t i = 0; i < own->port_count; i++) {
		struct lull_port_reading reading;

		lull_port_reading(own->port_ids[i], &reading);
		*missed += reading.missed;
		*nombuf += reading.nombuf;
	}
}

static void
source_kick(struct lull_loop *loop)
{
	lull_rest_device_kick(&engine_loop_of(loop)->device);
}

/* ---- open ---- */

static void
source_add_port(struct engine_loop *own, uint16_t port_id)
{
	for (uint32_t i = 0; i < own->port_count; i++) {
		if (own->port_ids[i] == port_id)
			return;
	}
	own->port_ids[own->port_count++] = port_id;
}

/* What was lost until now is nobody's. */
static void
source_begin_audit(struct engine_loop *own, uint32_t i)
{
	struct lull_port_reading reading;
	struct lull_loss_reading lost;
	struct lull_loss_charge none;

	lull_port_read(own->port_ids[i], &reading);
	lost = lull_port_reading_loss(&reading);
	if (reading.end_ns != 0)
		lull_loss_audit_enter(&own->audits[i], &source_claims[own->port_ids[i]], &lost,
				      false, &none);
}

void
engine_source_open(struct engine_loop *own, const struct lull_loop_config *config)
{
	own->queue_count = config->queue_count;
	memcpy(own->queues, config->queues, config->queue_count * sizeof(own->queues[0]));
	own->burst_pkts = config->burst_pkts;
	for (uint32_t i = 0; i < config->queue_count; i++)
		source_add_port(own, config->queues[i].port_id);
	for (uint32_t i = 0; i < own->port_count; i++)
		source_begin_audit(own, i);
	own->epoch = lull_port_watch_epoch();
	source_pick_queues(own);
	lull_rest_device_init(&own->device, own->polled,
			      config->share != NULL ? 0 : own->polled_count, own->burst_pkts);
}

/* Static: position-independent code may not look into what others could replace. */
static const struct lull_loop_source source = {
	.receive = source_receive,
	.audit = source_audit,
	.limit = source_limit,
	.missed = source_missed,
	.kick = source_kick,
};
const struct lull_loop_source *const engine_source = &source;
static const struct lull_loop_source source_shared = {
	.receive = source_receive_shared,
	.audit = source_audit,
	.limit = source_limit,
	.missed = source_missed,
	.kick = source_kick,
};
const struct lull_loop_source *const engine_source_shared = &source_shared;

int
engine_loop_main(void *own)
{
	lull_loop_run(&((struct engine_loop *)own)->loop, &source);
	return 0;
}

int
engine_loop_main_shared(void *own)
{
	lull_loop_run(&((struct engine_loop *)own)->loop, &source_shared);
	return 0;
}
