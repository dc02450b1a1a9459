/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "fwd.h"

static bool
seats_taken(const struct fwd_seats *seats, const struct fwd_settings *settings, int cpu)
{
	for (uint32_t i = 0; i < settings->threads; i++) {
		if (seats->threads[i] == cpu)
			return true;
	}
	return settings->traffic.wanted && seats->traffic == cpu;
}

static void
seats_warn(const struct fwd_settings *settings, const struct fwd_seats *seats)
{
	for (uint32_t i = 0; i < settings->threads; i++) {
		bool shared = settings->traffic.wanted && seats->traffic == seats->threads[i];

		for (uint32_t j = 0; j < i; j++)
			shared |= seats->threads[j] == seats->threads[i];
		if (shared) {
			fprintf(stderr,
				"lull-fwd: loops share CPU %d: what they measure is each other\n",
				seats->threads[i]);
			return;
		}
	}
}

void
fwd_seats_choose(const struct fwd_settings *settings, struct fwd_seats *seats)
{
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus);

	memset(seats, 0, sizeof(*seats));
	for (uint32_t i = 0; i < settings->threads; i++) {
		int last = count - 1 - (int)((settings->threads - 1 - i) % (uint32_t)count);

		seats->threads[i] = settings->cpus.count > i ? settings->cpus.cpus[i] : cpus[last];
	}
	seats->traffic = settings->traffic_cpu.count > 0 ? settings->traffic_cpu.cpus[0] : cpus[0];
	/* All else wants little, but not from a loop: the first CPU without one. */
	seats->rest = cpus[0];
	for (int i = 0; i < count; i++) {
		if (!seats_taken(seats, settings, cpus[i])) {
			seats->rest = cpus[i];
			break;
		}
	}
	seats_warn(settings, seats);
}
