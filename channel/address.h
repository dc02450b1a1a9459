/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Address: the bytes by which others reach a channel. They come from outside, so anything may be in
 * them.
 *
 * Threads: any. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_ADDRESS_H
#define LULL_CHANNEL_ADDRESS_H

#include <lull/bundle.h>
#include <lull/channel.h>

/** Write what is in @p target; places that find no room are left out. Returns the bytes used. */
uint32_t channel_address_write(const struct lull_bundle_target *target,
			       uint8_t address[LULL_CHANNEL_ADDRESS_SIZE]);
/** Read @p address_bytes bytes, of which the last may be unused. @return 0, -EINVAL: no address */
int channel_address_read(const uint8_t *address, uint32_t address_bytes,
			 struct lull_bundle_target *target);

#endif
