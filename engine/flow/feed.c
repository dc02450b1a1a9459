/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "dispatch/fixed.h"
#include "engine/dpdk/memory.h"
#include "flow/parser.h"
#include "feed_lot.h"

/* One that is taken, one that is read, and what workers may be apart. */
#define LOTS_OF(worker_count) (2 * (worker_count) + 2)
/* Fragments are parsed in turn, by the parser of the I/O loop. */
#define FRAGMENT_BITS_MIN 4
#define LINK_ETHERNET 1
#define ALONE_BYTES 42 /* Ethernet, a tag, IPv4 and ports */
/* Headers of a frame are asked for so many frames before they are read. */
#define PREFETCH_FRAMES 8

static bool
feed_turn_begin(uint32_t *turn)
{
	return __atomic_load_n(turn, __ATOMIC_RELAXED) == 0 &&
	       __atomic_exchange_n(turn, 1, __ATOMIC_ACQUIRE) == 0;
}

static void
feed_turn_end(uint32_t *turn)
{
	__atomic_store_n(turn, 0, __ATOMIC_RELEASE);
}

/* ---- create ---- */

static bool
feed_make_parser(const struct lull_pipeline *pipeline, struct feed_lot *lot)
{
	struct lull_flow_parser_config config = pipeline->config.parser;
	void *memory;

	config.fragment_bits = FRAGMENT_BITS_MIN;
	memory = lull_memory_zalloc("lull_feed", lull_flow_parser_size(&config),
				    LULL_MEMORY_ANY_NODE);
	if (memory != NULL && lull_flow_parser_init(memory, &config, &lot->parser) != 0)
		lull_memory_free(memory);
	return lot->parser != NULL;
}

struct flow_feed *
flow_feed_create(struct lull_pipeline *pipeline)
{
	struct flow_feed *feed =
		lull_memory_zalloc("lull_feed", sizeof(*feed), LULL_MEMORY_ANY_NODE);
	bool made;

	if (feed == NULL)
		return NULL;
	feed->pipeline = pipeline;
	feed->io = pipeline->ios[0];
	feed->source = &pipeline->config.sources[0];
	feed->worker_count = pipeline->config.worker_count;
	feed->inner = pipeline->config.parser.inner;
	for (uint32_t i = 0; i < LULL_FLOW_EARLY_MAX + 1; i++)
		feed->unused[feed->unused_count++] = &feed->early[i];
	feed->lot_count = LOTS_OF(feed->worker_count);
	feed->lots = lull_memory_zalloc("lull_feed", feed->lot_count * sizeof(feed->lots[0]),
					LULL_MEMORY_ANY_NODE);
	made = feed->lots != NULL;
	for (uint32_t i = 0; made && i < feed->lot_count; i++)
		made = feed_make_parser(pipeline, &feed->lots[i]);
	if (made)
		return feed;
	flow_feed_destroy(feed);
	return NULL;
}

void
flow_feed_destroy(struct flow_feed *feed)
{
	if (feed == NULL)
		return;
	for (uint32_t i = 0; feed->lots != NULL && i < feed->lot_count; i++)
		lull_memory_free(feed->lots[i].parser);
	lull_memory_free(feed->lots);
	lull_memory_free(feed);
}

uint32_t
flow_feed_room(const struct lull_pipeline *pipeline)
{
	return LOTS_OF(pipeline->config.worker_count) * FEED_LOT_ROOM;
}

/* ---- read ---- */

static struct lull_flow_packet *
feed_append(struct flow_feed *feed, struct feed_lot *lot, const struct feed_frame *frame)
{
	uint32_t place = lot->count++;
	struct feed_frame *at = &lot->frames[place];

	LULL_ASSERT(place < FEED_LOT_ROOM);
	*at = *frame;
	at->clock_ns = feed->io->clock_ns;
	at->number = ++feed->number;
	return &lot->packets[place].packet;
}

/* A packet that was parsed in turn. */
static void
feed_append_early(struct flow_feed *feed, struct feed_lot *lot, struct lull_flow_packet *packet)
{
	struct feed_early *early = (struct feed_early *)packet;

	early->frame.parsed = true;
	*feed_append(feed, lot, &early->frame) = *packet;
	feed->unused[feed->unused_count++] = early;
}

