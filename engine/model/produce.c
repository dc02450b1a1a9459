/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "model.h"
#include "traffic/tally.h"

/* The schedule begins anew before its product with the rate could overflow. */
#define SCHEDULE_NS_MAX LULL_NS_PER_S

struct produce {
	struct lull_produce_config config;
	uint64_t begin_ns;  /* of the schedule; 0: not yet */
	uint64_t done_pkts; /* since then */
	uint32_t seq;
	uint16_t held_count; /* made but not yet taken by the ring */
	struct rte_mbuf *held[LULL_BURST_MAX];
	struct lull_produce_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_produce_counters, member, unit_text, help_text)
static const struct lull_counter_info produce_counter_table[] = {
	ROW(pkts, "packets", "packets put into the public send ring"),
	ROW(held_up, "1", "poll iterations in which the public send ring was full"),
	ROW(no_buffer, "1", "poll iterations without a free packet buffer"),
	{ .name = NULL },
};

/* Nobody on the way changes a frame: all but its number stays written. */
static void
produce_write_frame(struct rte_mempool *pool, void *arg, void *object, unsigned int index)
{
	const struct lull_produce_config *config = arg;
	const struct lull_probe probe = { .run = config->run };
	struct rte_mbuf *pkt = object;

	(void)pool;
	(void)index;
	rte_pktmbuf_reset(pkt);
	lull_probe_write(rte_pktmbuf_mtod(pkt, uint8_t *), config->len_bytes, &probe, 0);
}

static int
produce_init(void *state, const void *config, uint64_t now_ns)
{
	struct produce *produce = state;

	(void)now_ns;
	produce->config = *(const struct lull_produce_config *)config;
	if (produce->config.burst_pkts > LULL_BURST_MAX ||
	    produce->config.len_bytes < LULL_PROBE_FRAME_MIN)
		return -EINVAL;
	rte_mempool_obj_iter(produce->config.pool, produce_write_frame, &produce->config);
	return 0;
}

/* Packets due by now. An application that was held up does not make up for all of it. */
static uint64_t
produce_due(struct produce *produce, uint64_t now_ns)
{
	const struct lull_produce_config *config = &produce->config;
	uint64_t due_pkts;

	if (config->pps == 0)
		return UINT64_MAX;
	if (produce->begin_ns == 0)
		produce->begin_ns = now_ns;
	due_pkts = (now_ns - produce->begin_ns) * config->pps / LULL_NS_PER_S - produce->done_pkts;
	if (due_pkts > config->ring_pkts) {
		produce->done_pkts += due_pkts - config->ring_pkts;
		due_pkts = config->ring_pkts;
	}
	if (now_ns - produce->begin_ns >= SCHEDULE_NS_MAX && produce->done_pkts >= config->pps) {
		produce->begin_ns += LULL_NS_PER_S;
		produce->done_pkts -= config->pps;
	}
	return due_pkts;
}

static bool
produce_fill(struct produce *produce, uint64_t due_pkts, uint64_t now_ns)
{
	uint16_t count = (uint16_t)LULL_MIN(due_pkts, produce->config.burst_pkts);

	if (produce->held_count > 0)
		return true;
	if (rte_pktmbuf_alloc_bulk(produce->config.pool, produce->held, count) != 0) {
		LULL_COUNTER_ADD(produce->counters.no_buffer, 1);
		return false;
	}
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *pkt = produce->held[i];
		const struct lull_probe probe = { .run = produce->config.run,
						  .seq = produce->seq++,
						  .stamp_ns = now_ns };

		pkt->data_len = produce->config.len_bytes;
		pkt->pkt_len = produce->config.len_bytes;
		lull_probe_update(rte_pktmbuf_mtod(pkt, uint8_t *), &probe);
	}
	produce->held_count = count;
	return true;
}

static uint64_t
produce_iterate(void *state, uint64_t now_ns)
{
	struct produce *produce = state;
	uint64_t due_pkts = produce_due(produce, now_ns), room_pkts = produce->config.ring_pkts;

	/* An iteration ends even when the ring is emptied as fast as it is filled. */
	while (due_pkts > 0 && room_pkts > 0 && produce_fill(produce, due_pkts, now_ns)) {
		uint16_t taken = rte_eth_tx_burst(produce->config.tx_port_id, 0, produce->held,
						  produce->held_count);

		produce->held_count = (uint16_t)(produce->held_count - taken);
		memmove(produce->held, produce->held + taken,
			produce->held_count * sizeof(produce->held[0]));
		produce->done_pkts += taken;
		LULL_COUNTER_ADD(produce->counters.pkts, taken);
		due_pkts -= LULL_MIN(due_pkts, taken);
		room_pkts -= LULL_MIN(room_pkts, taken);
		if (produce->held_count > 0) {
			LULL_COUNTER_ADD(produce->counters.held_up, 1);
			break;
		}
	}
	return 0;
}

const struct lull_stage lull_stage_produce = {
	.name = "produce",
	.summary = "put numbered packets into a ring, at a rate or as many as fit",
	.state_size = sizeof(struct produce),
	.init = produce_init,
	.iterate = produce_iterate,
	.counters = produce_counter_table,
	.counters_offset = offsetof(struct produce, counters),
};

/* ---- consume ---- */

struct consume {
	struct lull_tally tally;
};

static int
consume_init(void *state, const void *config, uint64_t now_ns)
{
	struct consume *consume = state;

	(void)config;
	(void)now_ns;
	lull_tally_init(&consume->tally);
	return 0;
}

static void
consume_burst(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
	      uint64_t now_ns)
{
	struct consume *consume = state;

	(void)queue_index;
	for (uint16_t i = 0; i < count; i++) {
		uint16_t len_bytes = rte_pktmbuf_data_len(pkts[i]);
		struct lull_probe probe;
		bool good = lull_probe_read(rte_pktmbuf_mtod(pkts[i], const uint8_t *), len_bytes,
					    &probe);

		lull_tally_add(&consume->tally, good ? &probe : NULL, len_bytes, now_ns);
	}
	rte_pktmbuf_free_bulk(pkts, count);
}

static uint64_t
consume_iterate(void *state, uint64_t now_ns)
{
	(void)state;
	(void)now_ns;
	return 0;
}

const struct lull_stage lull_stage_consume = {
	.name = "consume",
	.summary = "check numbered packets and free them",
	.state_size = sizeof(struct consume),
	.init = consume_init,
	.burst = consume_burst,
	.iterate = consume_iterate,
	.counters = lull_tally_counter_table,
	.counters_offset = offsetof(struct consume, tally.counters),
};
