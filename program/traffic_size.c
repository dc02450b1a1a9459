/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "traffic_spec.h"

#define FRAME_MIN 60
#define FRAME_MAX 9600

/* "594:4" or "64". */
static int
size_parse(const char *text, size_t length, struct lull_arrival_config *config,
	   struct lull_error *error)
{
	const char *colon = memchr(text, ':', length);
	size_t size_length = colon == NULL ? length : (size_t)(colon - text);
	int shown = (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN);
	uint64_t bytes = 0, weight = 1;
	int result = lull_number_parse(text, size_length, lull_count_units, 1, &bytes);

	if (result == 0 && colon != NULL)
		result = lull_number_parse(colon + 1, length - size_length - 1, lull_count_units, 1,
					   &weight);
	if (result != 0)
		return lull_error_set(
			error, -EINVAL,
			"'%.*s' is not SIZE[:WEIGHT]: give sizes like 64 or 64:7,594:4,1518:1",
			shown, text);
	if (bytes < FRAME_MIN + LULL_TRAFFIC_CRC_BYTES ||
	    bytes > FRAME_MAX + LULL_TRAFFIC_CRC_BYTES)
		return lull_error_set(
			error, -ERANGE, "size %" PRIu64 " is not in %d..%d (bytes with CRC)", bytes,
			FRAME_MIN + LULL_TRAFFIC_CRC_BYTES, FRAME_MAX + LULL_TRAFFIC_CRC_BYTES);
	if (weight < 1 || weight > UINT16_MAX)
		return lull_error_set(error, -ERANGE, "weight %" PRIu64 " is not in 1..%d", weight,
				      UINT16_MAX);
	if (config->size_count == LULL_SIZE_MIX_MAX)
		return lull_error_set(error, -E2BIG, "more than %d sizes", LULL_SIZE_MIX_MAX);
	config->size_bytes[config->size_count] = (uint16_t)(bytes - LULL_TRAFFIC_CRC_BYTES);
	config->size_weight[config->size_count++] = (uint16_t)weight;
	return 0;
}

int
lull_traffic_size_parse(const char *text, void *arrival_config, struct lull_error *error)
{
	struct lull_arrival_config *config = arrival_config, parsed = *config;
	const char *at = text;

	parsed.size_count = 0;
	memset(parsed.size_bytes, 0, sizeof(parsed.size_bytes));
	memset(parsed.size_weight, 0, sizeof(parsed.size_weight));
	for (;;) {
		size_t length = strcspn(at, ",");
		int result = size_parse(at, length, &parsed, error);

		if (result != 0) {
			if (at != text || at[length] != '\0')
				lull_error_prefix(error, "'%.*s': ", LULL_ERROR_SHOWN, text);
			return result;
		}
		at += length;
		if (*at == '\0')
			break;
		at++;
	}
	*config = parsed;
	return 0;
}

char *
lull_traffic_size_print(const void *arrival_config, char *text, size_t size)
{
	const struct lull_arrival_config *config = arrival_config;
	bool weighted = config->size_count > 1;
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < config->size_count && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%d", i > 0 ? "," : "",
					 config->size_bytes[i] + LULL_TRAFFIC_CRC_BYTES);
		if (weighted && used < size)
			used += (size_t)snprintf(text + used, size - used, ":%u",
						 config->size_weight[i]);
	}
	return text;
}
