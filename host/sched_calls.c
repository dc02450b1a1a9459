/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lull/rest.h>

#include "sched_watch.h"

static int
calls_get(int tid, struct sched_attributes *attributes)
{
	long rc =
		syscall(SYS_sched_getattr, tid, attributes, (unsigned int)sizeof(*attributes), 0u);

	return rc == 0 ? 0 : -errno;
}

static int
calls_set(int tid, const struct sched_attributes *attributes)
{
	return syscall(SYS_sched_setattr, tid, attributes, 0u) == 0 ? 0 : -errno;
}

/* No stdio: the watch must not wait for anybody's heap. Returns false when there is no file. */
static bool
calls_read(int tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	length = read(file, text, size - 1);
	close(file);
	text[LULL_MAX(length, 0)] = '\0';
	return length > 0;
}

/* "CPU WAIT SLICES", all decimal. */
static uint64_t
calls_wait_ns(int tid)
{
	char text[96], *second;

	if (!calls_read(tid, "schedstat", text, sizeof(text)))
		return 0;
	strtoull(text, &second, 10);
	return strtoull(second, NULL, 10);
}

/* "TID (NAME) S ...": the time that it waits is told only when that is over, this at once. */
static bool
calls_asleep(int tid)
{
	const char *state;
	char text[96];

	if (!calls_read(tid, "stat", text, sizeof(text)))
		return false;
	state = strrchr(text, ')');
	return state != NULL && (strncmp(state, ") S", 3) == 0 || strncmp(state, ") D", 3) == 0);
}

static int
calls_priority_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTPRIO, &limit) != 0)
		return 0;
	return (int)LULL_MIN(limit.rlim_cur, (rlim_t)99);
}

const struct sched_calls sched_calls_real = {
	.get = calls_get,
	.set = calls_set,
	.cpu_ns = lull_thread_cpu_ns,
	.wait_ns = calls_wait_ns,
	.asleep = calls_asleep,
	.priority_limit = calls_priority_limit,
	.watch_start = sched_watch_start,
	.watch_stop = sched_watch_stop,
	.watch_kick = sched_watch_kick,
};
