/* SPDX-License-Identifier: BSD-3-Clause */
#include "competitor.h"

#include <string.h>

#define SLICE_NS ((int64_t)LULL_SIM_FAIR_SLICE_NS)

void
lull_sim_competitor_init(struct lull_sim_competitor *competitor, uint32_t share_ppm,
			 uint64_t run_ns, uint64_t switch_ns, uint64_t seed)
{
	memset(competitor, 0, sizeof(*competitor));
	lull_prng_init(&competitor->prng, seed, 0x686f);
	if (share_ppm == 0)
		return;
	competitor->run_ns = LULL_MAX(run_ns, 1);
	competitor->rest_ns = competitor->run_ns * (LULL_PPM - share_ppm) / share_ppm;
	competitor->switch_ns = switch_ns;
}

/* Rests differ by half, lest it keeps step with whatever the thread does. */
static uint64_t
competitor_rest_ns(struct lull_sim_competitor *competitor)
{
	uint64_t rest_ns = competitor->rest_ns;

	if (rest_ns < 2)
		return rest_ns;
	return rest_ns / 2 + lull_prng_below(&competitor->prng, rest_ns + 1);
}

static void
competitor_begin(struct lull_sim_competitor *competitor)
{
	competitor->left_ns = competitor->run_ns;
	/* What it had too much of before its rest is forgotten. */
	if (competitor->rest_ns > 0)
		competitor->lead_ns = LULL_MAX(competitor->lead_ns, 0);
}

void
lull_sim_competitor_run(struct lull_sim_competitor *competitor, uint64_t until_ns)
{
	uint64_t part_ns;

	while (competitor->at_ns < until_ns) {
		if (competitor->left_ns == 0) {
			if (competitor->wake_ns >= until_ns) {
				competitor->at_ns = until_ns;
				return;
			}
			competitor->at_ns = LULL_MAX(competitor->at_ns, competitor->wake_ns);
			competitor_begin(competitor);
		}
		part_ns = LULL_MIN(competitor->left_ns, until_ns - competitor->at_ns);
		competitor->at_ns += part_ns;
		competitor->left_ns -= part_ns;
		competitor->got_ns += part_ns;
		competitor->lead_ns = LULL_MAX(competitor->lead_ns - (int64_t)part_ns, -SLICE_NS);
		if (competitor->left_ns == 0)
			competitor->wake_ns = competitor->at_ns + competitor_rest_ns(competitor);
	}
}

void
lull_sim_competitor_skip(struct lull_sim_competitor *competitor, uint64_t until_ns)
{
	competitor->at_ns = LULL_MAX(competitor->at_ns, until_ns);
}

bool
lull_sim_competitor_wants(const struct lull_sim_competitor *competitor, uint64_t at_ns)
{
	return competitor->run_ns > 0 && (competitor->left_ns > 0 || competitor->wake_ns <= at_ns);
}

void
lull_sim_competitor_charge(struct lull_sim_competitor *competitor, uint64_t ns)
{
	/* Who is alone takes nothing from anybody. */
	if (lull_sim_competitor_wants(competitor, competitor->at_ns))
		competitor->lead_ns += (int64_t)ns;
}

uint64_t
lull_sim_competitor_debt(struct lull_sim_competitor *competitor)
{
	uint64_t rest_of_slice_ns;

	if (competitor->lead_ns <= 0)
		return 0;
	/* It stays until its slice is over, too, and where in it it stands is anybody's guess. */
	rest_of_slice_ns = lull_prng_below(&competitor->prng, LULL_SIM_FAIR_SLICE_NS);
	return LULL_MAX((uint64_t)competitor->lead_ns, rest_of_slice_ns);
}

uint64_t
lull_sim_competitor_iterate(struct lull_sim_competitor *competitor, uint64_t now_ns)
{
	uint64_t ns;

	if (now_ns < competitor->slice_ns || !lull_sim_competitor_wants(competitor, now_ns))
		return 0;
	if (competitor->left_ns == 0)
		competitor_begin(competitor);
	if (competitor->lead_ns < 0) { /* the thread is owed something */
		competitor->slice_ns = now_ns + (uint64_t)-competitor->lead_ns;
		return 0;
	}
	ns = LULL_SIM_FAIR_SLICE_NS + lull_prng_below(&competitor->prng, LULL_SIM_FAIR_TICK_NS);
	return competitor->rest_ns > 0 ? LULL_MIN(ns, competitor->left_ns) : ns;
}
