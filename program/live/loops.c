/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/governor.h"
#include "loops.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* ---- limits ---- */

int
lull_live_loop_limits(const struct lull_live_loop *item, struct lull_idle_limits *limits,
		      struct lull_error *error)
{
	const struct lull_resting *resting = &item->resting;
	struct lull_range wrong;

	*limits = lull_resting_limits(resting, &item->rings);
	if (limits->envelope == LULL_ENVELOPE_LINK && limits->pps_max == 0) {
		if (!item->inner)
			return lull_error_set(
				error, -EINVAL,
				"pps-max: a port has no known link rate; use learned or a number");
		limits->envelope = LULL_ENVELOPE_LEARNED;
	}
	return lull_idle_config_check(limits, &wrong) == 0 ? 0 : lull_error_range(error, &wrong);
}

int
lull_live_share_check(const struct lull_resting *resting, struct lull_error *error)
{
	const struct lull_idle_governor *governor = lull_resting_governor(resting);

	if (governor->shares_queues)
		return 0;
	return lull_error_set(error, -EINVAL,
			      "governor: threads with share-queues take metronome; %s has its "
			      "queues to itself",
			      lull_idle_governor_name(governor));
}

/* ---- from creation to the end ---- */

int
lull_live_loops_add(struct lull_live_loops *loops, const struct lull_loop_config *config,
		    struct lull_error *error)
{
	struct lull_live_loop *item = &loops->items[loops->count];
	int rc = lull_loop_create(config, &item->loop, error);

	if (rc == 0)
		loops->loops[loops->count++] = item->loop;
	return rc;
}

int
lull_live_loops_create(struct lull_live_loops *loops, struct lull_loop_config *config,
		       struct lull_error *error)
{
	struct lull_live_loop *item = &loops->items[loops->count];
	int rc = lull_live_loop_limits(item, &config->limits, error);

	item->rests = true;
	item->share = config->share;
	config->governor = lull_resting_governor(&item->resting);
	config->sched_policy = (enum lull_sched_policy)item->resting.sched_policy;
	return rc == 0 ? lull_live_loops_add(loops, config, error) : rc;
}

int
lull_live_loop_start(struct lull_live_loop *item, struct lull_error *error)
{
	int rc = lull_loop_start(item->loop);

	if (rc != 0)
		return lull_error_set(error, rc, "loop %s does not start: %s",
				      lull_loop_name(item->loop), strerror(-rc));
	/* Known as soon as the thread runs. */
	while (lull_loop_tid(item->loop) == 0)
		sched_yield();
	item->begin_ns = lull_clock_ns();
	item->begin_cpu_ns = lull_thread_cpu_ns(lull_loop_tid(item->loop));
	item->begin_steal_ns = lull_steal_ns(lull_loop_cpu(item->loop));
	return 0;
}

/* Once is enough: what one may not have the others may not either. */
void
lull_live_loops_report_class(const struct lull_live_loops *loops, const char *program)
{
	char text[LULL_ERROR_SIZE];

	for (uint32_t i = 0; i < loops->count; i++) {
		struct lull_rest_thread_info info;

		lull_loop_class(loops->loops[i], &info);
		if (info.refused == 0)
			continue;
		fprintf(stderr, "%s: %s %s\n", program, lull_loop_name(loops->loops[i]),
			lull_loop_class_explain(loops->loops[i], text, sizeof(text)));
		return;
	}
}

void
lull_live_loops_stop(struct lull_live_loops *loops)
{
	for (uint32_t i = 0; i < loops->count; i++)
		lull_loop_stop(loops->loops[i]);
}

void
lull_live_loops_destroy(struct lull_live_loops *loops)
{
	lull_live_loops_stop(loops);
	for (uint32_t i = 0; i < loops->count; i++)
		lull_loop_destroy(loops->loops[i]);
}

/* ---- changes ---- */

static int
loop_change(struct lull_live_loop *item, const struct lull_live_change *change, size_t offset,
	    struct lull_error *error)
{
	struct lull_resting before = item->resting;
	struct lull_idle_limits limits;
	int rc;

	memcpy((char *)&item->resting + offset,
	       (const char *)change->settings + change->option->offset, change->option->size);
	rc = lull_live_loop_limits(item, &limits, error);
	if (rc == 0 && item->share != NULL)
		rc = lull_live_share_check(&item->resting, error);
	if (rc == 0)
		rc = lull_live_post_limits(item->loop, lull_resting_governor(&item->resting),
					   &limits, error);
	if (rc == 0)
		lull_loop_change_class(item->loop,
				       (enum lull_sched_policy)item->resting.sched_policy);
	else
		item->resting = before;
	return rc;
}

int
lull_live_loops_change(struct lull_live_loops *loops, const struct lull_live_change *change,
		       const struct lull_resting *resting, struct lull_error *error)
{
	size_t base = (size_t)((const char *)resting - (const char *)change->settings);
	size_t offset = change->option->offset - base;
	bool found = false;

	assert(offset + change->option->size <= sizeof(*resting));
	for (uint32_t i = 0; i < loops->count; i++) {
		struct lull_live_loop *item = &loops->items[i];
		int rc;

		if (!item->rests || (change->loop[0] != '\0' &&
				     strcmp(change->loop, lull_loop_name(item->loop)) != 0))
			continue;
		found = true;
		rc = loop_change(item, change, offset, error);
		if (rc != 0)
			return rc;
	}
	return found ? 0 :
		       lull_error_set(error, -ENOENT, "no loop '%.*s' that rests: they are %s...",
				      LULL_ERROR_SHOWN, change->loop,
				      lull_loop_name(loops->loops[0]));
}
