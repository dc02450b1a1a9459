/* SPDX-License-Identifier: BSD-3-Clause */
/* host/cpu_latency.c on a folder of its own that looks like /sys/devices/system/cpu. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"
#include "cpu_latency.h"
#include "sched_class.h"

#define US LULL_NS_PER_US
#define CPUS 4
#define AUTO(us)                                                                                   \
	(&(struct cpu_latency_wish){ .limit_ns = LULL_CPU_LATENCY_AUTO, .latency_ns = (us)*US })

static const struct cpu_state states[] = {
	{ "POLL", 0, 0, false },
	{ "C1", 2, 2, false },
	{ "C1E", 10, 20, false },
	{ "C6", 133, 600, false },
};
#define STATES (sizeof(states) / sizeof(states[0]))

static char folder[64];

/* ---- a folder ---- */

static void
folder_write(const char *name, const char *value)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%s\n", value);
	fclose(file);
}

static void
folder_number(int cpu, uint32_t state, const char *name, uint64_t number)
{
	char path[128], value[32];

	snprintf(path, sizeof(path), "cpu%d/cpuidle/state%u/%s", cpu, state, name);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	folder_write(path, value);
}

static void
limit_set(int cpu, const char *value)
{
	char name[64];

	snprintf(name, sizeof(name), "cpu%d/power/pm_qos_resume_latency_us", cpu);
	folder_write(name, value);
}

static const char *
limit_of(int cpu)
{
	static char value[32];
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpu%d/power/pm_qos_resume_latency_us", folder, cpu);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(value, sizeof(value), file));
	fclose(file);
	value[strcspn(value, "\n")] = '\0';
	return value;
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/lull-cpu-latency-XXXXXX");
	assert_non_null(mkdtemp(folder));
	for (int cpu = 0; cpu < CPUS; cpu++) {
		limit_set(cpu, "0");
		for (uint32_t i = 0; i < STATES; i++) {
			char name[64];

			snprintf(name, sizeof(name), "cpu%d/cpuidle/state%u/name", cpu, i);
			folder_write(name, states[i].name);
			folder_number(cpu, i, "latency", states[i].exit_us);
			folder_number(cpu, i, "residency", states[i].residency_us);
			folder_number(cpu, i, "disable", 0);
		}
	}
	cpu_latency_use(folder);
	return 0;
}

static int
tear_down(void **state)
{
	char command[128];

	(void)state;
	cpu_latency_use(NULL);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* ---- the rule ---- */

TEST(choose__what_fits_the_room)
{
	struct cpu_state some[STATES];

	/* the rest that pays for a C-state, and the way out of it */
	assert_int_equal(cpu_latency_choose(states, STATES, 733 * US), 0);
	assert_int_equal(cpu_latency_choose(states, STATES, 733 * US - 1), 10);
	assert_int_equal(cpu_latency_choose(states, STATES, 30 * US), 10);
	assert_int_equal(cpu_latency_choose(states, STATES, 30 * US - 1), 2);
	/* a CPU that may not idle saves nothing: the lightest stays */
	assert_int_equal(cpu_latency_choose(states, STATES, 1), 2);
	/* one that is turned off does no harm */
	memcpy(some, states, sizeof(some));
	some[3].disabled = true;
	assert_int_equal(cpu_latency_choose(some, STATES, 30 * US), 0);
	assert_int_equal(cpu_latency_choose(some, STATES, 30 * US - 1), 2);
	assert_int_equal(cpu_latency_choose(states, 0, 1), 0);
	assert_int_equal(cpu_latency_choose(states, 1, 1), 0);
}

/* ---- holding ---- */

TEST_WITH(hold__until_the_release, set_up, tear_down)
{
	struct cpu_latency holder = { .cpu = -1 };
	char text[256];

	cpu_latency_hold(&holder, 1, AUTO(200));
	assert_string_equal(limit_of(1), "10");
	assert_string_equal(limit_of(0), "0");
	assert_int_equal(holder.status, CPU_LATENCY_HELD);
	assert_string_equal(cpu_latency_explain(&holder, text, sizeof(text)),
			    "CPU 1 uses no C-state that takes more than 10 us to leave, for this "
			    "objective");
	/* another objective, while it runs */
	cpu_latency_hold(&holder, 1, AUTO(20));
	assert_string_equal(limit_of(1), "2");
	cpu_latency_hold(&holder, 1, AUTO(1000));
	assert_string_equal(limit_of(1), "0");
	assert_int_equal(holder.status, CPU_LATENCY_UNNEEDED);
	cpu_latency_hold(&holder, 1, AUTO(200));
	assert_string_equal(limit_of(1), "10");
	cpu_latency_release(&holder);
	assert_string_equal(limit_of(1), "0");
	assert_int_equal(holder.status, CPU_LATENCY_OFF);
	assert_string_equal(cpu_latency_explain(&holder, text, sizeof(text)), "");
	cpu_latency_release(&holder);
}

/* 200 us leave 181.8; and a ring may leave less. */
TEST_WITH(hold__what_the_objective_leaves, set_up, tear_down)
{
	struct cpu_latency_wish wish = { .limit_ns = LULL_CPU_LATENCY_AUTO };
	struct cpu_latency holder = { .cpu = -1 };

	wish.latency_ns = 33 * US; /* less an eleventh: 30 us */
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "10");
	wish.latency_ns = 33 * US - 11;
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "2");
	wish.latency_ns = 200 * US;
	wish.ring_ns = 29 * US;
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "2");
	wish.limit_ns = 77 * US + 999; /* stated: as it is, in whole us */
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "77");
	wish.limit_ns = 1;
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "1"); /* 0 would be none */
	wish.limit_ns = 0;
	cpu_latency_hold(&holder, 1, &wish);
	assert_string_equal(limit_of(1), "0");
	assert_int_equal(holder.status, CPU_LATENCY_OFF);
}

