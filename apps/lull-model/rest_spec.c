/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/number.h"

static const struct lull_model_sleep *
rest_find_sleep(const char *name, size_t length)
{
	const struct lull_model_sleep *sleep = lull_model_sleeps;

	while (sleep->name != NULL &&
	       (strlen(sleep->name) != length || strncmp(sleep->name, name, length) != 0))
		sleep++;
	return sleep->name != NULL ? sleep : NULL;
}

static const struct lull_idle_governor *
rest_find_governor(const char *name, size_t length)
{
	char copy[64];

	if (length >= sizeof(copy))
		return NULL;
	memcpy(copy, name, length);
	copy[length] = '\0';
	return lull_idle_governor_find(strcmp(copy, "none") == 0 ? "spin" : copy);
}

/* A bare number is microseconds, as these functions count. */
static int
rest_parse_time(const char *text, struct rest_spec *spec, struct lull_error *error)
{
	const char *name = spec->sleep != NULL ? spec->sleep->name : NULL;

	if (lull_number_parse(text, strlen(text), lull_time_units, LULL_NS_PER_US,
			      &spec->rest_ns) != 0 ||
	    spec->rest_ns > LULL_NS_PER_S)
		return lull_error_set(error, -EINVAL, "'%.*s' is not a time up to 1s, like 50us",
				      LULL_ERROR_SHOWN, text);
	if (name != NULL && spec->rest_ns % spec->sleep->step_ns != 0)
		return lull_error_set(error, -EINVAL,
				      "%s counts in microseconds, so not '%.*s'; nanosleep:%.*s "
				      "takes it",
				      name, LULL_ERROR_SHOWN, text, LULL_ERROR_SHOWN, text);
	spec->timed = true;
	return 0;
}

int
rest_spec_parse(const char *text, void *member, struct lull_error *error)
{
	size_t length = strcspn(text, ":");
	struct rest_spec spec = { .sleep = rest_find_sleep(text, length) };
	int rc;

	spec.governor = spec.sleep != NULL ? lull_idle_governor_find("fixed") :
					     rest_find_governor(text, length);
	if (spec.governor == NULL)
		return lull_error_set(error, -EINVAL, "'%.*s' is not one of " REST_SPEC_GRAMMAR,
				      LULL_ERROR_SHOWN, text);
	if (text[length] == ':') {
		rc = rest_parse_time(text + length + 1, &spec, error);
		if (rc != 0)
			return rc;
	} else if (spec.sleep != NULL) {
		return lull_error_set(error, -EINVAL, "%s needs a time, like %s:0 or %s:50us",
				      spec.sleep->name, spec.sleep->name, spec.sleep->name);
	}
	if (spec.sleep == NULL && spec.timed && spec.rest_ns == 0)
		return lull_error_set(error, -EINVAL,
				      "a governor cannot rest 0; usleep:0 or yield is what you may "
				      "mean");
	*(struct rest_spec *)member = spec;
	return 0;
}

char *
rest_spec_print(const void *member, char *text, size_t size)
{
	const struct rest_spec *spec = member;
	const char *name =
		spec->sleep != NULL ? spec->sleep->name : lull_idle_governor_name(spec->governor);
	char time[LULL_NUMBER_TEXT];

	if (spec->sleep == NULL && spec->governor == lull_idle_governor_find("spin"))
		name = "none";
	if (spec->timed)
		snprintf(text, size, "%s:%s", name,
			 lull_time_print(spec->rest_ns, time, sizeof(time)));
	else
		snprintf(text, size, "%s", name);
	return text;
}
