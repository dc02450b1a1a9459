/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <inttypes.h>

static const char *const names[] = {
	[EMULATOR_LOSE] = "lose",
	[EMULATOR_DUPLICATE] = "duplicate",
	[EMULATOR_REORDER] = "reorder",
	[EMULATOR_LATE] = "late",
	[EMULATOR_REFUSED] = "refused",
	[EMULATOR_RESENT] = "resent",
	[EMULATOR_RESEND_LOSE] = "resend-lose",
};

void
emulator_log_event(struct emulator_log *log, const struct emulator_log_entry *entry,
		   const struct lull_packet_plan *plan, const char *protocol)
{
	struct ranges *ranges = &log->ranges;

	if (log->file == NULL)
		return;
	ranges_of(plan, protocol, entry->packet, ranges);
	fprintf(log->file,
		"{\"event\": \"%s\", \"camera\": %" PRIu32 ", \"session\": %" PRIu32
		", \"frame\": %" PRIu64 ", \"key\": %" PRIu64 ", \"packet\": %" PRIu32
		", \"number\": %" PRIu64 ", \"bytes\": [",
		names[entry->event], entry->camera, entry->session, entry->frame, entry->key,
		entry->packet, entry->number);
	for (uint32_t i = 0; i < ranges->count; i++)
		fprintf(log->file, "%s[%" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "",
			ranges->list[i].offset, ranges->list[i].bytes);
	fputs("]}\n", log->file);
}

void
emulator_log_frame(struct emulator_log *log, const struct emulator_log_frame *frame)
{
	if (log->file == NULL)
		return;
	fprintf(log->file,
		"{\"event\": \"frame\", \"camera\": %" PRIu32 ", \"session\": %" PRIu32
		", \"frame\": %" PRIu64 ", \"key\": %" PRIu64 ", \"packets\": %" PRIu32
		", \"due_ns\": %" PRIu64 ", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64 "}\n",
		frame->camera, frame->session, frame->frame, frame->key, frame->packets,
		frame->due_ns, frame->first_ns, frame->last_ns);
}
