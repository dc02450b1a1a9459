/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Keys: the secrets of a node, from a file that nobody else may read.
 *
 * A line of 64 hexadecimal digits is a key; blank lines and what follows a # say nothing. Nodes
 * with a key in common can connect. A node asks with its first key and answers to each, so a key is
 * changed in three steps on all nodes: the new one as last line, as first line, the old one away.
 *
 * Memory: one fixed struct; channel_keys_wipe() before it goes. No sentence repeats what
 *         stands in the file.
 */
#ifndef CHANNEL_KEYS_H
#define CHANNEL_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include <lull/base.h>

#define CHANNEL_KEY_BYTES 32
#define CHANNEL_KEY_LINE (2 * CHANNEL_KEY_BYTES + 1) /* digits and a zero */
#define CHANNEL_KEYS_MAX 16                          /* in a file */
#define CHANNEL_KEY_FILE_BYTES_MAX 65536

struct channel_key {
	uint32_t id; /* names it to others, who learn nothing else of it */
	uint8_t bytes[CHANNEL_KEY_BYTES];
};
struct channel_keys {
	uint32_t count;
	struct channel_key keys[CHANNEL_KEYS_MAX];
};

/**
 * Read a key file.
 * @return 0; -EPERM: its group or others have rights on it; -EINVAL: no file, no key in it, or a
 *         line that is none; -E2BIG: too long, or too many keys; that of open() or read()
 */
int channel_keys_read(const char *path, struct channel_keys *keys, struct lull_error *error);
/** The same of what stands in such a file; -EINVAL, -E2BIG. */
int channel_keys_parse(struct channel_keys *keys, const char *text, size_t len,
		       struct lull_error *error);
/** Take one key as the only one; for tests, and where it comes from elsewhere. */
void channel_keys_set(struct channel_keys *keys, const uint8_t bytes[CHANNEL_KEY_BYTES]);
/** Leave nothing of them in memory. */
void channel_keys_wipe(struct channel_keys *keys);
/**
 * Draw a new key, as a line of a key file without its line feed.
 * @return 0, -EIO: no random numbers to be had
 */
int channel_key_generate(char line[CHANNEL_KEY_LINE]);

#endif
