/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_interrupts.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_cpu.h"

#define PATH_SIZE 512
#define LINE_SIZE 256

/* "0-3,8" and a line's end; false: this is no such list. */
static bool
list_read(const char *text, cpu_set_t *cpus)
{
	while (*text != '\0' && *text != '\n') {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text || first < 0)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
			if (end == text || last < first)
				return false;
		}
		for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET((size_t)cpu, cpus);
		text = *end == ',' ? end + 1 : end;
		if (*end != ',' && *end != '\0' && *end != '\n')
			return false;
	}
	return true;
}

static bool
interrupt_read(const char *root, int number, const char *file, cpu_set_t *cpus)
{
	char path[PATH_SIZE], line[LINE_SIZE] = "";
	bool there = false;
	FILE *list;

	snprintf(path, sizeof(path), "%s/proc/irq/%d/%s", root, number, file);
	list = fopen(path, "re");
	if (list == NULL)
		return false;
	if (fgets(line, sizeof(line), list) != NULL && line[0] != '\n')
		there = list_read(line, cpus);
	fclose(list);
	return there;
}

static uint32_t
folder_read(const char *root, const char *folder, cpu_set_t *cpus)
{
	const struct dirent *entry;
	uint32_t count = 0;
	DIR *dir = opendir(folder);

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int number = atoi(entry->d_name);

		/* Where they come to now; older kernels tell only where they may. */
		if (number > 0 && (interrupt_read(root, number, "effective_affinity_list", cpus) ||
				   interrupt_read(root, number, "smp_affinity_list", cpus)))
			count++;
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

uint32_t
check_interrupts_cpus(const char *root, const char *interface, cpu_set_t *cpus)
{
	char path[PATH_SIZE];
	uint32_t count;

	CPU_ZERO(cpus);
	snprintf(path, sizeof(path), "%s/sys/class/net/%.15s/device/msi_irqs", root, interface);
	count = folder_read(root, path, cpus);
	if (count > 0)
		return count;
	/* virtio: the device of the interface is below the one that has them. */
	snprintf(path, sizeof(path), "%s/sys/class/net/%.15s/device/../msi_irqs", root, interface);
	return folder_read(root, path, cpus);
}

void
check_interrupts(const char *root, const char *interface, const char *subject, int polling_cpu,
		 struct lull_findings *findings)
{
	cpu_set_t cpus;
	char name[32];
	int cpu = 0;

	if (check_interrupts_cpus(root, interface, &cpus) == 0 || CPU_COUNT(&cpus) != 1)
		return;
	while (!CPU_ISSET((size_t)cpu, &cpus))
		cpu++;
	if (cpu == polling_cpu)
		lull_finding_add(findings, "interrupts", LULL_GRADE_NOTE,
				 "%.80s: they come to CPU %d, on which the thread polls", subject,
				 cpu);
	else if (check_cpu_shared(cpu, 0, name, sizeof(name)))
		lull_finding_add(findings, "interrupts", LULL_GRADE_NOTE,
				 "%.80s: they come to CPU %d alone, which %s uses all the time",
				 subject, cpu, name);
	else
		return;
	lull_finding_remedy(findings,
			    "spread them (ethtool -L %.15s combined N, irqbalance), or write "
			    "another CPU to /proc/irq/N/smp_affinity_list",
			    interface);
}
