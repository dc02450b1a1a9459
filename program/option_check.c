/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "number.h"
#include "option.h"

/* What is wrong with the type-specific members of a row; NULL: nothing. */
static const char *
check_type(const struct lull_option *option)
{
	switch (option->type) {
	case LULL_OPTION_BOOL:
		return option->size == sizeof(bool) ? NULL : "member is no bool";
	case LULL_OPTION_COUNT:
		if (option->size > 8 || (option->size & (option->size - 1)) != 0)
			return "member is no unsigned integer";
		if (option->size < 8 && option->high >> (8 * option->size) != 0)
			return "the range is wider than the member";
		return NULL;
	case LULL_OPTION_DURATION:
		if (option->unit != NULL &&
		    lull_unit_factor(lull_time_units, option->unit, strlen(option->unit)) == 0)
			return "the unit is no time";
		return option->size == 8 ? NULL : "member is no uint64_t";
	case LULL_OPTION_REAL:
		if (option->real_low > option->real_high)
			return "low is above high";
		return option->size == sizeof(double) ? NULL : "member is no double";
	case LULL_OPTION_TEXT:
		return option->size >= 2 ? NULL : "member holds no text";
	case LULL_OPTION_LIST:
		return option->size == sizeof(struct lull_option_list) ? NULL : "member is no list";
	case LULL_OPTION_CHOICE:
		if ((option->choices == NULL) == (option->choice == NULL))
			return "choices or choice: one of them";
		if (lull_option_choice(option, 0) == NULL)
			return "nothing to choose from";
		return option->size == 4 ? NULL : "member is no enum or uint32_t";
	case LULL_OPTION_CUSTOM:
		return option->parse != NULL && option->print != NULL ? NULL : "parse and print";
	}
	return "no such type";
}

static const char *
check_row(const struct lull_option *options, const struct lull_option *option)
{
	if (lull_options_find(options, option->key) != option ||
	    lull_options_find(lull_builtin_options, option->key) != NULL)
		return "the key stands twice";
	if (option->key[0] == '\0' || strpbrk(option->key, "=@ ") != NULL ||
	    strlen(option->key) >= LULL_ERROR_SHOWN)
		return "not a key";
	if (option->help == NULL || option->size == 0)
		return "help or member is missing";
	if (option->low > option->high)
		return "low is above high";
	return check_type(option);
}

/* A default must read, and read again when printed. */
static int
check_default(const struct lull_option *option, struct lull_error *error)
{
	struct lull_option moved = *option;
	/* Members are small, but for texts and lists, whose rules the parser knows. */
	union {
		uint64_t align;
		struct lull_option_list list;
		char bytes[8192];
	} member = { .align = 0 };

	if (option->value == NULL || option->size > sizeof(member))
		return 0;
	moved.offset = 0;
	return lull_option_reset(&moved, &member, error);
}

int
lull_options_check(const struct lull_option *options, struct lull_error *error)
{
	for (const struct lull_option *option = options; option->key != NULL; option++) {
		const char *mistake = option - options < LULL_OPTIONS_MAX ?
					      check_row(options, option) :
					      "the table is too long";
		int result;

		if (mistake != NULL)
			return lull_error_set(error, -EINVAL, "option table: %s: %s", option->key,
					      mistake);
		result = check_default(option, error);
		if (result != 0) {
			lull_error_prefix(error, "option table: default of %s: ", option->key);
			return result;
		}
	}
	return 0;
}
