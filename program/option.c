/* SPDX-License-Identifier: BSD-3-Clause */
#include "option.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "number.h"

/* What a type can do; every member is required. */
struct option_type {
	const char *argument;
	int (*parse)(const struct lull_option *option, const char *value, void *member,
		     struct lull_error *error);
	char *(*print)(const struct lull_option *option, const void *member, char *text,
		       size_t size);
};

static uint64_t
member_read(const struct lull_option *option, const void *member)
{
	switch (option->size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return *(const uint32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

static void
member_write(const struct lull_option *option, void *member, uint64_t value)
{
	switch (option->size) {
	case 1:
		*(uint8_t *)member = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)member = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)member = (uint32_t)value;
		break;
	default:
		*(uint64_t *)member = value;
	}
}

bool
lull_option_has_range(const struct lull_option *option)
{
	if (option->type == LULL_OPTION_REAL)
		return option->real_high > option->real_low;
	if (option->type == LULL_OPTION_COUNT || option->type == LULL_OPTION_DURATION)
		return option->high > option->low;
	return false;
}

static char *
range_duration(const struct lull_option *option, char *text, size_t size)
{
	uint64_t factor = option->unit == NULL ? 0 :
						 lull_unit_factor(lull_time_units, option->unit,
								  strlen(option->unit));
	char low[LULL_NUMBER_TEXT], high[LULL_NUMBER_TEXT];

	if (factor != 0 && option->low % factor == 0 && option->high % factor == 0)
		snprintf(text, size, "%" PRIu64 "..%" PRIu64 " (%s)", option->low / factor,
			 option->high / factor, option->unit);
	else
		snprintf(text, size, "%s..%s", lull_time_print(option->low, low, sizeof(low)),
			 lull_time_print(option->high, high, sizeof(high)));
	return text;
}

char *
lull_option_range(const struct lull_option *option, char *text, size_t size)
{
	bool named = option->unit != NULL;

	if (option->type == LULL_OPTION_DURATION)
		return range_duration(option, text, size);
	if (option->type == LULL_OPTION_REAL)
		snprintf(text, size, "%.15g..%.15g", option->real_low, option->real_high);
	else
		snprintf(text, size, "%" PRIu64 "..%" PRIu64, option->low, option->high);
	if (named)
		snprintf(text + strlen(text), size - strlen(text), " (%s)", option->unit);
	return text;
}

const char *
lull_option_bare(const struct lull_option *option, char *text, size_t size)
{
	char range[128] = "";

	if (option->type != LULL_OPTION_DURATION || option->unit == NULL)
		return "";
	if (lull_option_has_range(option))
		lull_option_range(option, range, sizeof(range));
	if (strchr(range, '(') != NULL)
		return "";
	snprintf(text, size, "in %s", option->unit);
	return text;
}

/* " in RANGE" or nothing. */
static const char *
range_words(const struct lull_option *option, char *text, size_t size)
{
	text[0] = '\0';
	if (lull_option_has_range(option)) {
		memcpy(text, " in ", 5);
		lull_option_range(option, text + 4, size - 4);
	}
	return text;
}

static int
out_of_range(const struct lull_option *option, const char *value, struct lull_error *error)
{
	char range[128];

	if (!lull_option_has_range(option))
		return lull_error_set(error, -ERANGE, "%.*s is too large", LULL_ERROR_SHOWN, value);
	return lull_error_set(error, -ERANGE, "%.*s is not in %s", LULL_ERROR_SHOWN, value,
			      lull_option_range(option, range, sizeof(range)));
}

static int
bool_parse(const struct lull_option *option, const char *value, void *member,
	   struct lull_error *error)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	(void)option;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(value, words[i]) == 0) {
			*(bool *)member = i % 2 == 1;
			return 0;
		}
	}
	return lull_error_set(error, -EINVAL, "'%.*s' is neither yes nor no", LULL_ERROR_SHOWN,
			      value);
}

static char *
bool_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	(void)option;
	snprintf(text, size, "%s", *(const bool *)member ? "yes" : "no");
	return text;
}

