/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/number.h"
#include "settings.h"

#define TIME_MOST (3600 * LULL_NS_PER_S)

/* ---- pieces ---- */

/* A part of a text, not ended by a zero. */
struct piece {
	const char *text;
	size_t length;
};

/* The next piece up to one of the separators; false at the end. */
static bool
piece_next(const char **rest, const char *separators, struct piece *piece)
{
	if (*rest == NULL)
		return false;
	piece->text = *rest;
	piece->length = strcspn(*rest, separators);
	*rest += piece->length;
	*rest = **rest == '\0' ? NULL : *rest + 1;
	return true;
}

static int
piece_refuse(struct lull_error *error, const char *text, const char *form)
{
	return lull_error_set(error, -EINVAL, "'%.*s' is not %s", LULL_ERROR_SHOWN, text, form);
}

static bool
piece_time(struct piece piece, uint64_t *ns)
{
	return lull_number_parse(piece.text, piece.length, lull_time_units, 0, ns) == 0 &&
	       *ns <= TIME_MOST;
}

static bool
piece_count(struct piece piece, uint64_t *count)
{
	return lull_number_parse(piece.text, piece.length, lull_count_units, 1, count) == 0;
}

/* "99.99" or "99.99%" in parts of @p whole for 100. */
static bool
piece_percent(struct piece piece, uint64_t whole, uint64_t *parts)
{
	double percent;

	if (piece.length > 0 && piece.text[piece.length - 1] == '%')
		piece.length--;
	if (lull_number_parse_real(piece.text, piece.length, &percent) != 0 ||
	    !(percent >= 0 && percent <= 100))
		return false;
	*parts = (uint64_t)(percent / 100 * (double)whole + 0.5);
	return true;
}

static char *
text_end(char *text)
{
	return text + strlen(text);
}

static size_t
text_room(const char *text, size_t size)
{
	return size - strlen(text);
}

static void
text_time(char *text, size_t size, const char *before, uint64_t ns)
{
	char shown[LULL_NUMBER_TEXT];

	snprintf(text_end(text), text_room(text, size), "%s%s", before,
		 lull_time_print(ns, shown, sizeof(shown)));
}

static void
text_real(char *text, size_t size, const char *before, double value)
{
	char shown[LULL_NUMBER_TEXT];

	snprintf(text_end(text), text_room(text, size), "%s%s", before,
		 lull_real_print(value, shown, sizeof(shown)));
}

/* ---- governors ---- */

