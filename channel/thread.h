/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Thread: the one that moves packets, as a source and a stage of the one loop.
 */
#ifndef LULL_CHANNEL_THREAD_H
#define LULL_CHANNEL_THREAD_H

#include "state.h"

/** 0, -EINVAL: no such CPU or governor, -ENOMEM ... */
int channel_thread_start(struct lull_channel *channel, struct lull_error *error);
void channel_thread_stop(struct lull_channel *channel);
/** Free what the start made. */
void channel_thread_free(struct lull_channel *channel);
/** Governor or longest rest changed, or whether a rail is polled. 0, -EAGAIN ... */
int channel_thread_change(struct lull_channel *channel);
/** What whoever moves packets may do at rest: the thread, or a caller. Under the lock. */
struct lull_idle_limits channel_thread_limits(const struct lull_channel *channel);

#endif
