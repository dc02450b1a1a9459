/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flow: two draws and one look, after Walker (1977) and Vose (1991). The weights are cut to
 * integers first, so that the last bit of a pow() cannot change a run.
 */
#include "flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>

#include "base/assert.h"
#include "base/range.h"

#define WEIGHT_ONE 68719476736.0 /* 2^36: times LULL_SIM_FLOWS_MAX it still fits */
#define DIGESTS_AHEAD 512u

enum { STREAM_DRAW = 101, STREAM_DIGEST };

int
lull_sim_flows_config_check(const struct lull_sim_flows_config *config, struct lull_range *error)
{
	const struct lull_range ranges[] = {
		{ "flow_count", config->flow_count, 1, LULL_SIM_FLOWS_MAX },
		{ "zipf_milli", config->zipf_milli, 0, 4000 },
		{ "elephant_ppm", config->elephant_ppm, 0, LULL_PPM },
		{ "target_count", config->target_count, 0, config->worker_count },
		{ "churn_ppm", config->churn_ppm, 0, LULL_PPM },
	};

	return LULL_RANGES_CHECK(ranges, error);
}

/* ---- digests ---- */

static int
digests_ask(const char *scheduler, uint32_t worker_count, struct lull_dispatch **dispatch)
{
	struct lull_dispatch_config config = {
		.scheduler = lull_scheduler_find(scheduler),
		.worker_count = worker_count,
		.bucket_bits = 8,
	};
	size_t size = lull_dispatch_size(&config);
	void *memory = aligned_alloc(LULL_CACHE_LINE, (size + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);

	*dispatch = NULL;
	if (memory == NULL)
		return -ENOMEM;
	if (lull_dispatch_init(memory, &config, dispatch) == 0)
		return 0;
	free(memory);
	return -EINVAL;
}

uint32_t
lull_sim_digests_find(struct lull_prng *prng, uint32_t worker_count, uint32_t target_count,
		      uint32_t *digests, uint32_t count)
{
	static const char *const names[] = { "hrw", "crc32" };
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX] = { { 0 } };
	struct lull_dispatch *asked[2] = { NULL, NULL };
	uint32_t tried[DIGESTS_AHEAD], found = 0;
	uint16_t workers[2][DIGESTS_AHEAD];
	int rc = 0;

	for (uint32_t i = 0; i < LULL_DISPATCH_WORKERS_MAX; i++)
		loads[i].capacity_pkts = 1024;
	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = digests_ask(names[i], worker_count, &asked[i]);
	while (rc == 0 && found < count) {
		for (uint32_t i = 0; i < DIGESTS_AHEAD; i++)
			tried[i] = (uint32_t)lull_prng_u64(prng) & LULL_DIGEST_MAX;
		for (uint32_t i = 0; i < 2; i++)
			lull_dispatch_burst(asked[i], 0, loads, tried, DIGESTS_AHEAD, workers[i],
					    NULL);
		for (uint32_t i = 0; i < DIGESTS_AHEAD && found < count; i++)
			if (workers[0][i] == workers[1][i] && workers[0][i] < target_count)
				digests[found++] = tried[i];
	}
	for (uint32_t i = 0; i < 2; i++)
		free(asked[i]);
	return found;
}

/* With churn a run may want any number of them: some are kept ahead. */
static uint32_t
flows_digest(struct lull_sim_flows *flows)
{
	const struct lull_sim_flows_config *config = &flows->config;

	if (config->target_count == 0)
		return (uint32_t)lull_prng_u64(&flows->digest_prng) & LULL_DIGEST_MAX;
	if (flows->digest_count == 0)
		flows->digest_count =
			lull_sim_digests_find(&flows->digest_prng, config->worker_count,
					      config->target_count, flows->digests, DIGESTS_AHEAD);
	LULL_ASSERT(flows->digest_count > 0);
	return flows->digests[--flows->digest_count];
}

/* ---- shares ---- */

/*
 * order: flows with less than a share first, small_count of them. A flow that gives so much away
 * that it has less itself is the next of these: they end where the others begin.
 */
static void
alias_pair(struct lull_sim_alias *aliases, uint64_t *weights, const uint32_t *order, uint32_t count,
	   uint32_t small_count, uint64_t whole)
{
	uint32_t small = 0, large = small_count;

	while (small < large && large < count) {
		uint32_t low = order[small++], high = order[large];

		aliases[low].keep = (uint32_t)((double)weights[low] / (double)whole * 4294967296.0);
		aliases[low].other = high;
		weights[high] -= whole - weights[low];
		if (weights[high] < whole)
			large++;
	}
}

