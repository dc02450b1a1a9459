/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread has to do besides the queues it receives from, as it says itself.
 *
 * The plugin has these functions too and exports them, so that a program finds them without the
 * library. Where the program has the library, its functions come first, and the plugin calls them:
 * there is one list for each thread, whoever asks.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <lull/rest.h>

#include "loop.h"

/* Everybody who is loaded shares the first one. */
#define SHARED __attribute__((weak, visibility("default")))

static _Thread_local struct {
	bool busy;
	uint32_t count;
	const struct lull_queue_source *sources[LULL_QUEUE_SOURCES_MAX];
} duties;

SHARED void
lull_busy(void)
{
	duties.busy = true;
}

SHARED int
lull_queue_source_add(const struct lull_queue_source *source)
{
	if (source == NULL || (source->waiting == NULL && source->due_ns == NULL))
		return -EINVAL;
	for (uint32_t i = 0; i < duties.count; i++)
		if (duties.sources[i] == source)
			return -EEXIST;
	if (duties.count == LULL_QUEUE_SOURCES_MAX)
		return -ENOSPC;
	duties.sources[duties.count++] = source;
	return 0;
}

SHARED void
lull_queue_source_remove(const struct lull_queue_source *source)
{
	for (uint32_t i = 0; i < duties.count; i++)
		if (duties.sources[i] == source)
			duties.sources[i] = duties.sources[--duties.count];
}

static uint32_t
sources_waiting(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < duties.count; i++)
		if (duties.sources[i]->waiting != NULL)
			sum += duties.sources[i]->waiting(duties.sources[i]->arg);
	return (uint32_t)LULL_MIN(sum, (uint64_t)UINT32_MAX - 1);
}

SHARED uint32_t
lull_queue_sources_ask(uint64_t *due_ns)
{
	uint32_t waiting = duties.busy;

	duties.busy = false;
	*due_ns = 0;
	if (duties.count == 0)
		return waiting;
	for (uint32_t i = 0; i < duties.count; i++) {
		const struct lull_queue_source *source = duties.sources[i];
		uint64_t due = source->due_ns != NULL ? source->due_ns(source->arg) : 0;

		if (due != 0 && (*due_ns == 0 || due < *due_ns))
			*due_ns = due;
	}
	return waiting + sources_waiting();
}

/* ---- the sleep that they may end ---- */

static uint32_t
sources_arm(struct pollfd *wakes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < duties.count; i++) {
		const struct lull_queue_source *source = duties.sources[i];
		int fd = source->arm != NULL ? source->arm(source->arg) : -1;

		if (fd >= 0)
			wakes[count++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	return count;
}

static void
sources_disarm(void)
{
	for (uint32_t i = 0; i < duties.count; i++)
		if (duties.sources[i]->arm != NULL && duties.sources[i]->disarm != NULL)
			duties.sources[i]->disarm(duties.sources[i]->arg);
}

SHARED enum lull_wake_reason
lull_queue_sources_sleep(uint64_t limit_ns)
{
	struct timespec limit = {
		.tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
		.tv_nsec = (long)(limit_ns % LULL_NS_PER_S),
	};
	struct pollfd wakes[LULL_QUEUE_SOURCES_MAX];
	enum lull_wake_reason reason = LULL_WAKE_TIMER;
	uint32_t count;
	int ready;

	if (duties.count == 0)
		return lull_rest_sleep_timer.run(NULL, limit_ns);
	count = sources_arm(wakes);
	/* What came before they were armed told nobody. */
	if (count > 0 && sources_waiting() > 0) {
		reason = LULL_WAKE_KICK;
	} else {
		ready = ppoll(wakes, count, &limit, NULL);
		if (ready != 0)
			reason = ready > 0 ? LULL_WAKE_PACKET : LULL_WAKE_KICK;
	}
	sources_disarm();
	return reason;
}

static int
sources_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
sources_run(void *context, uint64_t limit_ns)
{
	(void)context;
	return lull_queue_sources_sleep(limit_ns);
}

const struct lull_rest_way lull_rest_sleep_sources = {
	.idle_state = LULL_IDLE_SLEEP,
	.summary = "the thread sleeps on a timer, or until one of its sources wakes it",
	.probe = sources_probe,
	.run = sources_run,
};
