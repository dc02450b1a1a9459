/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The I/O stage: read headers, number the packets, have them dispatched. Nothing here allocates or
 * calls the system per packet; the time of day is read once per iteration that received something.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_mbuf_dyn.h>

#include "stage.h"

#define LINK_ETHERNET 1
#define PREFETCH_AHEAD 8
#define BACK_NS (10 * LULL_NS_PER_S)
/* With config.wait a port's burst waits this long for room, then it is dropped. */
#define WAIT_NS LULL_NS_PER_S

static_assert(LULL_BURST_MAX <= LULL_STAMP_BURST_MAX, "a burst can be stamped");

struct flow_io_stage {
	struct flow_io *io;
	struct flow_io_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct flow_io_counters, member, unit_text, help_text)
static const struct lull_counter_info io_counter_table[] = {
	ROW(rx_pkts, "packets", "packets received or read"),
	ROW(rx_bytes, "bytes", "bytes received or read, on the wire"),
	ROW(dispatched, "packets", "packets put into a worker's ring"),
	ROW(not_ip, "packets", "packets without a flow: not IP"),
	ROW(link, "packets", "packets of an unknown link type"),
	ROW(truncated, "packets", "packets cut before the end of their headers"),
	ROW(malformed, "packets", "packets whose headers contradict each other"),
	ROW(drop_ring, "packets", "packets dropped because no ring had room"),
	ROW(flushes_size, "1", "times that a full burst was sent to a worker"),
	ROW(flushes_deadline, "1", "times that a smaller burst was sent after --flush-time"),
	ROW(partial, "1", "times that a ring took only a part of a burst"),
	ROW(retried, "packets", "packets sent to another worker because a ring was full"),
	ROW(nombuf, "1", "reads delayed because no packet buffer was free"),
	ROW(frames_cut, "packets", "frames of a file of which only 65535 bytes were kept"),
	ROW(clock_steps, "1", "times that the time of day was set by more than 100 ms"),
	ROW(port_stamps, "packets", "packets with the time of their port's own clock"),
	ROW(port_stamps_odd, "packets", "packets with a time of their port that cannot be right"),
	ROW(clock_back, "1", "times that stamps of files went back by more than 10 s"),
	ROW(notes, "1", "results of nDPI received from workers"),
	{ .name = NULL },
};

/* ---- a burst ---- */

static void
io_burst_begin(struct flow_io *io)
{
	struct flow_burst *burst = &io->burst;

	burst->kept = 0;
	burst->gone = 0;
	burst->bytes = 0;
	memset(burst->causes, 0, sizeof(burst->causes));
}

static void
io_burst_add(struct flow_io *io, struct rte_mbuf *pkt, uint16_t link_type, uint16_t interface,
	     uint32_t original_bytes, uint64_t time_ns, uint64_t clock_ns, uint64_t now_ns)
{
	struct lull_flow_packet *packet = &flow_private(pkt)->packet;
	struct flow_burst *burst = &io->burst;
	enum lull_flow_cause cause;

	if (io->early_count > 0)
		flow_early_release(io, clock_ns, now_ns);
	lull_flow_parser_interface(io->parser, interface);
	cause = lull_flow_parse(io->parser, link_type, rte_pktmbuf_mtod(pkt, const uint8_t *),
				rte_pktmbuf_data_len(pkt), original_bytes, time_ns, packet);

	burst->causes[cause]++;
	burst->bytes += original_bytes;
	io->clock_ns = LULL_MAX(io->clock_ns, clock_ns);
	if (cause != LULL_FLOW_OK) {
		burst->freed[burst->gone++] = pkt;
		return;
	}
	if ((packet->flags & LULL_FLOW_ORPHAN) != 0)
		flow_early_hold(io, packet, now_ns);
	else
		flow_send_add(io, packet, now_ns);
	if (io->early_count > 0)
		flow_early_release(io, 0, now_ns);
}

bool
flow_io_accepts(const struct flow_io *io, const struct lull_pipeline_frame *frame)
{
	const struct lull_pipeline_config *config = &io->pipeline->config;

	return config->accept == NULL ||
	       config->accept(config->accept_arg, io->index, frame->link_type, frame->data,
			      frame->captured_bytes, frame->original_bytes);
}

/* false: the frame does not pass the filter; its buffer goes back, and the clock goes on. */
static bool
io_accept(struct flow_io *io, struct rte_mbuf *pkt, const struct lull_pipeline_frame *frame,
	  uint64_t clock_ns)
{
	if (flow_io_accepts(io, frame))
		return true;
	io->clock_ns = LULL_MAX(io->clock_ns, clock_ns);
	io->burst.freed[io->burst.gone++] = pkt;
	return false;
}

