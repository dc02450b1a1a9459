/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "model.h"

static int
sleep_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
sleep_block(void *context, uint64_t limit_ns)
{
	(void)context;
	rte_delay_us_block((unsigned int)(limit_ns / LULL_NS_PER_US));
	return LULL_WAKE_TIMER;
}

static enum lull_wake_reason
sleep_usleep(void *context, uint64_t limit_ns)
{
	(void)context;
	return usleep((useconds_t)(limit_ns / LULL_NS_PER_US)) == 0 ? LULL_WAKE_TIMER :
								      LULL_WAKE_KICK;
}

/* A governor cannot ask for 0: 1 ns stands for it. */
static enum lull_wake_reason
sleep_nanosleep(void *context, uint64_t limit_ns)
{
	struct timespec limit = {
		.tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
		.tv_nsec = (long)(limit_ns % LULL_NS_PER_S),
	};

	(void)context;
	if (limit_ns == 1)
		limit.tv_nsec = 0;
	return nanosleep(&limit, NULL) == 0 ? LULL_WAKE_TIMER : LULL_WAKE_KICK;
}

static enum lull_wake_reason
sleep_dpdk(void *context, uint64_t limit_ns)
{
	(void)context;
	rte_delay_us_sleep((unsigned int)(limit_ns / LULL_NS_PER_US));
	return LULL_WAKE_TIMER;
}

#define WAY(summary_text, function)                                                                \
	{                                                                                          \
		.idle_state = LULL_IDLE_SLEEP, .summary = summary_text, .probe = sleep_probe,      \
		.run = function                                                                    \
	}
const struct lull_model_sleep lull_model_sleeps[] = {
	{ "block", LULL_NS_PER_US, WAY("rte_delay_us_block(): spins", sleep_block) },
	{ "usleep", LULL_NS_PER_US, WAY("usleep()", sleep_usleep) },
	{ "nanosleep", 1, WAY("nanosleep()", sleep_nanosleep) },
	{ "sleep", LULL_NS_PER_US, WAY("rte_delay_us_sleep()", sleep_dpdk) },
	{ .name = NULL },
};
