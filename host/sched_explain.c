/* SPDX-License-Identifier: BSD-3-Clause */
/* The class of a thread in words, and whom it may keep from their only CPU. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched_class.h"

#define NAME_SIZE 16

static const char *const policy_names[LULL_SCHED_POLICY_COUNT] = {
	[LULL_SCHED_AUTO] = "auto",
	[LULL_SCHED_OTHER] = "other",
	[LULL_SCHED_FIFO] = "fifo",
	[LULL_SCHED_DEADLINE] = "deadline",
};

const char *
lull_sched_policy_name(enum lull_sched_policy policy)
{
	return policy < LULL_SCHED_POLICY_COUNT ? policy_names[policy] : "?";
}

const char *
sched_class_name(uint32_t class_policy)
{
	switch (class_policy) {
	case SCHED_FIFO:
		return "fifo";
	case SCHED_RR:
		return "rr";
	case SCHED_BATCH:
		return "batch";
	case SCHED_IDLE:
		return "idle";
	case SCHED_DEADLINE:
		return "deadline";
	default:
		return "other";
	}
}

static void __attribute__((format(printf, 3, 4)))
explain_add(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

/* ---- other threads of this program ---- */

static void
mate_name(int tid, char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	snprintf(name, NAME_SIZE, "%d", tid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(name, NAME_SIZE, file) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/*
 * An ordinary thread that can run on no other CPU than the real-time one: whatever the two share, a
 * lock for one, the other may wait for in vain until the watch sees it.
 */
static int
mate_find(int tid, int cpu)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	int found = 0;

	while (tasks != NULL && found == 0 && (task = readdir(tasks)) != NULL) {
		int other = atoi(task->d_name);
		int class_policy = other > 0 && other != tid ? sched_getscheduler(other) : -1;

		if (class_policy >= 0 && (class_policy & ~SCHED_RESET_ON_FORK) == SCHED_OTHER &&
		    sched_only_cpu(other) == cpu)
			found = other;
	}
	if (tasks != NULL)
		closedir(tasks);
	return found;
}

static void
explain_mate(int tid, char *text, size_t size)
{
	int cpu = sched_only_cpu(tid), mate = cpu < 0 ? 0 : mate_find(tid, cpu);
	char name[NAME_SIZE];

	if (mate == 0)
		return;
	mate_name(mate, name);
	explain_add(text, size,
		    "; thread %s of this program can run only on CPU %d, and only while this loop "
		    "rests",
		    name, cpu);
}

/* ---- the sentence ---- */

static void
explain_refused(const struct lull_rest_thread *thread, char *text, size_t size)
{
	bool deadline = thread->config.policy == LULL_SCHED_DEADLINE;

	explain_add(text, size, "runs in the ordinary class: ");
	if (thread->no_rights && thread->refused == EPERM)
		explain_add(text, size, "a real-time class needs CAP_SYS_NICE or LimitRTPRIO=%d",
			    SCHED_WATCH_PRIORITY);
	else if (deadline && thread->refused == EPERM)
		explain_add(text, size,
			    "the kernel refuses deadline to a pinned thread outside an exclusive "
			    "cpuset; use fifo");
	else if (deadline && thread->refused == EBUSY)
		explain_add(text, size,
			    "the kernel has no bandwidth left for another deadline thread");
	else
		explain_add(text, size, "the kernel refuses %s: %s",
			    lull_sched_policy_name(thread->config.policy),
			    strerror(thread->refused));
	explain_add(text, size, "; beside other programs the latency objective will not hold");
}

char *
lull_rest_thread_explain(const struct lull_rest_thread *thread, char *text, size_t size)
{
	struct lull_rest_thread copy;
	uint32_t class_policy;

	if (size == 0)
		return text;
	text[0] = '\0';
	sched_class_copy(thread, &copy, &class_policy);
	if (copy.config.policy == LULL_SCHED_OTHER || copy.tid == 0)
		return text;
	if (copy.refused != 0) {
		explain_refused(&copy, text, size);
	} else if (!copy.rule.inside) {
		explain_add(text, size,
			    "runs in the ordinary class for now: it does not rest enough for a "
			    "real-time class");
	} else if (copy.config.policy == LULL_SCHED_DEADLINE) {
		explain_add(text, size, "runs in class deadline, up to %u %% of its CPU",
			    copy.budget_ppm / 10000);
		explain_mate(copy.tid, text, size);
	} else {
		explain_add(text, size, "runs in class fifo at priority %u", copy.priority);
		explain_mate(copy.tid, text, size);
	}
	return text;
}

char *
lull_rest_thread_explain_cpu(const struct lull_rest_thread *thread, char *text, size_t size)
{
	return cpu_latency_explain(thread->cpu_latency, text, size);
}
