/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "spread.h"

/* A new spread is one new file and one line here. The first is the default. */
/* clang-format off */
const struct lull_bundle_spread *const lull_bundle_spreads[] = {
	&bundle_spread_pull,
	&bundle_spread_turn,
	&bundle_spread_weigh,
	NULL,
};
/* clang-format on */

const struct lull_bundle_spread *
lull_bundle_spread_find(const char *name)
{
	for (uint32_t i = 0; lull_bundle_spreads[i] != NULL; i++) {
		if (strcmp(lull_bundle_spreads[i]->name, name) == 0)
			return lull_bundle_spreads[i];
	}
	return NULL;
}

const char *
lull_bundle_spread_name(const struct lull_bundle_spread *spread)
{
	return spread->name;
}

const char *
lull_bundle_spread_summary(const struct lull_bundle_spread *spread)
{
	return spread->summary;
}
