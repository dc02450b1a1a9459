/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <lull/rest.h>

#include "loop_thread.h"

/* What a loop without a device can do. */
#define POLLER_IDLE_STATES                                                                         \
	(LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP))

static const struct lull_rest_way *const poller_ways[LULL_IDLE_STATE_COUNT] = {
	[LULL_IDLE_PAUSE] = &lull_rest_pause,
	[LULL_IDLE_SLEEP] = &lull_rest_sleep_sources,
};

int
lull_idle_create(const char *governor, const struct lull_idle_limits *limits,
		 struct lull_idle **idle)
{
	const struct lull_idle_governor *found = lull_idle_governor_find(governor);
	struct lull_idle_limits own = { .latency_ns = 0 };
	void *memory;
	int rc;

	if (found == NULL)
		return -EINVAL;
	if (limits != NULL)
		own = *limits;
	own.idle_states =
		own.idle_states == 0 ? POLLER_IDLE_STATES : own.idle_states & POLLER_IDLE_STATES;
	if (own.idle_states == 0)
		return -EINVAL;
	memory = lull_loop_memory();
	if (memory == NULL)
		return -ENOMEM;
	rc = lull_idle_init(memory, found, &own, lull_clock_ns(), idle);
	if (rc == 0)
		rc = lull_rest_thread_init();
	if (rc != 0)
		free(memory);
	return rc;
}

void
lull_idle_destroy(struct lull_idle *idle)
{
	free(idle);
}

/* A plan counts from the begin of the iteration, and a rest begins at its end. */
static uint64_t
poller_deadline(uint64_t begin_ns, uint64_t due_ns)
{
	uint64_t now_ns = lull_clock_ns();

	return begin_ns + (due_ns > now_ns ? due_ns - now_ns : 0);
}

void
lull_idle_iterate(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count)
{
	lull_idle_iterate_sized(idle, now_ns, pkt_count, 0, 0);
}

void
lull_idle_iterate_sized(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count, uint64_t bytes,
			uint64_t bytes_squared)
{
	struct lull_iteration iteration = {
		.now_ns = now_ns,
		.queue_pkts = &pkt_count,
		.queue_count = 1,
		.size_pkts = bytes > 0 ? pkt_count : 0,
		.bytes = bytes,
		.bytes_squared = bytes_squared,
	};
	struct lull_rest rest;
	struct lull_wake wake;

	if (lull_queue_sources_ask(&iteration.deadline_ns) > 0)
		iteration.deadline_ns = now_ns;
	else if (iteration.deadline_ns != 0)
		iteration.deadline_ns = poller_deadline(now_ns, iteration.deadline_ns);
	rest = lull_idle_plan(idle, &iteration);
	if (rest.idle_state == LULL_IDLE_NONE)
		return;
	lull_loop_rest_once(idle, poller_ways, NULL, &rest, &wake);
}
