/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Caller: with own_loop, iterations and rests of those who call the channel, and of the thread that
 * stands in for them. All under the lock, which is given up during a rest.
 *
 * One thread at a time hears packets and kicks; others that would rest wait for its word.
 */
#ifndef LULL_CHANNEL_CALLER_H
#define LULL_CHANNEL_CALLER_H

#include "state.h"

/** Memory for the governor. @return 0, -ENOMEM, -EINVAL */
int channel_caller_open(struct lull_channel *channel, struct lull_error *error);
void channel_caller_close(struct lull_channel *channel);

/** One iteration without a rest. Returns the packets received. */
uint32_t channel_caller_turn(struct lull_channel *channel, uint64_t now_ns);
/** Nothing came of the iteration at @p now_ns: rest, until @p until_ns at most, if that is due. */
void channel_caller_rest(struct lull_channel *channel, uint64_t now_ns, uint64_t until_ns);
/** Wait, for @p limit_ns at most, for channel_changed() or the end of another's rest. */
void channel_caller_follow(struct lull_channel *channel, uint64_t limit_ns);

#endif
