/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow export: sinks as the settings want them.
 */
#ifndef LULL_FLOW_EXPORT_H
#define LULL_FLOW_EXPORT_H

#include "export/sink.h"
#include "settings.h"

/** Kafka's properties, as a list that ends with NULL. */
struct flow_sink_list {
	const char *properties[LULL_OPTION_LIST_MAX + 1];
};

/**
 * What the sinks are opened with; it points into @p settings and @p list. 0, or -E2BIG and the
 * sentence: too many destinations of a kind.
 */
int flow_sink_settings_make(const struct flow_settings *settings, struct flow_sink_list *list,
			    struct flow_sink_settings *sink, struct lull_error *error);

#endif
