/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A remedy that a verdict names works: the same world with what it names is feasible, takes the CPU
 * that was told, and loses nothing.
 */
#include "case.h"
#include "stand.h"

#include <stdlib.h>

#include <lull/rest.h>

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/*
 * In points: what is measured then may be so much above the figure, and so much below, for rare
 * wake-ups are known better once there are more of them. Where none was measured at all the figure
 * is an upper limit.
 */
#define ABOVE_PCT 4.0
#define BELOW_PCT 5.0
/* With several queues verdicts themselves say less than is measured, as looks cost more. */
#define ABOVE_QUEUES_PCT 10.0

struct cell {
	const char *machine;
	double link_gbps; /* 0: what was learned */
	uint32_t ring_pkts;
	uint64_t latency_us;
	double pps;
	uint64_t rest_us_max; /* 0: the usual */
	uint32_t line_pkts;   /* bursts at line rate every 5 ms, 0: none */
	uint32_t queues;      /* 0: one */
};

static struct lull_sim_config
cell_config(const struct cell *cell, uint64_t seed)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, cell->pps);
	struct lull_sim_config config = stand_config("objective", &arrival);
	struct lull_idle_limits *limits = &config.policy[LULL_SIM_SIDE_RECEIVE].limits;

	config.machine = *lull_sim_machine_find(cell->machine);
	if (cell->link_gbps >= 40) /* else it is outrun */
		config.machine.burst = (struct lull_sim_curve){ 2, { { 0, 20 }, { 32, 150 } } };
	config.ring_pkts = cell->ring_pkts;
	config.link_bps = (uint64_t)(cell->link_gbps * 1e9);
	config.queue_count = cell->queues > 0 ? cell->queues : 1;
	if (cell->line_pkts > 0) {
		config.line_every_ns = 5 * MS;
		config.line_pkts = cell->line_pkts;
	}
	config.stall_every_ns = config.machine.stall_every_ns;
	config.stall_ns = config.machine.stall_ns;
	config.stall_ns_max = config.machine.stall_ns_max;
	config.seed = seed;
	config.warmup_ns = 2 * LULL_NS_PER_S;
	config.duration_ns = 4 * LULL_NS_PER_S;
	limits->latency_ns = cell->latency_us * US;
	limits->percentile_ppm = 990000;
	limits->rest_ns_max = cell->rest_us_max * US;
	limits->loss = LULL_LOSS_ZERO;
	limits->envelope = cell->link_gbps > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
	return config;
}

static void
remedy_apply(const struct lull_remedy *remedy, struct lull_sim_config *config)
{
	struct lull_idle_limits *limits = &config->policy[LULL_SIM_SIDE_RECEIVE].limits;

	if ((remedy->changes & LULL_REMEDY_RING) != 0)
		config->ring_pkts = remedy->ring_pkts;
	if ((remedy->changes & LULL_REMEDY_PPS_MAX) != 0) {
		limits->envelope = LULL_ENVELOPE_STATED;
		limits->pps_max = remedy->pps_max;
		/* The promise is about what was stated: nothing comes faster. */
		config->line_every_ns = 0;
	}
	if ((remedy->changes & LULL_REMEDY_LATENCY) != 0)
		limits->latency_ns = remedy->latency_ns;
	if ((remedy->changes & LULL_REMEDY_MAX_REST) != 0)
		limits->rest_ns_max = remedy->rest_ns_max;
	if ((remedy->changes & LULL_REMEDY_LOSS) != 0) {
		limits->loss = LULL_LOSS_TOLERATE;
		config->line_every_ns = 0;
	}
	if ((remedy->changes & LULL_REMEDY_QUIET) != 0) {
		config->stall_every_ns = config->stall_ns = config->stall_ns_max = 0;
		config->competitor_ppm = 0;
	}
	config->warmup_ns += 2 * LULL_NS_PER_S; /* until rests have risen */
}

static double
cpu_pct(const struct lull_sim_result *result)
{
	return (double)result->cpu_ns / (double)result->time_ns * 100;
}

static bool
remedy_works(const struct cell *cell, const struct lull_remedy *remedy, uint64_t seed)
{
	struct lull_sim_config config = cell_config(cell, seed);
	struct lull_sim_result *then = calloc(1, sizeof(*then));
	double told = remedy->cpu_ppm / 1e4, above, below, measured, feasible;
	char text[256];
	bool good;

	assert_non_null(then);
	remedy_apply(remedy, &config);
	stand_run(&config, then);
	measured = cpu_pct(then);
	feasible = (double)then->samples_feasible / (double)then->samples;
	above = cell->queues > 1 ? ABOVE_QUEUES_PCT : ABOVE_PCT;
	below = remedy->measured ? BELOW_PCT : told;
	good = feasible > 0.95 && measured <= told + above && measured >= told - below &&
	       then->lost == 0;
	print_message(
		"   changes %2x ring %5u pps %8llu latency %4llu us cap %4llu us: rests of "
		"%6.1f us, %5.1f %% CPU %s; measured %5.1f %%, feasible %3.0f %%, lost %llu%s\n",
		remedy->changes, remedy->ring_pkts, (unsigned long long)remedy->pps_max,
		(unsigned long long)(remedy->latency_ns / US),
		(unsigned long long)(remedy->rest_ns_max / US), (double)remedy->rest_ns / 1e3, told,
		remedy->measured ? "told" : "guessed", measured, feasible * 100,
		(unsigned long long)then->lost, good ? "" : "  <- WRONG");
	if (!good)
		print_message("   now %s\n", lull_verdict_explain(&then->verdict, &then->limits,
								  text, sizeof(text)));
	free(then);
	return good;
}

