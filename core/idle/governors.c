/* SPDX-License-Identifier: BSD-3-Clause */
#include "governor.h"

/* A new governor is one new file and one line here. */
/* clang-format off */
const struct lull_idle_governor *const lull_idle_governors[] = {
	&lull_idle_spin,
	&lull_idle_yield,
	&lull_idle_fixed,
	&lull_idle_ramp,
	&lull_idle_halve,
	&lull_idle_drain,
	&lull_idle_metronome,
	&lull_idle_kalman,
	&lull_idle_kalman_guarded,
	&lull_idle_objective,
	&lull_idle_phase,
	NULL,
};
/* clang-format on */

/* core has no strcmp() */
static bool
governors_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct lull_idle_governor *
lull_idle_governor_find(const char *name)
{
	for (uint32_t i = 0; lull_idle_governors[i] != NULL; i++) {
		if (governors_same(lull_idle_governors[i]->name, name))
			return lull_idle_governors[i];
	}
	return NULL;
}

const char *
lull_idle_governor_name(const struct lull_idle_governor *governor)
{
	return governor->name;
}

const char *
lull_idle_governor_summary(const struct lull_idle_governor *governor)
{
	return governor->summary;
}