/* As flow_early_release() does. */
static void
feed_release(struct flow_feed *feed, struct feed_lot *lot, uint64_t clock_ns)
{
	struct flow_io *io = feed->io;
	struct lull_flow_packet *packet;
	uint64_t due_ns;

	while ((packet = lull_flow_parser_release(io->parser, clock_ns, &due_ns)) != NULL) {
		io->early_count--;
		lot->staged--;
		if (clock_ns != UINT64_MAX)
			io->clock_ns = LULL_MAX(io->clock_ns, due_ns);
		feed_append_early(feed, lot, packet);
	}
}

/* What can depend on other packets, or others on it: fragments, and what may be about them. */
static void
feed_parse_in_turn(struct flow_feed *feed, struct feed_lot *lot, const struct feed_frame *frame)
{
	struct feed_early *early = feed->unused[--feed->unused_count];
	struct lull_flow_packet *packet = &early->packet;
	struct flow_io *io = feed->io;
	enum lull_flow_cause cause;

	early->frame = *frame;
	lull_flow_parser_interface(io->parser, frame->interface);
	cause = lull_flow_parse(io->parser, frame->link_type, frame->data, frame->captured_bytes,
				frame->original_bytes, frame->time_ns, packet);
	lot->causes[cause]++;
	if (cause != LULL_FLOW_OK) {
		feed->unused[feed->unused_count++] = early;
		return;
	}
	if ((packet->flags & LULL_FLOW_ORPHAN) != 0) {
		io->early_count++;
		lot->staged++;
		packet = lull_flow_parser_hold(io->parser, packet, io->clock_ns);
		if (packet == NULL)
			return;
		io->early_count--;
		lot->staged--;
	}
	feed_append_early(feed, lot, packet);
}

/*
 * Does parsing it need nothing of other packets? TCP and UDP over Ethernet that is no fragment;
 * with tunnels, what UDP carries may be one.
 */
static bool
feed_is_alone(const struct flow_feed *feed, const struct feed_frame *frame)
{
	const uint8_t *ip = frame->data + 14;
	uint8_t proto;

	if (frame->link_type != LINK_ETHERNET || frame->captured_bytes < ALONE_BYTES)
		return false;
	if (ip[-2] == 0x81 && ip[-1] == 0)
		ip += 4;
	if (ip[-2] == 0x08 && ip[-1] == 0 && ((ip[6] & 0x3f) | ip[7]) == 0)
		proto = ip[9];
	else if (ip[-2] == 0x86 && ip[-1] == 0xdd)
		proto = ip[6];
	else
		return false;
	return proto == LULL_FLOW_PROTO_TCP || (proto == LULL_FLOW_PROTO_UDP && !feed->inner);
}

/* Nothing is read behind byte 65535: IP ends before. */
static void
feed_add(struct flow_feed *feed, struct feed_lot *lot, const struct lull_pipeline_frame *read,
	 struct flow_worker *worker)
{
	uint64_t clock_ns = flow_io_clock(feed->io, read->time_ns);
	const struct feed_frame frame = {
		.data = read->data,
		.time_ns = read->time_ns,
		.captured_bytes = LULL_MIN(read->captured_bytes, (uint32_t)UINT16_MAX),
		.original_bytes = read->original_bytes,
		.link_type = read->link_type,
		.interface = read->interface,
	};
	bool accepted = flow_io_accepts(feed->io, read);

	if (accepted && feed->io->early_count > 0)
		feed_release(feed, lot, clock_ns);
	feed->io->clock_ns = LULL_MAX(feed->io->clock_ns, clock_ns);
	if (!accepted)
		return;
	worker->read.frames_cut += read->captured_bytes > UINT16_MAX;
	lot->rx++;
	lot->bytes += read->original_bytes;
	if (feed_is_alone(feed, &frame)) {
		feed_append(feed, lot, &frame);
		return;
	}
	feed_parse_in_turn(feed, lot, &frame);
	if (feed->io->early_count > 0)
		feed_release(feed, lot, 0);
}

