/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "loop.h"

/* Every way there is; the first that probes well wins its depth. A new way is one line here. */
static const struct lull_rest_way *const ways[] = {
	&lull_rest_pause,
	&lull_rest_monitor,
	&lull_rest_sleep_timer,
	&lull_rest_interrupt,
};

static void
loop_probe_way(struct lull_loop *loop, const struct lull_rest_way *way)
{
	if (loop->ways[way->depth] != NULL)
		return;
	loop->probes[way->depth] = way->probe(&loop->device);
	if (loop->probes[way->depth] != 0)
		return;
	loop->ways[way->depth] = way;
	loop->depths |= LULL_REST_BIT(way->depth);
}

void
lull_loop_probe(struct lull_loop *loop, const struct lull_rest_way *first)
{
	for (int depth = 0; depth < LULL_REST_DEPTH_COUNT; depth++)
		loop->probes[depth] = depth == LULL_REST_NONE ? 0 : -ENOTSUP;
	loop->depths = LULL_REST_BIT(LULL_REST_NONE);
	if (first != NULL)
		loop_probe_way(loop, first);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		loop_probe_way(loop, ways[i]);
}
