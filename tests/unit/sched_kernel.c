/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched_kernel.h"

#include <errno.h>
#include <string.h>

#include <lull/base.h>

struct sched_kernel kernel;

void
sched_kernel_init(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.priority_max = 99;
	for (int i = 0; i < THREADS; i++) {
		kernel.threads[i].attributes.size = sizeof(struct sched_attributes);
		kernel.threads[i].attributes.nice = 5;
		kernel.threads[i].cpu_ns = LULL_NS_PER_MS;
	}
}

static int
fake_get(int tid, struct sched_attributes *attributes)
{
	if (tid < TID || tid >= TID + THREADS)
		return -ESRCH;
	*attributes = kernel.threads[tid - TID].attributes;
	return 0;
}

static int
fake_set(int tid, const struct sched_attributes *attributes)
{
	struct sched_attributes *now = &kernel.threads[tid - TID].attributes;

	kernel.sets++;
	if (kernel.set_rc[attributes->policy] != 0)
		return kernel.set_rc[attributes->policy];
	if (kernel.sticky && (now->flags & 1) != 0 && (attributes->flags & 1) == 0)
		return -EPERM;
	*now = *attributes;
	return 0;
}

static uint64_t
fake_cpu_ns(int tid)
{
	kernel.looks++;
	return kernel.threads[tid - TID].cpu_ns;
}

static uint64_t
fake_wait_ns(int tid)
{
	(void)tid;
	return 0;
}

static int
fake_limit(void)
{
	return kernel.limit;
}

static int
fake_watch_start(int priority)
{
	kernel.starts++;
	if (priority > kernel.priority_max)
		return -EPERM;
	kernel.watch_priority = priority;
	return 0;
}

static void
fake_watch_stop(void)
{
	kernel.stops++;
	kernel.watch_priority = 0;
}

static void
fake_watch_kick(void)
{
}

static bool
fake_asleep(int tid)
{
	(void)tid;
	return false;
}

const struct sched_calls sched_kernel_calls = {
	.get = fake_get,
	.set = fake_set,
	.cpu_ns = fake_cpu_ns,
	.wait_ns = fake_wait_ns,
	.asleep = fake_asleep,
	.priority_limit = fake_limit,
	.watch_start = fake_watch_start,
	.watch_stop = fake_watch_stop,
	.watch_kick = fake_watch_kick,
};
