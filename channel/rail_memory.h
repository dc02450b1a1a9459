/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory rail: a rail of lull-channel-node, by rings in shared memory.
 *
 * The process keeps its bundle, with keys and all; the node's program only carries packets. When
 * that program goes away, the rail is as one whose cable was pulled, and it attaches again by
 * itself, with the port it had, as soon as there is one. Packets to processes of this node go
 * directly to them (neighbour.h), with the program and without it.
 */
#ifndef LULL_CHANNEL_RAIL_MEMORY_H
#define LULL_CHANNEL_RAIL_MEMORY_H

#include "attach.h"
#include "rail.h"

#define CHANNEL_RAIL_MEMORY "node:"
#define CHANNEL_RAIL_MEMORY_BUSY "node-busy:" /* the same, polled */

/** What follows "node:" or "node-busy:" in @p text; NULL: it is another rail. */
const char *channel_rail_memory_words(const char *text);

/**
 * What "node:[SOCKET]" stands for: its rails, as "node:[SOCKET],rail=N"; "node-busy:" likewise.
 * @return how many, at most @p room; 0: @p text is no such string, or names its rail; or a negative
 *         errno and the sentence
 */
int channel_rail_memory_spell(const char *text, char words[][CHANNEL_RAIL_TEXT_SIZE], uint32_t room,
			      struct lull_error *error);

/** Opens @p rail, whose text is filled in; 0 or a negative errno. */
int channel_rail_memory_open(struct channel_rail *rail, struct lull_error *error);

/* ---- for rail_memory.c ---- */

/** Take "node:SOCKET,rail=N" apart. Either may be missing: the usual socket; @p number stays. */
int channel_memory_words(const char *text, char path[CHANNEL_ATTACH_PATH_SIZE], uint32_t *number,
			 struct lull_error *error);
/** Wait for the first answer, which is a matter of microseconds. -ETIMEDOUT. */
int channel_memory_wait(int fd);
/** The sentence of why there is no attachment; returns @p rc. */
int channel_memory_refused(int rc, const char *path, struct lull_error *error);

#endif
