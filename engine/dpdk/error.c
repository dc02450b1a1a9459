/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int
lull_engine_error(char *error, int code, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return code;
	va_start(args, format);
	vsnprintf(error, LULL_ERROR_SIZE, format, args);
	va_end(args);
	return code;
}

int
lull_engine_error_range(char *error, const struct lull_range *wrong)
{
	if (error != NULL)
		lull_range_print(wrong, error, LULL_ERROR_SIZE);
	return -EINVAL;
}
