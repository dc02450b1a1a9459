/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "result.h"

/* What stands after the colon of the first line of /proc/cpuinfo that begins with @p key. */
static char *
machine_cpuinfo(const char *key)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *found = NULL, *value;
	size_t size = 0;

	if (file == NULL)
		return NULL;
	while (found == NULL && getline(&line, &size, file) > 0) {
		value = strchr(line, ':');
		if (strncmp(line, key, strlen(key)) != 0 || value == NULL)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		found = strdup(value);
	}
	free(line);
	fclose(file);
	return found;
}

static bool
machine_is_guest(void)
{
	char *flags = machine_cpuinfo("flags");
	bool guest = flags != NULL && strstr(flags, " hypervisor") != NULL;

	free(flags);
	return guest;
}

json_t *
lull_result_machine(const char *dpdk)
{
	char *model = machine_cpuinfo("model name");
	json_t *machine = json_object();
	struct utsname name;

	json_object_set_new(machine, "cpu_model",
			    model != NULL ? lull_result_text(model) : json_null());
	json_object_set_new(machine, "cpus",
			    lull_result_count((uint64_t)sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(machine, "hypervisor", json_boolean(machine_is_guest()));
	if (uname(&name) == 0) {
		json_object_set_new(machine, "kernel", lull_result_text(name.release));
		json_object_set_new(machine, "architecture", lull_result_text(name.machine));
		json_object_set_new(machine, "host", lull_result_text(name.nodename));
	}
	json_object_set_new(machine, "dpdk", lull_result_text(dpdk));
	free(model);
	return machine;
}
