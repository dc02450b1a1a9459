/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

int
lull_net_error(char *error, int rc, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return rc;
	va_start(args, format);
	vsnprintf(error, LULL_NET_ERROR_SIZE, format, args);
	va_end(args);
	return rc;
}
