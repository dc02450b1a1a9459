/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/number.h"
#include "settings.h"

#define LOAD_LOW 0.0001
#define LOAD_HIGH 4.0

/* A part of a text up to a comma. */
struct token {
	const char *text;
	size_t length;
};

static bool
token_next(const char **rest, struct token *token)
{
	if (*rest == NULL)
		return false;
	token->text = *rest;
	token->length = strcspn(*rest, ",");
	*rest += token->length;
	*rest = **rest == '\0' ? NULL : *rest + 1;
	return true;
}

static void
text_append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", more);
}

/* ---- schedulers ---- */

static const struct lull_scheduler *
scheduler_find(struct token token)
{
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		const char *name = lull_scheduler_name(lull_schedulers[i]);

		if (strlen(name) == token.length && memcmp(name, token.text, token.length) == 0)
			return lull_schedulers[i];
	}
	return NULL;
}

static int
schedulers_refuse(struct token token, struct lull_error *error)
{
	char names[256] = "";

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++)
		text_append(names, sizeof(names), lull_scheduler_name(lull_schedulers[i]));
	return lull_error_set(error, -EINVAL, "'%.*s' is not one of %s",
			      (int)LULL_MIN(token.length, (size_t)LULL_ERROR_SHOWN), token.text,
			      names);
}

int
flow_sim_schedulers_parse(const char *text, void *member, struct lull_error *error)
{
	struct flow_sim_schedulers list = { 0 };
	struct token token;

	if (strcmp(text, "all") == 0) {
		for (; lull_schedulers[list.count] != NULL && list.count < FLOW_SIM_LIST_MAX;
		     list.count++)
			list.items[list.count] = lull_schedulers[list.count];
		text = NULL;
	}
	while (token_next(&text, &token)) {
		const struct lull_scheduler *scheduler = scheduler_find(token);

		if (scheduler == NULL)
			return schedulers_refuse(token, error);
		if (list.count == FLOW_SIM_LIST_MAX)
			return lull_error_set(error, -EINVAL, "more than %d", FLOW_SIM_LIST_MAX);
		list.items[list.count++] = scheduler;
	}
	*(struct flow_sim_schedulers *)member = list;
	return 0;
}

char *
flow_sim_schedulers_print(const void *member, char *text, size_t size)
{
	const struct flow_sim_schedulers *list = member;

	text[0] = '\0';
	for (uint32_t i = 0; i < list->count; i++)
		text_append(text, size, lull_scheduler_name(list->items[i]));
	return text;
}

/* ---- loads ---- */

int
flow_sim_loads_parse(const char *text, void *member, struct lull_error *error)
{
	struct flow_sim_loads list = { 0 };
	struct token token;
	double load;

	while (token_next(&text, &token)) {
		if (lull_number_parse_real(token.text, token.length, &load) != 0 ||
		    !(load >= LOAD_LOW && load <= LOAD_HIGH))
			return lull_error_set(error, -EINVAL, "'%.*s' is not a load of %g..%g",
					      (int)LULL_MIN(token.length, (size_t)LULL_ERROR_SHOWN),
					      token.text, LOAD_LOW, LOAD_HIGH);
		if (list.count == FLOW_SIM_LIST_MAX)
			return lull_error_set(error, -EINVAL, "more than %d", FLOW_SIM_LIST_MAX);
		list.items_ppm[list.count++] = (uint32_t)(load * 1e6 + 0.5);
	}
	*(struct flow_sim_loads *)member = list;
	return 0;
}

char *
flow_sim_loads_print(const void *member, char *text, size_t size)
{
	const struct flow_sim_loads *list = member;
	char load[LULL_NUMBER_TEXT];

	text[0] = '\0';
	for (uint32_t i = 0; i < list->count; i++) {
		snprintf(load, sizeof(load), "%.6g", list->items_ppm[i] / 1e6);
		text_append(text, size, load);
	}
	return text;
}

/* ---- stalls ---- */

int
flow_sim_stall_parse(const char *text, void *member, struct lull_error *error)
{
	struct flow_sim_stall stall = { 0, 0 };
	size_t every = strcspn(text, ":");

	if (strcmp(text, "none") != 0 &&
	    (text[every] == '\0' ||
	     lull_number_parse(text, every, lull_time_units, 0, &stall.every_ns) != 0 ||
	     lull_number_parse(text + every + 1, strlen(text + every + 1), lull_time_units, 0,
			       &stall.ns) != 0 ||
	     stall.every_ns == 0 || stall.ns == 0 || stall.ns > LULL_NS_PER_S ||
	     stall.every_ns > 1000 * LULL_NS_PER_S))
		return lull_error_set(
			error, -EINVAL,
			"'%.*s' is not EVERY:TIME, like 10ms:1ms (up to 1000s and 1s), or none",
			LULL_ERROR_SHOWN, text);
	*(struct flow_sim_stall *)member = stall;
	return 0;
}

char *
flow_sim_stall_print(const void *member, char *text, size_t size)
{
	const struct flow_sim_stall *stall = member;
	char every[LULL_NUMBER_TEXT], time[LULL_NUMBER_TEXT];

	if (stall->ns == 0)
		snprintf(text, size, "none");
	else
		snprintf(text, size, "%s:%s",
			 lull_time_print(stall->every_ns, every, sizeof(every)),
			 lull_time_print(stall->ns, time, sizeof(time)));
	return text;
}
