/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdict against what was measured, in both directions: stalls of 1 to 20 ms, 0.1 to 10 times
 * a second. Late is a packet that waited longer than the objective, beyond an ideal polling
 * thread, and one that was lost; a verdict may be in doubt between two thirds and one and a half
 * of the budget, and nowhere else. A sample of the cells; all of them with LULL_LONG set.
 *
 * Turns are coarse, 1 us, so that a thread that polls through a minute costs a second of ours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

#define OBJECTIVE_NS (200 * US)
#define BUDGET 0.01 /* of the packets: p99 */
#define DOUBT 1.5
#define STEP_NS (100 * MS) /* of lull_sim_run(), for runs of 10 s and more */
#define WINDOW_STEPS 10
#define STEPS_MAX 700

struct cell {
	double stall_ms, per_s, pps;
};

/* What has happened until the end of a step, all threads. */
struct step {
	uint64_t late, offered, samples, feasible, cpu_ns, time_ns;
};

struct record {
	struct lull_sim *sim;
	uint64_t warmup_ns;
	uint32_t count;
	struct step steps[STEPS_MAX];
	struct lull_sim_result result;
};

static struct lull_sim_config
cell_config(const struct cell *cell, uint64_t seed)
{
	struct lull_arrival_config arrival =
		stand_arrival(cell->pps > 0 ? LULL_ARRIVAL_POISSON : LULL_ARRIVAL_OFF, cell->pps);
	struct lull_sim_config config = stand_config("objective", &arrival);
	struct lull_idle_limits *limits = &config.policy[LULL_SIM_SIDE_RECEIVE].limits;

	config.machine = *lull_sim_machine_find("noisy");
	config.machine.iteration_ns = US;
	config.stall_every_ns = cell->per_s > 0 ? (uint64_t)(1e9 / cell->per_s) : 0;
	config.stall_ns = (uint64_t)(cell->stall_ms * 1e6);
	config.seed = seed;
	config.warmup_ns = 5 * LULL_NS_PER_S;
	config.duration_ns = (cell->per_s < 1 ? 60 : 30) * LULL_NS_PER_S;
	limits->latency_ns = OBJECTIVE_NS;
	limits->percentile_ppm = 990000;
	limits->loss = LULL_LOSS_TOLERATE;
	limits->envelope = LULL_ENVELOPE_LEARNED;
	return config;
}

static uint64_t
late_of(const struct lull_sim_result *result)
{
	uint64_t sum = result->lost;

	for (uint32_t i = lull_histogram_bin(OBJECTIVE_NS) + 1; i < LULL_HISTOGRAM_BINS; i++)
		sum += result->added.bins[i];
	return sum;
}

static bool
record_step(void *arg, uint64_t done_ns, uint64_t total_ns)
{
	struct record *record = arg;
	struct lull_sim_result *result = &record->result;

	(void)total_ns;
	if (done_ns <= record->warmup_ns || record->count == STEPS_MAX)
		return true;
	lull_sim_read(record->sim, LULL_SIM_SIDE_RECEIVE, result);
	record->steps[record->count++] =
		(struct step){ late_of(result),          result->offered, result->samples,
			       result->samples_feasible, result->cpu_ns,  result->time_ns };
	return true;
}

static struct record *
record_run(const struct lull_sim_config *config)
{
	struct record *record = calloc(1, sizeof(*record));

	assert_non_null(record);
	record->warmup_ns = config->warmup_ns;
	assert_int_equal(lull_sim_create(config, &record->sim), 0);
	assert_int_equal(lull_sim_run(record->sim, record_step, record), 0);
	assert_in_range(record->count, 10, STEPS_MAX);
	lull_sim_free(record->sim);
	return record;
}