static void
feed_clear(const struct flow_feed *feed, struct feed_lot *lot)
{
	lot->rx = 0;
	lot->bytes = 0;
	lot->staged = 0;
	lot->count = 0;
	memset(lot->causes, 0, sizeof(lot->causes));
	memset(lot->worker_pkts, 0, feed->worker_count * sizeof(lot->worker_pkts[0]));
}

/* false: there is nothing more. */
static bool
feed_fill(struct flow_feed *feed, struct feed_lot *lot, struct flow_worker *worker)
{
	struct lull_pipeline_frame frames[LULL_BURST_MAX];
	uint64_t clock_back = feed->io->counters.clock_back;
	bool end = flow_closing(feed->pipeline);
	uint32_t count = !end;

	while (count > 0 && lot->rx < FEED_LOT_PKTS && lot->count < FEED_LOT_PKTS) {
		count = LULL_MIN(LULL_BURST_MAX, FEED_LOT_PKTS - LULL_MAX(lot->count, lot->rx));
		count = feed->source->read(feed->source->arg, frames, count, &end);
		for (uint32_t i = 0; i < count; i++)
			feed_add(feed, lot, &frames[i], worker);
	}
	worker->read.clock_back += feed->io->counters.clock_back - clock_back;
	/* At the end nothing is waited for. */
	if (end)
		feed_release(feed, lot, UINT64_MAX);
	return !end;
}

/* The lot that was read; NULL: none. What is the last one is told when it is there. */
static struct feed_lot *
feed_read_turn(struct flow_feed *feed, struct flow_worker *worker)
{
	struct feed_lot *lot = feed_lot(feed, feed->read), *filled = NULL;
	bool more;

	if (__atomic_load_n(&lot->takers, __ATOMIC_ACQUIRE) != 0 || feed->exhausted)
		return NULL;
	feed_clear(feed, lot);
	more = feed_fill(feed, lot, worker);
	if (lot->rx + lot->count > 0) {
		filled = lot;
		__atomic_store_n(&lot->takers, feed->worker_count, __ATOMIC_RELAXED);
		__atomic_store_n(&feed->read, feed->read + 1, __ATOMIC_RELEASE);
	}
	if (!more)
		__atomic_store_n(&feed->exhausted, true, __ATOMIC_RELEASE);
	return filled;
}

/* ---- parse ---- */

static void
feed_parse_frame(struct feed_lot *lot, uint32_t place)
{
	const struct feed_frame *frame = &lot->frames[place];
	struct lull_flow_packet *packet = &lot->packets[place].packet;
	enum lull_flow_cause cause = LULL_FLOW_OK;

	if (!frame->parsed) {
		lull_flow_parser_interface(lot->parser, frame->interface);
		cause = lull_flow_parse(lot->parser, frame->link_type, frame->data,
					frame->captured_bytes, frame->original_bytes,
					frame->time_ns, packet);
		lot->causes[cause]++;
	}
	packet->clock_ns = frame->clock_ns;
	packet->number = frame->number;
	lot->workers[place] = cause == LULL_FLOW_OK ? 0 : FEED_NOBODY;
	lot->worker_pkts[0] += cause == LULL_FLOW_OK;
}

/* Workers of @p count packets, of which those without a flow do not matter. */
static void
feed_decide(const struct flow_feed *feed, const struct feed_packet *packets, uint32_t count,
	    uint16_t *workers)
{
	bool needs_crcs = lull_dispatch_needs_crcs(feed->io->dispatch);
	uint32_t digests[FEED_LOT_ROOM], crcs[FEED_LOT_ROOM];

	for (uint32_t i = 0; i < count; i++)
		digests[i] = packets[i].packet.digest;
	for (uint32_t i = 0; needs_crcs && i < count; i++)
		crcs[i] = lull_flow_key_crc32(&packets[i].packet.key);
	lull_dispatch_decide(feed->io->dispatch, digests, needs_crcs ? crcs : NULL, count, workers);
}

static void
feed_decide_lot(const struct flow_feed *feed, struct feed_lot *lot)
{
	uint16_t workers[FEED_LOT_ROOM];

	lot->worker_pkts[0] = 0;
	feed_decide(feed, lot->packets, lot->count, workers);
	for (uint32_t i = 0; i < lot->count; i++) {
		if (lot->workers[i] == FEED_NOBODY)
			continue;
		lot->workers[i] = (uint8_t)workers[i];
		lot->worker_pkts[workers[i]]++;
	}
}

