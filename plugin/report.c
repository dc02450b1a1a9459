/* SPDX-License-Identifier: BSD-3-Clause */
/* The final report: a line per thread that polled, for people; telemetry is for machines. */
#include "plugin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/report_file.h"

#define REPORT_FIRST "lull: report of " /* each file begins so */
#define TELL_NS (100 * LULL_NS_PER_MS)  /* whoever polled less only set the ports up */

static void
report_verdict(int file, const struct plugin_poller *poller)
{
	struct lull_loop_info info;
	char text[512];

	plugin_poller_info(poller, &info);
	dprintf(file, "lull: %s: mode %s, governor %s; %s\n", poller->name,
		plugin_mode_name(poller->mode), lull_idle_governor_name(poller->governor),
		lull_loop_info_explain(&info, text, sizeof(text)));
}

static void
report_poller(int file, const struct plugin_poller *poller)
{
	const struct lull_idle_counters *counters = lull_idle_counters(poller->idle);
	const struct lull_histogram *wait = lull_idle_wait_histogram(poller->idle);
	uint64_t total_ns = counters->busy_ns + counters->empty_ns + counters->rest_ns;

	if (total_ns < TELL_NS && counters->pkts == 0)
		return;
	dprintf(file,
		"lull: %s (thread %s): %llu packets in %.1f s; busy %.1f %%, empty polls %.1f %%, "
		"%s %.1f %% in %llu rests; wait added at most p99 %.1f us; %llu packets missed "
		"after a rest, %llu otherwise\n",
		poller->name, poller->thread, (unsigned long long)counters->pkts,
		(double)total_ns / 1e9, 100.0 * (double)counters->busy_ns / (double)total_ns,
		100.0 * (double)counters->empty_ns / (double)total_ns,
		poller->mode == PLUGIN_SHADOW ? "would have rested" : "at rest",
		100.0 * (double)counters->rest_ns / (double)total_ns,
		(unsigned long long)(counters->rests[LULL_IDLE_PAUSE] +
				     counters->rests[LULL_IDLE_SLEEP]),
		(double)lull_histogram_quantile(wait, 990000) / 1e3,
		(unsigned long long)counters->misses, (unsigned long long)counters->misses_other);
	if (poller->mode >= PLUGIN_SHADOW)
		report_verdict(file, poller);
}

void
plugin_report(void)
{
	struct plugin_settings settings = plugin_settings_now();
	const char *unseen = settings.unseen == PLUGIN_UNSEEN_STAY ? plugin_unseen() : NULL;
	int file = STDERR_FILENO;
	const char *why;
	uint32_t i;

	if (settings.report[0] == '\0' || strcmp(settings.report, "none") == 0)
		return;
	if (strcmp(settings.report, "-") != 0)
		file = lull_report_file_open(settings.report, REPORT_FIRST, &why);
	if (file < 0) {
		plugin_say("report %s: %s", settings.report, why);
		return;
	}
	if (file != STDERR_FILENO)
		dprintf(file, REPORT_FIRST "%s (process %d)\n", program_invocation_short_name,
			(int)getpid());
	if (unseen != NULL)
		dprintf(file, "lull: %s\n", unseen);
	for (i = 0; i < plugin_poller_count(); i++)
		report_poller(file, plugin_poller(i));
	if (file != STDERR_FILENO)
		close(file);
}