/* Remedies that do not do what they say; *named counts them all. */
static uint32_t
cell_wrong(const struct cell *cell, uint64_t seed, uint32_t *named)
{
	struct lull_sim_config config = cell_config(cell, seed);
	struct lull_sim_result *before = calloc(1, sizeof(*before));
	const struct lull_verdict *verdict = &before->verdict;
	uint32_t wrong = 0, fits = 0;

	assert_non_null(before);
	stand_run(&config, before);
	print_message("%s, %g Gbit/s, ring %u, %llu us, %g pps: %s by %s, %.0f %% CPU, %llu "
		      "rests\n",
		      cell->machine, cell->link_gbps, cell->ring_pkts,
		      (unsigned long long)cell->latency_us, cell->pps,
		      lull_verdict_state_name(verdict->state), lull_bound_name(verdict->binding),
		      cpu_pct(before), (unsigned long long)verdict->calibration_count);
	for (uint32_t i = 0; i < verdict->remedy_count; i++) {
		if (!verdict->remedies[i].fits)
			continue;
		fits++;
		wrong += remedy_works(cell, &verdict->remedies[i], seed) ? 0 : 1;
	}
	*named += fits;
	if (verdict->state != LULL_VERDICT_INFEASIBLE || fits == 0) {
		print_message("   no remedy  <- WRONG\n");
		wrong++;
	}
	free(before);
	return wrong;
}

static const struct cell cells[] = {
	/* the ring is too short, at usual sizes */
	{ "guest", 10, 1024, 200, 1e5, 0, 0, 0 },
	{ "guest", 10, 512, 200, 1e5, 0, 0, 0 },
	{ "guest", 25, 1024, 200, 1e5, 0, 0, 0 },
	{ "guest", 25, 2048, 200, 1e4, 0, 0, 0 },
	{ "guest", 40, 1024, 200, 1e5, 0, 0, 0 },
	{ "guest", 100, 1024, 200, 1e5, 0, 0, 0 },
	{ "metal", 10, 512, 200, 1e5, 0, 0, 0 },
	{ "metal", 25, 1024, 200, 1e5, 0, 0, 0 },
	{ "metal", 25, 1024, 200, 1e5, 0, 0, 4 },
	{ "metal", 40, 1024, 100, 3e5, 0, 0, 0 },
	{ "guest", 10, 1024, 200, 1e5, 0, 0, 8 },
	/* the objective is too short, or both are */
	{ "guest", 1, 1024, 30, 1e5, 0, 0, 0 },
	{ "guest", 0, 1024, 20, 1e4, 0, 0, 0 },
	{ "guest", 10, 1024, 30, 1e4, 0, 0, 0 },
	{ "metal", 25, 1024, 5, 1e5, 0, 0, 0 },
	{ "metal", 10, 4096, 5, 1e5, 0, 0, 0 },
	/* other work holds the thread up, too; or it is too slow for the rate */
	{ "noisy", 10, 1024, 200, 1e5, 0, 0, 0 },
	{ "noisy", 1, 4096, 200, 2e4, 0, 0, 0 },
	{ "guest", 25, 1024, 200, 1e5, 0, 512, 0 },
	{ "guest", 25, 8192, 200, 1e5, 0, 512, 0 },
	/* the cap is too short */
	{ "guest", 1, 1024, 200, 1e5, 1, 0, 0 },
	{ "guest", 10, 1024, 200, 1e5, 1, 0, 0 },
};

TEST(remedy__does_what_the_verdict_says)
{
	uint32_t wrong = 0, named = 0;

	for (size_t i = 0; i < COUNT(cells); i++)
		wrong += cell_wrong(&cells[i], 500 + i, &named);
	print_message("%u of %u remedies wrong\n", wrong, named);
	assert_true(named >= 2 * COUNT(cells));
	assert_int_equal(wrong, 0);
}

/* Half of it would be refused, or take more than was told: it is not larger than it has to be. */
TEST(remedy__half_of_the_ring_does_not_do)
{
	static const struct cell shorts[] = {
		{ "guest", 10, 512, 200, 1e5, 0, 0, 0 },
		{ "guest", 10, 1024, 200, 1e5, 0, 0, 0 },
		{ "guest", 25, 1024, 200, 1e5, 0, 0, 0 },
		{ "guest", 100, 1024, 200, 1e5, 0, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(shorts); i++) {
		struct lull_sim_config config = cell_config(&shorts[i], 600 + i);
		struct lull_sim_result *before = calloc(1, sizeof(*before));
		struct lull_remedy ring;

		assert_non_null(before);
		stand_run(&config, before);
		ring = before->verdict.remedies[0];
		free(before);
		assert_int_equal(ring.changes, LULL_REMEDY_RING);
		assert_true(remedy_works(&shorts[i], &ring, 600 + i));
		ring.ring_pkts /= 2;
		assert_false(remedy_works(&shorts[i], &ring, 600 + i));
	}
}
