/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu_latency_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lull/rest.h>

#include "number.h"

int
lull_cpu_latency_parse(const char *text, void *member, struct lull_error *error)
{
	uint64_t limit_ns = 0;

	if (strcmp(text, "auto") == 0)
		limit_ns = LULL_CPU_LATENCY_AUTO;
	else if (strcmp(text, "off") != 0 &&
		 (lull_number_parse(text, strlen(text), lull_time_units, LULL_NS_PER_US,
				    &limit_ns) != 0 ||
		  limit_ns < LULL_NS_PER_US || limit_ns > LULL_NS_PER_S))
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is neither auto, off nor a time in 1us..1s",
				      LULL_ERROR_SHOWN, text);
	memcpy(member, &limit_ns, sizeof(limit_ns));
	return 0;
}

char *
lull_cpu_latency_print(const void *member, char *text, size_t size)
{
	uint64_t limit_ns;

	memcpy(&limit_ns, member, sizeof(limit_ns));
	if (limit_ns == 0)
		snprintf(text, size, "off");
	else if (limit_ns == LULL_CPU_LATENCY_AUTO)
		snprintf(text, size, "auto");
	else
		lull_time_print(limit_ns, text, size);
	return text;
}