TEST_WITH(hold__the_strictest_of_several, set_up, tear_down)
{
	struct cpu_latency one = { .cpu = -1 }, two = { .cpu = -1 }, three = { .cpu = -1 };

	limit_set(2, "500");
	cpu_latency_hold(&one, 2, AUTO(200));
	cpu_latency_hold(&two, 2, AUTO(20));
	cpu_latency_hold(&three, 2, AUTO(1000));
	assert_string_equal(limit_of(2), "2");
	cpu_latency_release(&one);
	assert_string_equal(limit_of(2), "2");
	cpu_latency_hold(&one, 2, AUTO(200));
	cpu_latency_release(&two);
	assert_string_equal(limit_of(2), "10");
	cpu_latency_release(&one);
	assert_string_equal(limit_of(2), "500"); /* three fits with each */
	cpu_latency_release(&three);
	assert_string_equal(limit_of(2), "500");
}

TEST_WITH(hold__a_stricter_one_stays, set_up, tear_down)
{
	static const char *const strict[] = { "1", "10", "n/a" };
	struct cpu_latency holder = { .cpu = -1 };

	for (int i = 0; i < 3; i++) {
		limit_set(1, strict[i]);
		cpu_latency_hold(&holder, 1, AUTO(200));
		assert_string_equal(limit_of(1), strict[i]);
		assert_int_equal(holder.status, CPU_LATENCY_STRICTER);
		cpu_latency_release(&holder);
		assert_string_equal(limit_of(1), strict[i]);
	}
}

/* Ours was between: what was found is in the way of no looser wish, and comes back. */
TEST_WITH(hold__between_two_values, set_up, tear_down)
{
	struct cpu_latency holder = { .cpu = -1 };

	limit_set(1, "5");
	cpu_latency_hold(&holder, 1, AUTO(20));
	assert_string_equal(limit_of(1), "2");
	cpu_latency_hold(&holder, 1, AUTO(200)); /* 10 would loosen what was found */
	assert_string_equal(limit_of(1), "5");
	assert_int_equal(holder.status, CPU_LATENCY_STRICTER);
	cpu_latency_release(&holder);
	assert_string_equal(limit_of(1), "5");
}

TEST_WITH(hold__what_somebody_else_writes_is_theirs, set_up, tear_down)
{
	struct cpu_latency one = { .cpu = -1 }, two = { .cpu = -1 };
	char text[256];

	cpu_latency_hold(&one, 1, AUTO(200));
	limit_set(1, "33");
	cpu_latency_release(&one);
	assert_string_equal(limit_of(1), "33");

	limit_set(1, "0");
	cpu_latency_hold(&one, 1, AUTO(200));
	limit_set(1, "44");
	cpu_latency_hold(&two, 1, AUTO(20)); /* and nobody writes again */
	assert_string_equal(limit_of(1), "44");
	assert_int_equal(one.status, CPU_LATENCY_TAKEN);
	assert_non_null(strstr(cpu_latency_explain(&two, text, sizeof(text)), "somebody else"));
	cpu_latency_release(&one);
	cpu_latency_release(&two);
	assert_string_equal(limit_of(1), "44");
	/* until all have left */
	cpu_latency_hold(&one, 1, AUTO(200));
	assert_string_equal(limit_of(1), "10");
	cpu_latency_release(&one);
	assert_string_equal(limit_of(1), "44");
}

TEST_WITH(hold__moves, set_up, tear_down)
{
	struct cpu_latency holder = { .cpu = -1 };

	cpu_latency_hold(&holder, 1, AUTO(200));
	cpu_latency_hold(&holder, 3, AUTO(200));
	assert_string_equal(limit_of(1), "0");
	assert_string_equal(limit_of(3), "10");
	cpu_latency_hold(&holder, -1, AUTO(200));
	assert_string_equal(limit_of(3), "0");
	assert_int_equal(holder.status, CPU_LATENCY_UNBOUND);
	cpu_latency_hold(&holder, 3, AUTO(200));
	assert_string_equal(limit_of(3), "10");
	cpu_latency_release(&holder);
}

