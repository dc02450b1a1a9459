/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry JSON: a reply as text, {"/command":{...}}.
 *
 * Memory:  one fixed struct. A member that does not fit is left out; what is written is whole.
 */
#ifndef LULL_HOST_TELEMETRY_JSON_H
#define LULL_HOST_TELEMETRY_JSON_H

#include "telemetry.h"

#define LULL_TELEMETRY_REPLY_BYTES (16 * 1024)

struct lull_telemetry_json {
	size_t used;
	uint32_t members; /* of the object or list that is open */
	char bytes[LULL_TELEMETRY_REPLY_BYTES];
};

/** Begin with {"NAME": and @p open, "{" or "[". */
void lull_telemetry_json_begin(struct lull_telemetry_json *json, const char *name,
			       const char *open);
/** An element of the list. */
void lull_telemetry_json_text(struct lull_telemetry_json *json, const char *text);
/** @p close is "}}" or "]}". */
void lull_telemetry_json_end(struct lull_telemetry_json *json, const char *close);
/** {"NAME":null} in one go: not known. */
void lull_telemetry_json_null(struct lull_telemetry_json *json, const char *name);

extern const struct lull_telemetry_writer lull_telemetry_json_writer;

#endif
