/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Digest: SHA-256 of a file as it comes, by libcrypto.
 *
 * Threads: one per digest. Memory: libcrypto's, from open to close.
 */
#ifndef LULL_CHANNEL_COPY_DIGEST_H
#define LULL_CHANNEL_COPY_DIGEST_H

#include <stdint.h>

#include "message.h"

#define COPY_HEX_SIZE (2 * COPY_DIGEST_BYTES + 1)

struct copy_digest {
	void *context; /* EVP_MD_CTX */
};

/** 0, -ENOMEM. */
int copy_digest_open(struct copy_digest *digest);
void copy_digest_close(struct copy_digest *digest);
/** From the beginning. */
void copy_digest_begin(struct copy_digest *digest);
void copy_digest_add(struct copy_digest *digest, const void *bytes, uint64_t len);
void copy_digest_add_zeros(struct copy_digest *digest, uint64_t len);
/** Of all that was added so far; more may follow. */
void copy_digest_now(const struct copy_digest *digest, uint8_t out[COPY_DIGEST_BYTES]);
/** Add the first @p len bytes of a file; 0, -EIO: it has fewer, or another negative errno. */
int copy_digest_add_file(struct copy_digest *digest, int fd, uint64_t len);
/** As sha256sum prints it; returns @p text. */
char *copy_digest_hex(const uint8_t bytes[COPY_DIGEST_BYTES], char text[COPY_HEX_SIZE]);

#endif
