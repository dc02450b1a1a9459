/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's input: one ring per I/O loop. With one ring the order is that of the ring. Packets of
 * several files are taken in the order of their clocks, and one waits until no other file can come
 * before it; live, that would add a rest of the slowest I/O loop to every packet, so there they are
 * taken as they come.
 *
 * A ring need not be in the order of clocks: what another worker's ring had no room for comes late.
 * Only the clock that the I/O loop publishes tells up to where all has come; it is never above that
 * of a packet which is still to be sent. An I/O loop of files waits for room, and its rings are in
 * order.
 */
#include "stage.h"

static const struct lull_flow_packet *
input_head(const struct flow_input *input)
{
	return &flow_private(input->pkts[input->head])->packet;
}

/* The clock is read before the ring is counted: what it promises was there already. */
static void
input_refill(struct flow_worker *worker, struct flow_input *input)
{
	uint32_t i = (uint32_t)(input - worker->inputs);

	if (input->until == 0) {
		input->clock_ns = __atomic_load_n(&input->io->clock_out, __ATOMIC_ACQUIRE);
		input->until = rte_ring_count(input->ring);
	}
	input->head = 0;
	input->count =
		rte_ring_sc_dequeue_burst(input->ring, (void **)input->pkts, FLOW_BATCH, NULL);
	input->until -= LULL_MIN(input->until, input->count);
	if (input->count > 0) {
		lull_cell_begin(&worker->sequence);
		LULL_COUNTER_ADD(worker->words.taken[i], input->count);
		lull_cell_end(&worker->sequence);
		return;
	}
	input->ended = input->clock_ns == FLOW_CLOCK_END;
	input->mark_ns = LULL_MAX(input->mark_ns, input->clock_ns);
}

/* Another packet may follow with the very clock of the one taken. */
static void
input_pass(struct flow_input *input, uint64_t clock_ns)
{
	if (clock_ns > 0)
		input->mark_ns = LULL_MAX(input->mark_ns, clock_ns - 1);
}

static void
input_take_all(struct flow_worker *worker)
{
	for (uint32_t i = 0; i < worker->io_count; i++) {
		struct flow_input *input = &worker->inputs[i];

		input_refill(worker, input);
		for (; input->head < input->count; input->head++)
			worker->batch[worker->batch_count++] = input->pkts[input->head];
		/* Its records would wait for all that is in the ring else. */
		if (worker->ordered && input->count > 0)
			input_pass(input,
				   flow_private(input->pkts[input->count - 1])->packet.clock_ns);
		if (input->until == 0 && input->clock_ns != FLOW_CLOCK_END)
			input->mark_ns = LULL_MAX(input->mark_ns, input->clock_ns);
	}
}

/* The ring whose packet comes next; NULL: none, or a ring without one may still bring it. */
static struct flow_input *
input_next(struct flow_worker *worker)
{
	struct flow_input *next = NULL;
	uint64_t next_ns = 0;

	for (uint32_t i = 0; i < worker->io_count; i++) {
		struct flow_input *input = &worker->inputs[i];

		if (input->head == input->count)
			continue;
		if (next == NULL || input_head(input)->clock_ns < next_ns) {
			next = input;
			next_ns = input_head(input)->clock_ns;
		}
	}
	for (uint32_t i = 0; next != NULL && i < worker->io_count; i++) {
		const struct flow_input *input = &worker->inputs[i];

		if (input->head == input->count && input->mark_ns + 1 < next_ns && !input->ended)
			return NULL;
	}
	return next;
}

static void
input_take_ordered(struct flow_worker *worker)
{
	struct flow_input *input;

	for (uint32_t i = 0; i < worker->io_count; i++) {
		if (worker->inputs[i].head == worker->inputs[i].count)
			input_refill(worker, &worker->inputs[i]);
	}
	while (worker->batch_count < FLOW_BATCH && (input = input_next(worker)) != NULL) {
		input_pass(input, input_head(input)->clock_ns);
		worker->batch[worker->batch_count++] = input->pkts[input->head++];
		if (input->head == input->count)
			input_refill(worker, input);
	}
}

void
flow_input_take(struct flow_worker *worker)
{
	worker->batch_count = 0;
	if (worker->strict)
		input_take_ordered(worker);
	else
		input_take_all(worker);
}

uint64_t
flow_input_mark(const struct flow_worker *worker)
{
	uint64_t mark_ns = FLOW_CLOCK_END, last_ns = 0;

	for (uint32_t i = 0; i < worker->io_count; i++) {
		const struct flow_input *input = &worker->inputs[i];

		mark_ns = LULL_MIN(mark_ns, input->mark_ns);
		if (input->ended)
			last_ns = LULL_MAX(last_ns, input->io->clock_last);
	}
	return mark_ns == FLOW_CLOCK_END ? last_ns : mark_ns;
}

bool
flow_input_ended(const struct flow_worker *worker)
{
	for (uint32_t i = 0; i < worker->io_count; i++) {
		if (!worker->inputs[i].ended)
			return false;
	}
	return true;
}
