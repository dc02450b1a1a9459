/* SPDX-License-Identifier: BSD-3-Clause */
/* What the main thread does with sinks while loops run: read counters, tell people, rotate. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "state.h"

/* A destination is told of so often. */
#define TELL_NS (60 * LULL_NS_PER_S)
#define WATCH_NS (20 * LULL_NS_PER_MS)

/* ---- counters ---- */

static void
counters_sum(struct flow_sink_counters *sum, const struct flow_sink_counters *part)
{
	for (const struct lull_counter_info *info = flow_sink_counter_table; info->name != NULL;
	     info++) {
		uint64_t *to = (uint64_t *)(void *)((uint8_t *)sum + info->offset);
		const uint64_t *from =
			(const uint64_t *)(const void *)((const uint8_t *)part + info->offset);

		*to += LULL_COUNTER_READ(*from);
	}
}

static void
target_counters(const struct flow_sink *sink, uint32_t index, struct flow_sink_counters *sum)
{
	for (uint32_t i = 0; i < sink->settings.instances; i++)
		counters_sum(sum, &sink->instances[i].counters[index]);
	sum->volumes += LULL_COUNTER_READ(sink->targets[index].volumes);
}

void
flow_sink_read(const struct flow_sink *sink, enum flow_sink_kind kind,
	       struct flow_sink_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	for (uint32_t i = 0; i < sink->target_count; i++) {
		if (sink->targets[i].kind == kind)
			target_counters(sink, i, counters);
	}
}

/* ---- state ---- */

static uint64_t
target_downs(const struct flow_sink *sink, uint32_t index)
{
	uint64_t downs = 0;

	for (uint32_t i = 0; i < sink->settings.instances; i++)
		downs += LULL_COUNTER_READ(sink->instances[i].health[index].downs);
	return downs;
}

bool
flow_sink_state(const struct flow_sink *sink, uint32_t index, struct flow_sink_state *state)
{
	if (index >= sink->target_count)
		return false;
	*state = (struct flow_sink_state){
		.kind = sink->targets[index].kind,
		.to = sink->targets[index].to,
		.up = true,
	};
	target_counters(sink, index, &state->counters);
	for (uint32_t i = 0; i < sink->settings.instances; i++) {
		const struct sink_health *health = &sink->instances[i].health[index];
		const char *reason = __atomic_load_n(&health->reason, __ATOMIC_RELAXED);

		if (__atomic_load_n(&health->down, __ATOMIC_RELAXED)) {
			state->up = false;
			state->reason = reason;
		}
		if (state->reason == NULL)
			state->reason = reason;
	}
	return true;
}

/* ---- telling ---- */

static void
watch_say(struct sink_target *target, const char *what, uint64_t lost, flow_sink_tell *tell,
	  void *arg)
{
	char text[2 * LULL_ERROR_SIZE], losses[64] = "";

	if (lost > 0)
		snprintf(losses, sizeof(losses), "; %" PRIu64 " records lost since the last line",
			 lost);
	snprintf(text, sizeof(text), "%s to %.*s: %s%s", target->exporter->name, LULL_ERROR_SHOWN,
		 target->to, what, losses);
	tell(arg, text);
}

static void
watch_tell(struct flow_sink *sink, uint32_t index, uint64_t now_ns, flow_sink_tell *tell, void *arg)
{
	struct sink_target *target = &sink->targets[index];
	uint64_t downs = target_downs(sink, index), lost;
	bool rested = target->told_ns == 0 || now_ns - target->told_ns >= TELL_NS;
	struct flow_sink_state state;
	char what[LULL_ERROR_SIZE];

	flow_sink_state(sink, index, &state);
	lost = state.counters.drops - target->told_drops;
	if (state.up && target->told_down) {
		snprintf(what, sizeof(what), "it takes records again");
	} else if (!rested) {
		return;
	} else if (!state.up || downs != target->told_downs) {
		snprintf(what, sizeof(what), "%s; %s", state.reason,
			 state.up ? "it takes records again" : "trying again");
	} else if (lost > 0) {
		snprintf(what, sizeof(what), "it is too slow");
	} else {
		return;
	}
	watch_say(target, what, lost, tell, arg);
	target->told_down = !state.up;
	target->told_downs = downs;
	target->told_drops = state.counters.drops;
	target->told_ns = now_ns;
}

void
flow_sink_watch(struct flow_sink *sink, flow_sink_tell *tell, void *arg)
{
	uint64_t now_ns = sink_clock_ns();
	struct lull_error error;

	if (sink->settings.ordered || now_ns - sink->watched_ns < WATCH_NS)
		return;
	sink->watched_ns = now_ns;
	for (uint32_t i = 0; i < sink->target_count; i++) {
		struct sink_target *target = &sink->targets[i];
		int rc;

		watch_tell(sink, i, now_ns, tell, arg);
		if (target->file == NULL)
			continue;
		rc = sink_file_turn(target->file, sink_time_ns(), &error);
		if (rc > 0)
			LULL_COUNTER_ADD(target->volumes, 1);
		else if (rc < 0)
			tell(arg, error.text);
	}
}

void
flow_sink_reopen(struct flow_sink *sink, flow_sink_tell *tell, void *arg)
{
	struct lull_error error;

	for (uint32_t i = 0; i < sink->target_count; i++) {
		struct sink_target *target = &sink->targets[i];
		int rc = target->file == NULL ? 0 : sink_file_reopen(target->file, &error);

		if (rc > 0)
			LULL_COUNTER_ADD(target->volumes, 1);
		else if (rc < 0)
			tell(arg, error.text);
	}
}
