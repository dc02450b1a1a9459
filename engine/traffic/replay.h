/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Replay: step through a mapped capture with departure times.
 *
 * Threads: the file is read only and may be shared; a cursor belongs to one loop.
 * Memory:  cursor in the caller's struct; frames are views into the mapping.
 */
#ifndef LULL_ENGINE_REPLAY_H
#define LULL_ENGINE_REPLAY_H

#include <lull/capture.h>
#include <lull/generator.h>

struct lull_replay_cursor {
	const struct lull_replay *replay;
	uint64_t start_ns; /**< departure of the first frame of this time through */
	uint64_t due_ns;   /**< of the frame below; UINT64_MAX: at the end */
	uint64_t loops;    /**< times through so far */
	const uint8_t *data;
	uint16_t len_bytes;
	bool truncated;   /**< the capture holds less than was on the wire */
	uint64_t skipped; /**< frames passed over since the start, by the rule of the open */
	struct lull_capture capture;
};

/** Stand at the first frame, due at @p now_ns. */
void lull_replay_begin(struct lull_replay_cursor *cursor, const struct lull_replay *replay,
		       uint64_t now_ns);
/** Go on to the next frame that can be sent. */
void lull_replay_step(struct lull_replay_cursor *cursor);
/** Due times follow the capture; false: as fast as possible. */
bool lull_replay_timed(const struct lull_replay *replay);

#endif