static bool
governor_parse(struct piece item, struct sim_governor *governor)
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
	return piece_time((struct piece){ colon + 1, item.length - length - 1 },
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
	struct piece item;
	char names[256];

	while (piece_next(&rest, ",", &item)) {
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

static bool
curve_knot(struct piece item, bool percent, struct lull_sim_knot *knot)
{
	const char *colon = memchr(item.text, ':', item.length);
	struct piece at, ns;

	if (colon == NULL)
		return false;
	at = (struct piece){ item.text, (size_t)(colon - item.text) };
	ns = (struct piece){ colon + 1, item.length - at.length - 1 };
	return (percent ? piece_percent(at, LULL_SIM_PPB, &knot->at) :
			  piece_count(at, &knot->at) && knot->at <= LULL_SIM_BURST_MAX) &&
	       piece_time(ns, &knot->ns);
}

static int
curve_parse(const char *text, bool percent, struct lull_sim_curve *out, const char *form,
	    struct lull_error *error)
{
	struct lull_sim_curve curve = { .count = 0 };
	const char *rest = text;
	struct lull_sim_knot knot;
	struct piece item;

	while (piece_next(&rest, ",", &item)) {
		if (curve.count == LULL_SIM_KNOTS_MAX)
			return lull_error_set(error, -EINVAL, "more than %u points",
					      LULL_SIM_KNOTS_MAX);
		if (!curve_knot(item, percent, &knot) ||
		    (curve.count > 0 && knot.at <= curve.knots[curve.count - 1].at))
			return piece_refuse(error, text, form);
		curve.knots[curve.count++] = knot;
	}
	*out = curve;
	return 0;
}

int
sim_burst_cost_parse(const char *text, void *member, struct lull_error *error)
{
	return curve_parse(text, false, member,
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
	return curve_parse(text, true, member,
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

static bool
state_parse(struct piece item, struct lull_sim_state *state)
{
	char copy[64];
	const char *rest = copy;
	struct piece name, least, watts;

	if (item.length >= sizeof(copy))
		return false;
	memcpy(copy, item.text, item.length);
	copy[item.length] = '\0';
	if (!piece_next(&rest, ":", &name) || !piece_next(&rest, ":", &least) ||
	    !piece_next(&rest, ":", &watts) || rest != NULL || name.length == 0 ||
	    name.length >= sizeof(state->name) || !piece_time(least, &state->least_ns) ||
	    lull_number_parse_real(watts.text, watts.length, &state->watts) != 0)
		return false;
	memset(state->name, 0, sizeof(state->name));
	memcpy(state->name, name.text, name.length);
	return true;
}

int
sim_states_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_states states = { .count = 0 };
	const char *rest = text;
	struct piece item;

	while (piece_next(&rest, ",", &item)) {
		struct lull_sim_state *state = &states.items[states.count];

		if (states.count == LULL_SIM_STATES_MAX || !state_parse(item, state) ||
		    (states.count > 0 && state->least_ns <= state[-1].least_ns))
			return piece_refuse(error, text,
					    "NAME:TIME:WATTS,... with rising times, at most 8, "
					    "like C1:2us:5,C6:600us:1");
		states.count++;
	}
	*(struct sim_states *)member = states;
	return 0;
}

char *
sim_states_print(const void *member, char *text, size_t size)
{
	const struct sim_states *states = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < states->count; i++) {
		snprintf(text_end(text), text_room(text, size), "%s%s", i > 0 ? "," : "",
			 states->items[i].name);
		text_time(text, size, ":", states->items[i].least_ns);
		text_real(text, size, ":", states->items[i].watts);
	}
	return text;
}

/* ---- pairs ---- */

static bool
pair_split(const char *text, struct piece *first, struct piece *second)
{
	const char *rest = text;

	return piece_next(&rest, ":", first) && piece_next(&rest, ":", second) && rest == NULL;
}

int
sim_late_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct piece first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !piece_percent(first, LULL_PPM, &pair.first) ||
	     !piece_time(second, &pair.second) || pair.second > 10 * LULL_NS_PER_S))
		return piece_refuse(error, text, "none or PERCENT:TIME, like 5%:2ms");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_late_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->first == 0)
		snprintf(text, size, "none");
	else
		text_real(text, size, "", (double)pair->first * 100 / (double)LULL_PPM);
	if (pair->first > 0)
		text_time(text, size, ":", pair->second);
	return text;
}

int
sim_stall_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct piece first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !piece_time(first, &pair.first) ||
	     !piece_time(second, &pair.second) || pair.first < LULL_NS_PER_US ||
	     pair.second > 10 * LULL_NS_PER_S))
		return piece_refuse(error, text, "none or EVERY:TIME, like 100ms:3ms");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_stall_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->first == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", pair->first);
	text_time(text, size, ":", pair->second);
	return text;
}

int
sim_line_bursts_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct piece first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !piece_time(first, &pair.first) ||
	     !piece_count(second, &pair.second) || pair.first < LULL_NS_PER_US ||
	     pair.second == 0 || pair.second > 65535))
		return piece_refuse(error, text,
				    "none or EVERY:PACKETS, at most 65535, like 10ms:1000");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_line_bursts_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->first == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", pair->first);
	snprintf(text_end(text), text_room(text, size), ":%llu", (unsigned long long)pair->second);
	return text;
}

int
sim_sweep_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_sweep sweep = { .steps = 0 };
	const char *rest = text;
	struct piece low, high, steps;
	uint64_t count = 0;

	if (strcmp(text, "none") != 0) {
		if (!piece_next(&rest, "-", &low) || !piece_next(&rest, ",", &high) ||
		    !piece_next(&rest, ",", &steps) || rest != NULL ||
		    !piece_time(low, &sweep.low_ns) || !piece_time(high, &sweep.high_ns) ||
		    !piece_count(steps, &count) || sweep.low_ns == 0 ||
		    sweep.high_ns <= sweep.low_ns || sweep.high_ns > LULL_NS_PER_S || count < 2 ||
		    count > 1000)
			return piece_refuse(error, text,
					    "none or LOW-HIGH,STEPS with 2..1000 steps, like "
					    "1us-1ms,60");
		sweep.steps = (uint32_t)count;
	}
	*(struct sim_sweep *)member = sweep;
	return 0;
}

char *
sim_sweep_print(const void *member, char *text, size_t size)
{
	const struct sim_sweep *sweep = member;

	text[0] = '\0';
	if (sweep->steps == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", sweep->low_ns);
	text_time(text, size, "-", sweep->high_ns);
	snprintf(text_end(text), text_room(text, size), ",%u", sweep->steps);
	return text;
}
