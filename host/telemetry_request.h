/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry request: one message of a client, "/command,parameters", and its reply as JSON.
 *
 * The bytes come from outside, so anything may be in them. No socket here.
 * Threads: one. Memory: the caller's.
 */
#ifndef LULL_HOST_TELEMETRY_REQUEST_H
#define LULL_HOST_TELEMETRY_REQUEST_H

#include "telemetry_json.h"

#define LULL_TELEMETRY_REQUEST_BYTES 1024 /* the longest request */
#define LULL_TELEMETRY_VERSION_SIZE 64

/** "lull VERSION", as greetings and replies say it; returns @p text. */
char *lull_telemetry_version(const char *version, char text[LULL_TELEMETRY_VERSION_SIZE]);
/**
 * Answer a request.
 * @param request  @p size bytes, without a zero behind them
 * @param version  of lull
 * @param json     out: the reply
 * @return false: this is no request, nothing was done; the client is to be hung up on
 */
bool lull_telemetry_request(const char *request, size_t size, const char *version,
			    struct lull_telemetry_json *json);

#endif
