/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <time.h>

#include <lull/rest.h>

static int
sleep_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
sleep_run(void *context, uint64_t limit_ns)
{
	struct timespec limit = {
		.tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
		.tv_nsec = (long)(limit_ns % LULL_NS_PER_S),
	};

	(void)context;
	if (nanosleep(&limit, NULL) != 0 && errno == EINTR)
		return LULL_WAKE_KICK;
	return LULL_WAKE_TIMER;
}

const struct lull_rest_way lull_rest_sleep_timer = {
	.idle_state = LULL_IDLE_SLEEP,
	.summary = "the thread sleeps on a timer",
	.probe = sleep_probe,
	.run = sleep_run,
};
