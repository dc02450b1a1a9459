/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink destination: what the user typed behind --json or --ipfix, taken apart.
 */
#ifndef LULL_FLOW_SINK_DESTINATION_H
#define LULL_FLOW_SINK_DESTINATION_H

#include "host/error.h"

enum sink_way { SINK_FILE, SINK_STDOUT, SINK_UDP, SINK_TCP, SINK_UNIX };

#define SINK_PATH_MAX 4096

struct sink_destination {
	enum sink_way way;
	const char *text; /**< as typed */
	char path[SINK_PATH_MAX];
	char host[256];
	char port[6];
};

/** 0, or -EINVAL and the sentence with the remedy. @p text is borrowed. */
int sink_destination_parse(const char *text, struct sink_destination *destination,
			   struct lull_error *error);

#endif
