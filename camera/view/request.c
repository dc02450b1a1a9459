/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#define WIDTH_MIN 16
#define WIDTH_MAX 65535
#define QUALITY_MAX 100
#define RATE_MAX 1000

static int
request_whole(const char *key, const json_t *value, uint32_t low, uint32_t high, uint32_t *member,
	      struct lull_error *error)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < low || number > high)
		return lull_error_set(error, -EINVAL, "%s: a whole number %u..%u", key, low, high);
	*member = (uint32_t)number;
	return 0;
}

static int
request_member(struct view_request *request, const char *key, const json_t *value,
	       struct lull_error *error)
{
	double number = json_number_value(value);

	if (strcmp(key, "width") == 0)
		return request_whole(key, value, WIDTH_MIN, WIDTH_MAX, &request->width, error);
	if (strcmp(key, "quality") == 0)
		return request_whole(key, value, 1, QUALITY_MAX, &request->quality, error);
	if (strcmp(key, "rate") != 0)
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is unknown; there are width, rate and quality",
				      LULL_ERROR_SHOWN, key);
	if (!json_is_number(value) || number < 0 || number > RATE_MAX)
		return lull_error_set(error, -EINVAL, "rate: a number 0..%d", RATE_MAX);
	request->rate = number;
	return 0;
}

int
view_request_read(struct view_request *request, const char *line, size_t length,
		  struct lull_error *error)
{
	struct view_request wanted = *request;
	json_error_t where;
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &where), *value;
	const char *key;
	int rc = 0;

	if (!json_is_object(object))
		rc = lull_error_set(error, -EINVAL,
				    "a line is an object like {\"width\":640,\"rate\":15}");
	json_object_foreach(object, key, value)
	{
		rc = request_member(&wanted, key, value, error);
		if (rc != 0)
			break;
	}
	json_decref(object);
	if (rc == 0)
		*request = wanted;
	return rc;
}
