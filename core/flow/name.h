/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Name: 32 bits of a flow, its connection and its cut that nobody outside can make alike.
 *
 * Digests of a flood can be, by whoever knows the parser's seed. This is NH of UMAC (RFC 4418) with
 * secrets of its own: who does not know them finds no two flows that meet more often than chance.
 */
#ifndef LULL_FLOW_NAME_H
#define LULL_FLOW_NAME_H

#include <lull/flow.h>

#include <assert.h>
#include <string.h>

#include "base/prng.h"

/* A key, its connection and its cut, in 32-bit words. */
#define LULL_FLOW_NAME_WORDS 16
static_assert(sizeof(struct lull_flow_key) <= (LULL_FLOW_NAME_WORDS - 2) * sizeof(uint32_t),
	      "connection and cut have the last words");

struct lull_flow_name {
	uint32_t secrets[LULL_FLOW_NAME_WORDS];
};

static inline void
lull_flow_name_init(struct lull_flow_name *name, uint64_t seed)
{
	struct lull_prng prng;

	lull_prng_init(&prng, seed, 0);
	for (uint32_t i = 0; i < LULL_FLOW_NAME_WORDS; i++)
		name->secrets[i] = (uint32_t)lull_prng_u64(&prng);
}

static inline uint32_t
lull_flow_name(const struct lull_flow_name *name, const struct lull_flow_record *record)
{
	uint32_t words[LULL_FLOW_NAME_WORDS] = { 0 };
	uint64_t sum = 0;

	memcpy(words, &record->key, sizeof(record->key));
	words[LULL_FLOW_NAME_WORDS - 2] = record->connection;
	words[LULL_FLOW_NAME_WORDS - 1] = record->cut;
	for (uint32_t i = 0; i < LULL_FLOW_NAME_WORDS; i += 2)
		sum += (uint64_t)(words[i] + name->secrets[i]) *
		       (words[i + 1] + name->secrets[i + 1]);
	return (uint32_t)(sum ^ sum >> 32);
}

#endif
