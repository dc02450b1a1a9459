/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/number.h"
#include "settings.h"

#define RATE_MAX 1000000000000ULL
#define TIME_MAX (1000 * LULL_NS_PER_S)

/* A part of a text. */
struct token {
	const char *text;
	size_t length;
};

/* The next part up to @p end; *rest is NULL behind the last one. */
static bool
token_next(const char **rest, char end, struct token *token)
{
	const char ends[] = { end, '\0' };

	if (*rest == NULL)
		return false;
	token->text = *rest;
	token->length = strcspn(*rest, ends);
	*rest += token->length;
	*rest = **rest == '\0' ? NULL : *rest + 1;
	return true;
}

/* Cut in two at the first @p at. */
static bool
token_cut(struct token *token, char at, struct token *behind)
{
	const char *place = memchr(token->text, at, token->length);

	if (place == NULL)
		return false;
	behind->text = place + 1;
	behind->length = token->length - (size_t)(place + 1 - token->text);
	token->length = (size_t)(place - token->text);
	return true;
}

static bool
token_count(struct token token, uint64_t most, uint64_t *value)
{
	return lull_number_parse(token.text, token.length, lull_count_units, 1, value) == 0 &&
	       *value <= most;
}

static bool
token_time(struct token token, uint64_t *ns)
{
	return lull_number_parse(token.text, token.length, lull_time_units, 0, ns) == 0 &&
	       *ns <= TIME_MAX;
}

static bool
token_share(struct token token, uint32_t *ppm)
{
	double percent;

	if (token.length < 2 || token.text[token.length - 1] != '%' ||
	    lull_number_parse_real(token.text, token.length - 1, &percent) != 0 ||
	    !(percent >= 0 && percent <= 100))
		return false;
	*ppm = (uint32_t)(percent * 10000 + 0.5);
	return true;
}

static int
token_refuse(struct lull_error *error, struct token token, const char *wanted)
{
	return lull_error_set(error, -EINVAL, "'%.*s' is not %s",
			      (int)LULL_MIN(token.length, (size_t)LULL_ERROR_SHOWN), token.text,
			      wanted);
}

static void
text_append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", more);
}

/* ---- rails ---- */

int
channel_sim_rails_parse(const char *text, void *member, struct lull_error *error)
{
	struct channel_sim_rails rails = { 0 };
	struct token token;

	while (token_next(&text, ',', &token)) {
		if (rails.count == LULL_BUNDLE_RAILS_MAX)
			return lull_error_set(error, -EINVAL, "more than %d rails",
					      LULL_BUNDLE_RAILS_MAX);
		if (!token_count(token, RATE_MAX, &rails.rates_bps[rails.count]) ||
		    rails.rates_bps[rails.count] < 10000)
			return token_refuse(error, token, "a rate in bit/s of 10k..1000G");
		rails.count++;
	}
	*(struct channel_sim_rails *)member = rails;
	return 0;
}

char *
channel_sim_rails_print(const void *member, char *text, size_t size)
{
	const struct channel_sim_rails *rails = member;
	char rate[LULL_NUMBER_TEXT];

	text[0] = '\0';
	for (uint32_t i = 0; i < rails->count; i++)
		text_append(text, size,
			    lull_real_print((double)rails->rates_bps[i], rate, sizeof(rate)));
	return text;
}

/* ---- wire ---- */

enum wire_kind { WIRE_SHARE, WIRE_TIME, WIRE_BYTES };
static const struct wire_row {
	const char *key;
	enum wire_kind kind;
	size_t offset;
} wire_rows[] = {
	{ "loss", WIRE_SHARE, offsetof(struct lull_sim_path_config, loss_ppm) },
	{ "fade", WIRE_SHARE, offsetof(struct lull_sim_path_config, fade_ppm) },
	{ "damage", WIRE_SHARE, offsetof(struct lull_sim_path_config, damage_ppm) },
	{ "duplicate", WIRE_SHARE, offsetof(struct lull_sim_path_config, duplicate_ppm) },
	{ "reorder", WIRE_SHARE, offsetof(struct lull_sim_path_config, reorder_ppm) },
	{ "overtake", WIRE_SHARE, offsetof(struct lull_sim_path_config, overtake_ppm) },
	{ "delay", WIRE_TIME, offsetof(struct lull_sim_path_config, delay_ns) },
	{ "jitter", WIRE_TIME, offsetof(struct lull_sim_path_config, jitter_ns) },
	{ "reorder-by", WIRE_TIME, offsetof(struct lull_sim_path_config, reorder_ns) },
	{ "queue", WIRE_BYTES, offsetof(struct lull_sim_path_config, queue_bytes) },
};
#define WIRE_ROWS (sizeof(wire_rows) / sizeof(wire_rows[0]))
#define FADE_PKTS 10

