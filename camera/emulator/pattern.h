/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pattern: what the pictures show, so that a receiver can verify every byte.
 *
 * A pattern is one long string of bytes, made once; the picture of a frame is a window of it, a
 * little further for each frame. So pictures cost nothing, any of them can be had again, and its
 * bytes follow from the number of the frame:
 *
 *   counter  samples count up: sample s of the string is (s + 257 * (s >> depth)) & mask, where
 *            mask = (1 << depth) - 1 and depth is that of the format (16 for *16). Frame n begins
 *            at group 61 * ((n + 97 * camera) % 1024) of the string.
 *   noise    random bytes of the seed, windows as above
 *   bars     eight slanted bars of colour, moving up by two rows a frame
 *   gradient a grey ramp across the picture, moving likewise
 *
 * Padding between rows is part of the string.
 * Threads: one. Memory: one allocation, freed by pattern_close().
 */
#ifndef LULL_EMULATOR_PATTERN_H
#define LULL_EMULATOR_PATTERN_H

#include <lull/frame.h>

enum pattern_kind { PATTERN_COUNTER, PATTERN_BARS, PATTERN_NOISE, PATTERN_GRADIENT, PATTERN_COUNT };
/** NULL past the last. */
const char *pattern_name(uint32_t index);
const char *pattern_summary(uint32_t index);

struct pattern {
	uint8_t *bytes;
	uint64_t step_bytes; /* from the window of a frame to that of the next */
	uint32_t windows;    /* after which they begin again */
};

/** 0, -EINVAL (no such picture) or -ENOMEM. */
int pattern_open(struct pattern *pattern, enum pattern_kind kind,
		 const struct lull_frame_geometry *geometry, uint64_t seed);
void pattern_close(struct pattern *pattern);
/** The picture of a frame; lull_frame_bytes() of it. */
const uint8_t *pattern_picture(const struct pattern *pattern, uint64_t frame, uint32_t camera);

/** Eight bytes of the string that something else stands in for the time being. */
struct pattern_stamp {
	uint8_t *place;
	uint8_t before[8];
};
/** Let the last eight bytes of a picture of @p bytes be @p value, least significant byte first. */
struct pattern_stamp pattern_stamp_set(const struct pattern *pattern, uint64_t frame,
				       uint32_t camera, uint64_t bytes, uint64_t value);
/** Back to what was there; before another frame is looked at. */
void pattern_stamp_clear(const struct pattern_stamp *stamp);

#endif
