/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "control.h"

/* A new control is one new file and one line here. The first is the default. */
/* clang-format off */
const struct lull_bundle_control *const lull_bundle_controls[] = {
	&bundle_control_delay,
	&bundle_control_fixed,
	NULL,
};
/* clang-format on */

const struct lull_bundle_control *
lull_bundle_control_find(const char *name)
{
	for (uint32_t i = 0; lull_bundle_controls[i] != NULL; i++) {
		if (strcmp(lull_bundle_controls[i]->name, name) == 0)
			return lull_bundle_controls[i];
	}
	return NULL;
}

const char *
lull_bundle_control_name(const struct lull_bundle_control *control)
{
	return control->name;
}

const char *
lull_bundle_control_summary(const struct lull_bundle_control *control)
{
	return control->summary;
}
