/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: an assembler with buffers, fed by hand, in invented time.
 */
#ifndef LULL_TEST_ASSEMBLER_STAND_H
#define LULL_TEST_ASSEMBLER_STAND_H

#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>

#include "case.h"

#define STAND_BYTES 4096
#define STAND_BUFFERS 16
#define STAND_OLD 0xee /* what buffers hold before */

struct stand {
	struct lull_assembler *assembler;
	const struct lull_assembler_counters *counters;
	void *memory;
	uint64_t now_ns;
	uint8_t buffers[STAND_BUFFERS][STAND_BYTES];
	struct lull_frame frame; /* fetched last */
};

/* What byte @p offset of frame @p key is. */
static inline uint8_t
stand_byte(uint64_t key, uint64_t offset)
{
	return (uint8_t)((key * 131 + offset * 7 + offset / 251) % 233);
}

static inline void
stand_supply(struct stand *stand, uint32_t buffer)
{
	memset(stand->buffers[buffer], STAND_OLD, STAND_BYTES);
	assert_int_equal(lull_assembler_supply(stand->assembler, stand->buffers[buffer],
					       stand->buffers[buffer]),
			 0);
}

static inline void
stand_init(struct stand *stand, const struct lull_assembler_config *config, uint32_t buffers)
{
	size_t size = (lull_assembler_size(config) + 63) / 64 * 64;

	memset(stand, 0, sizeof(*stand));
	stand->now_ns = 1000;
	stand->memory = aligned_alloc(64, size);
	assert_non_null(stand->memory);
	memset(stand->memory, 0xa5, size);
	assert_int_equal(lull_assembler_init(stand->memory, config, &stand->assembler), 0);
	stand->counters = lull_assembler_counters(stand->assembler);
	for (uint32_t i = 0; i < buffers; i++)
		stand_supply(stand, i);
}

static inline void
stand_end(struct stand *stand)
{
	free(stand->memory);
}

static inline void
stand_check_identity(const struct stand *stand)
{
	const struct lull_assembler_counters *c = stand->counters;

	assert_int_equal(c->fragments, c->used + c->duplicates + c->late + c->no_buffer +
					       c->oversize + c->outside + c->unsized + c->stopped);
}

/* A picture of @p width x @p height bytes. */
static inline struct lull_frame_geometry
stand_picture(uint32_t width, uint32_t height)
{
	return (struct lull_frame_geometry){ .width = width,
					     .height = height,
					     .pixel = LULL_PIXEL_MONO8 };
}

static inline struct lull_assembler_config
stand_config(uint32_t width, uint32_t height)
{
	return (struct lull_assembler_config){ .buffer_bytes = STAND_BYTES,
					       .geometry = stand_picture(width, height) };
}

static inline void
stand_add(struct stand *stand, const struct lull_frame_fragment *fragment)
{
	lull_assembler_add(stand->assembler, stand->now_ns, fragment);
	stand_check_identity(stand);
}

/* One range of frame @p key; each call a packet with the next number. */
static inline void
stand_fragment(struct stand *stand, uint64_t key, uint64_t offset, uint32_t bytes, uint32_t flags)
{
	uint8_t data[STAND_BYTES];
	struct lull_frame_fragment fragment = { .key = key,
						.packet = stand->counters->fragments,
						.flags = flags,
						.range_count = bytes > 0,
						.ranges[0] = { offset, data, bytes } };

	for (uint32_t i = 0; i < bytes; i++)
		data[i] = stand_byte(key, offset + i);
	stand_add(stand, &fragment);
}

static inline bool
stand_next(struct stand *stand)
{
	return lull_assembler_next(stand->assembler, stand->now_ns, &stand->frame);
}

/* Fetch a frame and check it against what it must be, byte by byte; its buffer goes back. */
static inline void
stand_expect(struct stand *stand, uint64_t key, enum lull_frame_reason reason)
{
	const struct lull_frame *frame = &stand->frame;
	uint32_t span = 0;

	assert_true(stand_next(stand));
	assert_int_equal(frame->key, key);
	assert_int_equal(frame->reason, reason);
	assert_ptr_equal(frame->data, frame->buffer_user);
	assert_int_equal(frame->missing_count == 0, reason == LULL_FRAME_COMPLETE);
	for (uint64_t i = 0; i < frame->bytes; i++) {
		while (span < frame->missing_count &&
		       frame->missing[span].offset + frame->missing[span].bytes <= i)
			span++;
		if (span < frame->missing_count && frame->missing[span].offset <= i)
			assert_int_equal(frame->data[i], STAND_OLD);
		else
			assert_int_equal(frame->data[i], stand_byte(key, i));
	}
	memset(frame->data, STAND_OLD, STAND_BYTES);
	assert_int_equal(lull_assembler_supply(stand->assembler, frame->data, frame->buffer_user),
			 0);
}

#endif