static void
io_count(struct flow_io *io)
{
	const uint64_t *causes = io->burst.causes;
	uint64_t rx = 0;

	lull_cell_begin(&io->sequence);
	for (int i = 0; i < LULL_FLOW_CAUSE_COUNT; i++) {
		LULL_COUNTER_ADD(io->words.causes[i], causes[i]);
		rx += causes[i];
	}
	LULL_COUNTER_ADD(io->words.rx, rx);
	LULL_COUNTER_ADD(io->words.staged, causes[LULL_FLOW_OK]);
	lull_cell_end(&io->sequence);
	io->counters.rx_pkts += rx;
	io->counters.rx_bytes += io->burst.bytes;
	io->counters.not_ip += causes[LULL_FLOW_NOT_IP];
	io->counters.link += causes[LULL_FLOW_LINK];
	io->counters.truncated += causes[LULL_FLOW_TRUNCATED];
	io->counters.malformed += causes[LULL_FLOW_MALFORMED];
}

static void
io_burst_end(struct flow_io *io, uint64_t now_ns)
{
	io_count(io);
	flow_send_burst(io, now_ns);
	if (io->burst.gone > 0)
		flow_io_free(io, io->burst.freed, io->burst.gone);
	flow_send_flush(io, now_ns, false);
}

/* ---- ports ---- */

/*
 * net_pcap alone stamps packets unasked, in microseconds since 1970. Network cards that were asked
 * do so in ticks of a clock that can be read.
 */
static void
io_find_stamps(struct flow_io *io)
{
	int flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);

	io->stamp_offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	io->stamp_flag = flag >= 0 && io->stamp_offset >= 0 ? 1ull << flag : 0;
}

static uint64_t
io_stamp(struct flow_io *io, const struct rte_mbuf *pkt, uint16_t index, uint64_t now_ns)
{
	uint64_t value;
	int64_t age_ns;

	if ((pkt->ol_flags & io->stamp_flag) == 0)
		return lull_stamp_of(&io->stamp, index);
	value = *RTE_MBUF_DYNFIELD(pkt, io->stamp_offset, const rte_mbuf_timestamp_t *);
	if (pkt->port >= RTE_MAX_ETHPORTS || (io->pipeline->port_clocks >> pkt->port & 1) == 0)
		return value * LULL_NS_PER_US;
	if (!lull_ticks_age(&io->ticks[pkt->port], value, now_ns, &age_ns)) {
		io->counters.port_stamps_odd++;
		return lull_stamp_of(&io->stamp, index);
	}
	io->counters.port_stamps++;
	return lull_ticks_tell(&io->ticks[pkt->port], value, io->stamp.day_ns - (uint64_t)age_ns);
}

static void
io_read_time(struct flow_io *io, uint64_t now_ns)
{
	struct timespec time;

	if (io->stamp_iteration_ns == now_ns)
		return;
	io->stamp_iteration_ns = now_ns;
	clock_gettime(CLOCK_REALTIME, &time);
	lull_stamp_look(&io->stamp, now_ns,
			(uint64_t)time.tv_sec * LULL_NS_PER_S + (uint64_t)time.tv_nsec,
			LULL_MIN(io->looked_ns, now_ns));
	io->counters.clock_steps = io->stamp.steps;
}

/* What a loop received it must take: room is waited for here, or what finds none is dropped. */
static void
io_wait(struct flow_io *io, uint64_t now_ns)
{
	uint64_t end_ns = now_ns + WAIT_NS;

	while (io->staging.blocked && now_ns < end_ns) {
		sched_yield();
		now_ns = lull_clock_ns();
		flow_send_flush(io, now_ns, false);
	}
	if (!io->staging.blocked)
		return;
	io->staging.wait = false;
	flow_send_flush(io, now_ns, false);
	io->staging.wait = true;
}

/* The headers, and the two lines behind the buffer's own that they are written down in. */
static void
io_prefetch(struct rte_mbuf *pkt)
{
	uint8_t *private = (uint8_t *)flow_private(pkt);

	rte_prefetch0(rte_pktmbuf_mtod(pkt, void *));
	__builtin_prefetch(private, 1);
	__builtin_prefetch(private + LULL_CACHE_LINE, 1);
}

static bool
io_accept_port(struct flow_io *io, struct rte_mbuf *pkt, uint64_t clock_ns)
{
	struct lull_pipeline_frame frame = {
		.data = rte_pktmbuf_mtod(pkt, const uint8_t *),
		.captured_bytes = rte_pktmbuf_data_len(pkt),
		.original_bytes = rte_pktmbuf_pkt_len(pkt),
		.link_type = LINK_ETHERNET,
	};

	return io_accept(io, pkt, &frame, clock_ns);
}

