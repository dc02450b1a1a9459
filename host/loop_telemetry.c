/* SPDX-License-Identifier: BSD-3-Clause */
/* What telemetry shows of loops, and the words for it. */
#include <stdio.h>

#include "explain.h"
#include "loop.h"
#include "telemetry.h"

/* ---- any loop ---- */

char *
lull_loop_info_class(const struct lull_loop_info *info, char *bytes, size_t size)
{
	if (info->class != NULL)
		return lull_rest_thread_explain(info->class, bytes, size);
	bytes[0] = '\0';
	return bytes;
}

char *
lull_loop_info_explain(const struct lull_loop_info *info, char *bytes, size_t size)
{
	struct lull_rest_thread_info thread = { .priority = 0 };
	struct lull_loop_snapshot snapshot;
	char class[LULL_ERROR_SIZE];

	if (info->class != NULL)
		lull_rest_thread_info(info->class, &thread);
	lull_snapshot_read(info->snapshot, &snapshot);
	if (info->why != NULL) {
		snprintf(bytes, size, "%s", info->why);
		return bytes;
	}
	if (snapshot.governor == &lull_loop_blocking)
		snprintf(bytes, size, "%s", lull_idle_governor_summary(snapshot.governor));
	else
		lull_verdict_explain_of(&snapshot.verdict, &snapshot.limits, thread.priority > 0,
					bytes, size);
	lull_loop_explain_add(bytes, size, lull_loop_info_class(info, class, sizeof(class)));
	return bytes;
}

/* ---- struct lull_loop ---- */

static void
loop_info(const struct lull_loop *loop, struct lull_loop_info *info)
{
	*info = (struct lull_loop_info){
		.name = loop->name,
		.kind = loop->kind,
		.thread = loop->thread,
		.mode = "on",
		.cpu = loop->cpu,
		.tid = lull_loop_tid(loop),
		.alive = true,
		.idle_states = loop->idle_states,
		.idle = loop->idle,
		.share = loop->share,
		.class = loop->class,
		.snapshot = &loop->snapshot,
	};
	info->stage_table = lull_loop_stage_counters(loop, &info->stage_counters);
}

char *
lull_loop_explain(const struct lull_loop *loop, char *bytes, size_t size)
{
	struct lull_loop_info info;

	loop_info(loop, &info);
	return lull_loop_info_explain(&info, bytes, size);
}

static void
loops_info(const struct lull_telemetry_config *config, uint32_t index, struct lull_loop_info *info)
{
	loop_info(config->loops[index], info);
}

static void
loops_lost(const struct lull_telemetry_config *config, uint32_t index, struct lull_port_loss *loss)
{
	lull_loop_missed(config->loops[index], &loss->missed, &loss->nombuf);
}

static int
loops_mark(const struct lull_telemetry_config *config, uint32_t index, uint32_t window)
{
	return lull_loop_post_mark(config->loops[index], window);
}

const struct lull_telemetry_loops lull_telemetry_own_loops = {
	.info = loops_info,
	.lost = loops_lost,
	.mark = loops_mark,
};
