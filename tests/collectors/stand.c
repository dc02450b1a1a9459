/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <stdio.h>
#include <unistd.h>

#include "case.h"
#include "records.h"

struct flow_sink *
sink_make(const struct flow_sink_settings *settings)
{
	struct lull_error error = { "" };
	struct flow_sink *sink = NULL;

	if (flow_sink_open(settings, &sink, &error) != 0)
		fail_msg("%s", error.text);
	return sink;
}

void
sink_iterate(struct flow_sink *sink, uint32_t index)
{
	struct lull_pipeline_sink instance = flow_sink_instance(sink, index);
	struct lull_encode_totals totals = { 0 };

	instance.iterate(instance.arg, 1, &totals);
}

void
sink_give(struct flow_sink *sink, uint32_t index, uint32_t first, uint32_t count)
{
	struct lull_pipeline_sink instance = flow_sink_instance(sink, index);
	struct lull_flow_record record;

	for (uint32_t i = 0; i < count; i++) {
		record_make(&record, first + i);
		instance.record(instance.arg, &record);
	}
}

void
sink_end(struct flow_sink *sink)
{
	struct lull_error error = { "" };

	if (flow_sink_finish(sink, &error) != 0)
		fail_msg("%s", error.text);
	flow_sink_close(sink);
}

void
sink_tell(void *arg, const char *text)
{
	struct told *told = arg;

	told->count++;
	snprintf(told->last, sizeof(told->last), "%s", text);
}

void
sink_watch(struct flow_sink *sink, struct told *told)
{
	usleep(25000);
	flow_sink_watch(sink, sink_tell, told);
}
