/* SPDX-License-Identifier: BSD-3-Clause */
/* What telemetry shows of the engine's loops. */
#include "loop.h"
#include "telemetry.h"

static void
loop_info(const struct lull_loop *loop, struct lull_loop_info *info)
{
	*info = (struct lull_loop_info){
		.name = loop->name,
		.kind = loop->kind,
		.thread = loop->name,
		.mode = "on",
		.cpu = loop->cpu,
		.tid = lull_loop_tid(loop),
		.alive = true,
		.depths = loop->depths,
		.idle = loop->idle,
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

int
lull_telemetry_start(const struct lull_telemetry_config *config)
{
	static const struct lull_telemetry_loops loops = {
		.info = loops_info,
		.lost = loops_lost,
		.mark = loops_mark,
	};

	return lull_telemetry_serve(config, &loops);
}
