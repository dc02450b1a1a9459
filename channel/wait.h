/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wait: a caller that waits for a change, while the thread of the channel moves packets, or, with
 * own_loop, while it moves them itself. All under the lock, which is given up meanwhile.
 */
#ifndef LULL_CHANNEL_WAIT_H
#define LULL_CHANNEL_WAIT_H

#include "state.h"

struct channel_wait {
	uint64_t until_ns;
	uint32_t wakes;
};

/** Begin to wait for at most @p limit_ns. */
struct channel_wait channel_wait_begin(struct lull_channel *channel, uint64_t limit_ns);
/** 0: something may have changed, look again; -ETIMEDOUT; -EINTR: by lull_channel_wake(). */
int channel_wait(struct lull_channel *channel, const struct channel_wait *wait);
/** Until no thread rests on, or works with, a rail that was taken out of the table. */
void channel_wait_removed(struct lull_channel *channel, struct channel_rail *rail);

#endif
