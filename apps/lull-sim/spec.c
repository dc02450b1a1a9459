/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/number.h"
#include "token.h"
#include "settings.h"

/* ---- governors ---- */

static bool
governor_parse(struct token item, struct sim_governor *governor)
{
	const char *colon = memchr(item.text, ':', item.length);
	char name[32];
	size_t length = colon != NULL ? (size_t)(colon - item.text) : item.length;

	memset(governor, 0, sizeof(*governor));
	if (length == 0 || length >= sizeof(name))
		return false;
	memcpy(name, item.text, length);
	name[length] = '\0';
	governor->governor = lull_idle_governor_find(name);
	if (governor->governor == NULL || colon == NULL)
		return governor->governor != NULL;
	return token_time((struct token){ colon + 1, item.length - length - 1 },
			  &governor->rest_ns) &&
	       governor->rest_ns > 0 && governor->rest_ns <= LULL_NS_PER_S;
}

static char *
governor_names(char *text, size_t size)
{
	text[0] = '\0';
	for (uint32_t i = 0; lull_idle_governors[i] != NULL; i++)
		snprintf(text_end(text), text_room(text, size), "%s%s", i > 0 ? " " : "",
			 lull_idle_governor_name(lull_idle_governors[i]));
	return text;
}

int
sim_governors_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_governors governors = { .count = 0 };
	const char *rest = text;
	struct token item;
	char names[256];

	while (token_next(&rest, ",", &item)) {
		if (governors.count == SIM_GOVERNORS_MAX)
			return lull_error_set(error, -EINVAL, "more than %u governors",
					      SIM_GOVERNORS_MAX);
		if (!governor_parse(item, &governors.items[governors.count++]))
			return lull_error_set(error, -EINVAL,
					      "'%.*s' is not GOVERNOR or GOVERNOR:REST, like "
					      "objective or fixed:50us; governors: %s",
					      (int)LULL_MIN(item.length, (size_t)LULL_ERROR_SHOWN),
					      item.text, governor_names(names, sizeof(names)));
	}
	*(struct sim_governors *)member = governors;
	return 0;
}

char *
sim_governors_print(const void *member, char *text, size_t size)
{
	const struct sim_governors *governors = member;
	const struct sim_governor *item;

	text[0] = '\0';
	for (uint32_t i = 0; i < governors->count; i++) {
		item = &governors->items[i];
		snprintf(text_end(text), text_room(text, size), "%s%s", i > 0 ? "," : "",
			 lull_idle_governor_name(item->governor));
		if (item->rest_ns > 0)
			text_time(text, size, ":", item->rest_ns);
	}
	return text;
}

/* ---- curves ---- */

/* What the first half of a point is. */
enum curve_kind { CURVE_PKTS, CURVE_PERCENT, CURVE_TIME };

static bool
curve_at(struct token at, enum curve_kind kind, uint64_t *value)
{
	if (kind == CURVE_PERCENT)
		return token_percent(at, LULL_SIM_PPB, value);
	if (kind == CURVE_TIME)
		return token_time(at, value);
	return token_count(at, value) && *value <= LULL_SIM_BURST_MAX;
}

static bool
curve_knot(struct token item, enum curve_kind kind, struct lull_sim_knot *knot)
{
	const char *colon = memchr(item.text, ':', item.length);
	struct token at, ns;

	if (colon == NULL)
		return false;
	at = (struct token){ item.text, (size_t)(colon - item.text) };
	ns = (struct token){ colon + 1, item.length - at.length - 1 };
	return curve_at(at, kind, &knot->at) && token_time(ns, &knot->ns);
}

static int
curve_parse(const char *text, enum curve_kind kind, struct lull_sim_curve *out, const char *form,
	    struct lull_error *error)
{
	struct lull_sim_curve curve = { .count = 0 };
	const char *rest = text;
	struct lull_sim_knot knot;
	struct token item;