static int
count_parse(const struct lull_option *option, const char *value, void *member,
	    struct lull_error *error)
{
	uint64_t most = option->size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * option->size)) - 1;
	uint64_t count = 0;
	char range[128];
	int result = lull_number_parse(value, strlen(value), lull_count_units, 1, &count);

	if (result == -ERANGE)
		return out_of_range(option, value, error);
	if (result != 0)
		return lull_error_set(
			error, result,
			"'%.*s' is not a whole number: give one%s, k, M and G may follow",
			LULL_ERROR_SHOWN, value, range_words(option, range, sizeof(range)));
	if (lull_option_has_range(option) && (count < option->low || count > option->high))
		return out_of_range(option, value, error);
	if (count > most)
		return lull_error_set(error, -ERANGE, "%.*s is above %" PRIu64, LULL_ERROR_SHOWN,
				      value, most);
	member_write(option, member, count);
	return 0;
}

static char *
count_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	snprintf(text, size, "%" PRIu64, member_read(option, member));
	return text;
}

static int
duration_parse(const struct lull_option *option, const char *value, void *member,
	       struct lull_error *error)
{
	uint64_t bare = option->unit == NULL ? 0 :
					       lull_unit_factor(lull_time_units, option->unit,
								strlen(option->unit));
	char range[128];
	uint64_t ns = 0;
	int result = lull_number_parse(value, strlen(value), lull_time_units, bare, &ns);

	if (result == -ERANGE)
		return out_of_range(option, value, error);
	if (result == -EDOM)
		return lull_error_set(error, result, "%.*s is not a whole number of ns",
				      LULL_ERROR_SHOWN, value);
	if (result != 0)
		return lull_error_set(
			error, result,
			"'%.*s' is not a time: give a number%s with ns, us, ms, s, m or h",
			LULL_ERROR_SHOWN, value, range_words(option, range, sizeof(range)));
	if (lull_option_has_range(option) && (ns < option->low || ns > option->high))
		return out_of_range(option, value, error);
	*(uint64_t *)member = ns;
	return 0;
}

static char *
duration_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	(void)option;
	return lull_time_print(*(const uint64_t *)member, text, size);
}

static int
real_parse(const struct lull_option *option, const char *value, void *member,
	   struct lull_error *error)
{
	char range[128];
	double real = 0;
	int result = lull_number_parse_real(value, strlen(value), &real);

	if (result == -EDOM)
		return lull_error_set(error, result, "'%.*s' has more than 15 digits: round it",
				      LULL_ERROR_SHOWN, value);
	if (result != 0)
		return lull_error_set(error, result, "'%.*s' is not a number: give one%s",
				      LULL_ERROR_SHOWN, value,
				      range_words(option, range, sizeof(range)));
	if (lull_option_has_range(option) && (real < option->real_low || real > option->real_high))
		return out_of_range(option, value, error);
	*(double *)member = real;
	return 0;
}

static char *
real_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	(void)option;
	return lull_real_print(*(const double *)member, text, size);
}

static int
text_store(const char *value, char *member, size_t size, struct lull_error *error)
{
	size_t length = strlen(value);

	if (length >= size)
		return lull_error_set(error, -ENAMETOOLONG,
				      "'%.*s...' is %zu bytes long: at most %zu fit",
				      LULL_ERROR_SHOWN, value, length, size - 1);
	memcpy(member, value, length + 1);
	return 0;
}

static int
text_parse(const struct lull_option *option, const char *value, void *member,
	   struct lull_error *error)
{
	return text_store(value, member, option->size, error);
}

static char *
text_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	(void)option;
	snprintf(text, size, "%s", (const char *)member);
	return text;
}

static int
list_parse(const struct lull_option *option, const char *value, void *member,
	   struct lull_error *error)
{
	struct lull_option_list *list = member;
	int result;

	(void)option;
	if (value[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "empty value: give one, or leave the option out");
	if (list->count >= LULL_OPTION_LIST_MAX)
		return lull_error_set(error, -E2BIG,
				      "'%.*s' is one too many: at most %d are "
				      "possible",
				      LULL_ERROR_SHOWN, value, LULL_OPTION_LIST_MAX);
	result = text_store(value, list->items[list->count], sizeof(list->items[0]), error);
	if (result == 0)
		list->count++;
	return result;
}

static char *
list_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	const struct lull_option_list *list = member;
	size_t used = 0;

