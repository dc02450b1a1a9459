/* SPDX-License-Identifier: BSD-3-Clause */
#include "steal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#define STEAL_COLUMN 8 /* user nice system idle iowait irq softirq steal */

bool
lull_steal_parse(const char *line, int cpu, uint64_t *ticks)
{
	char *next;

	if (cpu < 0 || strncmp(line, "cpu", 3) != 0)
		return false;
	line += 3;
	if (*line < '0' || *line > '9' || strtol(line, &next, 10) != cpu || *next != ' ')
		return false;
	for (int column = 1; column <= STEAL_COLUMN; column++) {
		line = next;
		*ticks = strtoull(line, &next, 10);
		if (next == line)
			return false;
	}
	return true;
}

uint64_t
lull_steal_ns(int cpu)
{
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	uint64_t ticks = 0;
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (file == NULL)
		return 0;
	while (!found && getline(&line, &size, file) > 0)
		found = lull_steal_parse(line, cpu, &ticks);
	free(line);
	fclose(file);
	return found && ticks_per_s > 0 ? ticks * (LULL_NS_PER_S / (uint64_t)ticks_per_s) : 0;
}
