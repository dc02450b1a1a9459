/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output stage: packets that workers have finished, put back in order and sent on.
 */
#include <errno.h>
#include <stddef.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "engine/dpdk/port_watch.h"
#include "stage.h"

/* As forward.c: a full Tx ring is given so long to drain; told to wait, a second. */
#define RETRIES_MAX 64
#define RETRIES_WAIT 1000000
#define RETRY_US 1

struct flow_output_stage {
	struct flow_output *output;
	struct flow_output_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct flow_output_counters, member, unit_text, help_text)
static const struct lull_counter_info output_counter_table[] = {
	ROW(rx_pkts, "packets", "packets received from workers"),
	ROW(tx_pkts, "packets", "packets sent or freed"),
	ROW(tx_drops, "packets",
	    "packets freed because the driver refused them after all retries, or the device has "
	    "gone"),
	ROW(tx_retries, "1", "sends repeated because the Tx ring was full"),
	ROW(reordered, "packets", "packets that left after a later packet of their bucket"),
	{ .name = NULL },
};

/* ---- leave ---- */

static void
output_send(struct flow_output *output, struct rte_mbuf **pkts, uint16_t count)
{
	int retries = output->wait ? RETRIES_WAIT : RETRIES_MAX;
	uint16_t sent = 0;

	if (!lull_port_is_gone(output->port_id))
		sent = rte_eth_tx_burst(output->port_id, output->queue_id, pkts, count);
	for (int i = 0; i < retries && sent < count && !lull_port_is_gone(output->port_id); i++) {
		output->counters.tx_retries++;
		rte_delay_us_block(RETRY_US);
		sent = (uint16_t)(sent + rte_eth_tx_burst(output->port_id, output->queue_id,
							  pkts + sent, (uint16_t)(count - sent)));
	}
	LULL_COUNTER_ADD(output->counters.tx_pkts, sent);
	if (sent == count)
		return;
	LULL_COUNTER_ADD(output->counters.tx_drops, count - sent);
	rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(count - sent));
}

/* What no port can send: a long frame of a file lies in memory that no device reads. */
static uint32_t
output_sift(struct flow_output *output, struct rte_mbuf **pkts, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!RTE_MBUF_HAS_EXTBUF(pkts[i])) {
			pkts[kept++] = pkts[i];
			continue;
		}
		rte_pktmbuf_free(pkts[i]);
		LULL_COUNTER_ADD(output->counters.tx_drops, 1);
	}
	return kept;
}

/* One numbering per I/O loop and bucket. */
static uint32_t
output_bucket(const struct flow_output *output, const struct lull_flow_packet *packet)
{
	return (uint32_t)packet->dispatcher << output->bucket_bits | packet->bucket;
}

static void
output_judge(struct flow_output *output, struct rte_mbuf *pkt, uint64_t now_ns)
{
	const struct flow_private *private = flow_private(pkt);

	if (output->next != NULL &&
	    lull_order_late(&output->next[output_bucket(output, &private->packet)],
			    private->packet.seq))
		output->counters.reordered++;
	if (output->resequence != NULL)
		lull_histogram_add(&output->wait_histogram, now_ns - private->output_ns, 1);
}

static void
output_leave(struct flow_output *output, void **pkts, uint32_t count, uint64_t now_ns)
{
	for (uint32_t begin = 0; begin < count; begin += FLOW_BATCH) {
		uint32_t part = LULL_MIN(count - begin, (uint32_t)FLOW_BATCH);
		struct rte_mbuf **leaving = (struct rte_mbuf **)pkts + begin;

		for (uint32_t i = 0; i < part; i++)
			output_judge(output, leaving[i], now_ns);
		if (output->send) {
			part = output_sift(output, leaving, part);
			output_send(output, leaving, (uint16_t)part);
			continue;
		}
		rte_pktmbuf_free_bulk(leaving, part);
		LULL_COUNTER_ADD(output->counters.tx_pkts, part);
	}
}

/* ---- take ---- */

static void
output_resequence(struct flow_output *output, struct rte_mbuf *pkt, uint64_t now_ns)
{
	struct flow_private *private = flow_private(pkt);
	uint32_t count;

	private->output_ns = now_ns;
	count = lull_resequence_add(output->resequence, now_ns,
				    output_bucket(output, &private->packet), private->packet.seq,
				    pkt, output->released);
	output_leave(output, output->released, count, now_ns);
}

static uint16_t
output_pull(void *state, uint64_t now_ns)
{
	struct flow_output *output = ((struct flow_output_stage *)state)->output;
	void *pkts[FLOW_BATCH];
	uint32_t total = 0;

	for (uint32_t i = 0; i < output->worker_count; i++) {
		uint32_t count =
			rte_ring_sc_dequeue_burst(output->rings[i], pkts, FLOW_BATCH, NULL);

		LULL_COUNTER_ADD(output->counters.rx_pkts, count);
		total += count;
		if (output->resequence == NULL) {
			output_leave(output, pkts, count, now_ns);
			continue;
		}
		for (uint32_t j = 0; j < count; j++)
			output_resequence(output, pkts[j], now_ns);
	}
	return (uint16_t)total;
}

/* ---- the iteration ---- */

/* All workers have put in their last packet. Read before the rings are found empty. */
static bool
output_ending(const struct flow_output *output)
{
	for (uint32_t i = 0; i < output->worker_count; i++) {
		if (!__atomic_load_n(&output->pipeline->workers[i]->done_all, __ATOMIC_ACQUIRE))
			return false;
	}
	for (uint32_t i = 0; i < output->worker_count; i++) {
		if (!rte_ring_empty(output->rings[i]))
			return false;
	}
	return true;
}

static uint64_t
output_iterate(void *state, uint64_t now_ns)
{
	struct flow_output_stage *stage = state;
	struct flow_output *output = stage->output;
	bool ending = output_ending(output);
	uint64_t deadline_ns = 0;

	if (output->resequence != NULL) {
		uint32_t count = lull_resequence_expire(
			output->resequence, ending ? UINT64_MAX : now_ns, output->released);

		output_leave(output, output->released, count, now_ns);
		deadline_ns = lull_resequence_deadline_ns(output->resequence);
	}
	if (ending)
		__atomic_store_n(&output->done, true, __ATOMIC_RELEASE);
	flow_counters_copy(&stage->counters, &output->counters, sizeof(stage->counters));
	return deadline_ns == UINT64_MAX ? 0 : deadline_ns;
}

static int
output_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	struct flow_output_stage *stage = state;

	(void)now_ns;
	if (place->index != 0 || place->pipeline->output == NULL)
		return -EINVAL;
	stage->output = place->pipeline->output;
	return 0;
}

const struct lull_stage lull_stage_flow_output = {
	.name = "flow_output",
	.summary = "put finished packets back in order and send them",
	.state_size = sizeof(struct flow_output_stage),
	.init = output_init,
	.pull = output_pull,
	.iterate = output_iterate,
	.counters = output_counter_table,
	.counters_offset = offsetof(struct flow_output_stage, counters),
};
