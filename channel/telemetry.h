/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry: what a program shows of a channel by lull_telemetry_start().
 *
 * A program puts channel_loop() among its loops and channel_commands among its commands, and says
 * which channel they tell of. Replies nest nothing but lists, so peers, paths and rails are a list
 * for each column.
 *
 * Threads: channel_telemetry() from any; the commands run on the telemetry thread.
 */
#ifndef LULL_CHANNEL_TELEMETRY_H
#define LULL_CHANNEL_TELEMETRY_H

#include <lull/channel.h>
#include <lull/loop.h>

/**
 * The loop of the channel's thread, from start to close; NULL: it has none. Stop telemetry before
 * the channel closes.
 */
struct lull_loop *channel_loop(struct lull_channel *channel);
/** The commands tell of this channel from now on; NULL: of none. */
void channel_telemetry(struct lull_channel *channel);
/** /lull/channel, /lull/channel_rails, /lull/channel_peers, /lull/channel_paths. */
extern const struct lull_telemetry_command channel_commands[];

#endif
