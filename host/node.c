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

bool
lull_node_text(const char *loop, int cpu, int cpu_node, const char *port, int port_node, char *text,
	       size_t size)
{
	if (cpu_node < 0 || port_node < 0 || cpu_node == port_node)
		return false;
	snprintf(text, size,
		 "%s on CPU %d (node %d) polls port %s of node %d: each packet crosses between "
		 "the nodes; choose a CPU of node %d",
		 loop, cpu, cpu_node, port, port_node, port_node);
	return true;
}
