/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CPUS_GRAMMAR "give CPU numbers and ranges like 1,3-5"

/* One CPU number; 0, or -EINVAL when there is none, -ERANGE when there is no such CPU. */
static int
cpu_parse(const char **text, uint32_t *cpu)
{
	const char *at = *text;

	*cpu = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		*cpu = 10 * *cpu + (uint32_t)(*at - '0');
		if (*cpu > LULL_CPU_MAX)
			return -ERANGE;
	}
	if (at == *text)
		return -EINVAL;
	*text = at;
	return 0;
}

static bool
list_holds(const struct lull_cpu_list *list, uint32_t cpu)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->cpus[i] == cpu)
			return true;
	}
	return false;
}

/* "3" or "3-5". */
static int
range_parse(const char **text, struct lull_cpu_list *list)
{
	uint32_t first, last;
	int result = cpu_parse(text, &first);

	last = first;
	if (result == 0 && **text == '-') {
		(*text)++;
		result = cpu_parse(text, &last);
	}
	if (result != 0)
		return result;
	if (last < first)
		return -EINVAL;
	for (; first <= last; first++) {
		if (list_holds(list, first))
			return -EEXIST;
		if (list->count == LULL_CPU_LIST_MAX)
			return -E2BIG;
		list->cpus[list->count++] = (uint16_t)first;
	}
	return 0;
}

static int
cpus_complain(const char *text, int code, struct lull_error *error)
{
	switch (code) {
	case -ERANGE:
		return lull_error_set(error, code, "'%.*s' goes beyond CPU %d", LULL_ERROR_SHOWN,
				      text, LULL_CPU_MAX);
	case -EEXIST:
		return lull_error_set(error, code, "'%.*s' names a CPU twice", LULL_ERROR_SHOWN,
				      text);
	case -E2BIG:
		return lull_error_set(error, code, "'%.*s' names more than %d CPUs",
				      LULL_ERROR_SHOWN, text, LULL_CPU_LIST_MAX);
	default:
		return lull_error_set(error, code, "'%.*s' is not a list of CPUs: " CPUS_GRAMMAR,
				      LULL_ERROR_SHOWN, text);
	}
}

int
lull_cpus_parse(const char *text, void *list, struct lull_error *error)
{
	struct lull_cpu_list parsed = { .count = 0 };
	const char *at = text;
	int result = range_parse(&at, &parsed);

	while (result == 0 && *at == ',') {
		at++;
		result = range_parse(&at, &parsed);
	}
	if (result == 0 && *at != '\0')
		result = -EINVAL;
	if (result != 0)
		return cpus_complain(text, result, error);
	*(struct lull_cpu_list *)list = parsed;
	return 0;
}

char *
lull_cpus_print(const void *list, char *text, size_t size)
{
	const struct lull_cpu_list *cpus = list;
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0, last; i < cpus->count && used < size; i = last + 1) {
		last = i;
		while (last + 1 < cpus->count && cpus->cpus[last + 1] == cpus->cpus[last] + 1)
			last++;
		used += (size_t)snprintf(text + used, size - used, "%s%u", i > 0 ? "," : "",
					 cpus->cpus[i]);
		if (last > i && used < size)
			used += (size_t)snprintf(text + used, size - used, "-%u", cpus->cpus[last]);
	}
	return text;
}

int
lull_cpus_allowed(int *cpus)
{
	cpu_set_t allowed;
	int count = 0;

	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		CPU_SET(0, &allowed);
	for (int cpu = 0; cpu <= LULL_CPU_MAX; cpu++) {
		if (CPU_ISSET((unsigned int)cpu, &allowed))
			cpus[count++] = cpu;
	}
	return count;
}
