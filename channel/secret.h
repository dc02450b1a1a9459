/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Secret: the security of a channel, with its keys and random numbers.
 */
#ifndef LULL_CHANNEL_SECRET_H
#define LULL_CHANNEL_SECRET_H

#include <lull/bundle.h>
#include <lull/channel.h>

#include "channel/keys.h"

struct channel_secret {
	const struct lull_bundle_security *security;
	void *arg;
	struct lull_bundle_open open; /* of `open` */
	struct channel_keys keys;     /* of the others, from the key file */
};

/** -EINVAL: a key file is missing or bad, -EPERM: others may read it ... */
int channel_secret_open(struct channel_secret *secret, enum lull_channel_security security,
			const char *key_file, struct lull_error *error);
/** Wipes the keys. */
void channel_secret_close(struct channel_secret *secret);
/** Fill @p bytes from the kernel; @p arg is not looked at. */
void channel_secret_random(void *arg, uint8_t *bytes, uint32_t count);

#endif
