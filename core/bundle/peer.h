/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Peer: what a channel asks of peers besides lull/bundle.h.
 *
 * Threads: none, as lull/bundle.h.
 */
#ifndef LULL_BUNDLE_PEER_H
#define LULL_BUNDLE_PEER_H

#include <lull/bundle.h>

/**
 * Keep a peer's number for it: after its event DOWN nobody else gets it before
 * lull_bundle_disconnect(), which gives it back without an event then. Until then it counts for
 * peers_max, and lull_bundle_peer_look() tells its name and what it carried.
 * @return 0, -ENOTCONN
 */
int lull_bundle_keep(struct lull_bundle *bundle, uint32_t peer);
/**
 * More of a message is expected: some of it is here, and not all that may come before it is
 * accepted, or all of it.
 */
bool lull_bundle_partly(const struct lull_bundle *bundle);

#endif
