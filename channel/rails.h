/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rails: those of a channel.
 */
#ifndef LULL_CHANNEL_RAILS_H
#define LULL_CHANNEL_RAILS_H

#include "state.h"

#define CHANNEL_PROGRAM "lull-channel" /* in the names of DPDK's files */

/** Take an open rail into the bundle. Its number, or a negative errno: it stays the caller's. */
int channel_rails_take(struct lull_channel *channel, struct channel_rail *rail,
		       struct lull_error *error);

#endif
