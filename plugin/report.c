/* SPDX-License-Identifier: BSD-3-Clause */
/* The final report: a line per thread that polled, for people; telemetry is for machines. */
#include "plugin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
report_poller(FILE *file, const struct lull_loop *poller)
{
	const struct lull_idle_counters *counters = lull_idle_counters(poller->idle);
	const struct lull_histogram *wait = lull_idle_wait_histogram(poller->idle);
	uint64_t total_ns = counters->busy_ns + counters->empty_ns + counters->rest_ns;
	struct lull_loop_snapshot snapshot;
	char text[512];

	if (total_ns == 0)
		return;
	lull_loop_snapshot(poller, &snapshot);
	fprintf(file,
		"lull: %s (thread %s): %llu packets in %.1f s; busy %.1f %%, polling for nothing "
		"%.1f %%, at rest %.1f %% in %llu rests; wait added at most p99 %.1f us; "
		"%llu packets missed after a rest, %llu otherwise\n",
		poller->name, poller->thread, (unsigned long long)counters->pkts,
		(double)total_ns / 1e9, 100.0 * (double)counters->busy_ns / (double)total_ns,
		100.0 * (double)counters->empty_ns / (double)total_ns,
		100.0 * (double)counters->rest_ns / (double)total_ns,
		(unsigned long long)(counters->rests[LULL_REST_PAUSE] +
				     counters->rests[LULL_REST_SLEEP]),
		(double)lull_histogram_quantile(wait, 990000) / 1e3,
		(unsigned long long)counters->misses, (unsigned long long)counters->misses_other);
	fprintf(file, "lull: %s: mode %s, governor %s; %s\n", poller->name,
		plugin_mode_name(poller->mode), lull_idle_governor_name(poller->governor),
		lull_verdict_explain(&snapshot.verdict, &snapshot.limits, text, sizeof(text)));
}

void
plugin_report(void)
{
	struct plugin_settings settings = plugin_settings_now();
	FILE *file = stderr;
	uint32_t i;

	if (settings.report[0] == '\0' || strcmp(settings.report, "none") == 0)
		return;
	if (strcmp(settings.report, "-") != 0)
		file = fopen(settings.report, "we");
	if (file == NULL) {
		plugin_say("report %s: %s", settings.report, strerror(errno));
		return;
	}
	for (i = 0; i < plugin_poller_count(); i++)
		report_poller(file, plugin_poller(i));
	if (file != stderr)
		fclose(file);
}
