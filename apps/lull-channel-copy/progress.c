/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "copy.h"

#define BAR_WIDTH 24U

/* Bits per second over the last steps of the rate, one second of them at most. */
static double
progress_rate(const struct copy_rate *rate)
{
	uint64_t bytes = 0;
	uint32_t steps = 0;

	/* The last step has only begun. */
	for (uint32_t i = rate->count; i > 1 && steps < 10; i--, steps++)
		bytes += rate->bytes[i - 2];
	return steps > 0 ? (double)bytes * 8e9 / ((double)steps * (double)rate->step_ns) : 0;
}

static void
progress_bar(const struct copy_sender *sender, double part, double rate)
{
	char bar[BAR_WIDTH + 1];
	uint32_t full = (uint32_t)(part * BAR_WIDTH);

	memset(bar, ' ', BAR_WIDTH);
	memset(bar, '#', LULL_MIN(full, BAR_WIDTH));
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r\033[K%3.0f %% [%s] %.1f of %.1f MB  %.1f Mb/s  %.32s", 100 * part, bar,
		(double)sender->passed_bytes / 1e6, (double)sender->total_bytes / 1e6, rate / 1e6,
		sender->name != NULL ? sender->name : "");
}

void
copy_progress_print(struct copy *copy, uint64_t now_ns)
{
	const struct copy_sender *sender = &copy->sender;
	double rate = progress_rate(&copy->rate);
	double part = sender->total_bytes > 0 ?
			      (double)sender->passed_bytes / (double)sender->total_bytes :
			      0;

	if (copy->bar && !copy->settings.listen && sender->total_bytes > 0) {
		progress_bar(sender, LULL_MIN(part, 1.0), rate);
		copy->run.percent = true;
		return;
	}
	fprintf(stderr, "%6.1f s  %.1f MB  %.1f Mb/s  files %" PRIu64 "\n",
		(double)(now_ns - copy->run.begin_ns) / LULL_NS_PER_S,
		(double)copy_moved_bytes(copy) / 1e6, rate / 1e6, copy->totals.files);
}

void
copy_say(struct copy *copy, const char *format, ...)
{
	char text[LULL_ERROR_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s%s: %s\n", copy->run.percent ? "\r\033[K" : "", copy->run.program->name,
		lull_text_clean(text));
	copy->run.percent = false;
}

void
copy_summary_print(struct copy *copy)
{
	const struct copy_totals *totals = &copy->totals;
	double seconds = (double)(copy->run.end_ns - copy->run.begin_ns) / LULL_NS_PER_S;
	char more[128] = "";

	if (totals->resumed_bytes + totals->same_bytes > 0)
		snprintf(more, sizeof(more), " (%.1f MB of them were there)",
			 (double)(totals->resumed_bytes + totals->same_bytes) / 1e6);
	if (totals->left_out > 0)
		snprintf(more + strlen(more), sizeof(more) - strlen(more),
			 ", %" PRIu64 " left out: neither file nor folder", totals->left_out);
	copy_say(copy, "%" PRIu64 " file%s, %.1f MB%s in %.2f s%s", totals->files,
		 totals->files == 1 ? "" : "s", (double)totals->bytes / 1e6, more, seconds,
		 totals->files > 0 ? ", SHA-256 equal" : "");
}