static double
ratio(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- over a whole run ---- */

static const double stalls_ms[] = { 1, 2, 5, 10, 20 };
static const double rates_per_s[] = { 0.1, 0.3, 1, 3, 10 };
static const double packets_pps[] = { 1e3, 2e4, 1e5 };

/* False when verdict and measurement contradict each other. */
static bool
run_agrees(const struct lull_sim_config *config, const char *words)
{
	struct record *record = record_run(config);
	const struct step *end = &record->steps[record->count - 1];
	double share = ratio(end->late, end->offered);
	double feasible = ratio(end->feasible, end->samples);
	bool must = share <= BUDGET / DOUBT, must_not = share >= BUDGET * DOUBT;
	bool good = (!must || feasible >= 0.9) && (!must_not || feasible <= 0.1);

	print_message("%s %7.0f pps: late %6.3f %%, feasible %5.1f %% (%s), CPU %5.1f %%  %s\n",
		      words, config->arrival.pps, share * 100, feasible * 100,
		      must     ? "wanted: 90 or more" :
		      must_not ? "wanted: 10 at most" :
				 "in doubt",
		      ratio(end->cpu_ns, end->time_ns) * 100, good ? "" : "<- WRONG");
	free(record);
	return good;
}

static bool
cell_agrees(const struct cell *cell, uint64_t seed)
{
	struct lull_sim_config config = cell_config(cell, seed);
	char words[64];

	snprintf(words, sizeof(words), "%5.0f ms %5.1f /s", cell->stall_ms, cell->per_s);
	return run_agrees(&config, words);
}

TEST(verdict__agrees_with_the_share_of_late_packets)
{
	bool all = getenv("LULL_LONG") != NULL;
	uint32_t number = 0, wrong = 0, count = 0;

	for (size_t s = 0; s < COUNT(stalls_ms); s++)
		for (size_t r = 0; r < COUNT(rates_per_s); r++)
			for (size_t p = 0; p < COUNT(packets_pps); p++, number++) {
				const struct cell cell = { stalls_ms[s], rates_per_s[r],
							   packets_pps[p] };

				/* each stall with each rate, and packets in turn */
				if (!all && (s + r) % COUNT(packets_pps) != p)
					continue;
				count++;
				wrong += cell_agrees(&cell, 100 + number) ? 0 : 1;
			}
	print_message("%u of %u cells wrong\n", wrong, count);
	assert_int_equal(wrong, 0);
}

/*
 * Late is who sleeps and not who polls, beside a busy loop: a few wake-ups in a thousand, and a
 * tenth of the packets. In a real-time class nearly none.
 */
TEST(verdict__agrees_beside_other_work)
{
	uint32_t wrong = 0;

	for (int fifo = 0; fifo < 2; fifo++)
		for (size_t p = 0; p < COUNT(packets_pps); p++) {
			const struct cell cell = { 0, 0, packets_pps[p] };
			struct lull_sim_config config = cell_config(&cell, 400 + p);

			config.competitor_ppm = LULL_PPM;
			config.competitor_run_ns = 3 * MS;
			config.fifo = fifo == 1;
			config.duration_ns = 20 * LULL_NS_PER_S;
			wrong += run_agrees(&config,
					    fifo == 1 ? "busy loop, fifo " : "busy loop, other") ?
					 0 :
					 1;
		}
	assert_int_equal(wrong, 0);
}

/* ---- nobody is late where nothing arrives ---- */

TEST(no_packets__rests_whatever_the_host_does)
{
	static const struct cell cells[] = {
		{ 1, 10, 0 }, { 5, 10, 0 }, { 20, 1, 0 }, { 20, 10, 0 }
	};
	uint32_t wrong = 0;

	for (size_t i = 0; i < COUNT(cells); i++) {
		struct lull_sim_config config = cell_config(&cells[i], 200 + i);
		struct record *record = record_run(&config);
		const struct step *end = &record->steps[record->count - 1];
		double cpu = ratio(end->cpu_ns, end->time_ns);

		print_message("%5.0f ms %5.1f /s, nothing arrives: CPU %5.1f %% (wanted: less "
			      "than 15)  %s\n",
			      cells[i].stall_ms, cells[i].per_s, cpu * 100,
			      cpu < 0.15 ? "" : "<- WRONG");
		wrong += cpu < 0.15 ? 0 : 1;
		free(record);
	}
	assert_int_equal(wrong, 0);
}

/* ---- a host that turns bad ---- */

/*
 * Steps whose last second had three times the budget: the verdict has had that second, so from
 * here on it must not be feasible. A look in ten may come before the news.
 */
static uint32_t
slow_steps(const struct record *record, uint32_t *bad)
{
	uint32_t slow = 0;

	*bad = 0;
	for (uint32_t i = WINDOW_STEPS; i + 1 < record->count; i++) {
		const struct step *then = &record->steps[i - WINDOW_STEPS];
		const struct step *now = &record->steps[i], *next = &record->steps[i + 1];

		if (ratio(now->late - then->late, now->offered - then->offered) < 3 * BUDGET)
			continue;
		(*bad)++;
		if (ratio(next->feasible - now->feasible, next->samples - now->samples) > 0.15)
			slow++;
	}
	return slow;
}

TEST(host_turns_bad__feasible_is_taken_back_within_a_second)
{
	static const struct cell cells[] = {
		{ 5, 10, 2e4 }, { 10, 10, 1e3 }, { 10, 10, 1e5 }, { 20, 3, 2e4 }, { 2, 30, 2e4 }
	};
	uint32_t wrong = 0;

	for (size_t i = 0; i < COUNT(cells); i++) {
		struct lull_sim_config config = cell_config(&cells[i], 300 + i);
		struct record *record;
		const struct step *good;
		uint32_t bad, slow;
		bool promised;

		config.warmup_ns = 2 * LULL_NS_PER_S;
		config.duration_ns = 18 * LULL_NS_PER_S;
		config.stall_from_ns = 10 * LULL_NS_PER_S;
		record = record_run(&config);
		good = &record->steps[(uint32_t)(config.stall_from_ns - config.warmup_ns) /
					      (uint32_t)STEP_NS -
				      2];
		promised = ratio(good->feasible, good->samples) >= 0.9;
		slow = slow_steps(record, &bad);
		print_message("%5.0f ms %5.1f /s %7.0f pps after 10 s of good: promised before: "
			      "%s; feasible after a bad second: %u of %u tenths  %s\n",
			      cells[i].stall_ms, cells[i].per_s, cells[i].pps,
			      promised ? "yes" : "no", slow, bad,
			      promised && slow == 0 && bad > 10 ? "" : "<- WRONG");
		wrong += promised && slow == 0 && bad > 10 ? 0 : 1;
		free(record);
	}
	assert_int_equal(wrong, 0);
}
