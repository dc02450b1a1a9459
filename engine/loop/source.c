/* SPDX-License-Identifier: BSD-3-Clause */
/* Where packets of an engine's loop come from: its queues, or the stage pulls them. */
#include "loop.h"

#include <string.h>

#include <rte_ethdev.h>

#include "engine/dpdk/port.h"
#include "host/loop_run.h"

/* ---- receive ---- */

static uint16_t
source_receive_queue(struct engine_loop *own, uint32_t i, struct rte_mbuf **pkts)
{
	struct lull_rest_device *device = &own->device;
	uint16_t count;

	if (device->stash_count == 0 || device->stash_queue != i)
		return rte_eth_rx_burst(own->queues[i].port_id, own->queues[i].queue_id, pkts,
					own->burst_pkts);
	/* The last rest received these when it looked again. */
	count = device->stash_count;
	memcpy(pkts, device->stash, count * sizeof(*pkts));
	device->stash_count = 0;
	return count;
}

static void
source_add_sizes(struct lull_turn *turn, struct rte_mbuf *const *pkts, uint16_t count)
{
	turn->size_pkts += count;
	for (uint16_t i = 0; i < count; i++) {
		turn->bytes += pkts[i]->pkt_len;
		turn->bytes_squared += (uint64_t)pkts[i]->pkt_len * pkts[i]->pkt_len;
	}
}

/* Inline in the iteration: an idle one costs 2 ns less of 43 than with a call. */
static inline __attribute__((always_inline)) void
source_receive(struct lull_loop *loop, struct lull_turn *turn)
{
	struct engine_loop *own = engine_loop_of(loop);
	bool wants_sizes = lull_idle_wants_sizes(loop->idle);
	uint64_t now_ns = turn->now_ns;
	struct rte_mbuf *pkts[LULL_BURST_MAX];

	if (own->queue_count == 0 && loop->stage->pull != NULL)
		loop->queue_pkts[0] = loop->stage->pull(loop->stage_state, now_ns);
	for (uint32_t i = 0; i < own->queue_count; i++) {
		uint16_t count = source_receive_queue(own, i, pkts);

		loop->queue_pkts[i] = count;
		if (wants_sizes)
			source_add_sizes(turn, pkts, count);
		if (count > 0)
			loop->stage->burst(loop->stage_state, i, pkts, count, now_ns);
	}
}

/* ---- losses ---- */

/* Ports belong to the process, and so do claims on what they lost. */
static struct lull_loss_claim source_claims[RTE_MAX_ETHPORTS];

/* Returns whether the port has been asked. */
static bool
source_audit_port(struct engine_loop *own, uint32_t i, bool last, uint64_t *risen)
{
	uint16_t port_id = own->port_ids[i];
	struct lull_loss_answer answer = {
		.begin_ns = lull_clock_ns(),
		.rest_ns = own->loop.idle == NULL ? 0 : lull_idle_counters(own->loop.idle)->rest_ns,
		.last = last,
	};

	if (!last && !lull_loss_audit_due(&own->audits[i], answer.begin_ns))
		return false;
	answer.valid = lull_port_lost(port_id, &answer.loss) == 0;
	answer.end_ns = lull_clock_ns();
	*risen += lull_loss_audit_enter(&own->audits[i], &source_claims[port_id], &answer);
	return true;
}

static bool
source_audit(struct lull_loop *loop, bool last, uint64_t *risen)
{
	struct engine_loop *own = engine_loop_of(loop);
	bool asked = false;

	for (uint32_t i = 0; i < own->port_count; i++)
		asked = source_audit_port(own, i, last, risen) || asked;
	return asked;
}

static void
source_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	const struct engine_loop *own = (const struct engine_loop *)loop;

	for (uint32_t i = 0; i < own->port_count; i++) {
		struct lull_port_loss loss;

		lull_port_lost(own->port_ids[i], &loss);
		*missed += loss.missed;
		*nombuf += loss.nombuf;
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

void
engine_source_open(struct engine_loop *own, const struct lull_loop_config *config)
{
	uint64_t risen = 0;

	own->queue_count = config->queue_count;
	memcpy(own->queues, config->queues, config->queue_count * sizeof(own->queues[0]));
	own->burst_pkts = config->burst_pkts;
	for (uint32_t i = 0; i < config->queue_count; i++)
		source_add_port(own, config->queues[i].port_id);
	source_audit(&own->loop, false, &risen); /* what was lost until now is nobody's */
	lull_rest_device_init(&own->device, own->queues, own->queue_count, own->burst_pkts);
}

/* Static: position-independent code may not look into what others could replace. */
static const struct lull_loop_source source = {
	.receive = source_receive,
	.audit = source_audit,
	.missed = source_missed,
	.kick = source_kick,
};
const struct lull_loop_source *const engine_source = &source;

int
engine_loop_main(void *own)
{
	lull_loop_run(&((struct engine_loop *)own)->loop, &source);
	return 0;
}
