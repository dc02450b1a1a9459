/* SPDX-License-Identifier: BSD-3-Clause */
#include "speed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"

#include "number.h"

#define SPEED_LEAST 0.001
#define SPEED_MOST 1000000.0

int
lull_speed_parse(const char *text, void *member, struct lull_error *error)
{
	double speed = 1;

	if (strcmp(text, "original") != 0 &&
	    (lull_number_parse_real(text, strlen(text), &speed) != 0 ||
	     !(speed >= SPEED_LEAST && speed <= SPEED_MOST)))
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is neither original nor a factor in 0.001..1000000",
				      LULL_ERROR_SHOWN, text);
	*(double *)member = speed;
	return 0;
}

int
lull_speed_max_parse(const char *text, void *member, struct lull_error *error)
{
	int rc;

	if (strcmp(text, "max") == 0) {
		*(double *)member = 0;
		return 0;
	}
	rc = lull_speed_parse(text, member, error);
	if (rc != 0)
		lull_error_suffix(error, ", nor max");
	return rc;
}

char *
lull_speed_print(const void *member, char *text, size_t size)
{
	double speed = *(const double *)member;

	if (speed == 0)
		snprintf(text, size, "max");
	else if (speed == 1)
		snprintf(text, size, "original");
	else
		lull_real_print(speed, text, size);
	return text;
}
