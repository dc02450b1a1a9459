/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Feed lot: a feed from inside, for feed.c, which reads and settles, and feed_take.c.
 */
#ifndef LULL_FLOW_FEED_LOT_H
#define LULL_FLOW_FEED_LOT_H

#include "stage.h"

/* A worker's share of it stays in the caches of its core. */
#define FEED_LOT_PKTS 512
/* And the fragments that waited for their first one. */
#define FEED_LOT_ROOM (FEED_LOT_PKTS + LULL_FLOW_EARLY_MAX)
#define FEED_NOBODY 255

static_assert(FEED_NOBODY >= FLOW_WORKERS, "a byte tells the worker");

struct feed_frame {
	const uint8_t *data;
	uint64_t time_ns, clock_ns, number;
	uint32_t captured_bytes, original_bytes;
	uint16_t link_type, interface;
	bool parsed; /* its packet is there, with a flow */
};

struct feed_packet {
	alignas(LULL_CACHE_LINE) struct lull_flow_packet packet;
};

/* A packet that is parsed in turn, and may wait for its first fragment. */
struct feed_early {
	struct lull_flow_packet packet; /* first: the parser gives it back */
	struct feed_frame frame;
};

struct feed_lot {
	uint64_t rx, bytes; /* frames that were read, those included that have no place here */
	uint64_t staged;    /* fragments that wait now, less those before; wraps */
	uint64_t causes[LULL_FLOW_CAUSE_COUNT];
	uint64_t worker_pkts[FLOW_WORKERS];
	struct lull_flow_parser *parser;
	uint32_t count;
	struct feed_frame frames[FEED_LOT_ROOM];
	uint8_t workers[FEED_LOT_ROOM]; /* of each; FEED_NOBODY: it has no flow */
	struct feed_packet packets[FEED_LOT_ROOM];

	alignas(LULL_CACHE_LINE) uint64_t parsed; /* its number among lots, from 1 */
	uint32_t takers;                          /* that have not taken it; 0: it can be read */
};

struct flow_feed {
	struct lull_pipeline *pipeline;
	struct flow_io *io;
	const struct lull_pipeline_source *source;
	struct feed_lot *lots;
	uint32_t lot_count, worker_count;
	/* For whose turn it is to read. */
	uint64_t number; /* of the last packet */
	bool inner;
	uint32_t unused_count;
	struct feed_early *unused[LULL_FLOW_EARLY_MAX + 1];
	struct feed_early early[LULL_FLOW_EARLY_MAX + 1];

	alignas(LULL_CACHE_LINE) uint32_t reading; /* somebody does */
	uint64_t read;                             /* lots */
	bool exhausted;
	alignas(LULL_CACHE_LINE) uint32_t settling;
	uint64_t settled;
};

static inline struct feed_lot *
feed_lot(const struct flow_feed *feed, uint64_t number)
{
	return &feed->lots[number % feed->lot_count];
}

#endif
