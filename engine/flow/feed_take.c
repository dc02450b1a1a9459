/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker takes its packets out of a lot: connections, table. */
#include "feed_lot.h"

#include "flow/table.h"

/* The place in the index of a table, and behind it the entry. */
#define PREFETCH_HEAD 16
#define PREFETCH_ENTRY 8

/* Places in the lot of the worker's next packets, FLOW_BATCH at most. */
static uint32_t
feed_select(const struct feed_lot *lot, struct flow_worker *worker, uint16_t *places)
{
	uint32_t count = 0, at = worker->lot_at;

	for (; at < lot->count && count < FLOW_BATCH; at++) {
		places[count] = (uint16_t)at;
		count += lot->workers[at] == worker->index;
	}
	worker->lot_at = at;
	return count;
}

static void
feed_prefetch(const struct feed_lot *lot, const struct flow_worker *worker, const uint16_t *places,
	      uint32_t count, uint32_t i)
{
	if (i + PREFETCH_HEAD < count)
		lull_flow_table_prefetch_head(
			worker->table, lot->packets[places[i + PREFETCH_HEAD]].packet.digest);
	if (i + PREFETCH_ENTRY < count)
		lull_flow_table_prefetch_entry(
			worker->table, lot->packets[places[i + PREFETCH_ENTRY]].packet.digest);
}

static void
feed_give(struct feed_lot *lot, struct flow_worker *worker, const uint16_t *places, uint32_t count)
{
	for (uint32_t i = 0; i < LULL_MIN(count, (uint32_t)PREFETCH_HEAD); i++)
		lull_flow_table_prefetch_head(worker->table, lot->packets[places[i]].packet.digest);
	for (uint32_t i = 0; i < LULL_MIN(count, (uint32_t)PREFETCH_ENTRY); i++)
		lull_flow_table_prefetch_entry(worker->table,
					       lot->packets[places[i]].packet.digest);
	for (uint32_t i = 0; i < count; i++) {
		const struct feed_frame *frame = &lot->frames[places[i]];
		struct lull_flow_packet *packet = &lot->packets[places[i]].packet;

		feed_prefetch(lot, worker, places, count, i);
		lull_flow_connections_mark(worker->connections, packet);
		flow_worker_packet(worker, packet, frame->data, frame->captured_bytes);
	}
}

/* Another packet may follow with the very clock of the last one. */
static void
feed_pass(const struct feed_lot *lot, struct flow_worker *worker)
{
	uint64_t clock_ns = worker->lot_at > 0 ? lot->frames[worker->lot_at - 1].clock_ns : 0;

	if (clock_ns > 0)
		worker->inputs[0].mark_ns = LULL_MAX(worker->inputs[0].mark_ns, clock_ns - 1);
}

uint32_t
flow_feed_take(struct flow_feed *feed, struct flow_worker *worker)
{
	struct feed_lot *lot = feed_lot(feed, worker->lot);
	uint16_t places[FLOW_BATCH + 1];
	uint32_t at = worker->lot_at, count;

	bool over = flow_io_ended(feed->io); /* before what it says of is looked at */

	if (worker->lot == __atomic_load_n(&feed->settled, __ATOMIC_ACQUIRE)) {
		worker->inputs[0].ended = over;
		if (over)
			worker->inputs[0].mark_ns = FLOW_CLOCK_END;
		return 0;
	}
	count = feed_select(lot, worker, places);
	lull_cell_begin(&worker->sequence);
	LULL_COUNTER_ADD(worker->words.taken[0], count);
	lull_cell_end(&worker->sequence);
	feed_give(lot, worker, places, count);
	feed_pass(lot, worker);
	flow_record_publish(worker);
	at = worker->lot_at - at;
	if (worker->lot_at == lot->count) {
		worker->lot++;
		worker->lot_at = 0;
		__atomic_sub_fetch(&lot->takers, 1, __ATOMIC_ACQ_REL);
	}
	return at;
}
