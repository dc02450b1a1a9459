/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Operations: sends and receives under way, and those that ended until somebody asks.
 *
 * An operation is its own completion. So there is a place for each completion from the start of
 * its operation on, and none is ever lost for want of room.
 *
 * Threads: under the lock of the channel. Memory: all of it by init.
 */
#ifndef LULL_CHANNEL_OPERATION_H
#define LULL_CHANNEL_OPERATION_H

#include <lull/channel.h>

enum channel_operation_state {
	CHANNEL_OPERATION_FREE,
	CHANNEL_OPERATION_SENDING,
	CHANNEL_OPERATION_POSTED,    /* a receive that waits for its message */
	CHANNEL_OPERATION_RECEIVING, /* its message is on its way */
	CHANNEL_OPERATION_CLAIMED,   /* a message that somebody keeps for later */
	CHANNEL_OPERATION_ENDED,     /* a completion that nobody took yet */
};
struct channel_operation {
	struct channel_operation *next; /* of the free ones, or of those that ended */
	enum channel_operation_state state;
	uint32_t serial; /* a claim of an older use of this place is another claim */
	uint32_t handle; /* of the bundle, while it is a claim */
	uint64_t begin_ns;
	const void *data; /* of a send to this channel itself */
	struct lull_channel_completion done;
};
struct channel_operations {
	struct channel_operation *all, *free, *first, *last; /* first..last: ended */
	uint32_t count_max;
	uint32_t used;  /* not free */
	uint32_t ended; /* of these */
};

/** 0 or -ENOMEM. */
int channel_operations_init(struct channel_operations *operations, uint32_t count_max);
void channel_operations_fini(struct channel_operations *operations);
/** A new one, all zero but its state; NULL: there is no room. */
struct channel_operation *channel_operation_new(struct channel_operations *operations,
						enum channel_operation_state state);
/** It never was. */
void channel_operation_drop(struct channel_operations *operations,
			    struct channel_operation *operation);
/** It has ended: its completion waits. */
void channel_operation_end(struct channel_operations *operations,
			   struct channel_operation *operation, int error);
/** Take the oldest completion; false: none waits. */
bool channel_operation_take(struct channel_operations *operations,
			    struct lull_channel_completion *completion);
/** Is that one of these operations, rather than somebody else's context? */
bool channel_operation_ours(const struct channel_operations *operations, const void *context);
/** The first that is under way in this state with the caller's @p context; NULL: none. */
struct channel_operation *channel_operation_find(const struct channel_operations *operations,
						 enum channel_operation_state state,
						 const void *context);
/** The number of a claim, and back; NULL: there is none of this number. */
uint64_t channel_operation_claim(const struct channel_operations *operations,
				 const struct channel_operation *operation);
struct channel_operation *channel_operation_claimed(const struct channel_operations *operations,
						    uint64_t claim);

#endif
