/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Event: what the bundle tells, handed on to operations, matching, streams and who waits.
 */
#ifndef LULL_CHANNEL_EVENT_H
#define LULL_CHANNEL_EVENT_H

#include "state.h"

/** Take all events. Under the lock. */
void channel_events(struct lull_channel *channel, uint64_t now_ns);
/** Something changed that callers may wait for. Under the lock. */
void channel_changed(struct lull_channel *channel);
/** True: config.changed is to be called, once the lock is given up. */
bool channel_changes_new(struct lull_channel *channel);
/** An operation has ended; tells who waits. Under the lock. */
void channel_end(struct lull_channel *channel, struct channel_operation *operation, int error);
/**
 * A receive takes a message that was matched: its completion follows, at once when the bundle
 * refuses. Under the lock.
 */
void channel_take(struct lull_channel *channel, uint64_t now_ns,
		  const struct lull_match_message *message, void *buffer, uint64_t size_bytes,
		  struct channel_operation *operation);

#endif
