/* SPDX-License-Identifier: BSD-3-Clause */
#include "secret.h"

#include <errno.h>
#include <sys/random.h>

#include "base/assert.h"
#include "channel/seal.h"
#include "host/error.h"

void
channel_secret_random(void *arg, uint8_t *bytes, uint32_t count)
{
	(void)arg;
	/* Up to 256 bytes at a time come whole, from a kernel that has begun. */
	while (count > 0) {
		ssize_t got = getrandom(bytes, LULL_MIN(count, 256u), 0);

		if (got < 0 && errno == EINTR)
			continue;
		LULL_ASSERT(got > 0);
		bytes += got;
		count -= (uint32_t)got;
	}
}

int
channel_secret_open(struct channel_secret *secret, enum lull_channel_security security,
		    const char *key_file, struct lull_error *error)
{
	int rc;

	if (security == LULL_CHANNEL_OPEN) {
		secret->open = (struct lull_bundle_open){ .random = channel_secret_random };
		secret->security = &lull_bundle_open_security;
		secret->arg = &secret->open;
		return 0;
	}
	if (key_file == NULL || key_file[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "key_file: missing; make one by 'lull channel key > FILE' "
				      "and copy it to all nodes, or ask for security open, which "
				      "keeps out accidents and no attackers");
	rc = channel_keys_read(key_file, &secret->keys, error);
	secret->security = security == LULL_CHANNEL_SEALED ? &lull_channel_sealed_security :
							     &lull_channel_signed_security;
	secret->arg = &secret->keys;
	return rc;
}

void
channel_secret_close(struct channel_secret *secret)
{
	channel_keys_wipe(&secret->keys);
}
