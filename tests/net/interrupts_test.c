/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs take the interrupts of an interface, by a copy of /proc and /sys made here. */
#include "net/check_interrupts.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/finding.h>

#include "case.h"

static char root[64];

/* A file and the folders above it. */
static void
give(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int
begin(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/lull-interrupts-XXXXXX");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
end(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void
cpus_are(const char *interface, uint32_t interrupts, const char *wanted)
{
	cpu_set_t cpus;
	char seen[128] = "";

	assert_int_equal(check_interrupts_cpus(root, interface, &cpus), interrupts);
	for (unsigned int cpu = 0; cpu < 64; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%u ", cpu);
	assert_string_equal(seen, wanted);
}

TEST_WITH(interrupts_cpus__are_those_of_all_queues, begin, end)
{
	give("sys/class/net/eth1/device/msi_irqs/24", "msix\n");
	give("sys/class/net/eth1/device/msi_irqs/25", "msix\n");
	give("proc/irq/24/smp_affinity_list", "0-3\n");
	give("proc/irq/24/effective_affinity_list", "2\n");
	give("proc/irq/25/smp_affinity_list", "5,8-9\n"); /* an older kernel tells no more */
	cpus_are("eth1", 2, "2 5 8 9 ");
	cpus_are("eth2", 0, ""); /* nothing is known of it */
}

TEST_WITH(interrupts_cpus__of_virtio_are_those_of_its_device, begin, end)
{
	char link[128];

	give("sys/devices/pci0/msi_irqs/30", "msix\n");
	give("sys/devices/pci0/virtio0/vendor", "0\n");
	give("sys/class/net/eth0/mtu", "1500\n");
	snprintf(link, sizeof(link), "%s/sys/class/net/eth0/device", root);
	assert_int_equal(symlink("../../../devices/pci0/virtio0", link), 0);
	give("proc/irq/30/effective_affinity_list", "1\n");
	cpus_are("eth0", 1, "1 ");
}

TEST_WITH(interrupts_cpus__leaves_out_what_is_no_list, begin, end)
{
	give("sys/class/net/eth1/device/msi_irqs/24", "msix\n");
	give("sys/class/net/eth1/device/msi_irqs/none", "msix\n");
	give("proc/irq/24/effective_affinity_list", "\n"); /* of one that is not started */
	give("proc/irq/24/smp_affinity_list", "x-3\n");
	cpus_are("eth1", 0, "");
	give("proc/irq/24/smp_affinity_list", "3-1\n");
	cpus_are("eth1", 0, "");
	give("proc/irq/24/smp_affinity_list", "1;2\n");
	assert_int_equal(check_interrupts_cpus(root, "eth1", &(cpu_set_t){ 0 }), 0);
}

static struct lull_finding line;

static uint32_t
findings(int polling_cpu)
{
	struct lull_findings found = { .lines = &line, .count_max = 1 };

	memset(&line, 0, sizeof(line));
	check_interrupts(root, "eth1", "kernel:eth1", polling_cpu, &found);
	return found.count;
}

TEST_WITH(interrupts__on_the_cpu_that_polls_are_named, begin, end)
{
	give("sys/class/net/eth1/device/msi_irqs/24", "msix\n");
	give("proc/irq/24/effective_affinity_list", "63\n"); /* one that nobody uses */
	assert_int_equal(findings(62), 0);
	assert_int_equal(findings(-1), 0);
	assert_int_equal(findings(63), 1);
	assert_string_equal(line.subject, "interrupts");
	assert_int_equal(line.grade, LULL_GRADE_NOTE);
	assert_non_null(strstr(line.text, "kernel:eth1: they come to CPU 63, on which the thread"));
	assert_non_null(strstr(line.remedy, "ethtool -L eth1"));
	give("proc/irq/24/effective_affinity_list", "62-63\n"); /* spread */
	assert_int_equal(findings(63), 0);
}

static void *
spin(void *over)
{
	while (!atomic_load((atomic_bool *)over))
		;
	return NULL;
}

TEST_WITH(interrupts__on_a_busy_cpu_are_named, begin, end)
{
	int cpu = sched_getcpu();
	atomic_bool over = false;
	pthread_t thread;
	cpu_set_t wanted;
	char list[16];
	uint32_t count;

	snprintf(list, sizeof(list), "%d\n", cpu);
	give("sys/class/net/eth1/device/msi_irqs/24", "msix\n");
	give("proc/irq/24/effective_affinity_list", list);
	assert_int_equal(pthread_create(&thread, NULL, spin, &over), 0);
	CPU_ZERO(&wanted);
	CPU_SET((unsigned int)cpu, &wanted);
	assert_int_equal(pthread_setaffinity_np(thread, sizeof(wanted), &wanted), 0);
	count = findings(-1);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	assert_int_equal(count, 1);
	assert_non_null(strstr(line.text, "alone, which "));
}
