/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include <lull/rest.h>

/* How the kernel names a thread's CPU clock: ~tid << 3 | of one thread (4) | scheduler time (2). */
#define CLOCK_OF_THREAD(tid) ((clockid_t)((~(unsigned int)(tid) << 3) | 6u))

int
lull_rest_thread_slack(uint64_t slack_ns)
{
	return prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns, 0UL, 0UL, 0UL) == 0 ? 0 : -errno;
}

int
lull_rest_thread_init(void)
{
	return lull_rest_thread_slack(1);
}

uint64_t
lull_thread_cpu_ns(int tid)
{
	struct timespec used;

	if (tid <= 0 || clock_gettime(CLOCK_OF_THREAD(tid), &used) != 0)
		return 0;
	return (uint64_t)used.tv_sec * LULL_NS_PER_S + (uint64_t)used.tv_nsec;
}
