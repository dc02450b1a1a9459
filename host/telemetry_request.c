/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry_request.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_BYTES 56 /* shown of one that is not known */

char *
lull_telemetry_version(const char *version, char text[LULL_TELEMETRY_VERSION_SIZE])
{
	snprintf(text, LULL_TELEMETRY_VERSION_SIZE, "lull %.32s", version);
	return text;
}

static void
request_list(struct lull_telemetry_json *json)
{
	static const char *const own[] = { "/", "/info", "/help" };
	const char *name, *help;

	lull_telemetry_json_begin(json, "/", "[");
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		lull_telemetry_json_text(json, own[i]);
	for (uint32_t i = 0; lull_telemetry_command(i, &name, &help); i++)
		lull_telemetry_json_text(json, name);
	lull_telemetry_json_end(json, "]}");
}

static void
request_help(struct lull_telemetry_json *json, struct lull_telemetry_reply *reply,
	     const char *command)
{
	const char *name, *help;

	lull_telemetry_json_begin(json, "/help", "{");
	for (uint32_t i = 0; command != NULL && lull_telemetry_command(i, &name, &help); i++) {
		if (strcmp(name, command) == 0)
			lull_telemetry_put_text(reply, name, help);
	}
	lull_telemetry_json_end(json, "}}");
}

static void
request_info(struct lull_telemetry_json *json, struct lull_telemetry_reply *reply,
	     const char *version)
{
	char text[LULL_TELEMETRY_VERSION_SIZE];

	lull_telemetry_json_begin(json, "/info", "{");
	lull_telemetry_put_text(reply, "version", lull_telemetry_version(version, text));
	lull_telemetry_put_count(reply, "pid", (uint64_t)getpid());
	lull_telemetry_put_count(reply, "max_output_len", LULL_TELEMETRY_REPLY_BYTES);
	lull_telemetry_json_end(json, "}}");
}

static void
request_answer(const char *command, const char *params, const char *version,
	       struct lull_telemetry_json *json)
{
	struct lull_telemetry_reply reply = { .writer = &lull_telemetry_json_writer, .to = json };
	char shown[COMMAND_BYTES + 1];

	if (strcmp(command, "/") == 0) {
		request_list(json);
	} else if (strcmp(command, "/info") == 0) {
		request_info(json, &reply, version);
	} else if (strcmp(command, "/help") == 0) {
		request_help(json, &reply, params);
	} else {
		snprintf(shown, sizeof(shown), "%.*s", COMMAND_BYTES, command);
		lull_telemetry_json_begin(json, shown, "{");
		if (lull_telemetry_answer(command, params, &reply) == 0)
			lull_telemetry_json_end(json, "}}");
		else
			lull_telemetry_json_null(json, shown);
	}
}

bool
lull_telemetry_request(const char *request, size_t size, const char *version,
		       struct lull_telemetry_json *json)
{
	char command[LULL_TELEMETRY_REQUEST_BYTES + 1], *params;

	/* The client has gone, or this is longer than any request, or no text. */
	if (size == 0 || size > LULL_TELEMETRY_REQUEST_BYTES || memchr(request, '\0', size) != NULL)
		return false;
	memcpy(command, request, size);
	command[size] = '\0';
	params = strchr(command, ',');
	if (params != NULL)
		*params++ = '\0';
	request_answer(command, params == NULL || *params == '\0' ? NULL : params, version, json);
	return true;
}