TEST_WITH(hold__tells_what_is_not_available, set_up, tear_down)
{
	struct cpu_latency holder = { .cpu = -1 };
	char text[256], path[256];

	/* no such CPU */
	cpu_latency_hold(&holder, 77, AUTO(200));
	assert_int_equal(holder.status, CPU_LATENCY_NO_STATES);
	assert_non_null(strstr(cpu_latency_explain(&holder, text, sizeof(text)), "tells of none"));
	cpu_latency_release(&holder);
	/* no file */
	snprintf(path, sizeof(path), "%s/cpu1/power/pm_qos_resume_latency_us", folder);
	unlink(path);
	cpu_latency_hold(&holder, 1, AUTO(200));
	assert_int_equal(holder.status, CPU_LATENCY_REFUSED);
	assert_int_equal(holder.refused, ENOENT);
	assert_non_null(strstr(cpu_latency_explain(&holder, text, sizeof(text)),
			       "is not available: No such file"));
	cpu_latency_release(&holder);
	assert_int_equal(access(path, F_OK), -1);
	/* one that cannot be written: not even root writes into a folder */
	assert_int_equal(mkdir(path, 0755), 0);
	cpu_latency_hold(&holder, 1, AUTO(200));
	assert_int_equal(holder.status, CPU_LATENCY_REFUSED);
	assert_int_equal(holder.refused, EISDIR);
	cpu_latency_release(&holder);
}

/* ---- the end of a process ---- */

static int
child_status(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

TEST_WITH(end__gives_back_at_exit, set_up, tear_down)
{
	static struct cpu_latency holder = { .cpu = -1 };
	pid_t child = fork();

	if (child == 0) {
		cpu_latency_hold(&holder, 1, AUTO(200));
		if (strcmp(limit_of(1), "10") != 0)
			_exit(1);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_string_equal(limit_of(1), "0");
	/* killed, it leaves it */
	child = fork();
	if (child == 0) {
		cpu_latency_hold(&holder, 1, AUTO(200));
		kill(getpid(), SIGKILL);
	}
	assert_true(WIFSIGNALED(child_status(child)));
	assert_string_equal(limit_of(1), "10");
}

/* A child has no threads, and gives back nothing of its parent's. */
TEST_WITH(end__of_a_child_is_not_ours, set_up, tear_down)
{
	struct cpu_latency holder = { .cpu = -1 };
	pid_t child;

	cpu_latency_hold(&holder, 1, AUTO(200));
	child = fork();
	if (child == 0) {
		cpu_latency_release(&holder);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_string_equal(limit_of(1), "10");
	cpu_latency_release(&holder);
	assert_string_equal(limit_of(1), "0");
}

/* ---- as part of a thread that rests ---- */

static void
bind_to(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

TEST_WITH(thread__from_enter_to_leave, set_up, tear_down)
{
	static uint64_t rests;
	struct lull_rest_thread_config config = { .policy = LULL_SCHED_OTHER,
						  .latency_ns = 200 * US,
						  .cpu_latency_ns = LULL_CPU_LATENCY_AUTO,
						  .rests = &rests };
	struct lull_rest_thread_info info;
	struct lull_rest_thread *thread;
	cpu_set_t all;
	char text[256];

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(lull_rest_thread_create(NULL, &config, &thread), 0);
	if (CPU_COUNT(&all) > 1) {
		assert_int_equal(lull_rest_thread_enter(thread, 0), 0);
		assert_non_null(strstr(lull_rest_thread_explain_cpu(thread, text, sizeof(text)),
				       "several CPUs"));
		lull_rest_thread_leave(thread);
	}
	bind_to(0);
	assert_int_equal(lull_rest_thread_enter(thread, 0), 0);
	assert_string_equal(limit_of(0), "10");
	lull_rest_thread_info(thread, &info);
	assert_int_equal(info.cpu_latency_ns, 10 * US);
	config.latency_ns = 20 * US;
	lull_rest_thread_change(thread, &config);
	assert_string_equal(limit_of(0), "2");
	config.cpu_latency_ns = 0;
	lull_rest_thread_change(thread, &config);
	assert_string_equal(limit_of(0), "0");
	config.cpu_latency_ns = LULL_CPU_LATENCY_AUTO;
	lull_rest_thread_change(thread, &config);
	assert_string_equal(limit_of(0), "2");
	if (CPU_ISSET(1, &all)) {
		sched_class_follow(thread);
		assert_string_equal(limit_of(0), "2");
		bind_to(1);
		sched_class_follow(thread);
		assert_string_equal(limit_of(0), "0");
		assert_string_equal(limit_of(1), "2");
	}
	lull_rest_thread_destroy(thread);
	assert_string_equal(limit_of(0), "0");
	assert_string_equal(limit_of(1), "0");
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

TEST_GROUP(NULL, NULL);
