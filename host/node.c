/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <dirent.h>
#include <stdio.h>

int
lull_cpu_node_below(const char *folder, int cpu)
{
	const struct dirent *entry;
	char path[256];
	int node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
	dir = opendir(path);
	while (dir != NULL && node < 0 && (entry = readdir(dir)) != NULL)
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			node = -1;
	if (dir != NULL)
		closedir(dir);
	return node;
}

int
lull_cpu_node(int cpu)
{
	return lull_cpu_node_below("/sys/devices/system/cpu", cpu);
}
