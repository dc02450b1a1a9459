/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLOSE_BYTES 4 /* kept for what ends the reply */

/* Returns whether it fits; else nothing is written. */
static bool __attribute__((format(printf, 2, 3)))
json_add(struct lull_telemetry_json *json, const char *format, ...)
{
	size_t room = sizeof(json->bytes) - CLOSE_BYTES - json->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(json->bytes + json->used, room, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= room)
		return false;
	json->used += (size_t)length;
	return true;
}

/* Bytes of the UTF-8 character at @p text, 0: it is none. */
static size_t
json_character(const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t size = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : 3;

	if (bytes[0] >= 0xf0)
		size = bytes[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than need be, halves of UTF-16 pairs, beyond the last character. */
	if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
	    (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return size;
}

/* In quotes. What is no text becomes "?". */
static bool
json_quote(struct lull_telemetry_json *json, const char *text)
{
	bool fits = json_add(json, "\"");

	while (fits && *text != '\0') {
		size_t size = json_character(text);

		if (size == 0)
			fits = json_add(json, "?");
		else if (size == 1 && (*text == '"' || *text == '\\'))
			fits = json_add(json, "\\%c", *text);
		else if (size == 1 && ((uint8_t)*text < 0x20 || *text == 0x7f))
			fits = json_add(json, "\\u%04x", (unsigned int)(uint8_t)*text);
		else
			fits = json_add(json, "%.*s", (int)size, text);
		text += LULL_MAX(size, 1u);
	}
	return fits && json_add(json, "\"");
}

void
lull_telemetry_json_begin(struct lull_telemetry_json *json, const char *name, const char *open)
{
	json->used = 0;
	json->members = 0;
	json_add(json, "{");
	json_quote(json, name);
	json_add(json, ":%s", open);
}

void
lull_telemetry_json_end(struct lull_telemetry_json *json, const char *close)
{
	size_t length = LULL_MIN(strlen(close), (size_t)CLOSE_BYTES);

	memcpy(json->bytes + json->used, close, length);
	json->used += length;
}

void
lull_telemetry_json_null(struct lull_telemetry_json *json, const char *name)
{
	lull_telemetry_json_begin(json, name, "null");
	lull_telemetry_json_end(json, "}");
}

/* ---- members ---- */

/* The comma and the name; json_settle() takes them back unless the value fits too. */
static bool
json_open(struct lull_telemetry_json *json, const char *name)
{
	return json_add(json, "%s", json->members > 0 ? "," : "") &&
	       (name == NULL || (json_quote(json, name) && json_add(json, ":")));
}

static void
json_settle(struct lull_telemetry_json *json, size_t before, bool fits)
{
	if (fits)
		json->members++;
	else
		json->used = before;
}

void
lull_telemetry_json_text(struct lull_telemetry_json *json, const char *text)
{
	size_t before = json->used;

	json_settle(json, before, json_open(json, NULL) && json_quote(json, text));
}

static void
json_count(void *to, const char *name, uint64_t value)
{
	struct lull_telemetry_json *json = to;
	size_t before = json->used;

	json_settle(json, before, json_open(json, name) && json_add(json, "%" PRIu64, value));
}

static void
json_text(void *to, const char *name, const char *text)
{
	struct lull_telemetry_json *json = to;
	size_t before = json->used;

	json_settle(json, before, json_open(json, name) && json_quote(json, text));
}

static void
json_counts(void *to, const char *name, const uint64_t *values, uint32_t count)
{
	struct lull_telemetry_json *json = to;
	size_t before = json->used;
	bool fits = json_open(json, name) && json_add(json, "[");

	for (uint32_t i = 0; fits && i < count; i++)
		fits = json_add(json, "%s%" PRIu64, i > 0 ? "," : "", values[i]);
	json_settle(json, before, fits && json_add(json, "]"));
}

static void
json_texts(void *to, const char *name, const char *const *texts, uint32_t count)
{
	struct lull_telemetry_json *json = to;
	size_t before = json->used;
	bool fits = json_open(json, name) && json_add(json, "[");

	for (uint32_t i = 0; fits && i < count; i++)
		fits = json_add(json, "%s", i > 0 ? "," : "") && json_quote(json, texts[i]);
	json_settle(json, before, fits && json_add(json, "]"));
}

const struct lull_telemetry_writer lull_telemetry_json_writer = {
	.count = json_count,
	.text = json_text,
	.counts = json_counts,
	.texts = json_texts,
};