static bool
wire_read(struct lull_sim_path_config *wire, struct token token)
{
	struct token value;

	if (!token_cut(&token, '=', &value))
		return false;
	for (size_t i = 0; i < WIRE_ROWS; i++) {
		void *member = (char *)wire + wire_rows[i].offset;

		if (strlen(wire_rows[i].key) != token.length ||
		    memcmp(wire_rows[i].key, token.text, token.length) != 0)
			continue;
		if (wire_rows[i].kind == WIRE_SHARE)
			return token_share(value, member);
		if (wire_rows[i].kind == WIRE_TIME)
			return token_time(value, member);
		return token_count(value, 1000000000, member);
	}
	return false;
}

int
channel_sim_wire_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_sim_path_config wire = { .delay_ns = 5 * LULL_NS_PER_US,
					     .queue_bytes = 200000,
					     .reorder_ns = LULL_NS_PER_MS };
	struct token token;

	if (strcmp(text, "none") == 0)
		text = NULL;
	while (token_next(&text, ',', &token))
		if (!wire_read(&wire, token))
			return token_refuse(error, token,
					    "KEY=VALUE with a key of loss, fade, damage, "
					    "duplicate, reorder (percent, as 1%), delay, jitter, "
					    "reorder-by (times) and queue (bytes), or none");
	wire.fade_pkts = wire.fade_ppm > 0 ? FADE_PKTS : 0;
	*(struct lull_sim_path_config *)member = wire;
	return 0;
}

char *
channel_sim_wire_print(const void *member, char *text, size_t size)
{
	const struct lull_sim_path_config *wire = member;
	char part[64], number[LULL_NUMBER_TEXT];

	text[0] = '\0';
	for (size_t i = 0; i < WIRE_ROWS; i++) {
		const void *at = (const char *)wire + wire_rows[i].offset;

		if (wire_rows[i].kind == WIRE_SHARE)
			snprintf(part, sizeof(part), "%s=%.6g%%", wire_rows[i].key,
				 *(const uint32_t *)at / 1e4);
		else if (wire_rows[i].kind == WIRE_TIME && *(const uint64_t *)at > 0)
			snprintf(part, sizeof(part), "%s=%s", wire_rows[i].key,
				 lull_time_print(*(const uint64_t *)at, number, sizeof(number)));
		else
			snprintf(part, sizeof(part), "%s=%llu", wire_rows[i].key,
				 (unsigned long long)*(const uint64_t *)at);
		if (wire_rows[i].kind == WIRE_SHARE ? *(const uint32_t *)at > 0 :
						      *(const uint64_t *)at > 0)
			text_append(text, size, part);
	}
	return text;
}

/* ---- what happens to rails ---- */

static int
events_read(const char *text, bool rates, struct channel_sim_events *events,
	    struct lull_error *error)
{
	struct token rail, time, rate;
	uint64_t number;

	if (strcmp(text, "none") == 0)
		text = NULL;
	while (token_next(&text, ',', &rail)) {
		struct token whole = rail;
		uint32_t i = events->count;

		if (i == CHANNEL_SIM_EVENTS_MAX)
			return lull_error_set(error, -EINVAL, "more than %d",
					      CHANNEL_SIM_EVENTS_MAX);
		if (!token_cut(&rail, '@', &time) || !token_time(time, &events->items[i].at_ns) ||
		    (rates && (!token_cut(&rail, ':', &rate) ||
			       !token_count(rate, RATE_MAX, &events->items[i].value) ||
			       events->items[i].value < 10000)) ||
		    !token_count(rail, LULL_BUNDLE_RAILS_MAX - 1, &number))
			return token_refuse(error, whole,
					    rates ? "RAIL:RATE@TIME, like 0:50M@1s, or none" :
						    "RAIL@TIME, like 1@2s, or none");
		events->items[i].rail = (uint32_t)number;
		events->count++;
	}
	return 0;
}

static int
events_parse(const char *text, bool rates, void *member, struct lull_error *error)
{
	struct channel_sim_events events = { 0 };
	int rc = events_read(text, rates, &events, error);

	if (rc == 0)
		*(struct channel_sim_events *)member = events;
	return rc;
}

static char *
events_print(const struct channel_sim_events *events, bool rates, char *text, size_t size)
{
	char part[96], time[LULL_NUMBER_TEXT], rate[LULL_NUMBER_TEXT + 1] = "";

	text[0] = '\0';
	for (uint32_t i = 0; i < events->count; i++) {
		if (rates) {
			rate[0] = ':';
			lull_real_print((double)events->items[i].value, rate + 1, sizeof(rate) - 1);
		}
		snprintf(part, sizeof(part), "%u%s@%s", events->items[i].rail, rate,
			 lull_time_print(events->items[i].at_ns, time, sizeof(time)));
		text_append(text, size, part);
	}
	if (events->count == 0)
		snprintf(text, size, "none");
	return text;
}

int
channel_sim_events_parse(const char *text, void *member, struct lull_error *error)
{
	return events_parse(text, false, member, error);
}

char *
channel_sim_events_print(const void *member, char *text, size_t size)
{
	return events_print(member, false, text, size);
}

int
channel_sim_speeds_parse(const char *text, void *member, struct lull_error *error)
{
	return events_parse(text, true, member, error);
}

char *
channel_sim_speeds_print(const void *member, char *text, size_t size)
{
	return events_print(member, true, text, size);
}