static void
io_burst(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count, uint64_t now_ns)
{
	struct flow_io *io = ((struct flow_io_stage *)state)->io;

	(void)queue_index;
	/* Workers have been told that nothing comes any more. */
	if (io->clock_out == FLOW_CLOCK_END) {
		rte_pktmbuf_free_bulk(pkts, count);
		return;
	}
	io_read_time(io, now_ns);
	lull_stamp_burst(&io->stamp, count);
	io_burst_begin(io);
	for (uint16_t i = 0; i < LULL_MIN(PREFETCH_AHEAD, count); i++)
		io_prefetch(pkts[i]);
	for (uint16_t i = 0; i < count; i++) {
		if (i + PREFETCH_AHEAD < count)
			io_prefetch(pkts[i + PREFETCH_AHEAD]);
		if (io_accept_port(io, pkts[i], now_ns))
			io_burst_add(io, pkts[i], LINK_ETHERNET, (uint16_t)(pkts[i]->port + 1),
				     rte_pktmbuf_pkt_len(pkts[i]), io_stamp(io, pkts[i], i, now_ns),
				     now_ns, now_ns);
	}
	io_burst_end(io, now_ns);
	if (io->staging.blocked)
		io_wait(io, now_ns);
}

/* ---- sources ---- */

/*
 * Frames of a source become packets that a worker can hold for as long as it likes: what lasts is
 * read where it lies, else it is copied. Nothing is read behind byte 65535: IP ends before.
 */
static void
io_source_fill(struct flow_io *io, struct rte_mbuf *pkt, const struct lull_pipeline_frame *frame)
{
	uint32_t bytes = LULL_MIN(frame->captured_bytes, (uint32_t)UINT16_MAX);
	bool whole = io->frames != NULL ? flow_frames_fill(io->frames, pkt, frame->data, bytes) :
					  flow_frames_copy(pkt, frame->data, (uint16_t)bytes);

	if (!whole || bytes < frame->captured_bytes)
		io->counters.frames_cut++;
}

/*
 * Clocks never go back, stamps may: a clock that was set, files behind each other. Farther back
 * than this the clock of the flows goes on from where it is, or no flow would end until the stamps
 * have caught up. When they do, they and the clock are the same again.
 */
static uint64_t
io_source_clock(struct flow_io *io, uint64_t time_ns)
{
	uint64_t clock_ns = time_ns + io->behind_ns;
	uint64_t apart_ns = io->clock_ns - LULL_MIN(time_ns, io->clock_ns);

	if (clock_ns + BACK_NS < io->clock_ns) {
		io->counters.clock_back++;
		io->level_ns = io->clock_ns - io->behind_ns;
		io->behind_ns = apart_ns;
	} else if (io->behind_ns > 0 && time_ns + BACK_NS > io->level_ns) {
		io->behind_ns = LULL_MIN(io->behind_ns, apart_ns);
	}
	return time_ns + io->behind_ns;
}

uint64_t
flow_io_clock(struct flow_io *io, uint64_t time_ns)
{
	return io_source_clock(io, time_ns);
}

static bool
io_source_take(struct flow_io *io, struct rte_mbuf **pkts)
{
	if (io->frames != NULL)
		return flow_frames_take(io->frames, pkts, io->burst_pkts);
	return rte_pktmbuf_alloc_bulk(io->pipeline->pool, pkts, io->burst_pkts) == 0;
}

static uint16_t
io_source_pull(struct flow_io *io, uint64_t now_ns)
{
	const struct lull_pipeline_source *source = &io->pipeline->config.sources[io->index];
	struct lull_pipeline_frame frames[LULL_BURST_MAX];
	struct rte_mbuf *pkts[LULL_BURST_MAX];
	uint32_t count;

	/* First the buffers: what has been read cannot be put back. */
	if (!io_source_take(io, pkts)) {
		io->counters.nombuf++;
		return 0;
	}
	count = source->read(source->arg, frames, io->burst_pkts, &io->exhausted);
	io_burst_begin(io);
	for (uint32_t i = 0; i < count; i++) {
		const struct lull_pipeline_frame *frame = &frames[i];
		uint64_t clock_ns;

		clock_ns = io_source_clock(io, frame->time_ns);
		if (!io_accept(io, pkts[i], frame, clock_ns))
			continue;
		io_source_fill(io, pkts[i], frame);
		io_burst_add(io, pkts[i], frame->link_type, frame->interface, frame->original_bytes,
			     frame->time_ns, clock_ns, now_ns);
	}
	if (count < io->burst_pkts)
		flow_io_free(io, pkts + count, io->burst_pkts - count);
	if (count > 0)
		io_burst_end(io, now_ns);
	return (uint16_t)count;
}

