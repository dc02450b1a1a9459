/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sent: frames of random content, cut into packets by the writers and put together by hand.
 *
 * Packets lie in memory of just their size: the sanitizers see any byte
 * read outside.
 */
#ifndef LULL_TEST_SENT_H
#define LULL_TEST_SENT_H

#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>

#include "base/prng.h"
#include "case.h"
#include "frame/packet_write.h"

#define SEED 20261122

/* A reader, and a picture that its fragments are put into. */
struct sink {
	const struct lull_frame_protocol *protocol;
	void *state;
	uint8_t *data;
	uint8_t *there; /* how often each byte came */
	uint64_t bytes;
	uint64_t counts[LULL_FRAME_VERDICT_COUNT];
	uint32_t ends, starts;
	struct lull_frame_fragment fragment; /* the last */
	uint8_t *packet;                     /* it was read from */
};

static inline void
sink_open(struct sink *sink, const char *name, const struct lull_frame_protocol_config *config,
	  uint64_t bytes)
{
	*sink = (struct sink){ .protocol = lull_frame_protocol_find(name), .bytes = bytes };
	assert_non_null(sink->protocol);
	sink->state = calloc(1, sink->protocol->state_size);
	sink->data = calloc(1, bytes + 1);
	sink->there = calloc(1, bytes + 1);
	assert_non_null(sink->state);
	assert_int_equal(sink->protocol->init(sink->state, config), 0);
}

static inline void
sink_close(struct sink *sink)
{
	free(sink->state);
	free(sink->data);
	free(sink->there);
	free(sink->packet);
}

static inline void
sink_clear(struct sink *sink)
{
	memset(sink->data, 0, sink->bytes);
	memset(sink->there, 0, sink->bytes);
	sink->ends = sink->starts = 0;
}

/*
 * Put a fragment into the picture; its bytes must lie within it and within the packet or the state.
 */
static inline void
sink_put(struct sink *sink)
{
	const struct lull_frame_fragment *fragment = &sink->fragment;

	assert_true(fragment->range_count <= LULL_FRAME_RANGES_MAX);
	for (uint32_t i = 0; i < fragment->range_count; i++) {
		const struct lull_frame_range *range = &fragment->ranges[i];

		assert_true(range->bytes > 0);
		assert_true(range->offset <= sink->bytes &&
			    range->bytes <= sink->bytes - range->offset);
		memcpy(sink->data + range->offset, range->data, range->bytes);
		for (uint32_t k = 0; k < range->bytes; k++)
			if (sink->there[range->offset + k] < UINT8_MAX)
				sink->there[range->offset + k]++;
	}
	sink->ends += (fragment->flags & LULL_FRAME_END) != 0;
	sink->starts += (fragment->flags & LULL_FRAME_START) != 0;
}

/* Read a packet, all its fragments; the last verdict that was no fragment, or FRAGMENT. */
static inline enum lull_frame_verdict
sink_take(struct sink *sink, const uint8_t *packet, size_t len)
{
	uint8_t *exact = malloc(len + (len == 0));
	enum lull_frame_verdict verdict;
	uint32_t fragments = 0;

	assert_non_null(exact);
	memcpy(exact, packet, len);
	free(sink->packet);
	sink->packet = exact;
	do {
		verdict = sink->protocol->parse(sink->state, exact, len, &sink->fragment);
		assert_true((unsigned int)verdict < LULL_FRAME_VERDICT_COUNT);
		sink->counts[verdict]++;
		if (verdict == LULL_FRAME_FRAGMENT)
			sink_put(sink);
		assert_true(++fragments <= len + 1);
	} while (verdict == LULL_FRAME_FRAGMENT && (sink->fragment.flags & LULL_FRAME_MORE) != 0);
	return verdict;
}

/* Is the picture whole: each byte of each row once, and like the one sent? */
static inline bool
sink_whole(const struct sink *sink, const struct lull_packet_plan *plan, const uint8_t *data,
	   unsigned int times)
{
	for (uint32_t row = 0; row < plan->rows.count; row++) {
		uint64_t at = (uint64_t)row * plan->rows.stride;

		if (memcmp(sink->data + at, data + at, plan->rows.row_bytes) != 0)
			return false;
		for (uint32_t i = 0; i < plan->rows.row_bytes; i++)
			if (sink->there[at + i] != times)
				return false;
	}
	return true;
}

static inline uint8_t *
random_bytes(struct lull_prng *prng, uint64_t count)
{
	uint8_t *bytes = malloc(count + (count == 0));

	assert_non_null(bytes);
	for (uint64_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(prng);
	return bytes;
}

/* What the reader must be told about a stream of this format. */
static inline struct lull_frame_protocol_config
config_for(const struct lull_packet_format *format, bool told)
{
	struct lull_frame_protocol_config config = {
		.interlaced = format->interlaced,
		.field_rows = format->field_rows,
		.virtual_channel = format->virtual_channel,
	};

	if (told)
		config.geometry = format->geometry;
	return config;
}

#endif
