/* SPDX-License-Identifier: BSD-3-Clause */
/* What of live settings calls the engine. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "live.h"

#define TIMEOUT_MS 1000

/* ---- posting ---- */

/* A loop empties its mailbox once per iteration, so full does not stay full. */
static bool
live_again(int rc, int *waited_ms)
{
	const struct timespec moment = { .tv_nsec = (long)LULL_NS_PER_MS };

	if (rc != -EAGAIN || (*waited_ms)++ >= TIMEOUT_MS)
		return false;
	nanosleep(&moment, NULL);
	return true;
}

static int
live_posted(const struct lull_loop *loop, int rc, struct lull_error *error)
{
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "%s refuses the change: %s",
					lull_loop_name(loop), strerror(-rc));
}

int
lull_live_post_stage(struct lull_loop *loop, const void *command, size_t size,
		     struct lull_error *error)
{
	int waited_ms = 0, rc;

	do
		rc = lull_loop_post_stage(loop, command, size);
	while (live_again(rc, &waited_ms));
	return live_posted(loop, rc, error);
}

int
lull_live_post_limits(struct lull_loop *loop, const struct lull_idle_governor *governor,
		      const struct lull_idle_limits *limits, struct lull_error *error)
{
	int waited_ms = 0, rc;

	do
		rc = lull_loop_post_change(loop, governor, limits);
	while (live_again(rc, &waited_ms));
	return live_posted(loop, rc, error);
}

/* ---- telemetry ---- */

int
lull_live_start(struct lull_live *live, struct lull_run *run, struct lull_error *error)
{
	int rc;

	lull_live_describe(live, run);
	rc = lull_telemetry_start(&live->telemetry);
	return rc == 0 ? 0 : lull_error_set(error, rc, "telemetry: %s", strerror(-rc));
}
