/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "framework.h"

/* Measured loops take the last CPUs; the others those that are left, or else share by turns. */
void
framework_seats(const struct framework *framework, struct model_seats *seats)
{
	static const enum model_role measured[] = { MODEL_SENDER, MODEL_RECEIVER };
	static const enum model_role others[] = { MODEL_LINK, MODEL_PRODUCER, MODEL_CONSUMER };
	const struct lull_cpu_list *wanted = &framework->settings.cpus;
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus), next = count, taken = 0;

	memset(seats, 0, sizeof(*seats));
	for (size_t i = 0; i < 2; i++) {
		if (!framework_has(framework, i == 0 ? MODEL_SEND : MODEL_RECEIVE))
			continue;
		next = next > 0 ? next - 1 : count - 1;
		seats->roles[measured[i]] = wanted->count > 0 ? wanted->cpus[taken++] : cpus[next];
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		next = next > 0 ? next - 1 : count - 1;
		seats->roles[others[i]] = cpus[next];
	}
	seats->rest = cpus[0];
}
