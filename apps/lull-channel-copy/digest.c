/* SPDX-License-Identifier: BSD-3-Clause */
#include "digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lull/base.h>

#define BLOCK_BYTES (256U << 10)

int
copy_digest_open(struct copy_digest *digest)
{
	digest->context = EVP_MD_CTX_new();
	if (digest->context == NULL)
		return -ENOMEM;
	copy_digest_begin(digest);
	return 0;
}

void
copy_digest_close(struct copy_digest *digest)
{
	EVP_MD_CTX_free(digest->context);
	digest->context = NULL;
}

/* SHA-256 is always there, so none of these calls fails. */
void
copy_digest_begin(struct copy_digest *digest)
{
	EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL);
}

void
copy_digest_add(struct copy_digest *digest, const void *bytes, uint64_t len)
{
	EVP_DigestUpdate(digest->context, bytes, len);
}

void
copy_digest_add_zeros(struct copy_digest *digest, uint64_t len)
{
	static const uint8_t zeros[BLOCK_BYTES];

	while (len > 0) {
		uint64_t part = LULL_MIN(len, sizeof(zeros));

		copy_digest_add(digest, zeros, part);
		len -= part;
	}
}

void
copy_digest_now(const struct copy_digest *digest, uint8_t out[COPY_DIGEST_BYTES])
{
	EVP_MD_CTX *end = EVP_MD_CTX_new();

	if (end == NULL || EVP_MD_CTX_copy_ex(end, digest->context) != 1)
		abort(); /* some hundred bytes */
	EVP_DigestFinal_ex(end, out, NULL);
	EVP_MD_CTX_free(end);
}

int
copy_digest_add_file(struct copy_digest *digest, int fd, uint64_t len)
{
	uint8_t *block = malloc(BLOCK_BYTES);
	uint64_t offset = 0;
	int rc = block != NULL ? 0 : -ENOMEM;

	while (rc == 0 && offset < len) {
		ssize_t got = pread(fd, block, LULL_MIN(len - offset, BLOCK_BYTES), (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			rc = got < 0 ? -errno : -EIO;
			break;
		}
		copy_digest_add(digest, block, (uint64_t)got);
		offset += (uint64_t)got;
	}
	free(block);
	return rc;
}

char *
copy_digest_hex(const uint8_t bytes[COPY_DIGEST_BYTES], char text[COPY_HEX_SIZE])
{
	for (uint32_t i = 0; i < COPY_DIGEST_BYTES; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	return text;
}
