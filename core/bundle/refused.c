/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that were refused: their sender may ask for long, and refusals of others do not make us
 * forget it.
 */
#include "protocol.h"

void
bundle_refused_add(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	store->refused[store->refused_count++ & (bundle->config.messages_max - 1)] = number;
}

bool
bundle_refused_is(const struct lull_bundle *bundle, const struct bundle_store *store,
		  uint32_t number)
{
	uint32_t count = LULL_MIN(store->refused_count, bundle->config.messages_max);

	for (uint32_t i = 0; i < count; i++) {
		if (store->refused[i] == number)
			return true;
	}
	return false;
}
