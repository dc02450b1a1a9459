/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes into a reply. DPDK 22.11 takes names of letters, digits, "_" and "/", strings of 127
 * bytes, and nests nothing but lists: a longer sentence goes on in a second member with "_more"
 * after its name. So it does everywhere, for clients see no difference.
 */
#include <stdio.h>
#include <string.h>

#include "telemetry.h"

void
lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value)
{
	reply->writer->count(reply->to, name, value);
}

/* A sentence of up to two members, parted in front of a blank. */
void
lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name, const char *text)
{
	char first[LULL_TELEMETRY_TEXT_MAX + 1], more[LULL_TELEMETRY_TEXT_MAX + 1];
	char more_name[LULL_NAME_SIZE];
	size_t cut = strlen(text);

	if (cut <= LULL_TELEMETRY_TEXT_MAX) {
		reply->writer->text(reply->to, name, text);
		return;
	}
	cut = LULL_TELEMETRY_TEXT_MAX;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	if (cut == 0)
		cut = LULL_TELEMETRY_TEXT_MAX;
	snprintf(first, sizeof(first), "%.*s", (int)cut, text);
	snprintf(more, sizeof(more), "%s", text + cut);
	snprintf(more_name, sizeof(more_name), "%s_more", name);
	reply->writer->text(reply->to, name, first);
	reply->writer->text(reply->to, more_name, more);
}

void
lull_telemetry_put_table(struct lull_telemetry_reply *reply, const struct lull_counter_info *table,
			 const void *counters)
{
	for (; table->name != NULL; table++) {
		const uint64_t *counter = (const void *)((const uint8_t *)counters + table->offset);

		lull_telemetry_put_count(reply, table->name, LULL_COUNTER_READ(*counter));
	}
}

void
lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			  const uint64_t *values, uint32_t count)
{
	reply->writer->counts(reply->to, name, values, count);
}

void
lull_telemetry_put_texts(struct lull_telemetry_reply *reply, const char *name,
			 const char *const *texts, uint32_t count)
{
	reply->writer->texts(reply->to, name, texts, count);
}