static void
feed_parse(const struct flow_feed *feed, struct feed_lot *lot)
{
	for (uint32_t i = 0; i < lot->count; i++) {
		if (i + PREFETCH_FRAMES < lot->count)
			__builtin_prefetch(lot->frames[i + PREFETCH_FRAMES].data);
		feed_parse_frame(lot, i);
	}
	if (feed->worker_count > 1)
		feed_decide_lot(feed, lot);
}

uint32_t
flow_feed_read(struct flow_feed *feed, struct flow_worker *worker)
{
	struct feed_lot *lot;
	uint64_t number;
	uint32_t count;

	if (!feed_turn_begin(&feed->reading))
		return 0;
	lot = feed_read_turn(feed, worker);
	number = feed->read;
	feed_turn_end(&feed->reading);
	if (lot == NULL)
		return 0;
	feed_parse(feed, lot);
	/* Then it may be settled, taken and read anew. */
	count = (uint32_t)lot->rx + lot->count;
	__atomic_store_n(&lot->parsed, number, __ATOMIC_RELEASE);
	return count;
}

/* ---- settle ---- */

static bool
feed_is_next(const struct flow_feed *feed)
{
	uint64_t settled = __atomic_load_n(&feed->settled, __ATOMIC_RELAXED);

	return __atomic_load_n(&feed_lot(feed, settled)->parsed, __ATOMIC_ACQUIRE) == settled + 1;
}

/* Everything has been settled and nothing follows. */
static bool
feed_is_over(const struct flow_feed *feed)
{
	return __atomic_load_n(&feed->exhausted, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&feed->settled, __ATOMIC_ACQUIRE) ==
		       __atomic_load_n(&feed->read, __ATOMIC_ACQUIRE);
}

static void
feed_count(struct flow_feed *feed, const struct feed_lot *lot, struct flow_worker *worker)
{
	struct flow_io_words *words = &feed->io->words;
	struct flow_io_counters *read = &worker->read;
	uint64_t dispatched = 0;

	lull_cell_begin(&feed->io->sequence);
	for (int i = 0; i < LULL_FLOW_CAUSE_COUNT; i++)
		LULL_COUNTER_ADD(words->causes[i], lot->causes[i]);
	LULL_COUNTER_ADD(words->rx, lot->rx);
	LULL_COUNTER_ADD(words->staged, lot->staged);
	for (uint32_t i = 0; i < feed->worker_count; i++) {
		LULL_COUNTER_ADD(words->sent[i], lot->worker_pkts[i]);
		dispatched += lot->worker_pkts[i];
	}
	LULL_COUNTER_ADD(words->dispatched, dispatched);
	lull_cell_end(&feed->io->sequence);
	lull_dispatch_decided(feed->io->dispatch, lot->worker_pkts);
	lull_flow_parser_join(feed->io->parser, lot->parser);
	read->rx_pkts += lot->rx;
	read->rx_bytes += lot->bytes;
	read->not_ip += lot->causes[LULL_FLOW_NOT_IP];
	read->link += lot->causes[LULL_FLOW_LINK];
	read->truncated += lot->causes[LULL_FLOW_TRUNCATED];
	read->malformed += lot->causes[LULL_FLOW_MALFORMED];
}

void
flow_feed_settle(struct flow_feed *feed, struct flow_worker *worker)
{
	struct flow_io *io = feed->io;
	bool over = feed_is_over(feed) && !flow_io_ended(feed->io);

	if ((!feed_is_next(feed) && !over) || !feed_turn_begin(&feed->settling))
		return;
	while (feed_is_next(feed)) {
		struct feed_lot *lot = feed_lot(feed, feed->settled);

		feed_count(feed, lot, worker);
		__atomic_store_n(&feed->settled, feed->settled + 1, __ATOMIC_RELEASE);
	}
	if (feed_is_over(feed)) {
		io->clock_last = io->clock_ns;
		__atomic_store_n(&io->clock_out, FLOW_CLOCK_END, __ATOMIC_RELEASE);
	}
	feed_turn_end(&feed->settling);
}