static uint16_t
io_pull(void *state, uint64_t now_ns)
{
	struct flow_io *io = ((struct flow_io_stage *)state)->io;

	if (!io->from_source || io->exhausted || flow_closing(io->pipeline))
		return 0;
	if (io->staging.blocked)
		flow_send_flush(io, now_ns, false);
	return io->staging.blocked ? 0 : io_source_pull(io, now_ns);
}

/* ---- the iteration ---- */

static void
io_take_notes(struct flow_io *io)
{
	struct flow_note notes[FLOW_RECORDS];

	for (uint32_t i = 0; i < io->worker_count; i++) {
		uint32_t count = rte_ring_sc_dequeue_burst_elem(
			io->notes[i], notes, sizeof(notes[0]), FLOW_RECORDS, NULL);

		for (uint32_t j = 0; j < count; j++)
			lull_dispatch_note(io->dispatch, notes[j].digest, (uint16_t)notes[j].app);
		io->counters.notes += count;
	}
}

/* Everything is in the rings and nothing follows. */
static void
io_close(struct flow_io *io)
{
	if (io->clock_out == FLOW_CLOCK_END)
		return;
	io->clock_last = io->clock_ns;
	__atomic_store_n(&io->clock_out, FLOW_CLOCK_END, __ATOMIC_RELEASE);
}

static uint64_t
io_iterate(void *state, uint64_t now_ns)
{
	struct flow_io_stage *stage = state;
	struct flow_io *io = stage->io;
	bool ending = io->exhausted || flow_closing(io->pipeline);
	uint64_t deadline_ns;

	io->looked_ns = now_ns;
	if (io->pipeline->port_clocks != 0)
		flow_ticks_look(io, now_ns);
	io_take_notes(io);
	if (!io->from_source && io->clock_out != FLOW_CLOCK_END)
		io->clock_ns = LULL_MAX(io->clock_ns, now_ns);
	if (io->early_count > 0 && !io->staging.blocked) {
		flow_early_release(io, ending ? UINT64_MAX : io->clock_ns, now_ns);
		flow_send_burst(io, now_ns);
	}
	flow_send_flush(io, now_ns, ending);
	deadline_ns = flow_early_deadline(io, now_ns, ending);
	if (ending && deadline_ns == 0)
		io_close(io);
	if (io->clock_out != FLOW_CLOCK_END)
		__atomic_store_n(&io->clock_out, flow_send_floor(io), __ATOMIC_RELEASE);
	flow_counters_copy(&stage->counters, &io->counters, sizeof(io->counters));
	if (deadline_ns == 0)
		return io->from_source ? 0 : now_ns + FLOW_SILENCE_NS;
	return LULL_MAX(deadline_ns, io->staging.blocked ? now_ns + io->staging.flush_ns : 0);
}

static void
io_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	struct flow_io *io = ((struct flow_io_stage *)state)->io;
	const struct lull_pipeline_command *command = flow_command(data, size);

	(void)now_ns;
	if (command == NULL)
		return;
	switch (command->verb) {
	case LULL_PIPELINE_SCHEDULER:
		if (command->scheduler != NULL)
			lull_dispatch_change(io->dispatch, command->scheduler, command->shadow);
		break;
	case LULL_PIPELINE_THRESHOLDS:
		lull_dispatch_thresholds(io->dispatch, command->threshold_ppm, command->enter_ppm,
					 command->leave_ppm);
		break;
	case LULL_PIPELINE_FLUSH:
		io->staging.flush_pkts =
			LULL_CLAMP(command->flush_pkts, 1u, (uint32_t)LULL_BURST_MAX);
		io->staging.flush_ns = LULL_MIN(command->flush_ns, LULL_NS_PER_S);
		break;
	case LULL_PIPELINE_IDLE:
		io->idle_ns = flow_idle_ns(io->pipeline, command->idle_ns);
		lull_flow_connections_timeouts(io->connections, io->idle_ns);
		break;
	default:
		break;
	}
}

static int
io_init(void *state, const void *config, uint64_t now_ns)
{
	const struct lull_pipeline_place *place = config;
	struct flow_io_stage *stage = state;

	(void)now_ns;
	if (place->index >= place->pipeline->config.io_count)
		return -EINVAL;
	stage->io = place->pipeline->ios[place->index];
	if (!stage->io->from_source)
		io_find_stamps(stage->io);
	return 0;
}

const struct lull_stage lull_stage_flow_io = {
	.name = "flow_io",
	.summary = "read packets' headers and choose a worker for each",
	.state_size = sizeof(struct flow_io_stage),
	.init = io_init,
	.pull = io_pull,
	.burst = io_burst,
	.iterate = io_iterate,
	.command = io_command,
	.counters = io_counter_table,
	.counters_offset = offsetof(struct flow_io_stage, counters),
};
