/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand-in: a thread that turns a channel with own_loop while its callers are away.
 *
 * Threads: start and stop from the one that starts and closes the channel.
 */
#ifndef LULL_CHANNEL_STAND_IN_H
#define LULL_CHANNEL_STAND_IN_H

#include "state.h"

/** Does nothing without config.stand_in. @return 0, or a negative errno: there is no thread */
int channel_stand_in_start(struct lull_channel *channel, struct lull_error *error);
/** Does nothing when it was not started. */
void channel_stand_in_stop(struct lull_channel *channel);

#endif
