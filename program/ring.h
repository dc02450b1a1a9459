/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ring: words for the descriptors of a port's rings: auto, or how many.
 *
 * The functions fit a custom row of an option table. Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CLI_RING_H
#define LULL_CLI_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

#define LULL_RING_USUAL 1024

struct lull_ring_size {
	bool automatic; /**< more where a port needs it to rest */
	uint32_t pkts;  /**< the usual number where automatic */
};

/** @return 0, or -EINVAL, the sentence and no change. */
int lull_ring_size_parse(const char *text, void *member, struct lull_error *error);
/** The reverse. Returns @p text. */
char *lull_ring_size_print(const void *member, char *text, size_t size);

#endif
