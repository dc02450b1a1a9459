/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include <lull/rest.h>

uint64_t
lull_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}
