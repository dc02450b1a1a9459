/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-channel-copy can be told.
 *
 * Threads: plain data. Memory: the caller's struct, copied whole.
 */
#ifndef LULL_CHANNEL_COPY_SETTINGS_H
#define LULL_CHANNEL_COPY_SETTINGS_H

#include "program/link/link.h"

struct copy_settings {
	bool listen;
	char to[LULL_CHANNEL_NAME_SIZE];
	char into[PATH_MAX];
	char as[NAME_MAX + 1];
	bool once, restart, discard_parts;
	uint32_t window;
	struct lull_link_settings link;
	uint64_t stats_ns;
	char json[PATH_MAX];
};

extern const struct lull_option copy_options[];
/** 0, or -errno and the sentence: settings and files that contradict each other. */
int copy_settings_check(const struct copy_settings *settings, const char *const *files,
			uint32_t file_count, struct lull_error *error);

#endif
