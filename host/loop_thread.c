/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop_thread.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

void *
lull_loop_memory(void)
{
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);

	return aligned_alloc(LULL_CACHE_LINE, size);
}

static int
thread_pin(int cpu, pthread_attr_t *attr, struct lull_error *error)
{
	cpu_set_t wanted, allowed;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
	    !CPU_ISSET((unsigned int)cpu, &allowed))
		return lull_error_set(error, -EINVAL, "cpu: %d is not available to this process",
				      cpu);
	CPU_ZERO(&wanted);
	CPU_SET((unsigned int)cpu, &wanted);
	return -pthread_attr_setaffinity_np(attr, sizeof(wanted), &wanted);
}

int
lull_loop_thread_create(pthread_t *thread, const struct lull_loop *loop, void *(*run)(void *),
			void *arg, struct lull_error *error)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	rc = thread_pin(loop->cpu, &attr, error);
	if (rc == 0) {
		rc = -pthread_create(thread, &attr, run, arg);
		if (rc != 0)
			lull_error_set(error, rc, "no thread: %s", strerror(-rc));
		else
			pthread_setname_np(*thread, loop->thread);
	}
	pthread_attr_destroy(&attr);
	return rc;
}