	while (token_next(&rest, ",", &item)) {
		if (curve.count == LULL_SIM_KNOTS_MAX)
			return lull_error_set(error, -EINVAL, "more than %u points",
					      LULL_SIM_KNOTS_MAX);
		if (!curve_knot(item, kind, &knot) ||
		    (curve.count > 0 && knot.at <= curve.knots[curve.count - 1].at))
			return token_refuse(error, text, form);
		curve.knots[curve.count++] = knot;
	}
	*out = curve;
	return 0;
}

int
sim_burst_cost_parse(const char *text, void *member, struct lull_error *error)
{
	return curve_parse(text, CURVE_PKTS, member,
			   "PACKETS:TIME,... with rising PACKETS up to 256, like "
			   "0:40ns,1:150ns,32:960ns",
			   error);
}

char *
sim_burst_cost_print(const void *member, char *text, size_t size)
{
	const struct lull_sim_curve *curve = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < curve->count; i++) {
		snprintf(text_end(text), text_room(text, size), "%s%llu", i > 0 ? "," : "",
			 (unsigned long long)curve->knots[i].at);
		text_time(text, size, ":", curve->knots[i].ns);
	}
	return text;
}

int
sim_overshoot_parse(const char *text, void *member, struct lull_error *error)
{
	return curve_parse(text, CURVE_PERCENT, member,
			   "PERCENT:TIME,... with rising PERCENT up to 100, like "
			   "50:17us,99:25us,99.99:60us",
			   error);
}

char *
sim_overshoot_print(const void *member, char *text, size_t size)
{
	const struct lull_sim_curve *curve = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < curve->count; i++) {
		text_real(text, size, i > 0 ? "," : "",
			  (double)curve->knots[i].at * 100 / (double)LULL_SIM_PPB);
		text_time(text, size, ":", curve->knots[i].ns);
	}
	return text;
}

int
sim_exit_latency_parse(const char *text, void *member, struct lull_error *error)
{
	return curve_parse(text, CURVE_TIME, member,
			   "REST:TIME,... with rising REST, like 100us:0us,600us:90us", error);
}

char *
sim_exit_latency_print(const void *member, char *text, size_t size)
{
	const struct lull_sim_curve *curve = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < curve->count; i++) {
		text_time(text, size, i > 0 ? "," : "", curve->knots[i].at);
		text_time(text, size, ":", curve->knots[i].ns);
	}
	return text;
}

static bool
state_parse(struct token item, struct lull_sim_cstate *state)
{
	char copy[64];
	const char *rest = copy;
	struct token name, least, watts;

	if (item.length >= sizeof(copy))
		return false;
	memcpy(copy, item.text, item.length);
	copy[item.length] = '\0';
	if (!token_next(&rest, ":", &name) || !token_next(&rest, ":", &least) ||
	    !token_next(&rest, ":", &watts) || rest != NULL || name.length == 0 ||
	    name.length >= sizeof(state->name) || !token_time(least, &state->least_ns) ||
	    lull_number_parse_real(watts.text, watts.length, &state->watts) != 0)
		return false;
	memset(state->name, 0, sizeof(state->name));
	memcpy(state->name, name.text, name.length);
	return true;
}

int
sim_cstates_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_cstates cstates = { .count = 0 };
	const char *rest = text;
	struct token item;

	while (token_next(&rest, ",", &item)) {
		struct lull_sim_cstate *state = &cstates.items[cstates.count];

		if (cstates.count == LULL_SIM_CSTATES_MAX || !state_parse(item, state) ||
		    (cstates.count > 0 && state->least_ns <= state[-1].least_ns))
			return token_refuse(error, text,
					    "NAME:TIME:WATTS,... with rising times, at most 8, "
					    "like C1:2us:5,C6:600us:1");
		cstates.count++;
	}
	*(struct sim_cstates *)member = cstates;
	return 0;
}

char *
sim_cstates_print(const void *member, char *text, size_t size)
{
	const struct sim_cstates *cstates = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < cstates->count; i++) {
		snprintf(text_end(text), text_room(text, size), "%s%s", i > 0 ? "," : "",
			 cstates->items[i].name);
		text_time(text, size, ":", cstates->items[i].least_ns);
		text_real(text, size, ":", cstates->items[i].watts);
	}
	return text;
}
