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
#define LINK_ETHERNET 1

enum { STREAM_DRAW = 101, STREAM_HEADER };

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

/* ---- headers ---- */

/* What schedulers do with a flow is asked of them, not known here. */
static struct lull_dispatch *
asked_create(const char *scheduler, uint32_t worker_count)
{
	struct lull_dispatch_config config = {
		.scheduler = lull_scheduler_find(scheduler),
		.worker_count = worker_count,
		.bucket_bits = 8,
	};
	size_t size = (lull_dispatch_size(&config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
		      LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);
	struct lull_dispatch *dispatch;
	int rc;

	if (memory == NULL)
		return NULL;
	rc = lull_dispatch_init(memory, &config, &dispatch);
	LULL_ASSERT(rc == 0 && (void *)dispatch == memory);
	return dispatch;
}

static int
flows_ask(struct lull_sim_flows *flows)
{
	static const char *const names[] = { "hrw", "crc32" };

	if (flows->config.target_count == 0)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		flows->asked[i] = asked_create(names[i], flows->config.worker_count);
		if (flows->asked[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

static bool
flows_targeted(struct lull_sim_flows *flows, uint32_t digest, uint32_t crc)
{
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX] = { { 0 } };
	uint16_t workers[2];

	if (flows->config.target_count == 0)
		return true;
	for (uint32_t i = 0; i < flows->config.worker_count; i++)
		loads[i].capacity_pkts = 1;
	for (uint32_t i = 0; i < 2; i++)
		lull_dispatch_burst(flows->asked[i], 0, loads, &digest, &crc, 1, &workers[i], NULL);
	return workers[0] == workers[1] && workers[0] < flows->config.target_count;
}

/* Draw headers until they suit; all packets of the flow have what is read in them here. */
static void
flows_draw(struct lull_sim_flows *flows, struct lull_sim_flow *flow)
{
	struct lull_flow_packet packet;
	enum lull_flow_cause cause;

	do {
		uint32_t bytes = lull_sim_header_draw(&flows->header_prng, flow->frame);

		cause = lull_flow_parse(flows->parser, LINK_ETHERNET, flow->frame, bytes, bytes, 0,
					&packet);
		LULL_ASSERT(cause == LULL_FLOW_OK);
		flow->digest = packet.dispatch_hash;
		flow->crc = lull_flow_key_crc32(&packet.key);
	} while (!flows_targeted(flows, flow->digest, flow->crc));
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
	flows->flows[slot] = (struct lull_sim_flow){ 0 };
	flows_draw(flows, &flows->flows[slot]);
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
	flows->parser = lull_sim_parser_create(config->seed);
	if (flows->flows == NULL || flows->seen == NULL || flows->slots == NULL ||
	    flows->unused == NULL || flows->aliases == NULL || flows->parser == NULL ||
	    flows_ask(flows) != 0) {
		lull_sim_flows_done(flows);
		return -ENOMEM;
	}
	lull_prng_init(&flows->draw_prng, config->seed, STREAM_DRAW);
	lull_prng_init(&flows->header_prng, config->seed, STREAM_HEADER);
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
	lull_sim_parser_free(flows->parser);
	for (uint32_t i = 0; i < 2; i++)
		free(flows->asked[i]);
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
