/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pps max: words for what may arrive at one ring: auto, link, learned or packets/s.
 *
 * The functions fit a custom row of an option table. Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CLI_PPS_MAX_H
#define LULL_CLI_PPS_MAX_H

#include <lull/idle.h>

#include "host/error.h"

struct lull_pps_max {
	bool automatic; /**< whatever suits the port; the rest is not looked at */
	enum lull_envelope envelope;
	uint64_t pps; /**< stated */
};

/** @return 0, or -EINVAL, the sentence and no change. */
int lull_pps_max_parse(const char *text, void *member, struct lull_error *error);
/** The reverse. Returns @p text. */
char *lull_pps_max_print(const void *member, char *text, size_t size);

#endif
