/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/base.h>

#include "option.h"

#define KEY_MAX 64

/* Keys typed this badly get no suggestion. */
#define DISTANCE_NONE UINT32_MAX

/*
 * Letters to insert, drop, replace or swap with their neighbour to turn one
 * word into the other: the optimal string alignment distance.
 */
static uint32_t
distance(const char *typed, const char *key)
{
	uint32_t rows[3][KEY_MAX + 1];
	size_t typed_length = strlen(typed), key_length = strlen(key);

	if (typed_length > KEY_MAX || key_length > KEY_MAX)
		return DISTANCE_NONE;
	for (size_t j = 0; j <= key_length; j++)
		rows[0][j] = (uint32_t)j;
	for (size_t i = 1; i <= typed_length; i++) {
		uint32_t *row = rows[i % 3];
		const uint32_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= key_length; j++) {
			uint32_t change = above[j - 1] + (typed[i - 1] != key[j - 1]);

			row[j] = LULL_MIN(LULL_MIN(above[j], row[j - 1]) + 1, change);
			if (i > 1 && j > 1 && typed[i - 1] == key[j - 2] &&
			    typed[i - 2] == key[j - 1])
				row[j] = LULL_MIN(row[j], above2[j - 2] + 1);
		}
	}
	return rows[typed_length % 3][key_length];
}

/* How far a key is from what was typed, if near enough to be meant. */
static uint32_t
nearness(const char *typed, const char *key)
{
	size_t length = strlen(typed);
	uint32_t edits = distance(typed, key);

	/* "latency" for max-latency, "gov" for governor. */
	if (length >= 3 && strstr(key, typed) != NULL)
		return LULL_MIN(edits, 1);
	if (edits == DISTANCE_NONE || edits > LULL_MAX(1, length / 3))
		return DISTANCE_NONE;
	return edits;
}

char *
lull_options_suggest(const struct lull_option *options, const char *key, const char *dashes,
		     char *text, size_t size)
{
	uint32_t best = DISTANCE_NONE;

	text[0] = '\0';
	for (; options->key != NULL; options++) {
		uint32_t near = options->hidden ? DISTANCE_NONE : nearness(key, options->key);

		if (near < best) {
			best = near;
			snprintf(text, size, "did you mean %s%s?", dashes, options->key);
		}
	}
	return text;
}
