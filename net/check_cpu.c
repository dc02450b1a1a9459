/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_cpu.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS 6
#define LOOKS_SHARED 5 /* a thread that comes and goes is not meant */
#define LOOK_US 10000
#define LINE_SIZE 512
#define FIELDS_TO_CPU 36 /* from the state to the CPU */

/* "123 (its name) R ... CPU ...": runs, or waits to run there? */
static bool
cpu_wanted(const char *line, int cpu, char *name, size_t name_size)
{
	const char *begin = strchr(line, '('), *end = strrchr(line, ')');

	if (begin == NULL || end == NULL || strlen(end) < 3 || end[2] != 'R')
		return false;
	line = end + 2;
	for (uint32_t i = 0; i < FIELDS_TO_CPU && line != NULL; i++) {
		line = strchr(line, ' ');
		line = line == NULL ? NULL : line + 1;
	}
	if (line == NULL || atoi(line) != cpu)
		return false;
	snprintf(name, name_size, "%.*s", (int)(end - begin - 1), begin + 1);
	return true;
}

static bool
cpu_look_thread(const char *path, int cpu, char *name, size_t name_size)
{
	char line[LINE_SIZE] = "";
	FILE *file = fopen(path, "re");
	bool wanted = false;

	if (file == NULL)
		return false; /* it has ended */
	if (fgets(line, sizeof(line), file) != NULL)
		wanted = cpu_wanted(line, cpu, name, name_size);
	fclose(file);
	return wanted;
}

static bool
cpu_look_process(const char *process, int cpu, pid_t skipped, char *name, size_t name_size)
{
	char path[96];
	struct dirent *entry;
	bool wanted = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%.20s/task", process);
	tasks = opendir(path);
	while (tasks != NULL && !wanted && (entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid == 0 || tid == skipped || tid == gettid())
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task/%d/stat", process, tid);
		wanted = cpu_look_thread(path, cpu, name, name_size);
	}
	if (tasks != NULL)
		closedir(tasks);
	return wanted;
}

static bool
cpu_look(int cpu, pid_t skipped, char *name, size_t name_size)
{
	struct dirent *entry;
	bool wanted = false;
	DIR *processes = opendir("/proc");

	while (processes != NULL && !wanted && (entry = readdir(processes)) != NULL)
		if (atoi(entry->d_name) != 0)
			wanted = cpu_look_process(entry->d_name, cpu, skipped, name, name_size);
	if (processes != NULL)
		closedir(processes);
	return wanted;
}

bool
check_cpu_shared(int cpu, pid_t skipped, char *name, size_t name_size)
{
	uint32_t wanted = 0;

	name[0] = '\0';
	for (uint32_t i = 0; i < LOOKS; i++) {
		/* Two in vain are enough to know. */
		if (wanted + 1 < i)
			return false;
		if (i > 0)
			usleep(LOOK_US);
		wanted += cpu_look(cpu, skipped, name, name_size);
	}
	return wanted >= LOOKS_SHARED;
}

void
check_cpu_near(int cpu, int cpu_node, int device_node, struct lull_findings *findings)
{
	if (cpu_node < 0 || device_node < 0 || cpu_node == device_node)
		return;
	lull_finding_add(findings, "node", LULL_GRADE_NOTE,
			 "CPU %d is on node %d, the device on node %d: packets cross between the "
			 "nodes",
			 cpu, cpu_node, device_node);
	lull_finding_remedy(findings, "set cpu to one of node %d (lscpu lists them)", device_node);
}
