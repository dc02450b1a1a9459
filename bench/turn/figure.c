/* SPDX-License-Identifier: BSD-3-Clause */
#include "figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define LINE_SIZE 512
#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

void
figure_add(struct figure *figure, double value)
{
	if (figure->count < FIGURE_ROUNDS_MAX)
		figure->values[figure->count++] = value;
}

static int
compare_values(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double
figure_median(const struct figure *figure)
{
	double sorted[FIGURE_ROUNDS_MAX];
	uint32_t half = figure->count / 2;

	if (figure->count == 0)
		return 0;
	memcpy(sorted, figure->values, figure->count * sizeof(sorted[0]));
	qsort(sorted, figure->count, sizeof(sorted[0]), compare_values);
	return figure->count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double
figure_least(const struct figure *figure)
{
	double least = figure->count > 0 ? figure->values[0] : 0;

	for (uint32_t i = 1; i < figure->count; i++)
		if (figure->values[i] < least)
			least = figure->values[i];
	return least;
}

double
figure_ratio(const struct figure *figure, const struct figure *base)
{
	struct figure ratios = { .count = 0 };

	for (uint32_t i = 0; i < figure->count && i < base->count; i++)
		if (base->values[i] > 0)
			figure_add(&ratios, figure->values[i] / base->values[i]);
	return figure_median(&ratios);
}

uint64_t
figure_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What follows @p key in the first line that begins with it; "" when there is none. */
static void
read_line(FILE *file, const char *key, char *line, size_t size)
{
	char text[LINE_SIZE];

	line[0] = '\0';
	while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
		const char *value = text + strlen(key);

		if (strncmp(text, key, strlen(key)) != 0)
			continue;
		value += strspn(value, " \t:");
		snprintf(line, size, "%.*s", (int)strcspn(value, "\n"), value);
		return;
	}
}

void
figure_print_machine(const char *tree)
{
	char cpu[LINE_SIZE], commit[LINE_SIZE], command[LINE_SIZE];
	FILE *file = fopen("/proc/cpuinfo", "re");
	struct utsname system;

	read_line(file, "model name", cpu, sizeof(cpu));
	if (file != NULL)
		fclose(file);
	snprintf(command, sizeof(command),
		 "git -C '%s' describe --always --abbrev=12 --dirty=+ --exclude='*' 2>/dev/null",
		 tree);
	file = popen(command, "r");
	read_line(file, "", commit, sizeof(commit));
	if (file != NULL)
		pclose(file);
	uname(&system);
	printf("%s, kernel %s, compiler %s, commit %s.\n\n", cpu[0] != '\0' ? cpu : system.machine,
	       system.release, COMPILER, commit[0] != '\0' ? commit : "unknown");
}
