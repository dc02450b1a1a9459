/* SPDX-License-Identifier: BSD-3-Clause */
#include "token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lull/base.h>

#include "program/number.h"

#define TIME_MOST (3600 * LULL_NS_PER_S)

bool
token_next(const char **rest, const char *separators, struct token *token)
{
	if (*rest == NULL)
		return false;
	token->text = *rest;
	token->length = strcspn(*rest, separators);
	*rest += token->length;
	*rest = **rest == '\0' ? NULL : *rest + 1;
	return true;
}

int
token_refuse(struct lull_error *error, const char *text, const char *form)
{
	return lull_error_set(error, -EINVAL, "'%.*s' is not %s", LULL_ERROR_SHOWN, text, form);
}

bool
token_time(struct token token, uint64_t *ns)
{
	return lull_number_parse(token.text, token.length, lull_time_units, 0, ns) == 0 &&
	       *ns <= TIME_MOST;
}

bool
token_count(struct token token, uint64_t *count)
{
	return lull_number_parse(token.text, token.length, lull_count_units, 1, count) == 0;
}

bool
token_percent(struct token token, uint64_t whole, uint64_t *parts)
{
	double percent;

	if (token.length > 0 && token.text[token.length - 1] == '%')
		token.length--;
	if (lull_number_parse_real(token.text, token.length, &percent) != 0 ||
	    !(percent >= 0 && percent <= 100))
		return false;
	*parts = (uint64_t)(percent / 100 * (double)whole + 0.5);
	return true;
}

char *
text_end(char *text)
{
	return text + strlen(text);
}

size_t
text_room(const char *text, size_t size)
{
	return size - strlen(text);
}

void
text_time(char *text, size_t size, const char *before, uint64_t ns)
{
	char shown[LULL_NUMBER_TEXT];

	snprintf(text_end(text), text_room(text, size), "%s%s", before,
		 lull_time_print(ns, shown, sizeof(shown)));
}

void
text_real(char *text, size_t size, const char *before, double value)
{
	char shown[LULL_NUMBER_TEXT];

	snprintf(text_end(text), text_room(text, size), "%s%s", before,
		 lull_real_print(value, shown, sizeof(shown)));
}