	(void)option;
	text[0] = '\0';
	for (uint32_t i = 0; i < list->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "",
					 list->items[i]);
	return text;
}

const char *
lull_option_choice(const struct lull_option *option, uint32_t index)
{
	return option->choices != NULL ? option->choices[index] : option->choice(index);
}

static int
choice_parse(const struct lull_option *option, const char *value, void *member,
	     struct lull_error *error)
{
	char names[LULL_OPTION_VALUE_TEXT];
	const char *name;
	size_t used = 0;

	for (uint32_t i = 0; (name = lull_option_choice(option, i)) != NULL; i++) {
		if (strcmp(value, name) == 0) {
			member_write(option, member, i);
			return 0;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 i > 0 ? ", " : "", name);
	}
	return lull_error_set(error, -EINVAL, "'%.*s' is not one of %s", LULL_ERROR_SHOWN, value,
			      names);
}

static char *
choice_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	uint64_t chosen = member_read(option, member);
	const char *name = NULL;

	/* Walk: an index past the end must not reach the list. */
	for (uint64_t i = 0; i <= chosen; i++) {
		name = lull_option_choice(option, (uint32_t)i);
		if (name == NULL)
			break;
	}
	snprintf(text, size, "%s", name == NULL ? "?" : name);
	return text;
}

static int
custom_parse(const struct lull_option *option, const char *value, void *member,
	     struct lull_error *error)
{
	return option->parse(value, member, error);
}

static char *
custom_print(const struct lull_option *option, const void *member, char *text, size_t size)
{
	return option->print(member, text, size);
}

static const struct option_type option_types[] = {
	[LULL_OPTION_BOOL] = { "yes|no", bool_parse, bool_print },
	[LULL_OPTION_COUNT] = { "N", count_parse, count_print },
	[LULL_OPTION_DURATION] = { "TIME", duration_parse, duration_print },
	[LULL_OPTION_REAL] = { "X", real_parse, real_print },
	[LULL_OPTION_TEXT] = { "TEXT", text_parse, text_print },
	[LULL_OPTION_LIST] = { "TEXT", list_parse, list_print },
	[LULL_OPTION_CHOICE] = { "NAME", choice_parse, choice_print },
	[LULL_OPTION_CUSTOM] = { "VALUE", custom_parse, custom_print },
};

bool
lull_option_needs_value(const struct lull_option *option)
{
	return option->type != LULL_OPTION_BOOL;
}

const char *
lull_option_argument(const struct lull_option *option)
{
	return option->argument != NULL ? option->argument : option_types[option->type].argument;
}

int
lull_option_parse(const struct lull_option *option, const char *value, void *settings,
		  struct lull_error *error)
{
	return option_types[option->type].parse(option, value, (char *)settings + option->offset,
						error);
}

void
lull_option_clear(const struct lull_option *option, void *settings)
{
	if (option->type == LULL_OPTION_LIST)
		((struct lull_option_list *)((char *)settings + option->offset))->count = 0;
}

int
lull_option_reset(const struct lull_option *option, void *settings, struct lull_error *error)
{
	if (option->value == NULL)
		return 0;
	lull_option_clear(option, settings);
	return lull_option_parse(option, option->value, settings, error);
}

char *
lull_option_print(const struct lull_option *option, const void *settings, char *text, size_t size)
{
	return option_types[option->type].print(option, (const char *)settings + option->offset,
						text, size);
}

bool
lull_option_is_set(const struct lull_option *option, const void *settings)
{
	const void *member = (const char *)settings + option->offset;

	switch (option->type) {
	case LULL_OPTION_DURATION:
		return *(const uint64_t *)member != UINT64_MAX;
	case LULL_OPTION_REAL:
		return !isnan(*(const double *)member);
	case LULL_OPTION_CHOICE:
		return *(const uint32_t *)member != UINT32_MAX;
	default:
		return true;
	}
}