static int
flows_shares(struct lull_sim_flows *flows)
{
	/* With an elephant it has its own share, and the others share as if it were not there. */
	uint32_t first = flows->config.elephant_ppm > 0 && flows->config.flow_count > 1 ? 1 : 0;
	uint32_t count = flows->config.flow_count, small = 0, large;
	uint64_t *weights = calloc(count, sizeof(*weights));
	uint32_t *order = calloc(count, sizeof(*order));
	double exponent = -(double)flows->config.zipf_milli / 1000;
	uint64_t whole = 0;

	if (weights == NULL || order == NULL) {
		free(weights);
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = first; i < count; i++) {
		weights[i] = (uint64_t)(WEIGHT_ONE * pow(i + 1 - first, exponent) + 0.5);
		whole += weights[i];
	}
	large = count;
	for (uint32_t i = 0; i < count; i++) {
		flows->aliases[i] = (struct lull_sim_alias){ UINT32_MAX, i };
		weights[i] *= count;
		order[weights[i] < whole ? small++ : --large] = i;
	}
	alias_pair(flows->aliases, weights, order, count, small, whole);
	free(weights);
	free(order);
	return 0;
}

/* ---- life ---- */

static void
flows_bear(struct lull_sim_flows *flows, uint32_t rank, uint32_t slot)
{
	uint32_t worker_count = flows->config.worker_count;

	flows->slots[rank] = slot;
	memset(&flows->seen[(size_t)slot * worker_count], 0, worker_count);
	flows->flows[slot] = (struct lull_sim_flow){ .digest = flows_digest(flows) };
}

int
lull_sim_flows_init(struct lull_sim_flows *flows, const struct lull_sim_flows_config *config)
{
	uint32_t spare = config->churn_ppm > 0 ? config->inside_pkts + 1 : 0;
	int rc;

	memset(flows, 0, sizeof(*flows));
	flows->config = *config;
	flows->slot_count = config->flow_count + spare;
	flows->flows = calloc(flows->slot_count, sizeof(*flows->flows));
	flows->seen = calloc((size_t)flows->slot_count * config->worker_count, 1);
	flows->slots = calloc(config->flow_count, sizeof(*flows->slots));
	flows->unused = calloc(spare + 1, sizeof(*flows->unused));
	flows->aliases = calloc(config->flow_count, sizeof(*flows->aliases));
	flows->digests = calloc(DIGESTS_AHEAD, sizeof(*flows->digests));
	if (flows->flows == NULL || flows->seen == NULL || flows->slots == NULL ||
	    flows->unused == NULL || flows->aliases == NULL || flows->digests == NULL) {
		lull_sim_flows_done(flows);
		return -ENOMEM;
	}
	lull_prng_init(&flows->draw_prng, config->seed, STREAM_DRAW);
	lull_prng_init(&flows->digest_prng, config->seed, STREAM_DIGEST);
	for (uint32_t i = 0; i < config->flow_count; i++)
		flows_bear(flows, i, i);
	for (uint32_t i = 0; i < spare; i++)
		flows->unused[i] = config->flow_count + i;
	flows->born = config->flow_count;
	rc = flows_shares(flows);
	if (rc != 0)
		lull_sim_flows_done(flows);
	return rc;
}

void
lull_sim_flows_done(struct lull_sim_flows *flows)
{
	free(flows->flows);
	free(flows->seen);
	free(flows->slots);
	free(flows->unused);
	free(flows->aliases);
	free(flows->digests);
	memset(flows, 0, sizeof(*flows));
}

/* A flow ends and another takes its rank; the elephant lasts. */
static void
flows_replace(struct lull_sim_flows *flows)
{
	uint32_t spare = flows->slot_count - flows->config.flow_count;
	uint32_t kept = flows->config.elephant_ppm > 0 ? 1 : 0, rank, slot;

	if (flows->config.flow_count <= kept)
		return;
	rank = kept + (uint32_t)lull_prng_below(&flows->draw_prng, flows->config.flow_count - kept);
	/* There are more spare slots than packets inside, so one of them has none. */
	while (flows->flows[flows->unused[flows->unused_at]].inside > 0)
		flows->unused_at = flows->unused_at + 1 == spare ? 0 : flows->unused_at + 1;
	slot = flows->unused[flows->unused_at];
	flows->unused[flows->unused_at] = flows->slots[rank];
	flows->unused_at = flows->unused_at + 1 == spare ? 0 : flows->unused_at + 1;
	flows_bear(flows, rank, slot);
	flows->born++;
}

uint32_t
lull_sim_flows_next(struct lull_sim_flows *flows)
{
	const struct lull_sim_flows_config *config = &flows->config;
	uint64_t bits = lull_prng_u64(&flows->draw_prng);
	uint32_t rank = (uint32_t)((bits >> 32) * config->flow_count >> 32), slot;
	uint64_t share;

	flows->churn_credit += config->churn_ppm;
	if (flows->churn_credit >= LULL_PPM) {
		flows->churn_credit -= LULL_PPM;
		flows_replace(flows);
	}
	if (flows->aliases[rank].keep <= (uint32_t)bits)
		rank = flows->aliases[rank].other;
	if (config->elephant_ppm > 0) {
		share = (lull_prng_u64(&flows->draw_prng) >> 32) * LULL_PPM >> 32;
		rank = share < config->elephant_ppm ? 0 : rank;
	}
	slot = flows->slots[rank];
	flows->flows[slot].inside++;
	return slot;
}
