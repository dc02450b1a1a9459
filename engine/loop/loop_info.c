/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "telemetry.h"

/* A further sentence, as far as it fits whole. */
static void
info_add(char *bytes, size_t size, const char *sentence)
{
	size_t used = strlen(bytes);

	if (sentence[0] != '\0' && used + strlen("; ") + strlen(sentence) < size)
		snprintf(bytes + used, size - used, "; %s", sentence);
}

char *
lull_loop_info_explain(const struct lull_loop_info *info, char *bytes, size_t size)
{
	struct lull_loop_snapshot snapshot;
	char class[LULL_ERROR_SIZE];

	if (info->why != NULL) {
		snprintf(bytes, size, "%s", info->why);
		return bytes;
	}
	lull_snapshot_read(info->snapshot, &snapshot);
	lull_verdict_explain(&snapshot.verdict, &snapshot.limits, bytes, size);
	info_add(bytes, size, lull_rest_thread_explain(info->class, class, sizeof(class)));
	return bytes;
}
