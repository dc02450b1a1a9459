/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "sim/machine.h"

#define DRAWS 1000000u

TEST(curve_at__straight_lines_and_level_ends)
{
	const struct lull_sim_curve curve = { 3, { { 2, 100 }, { 4, 201 }, { 10, 81 } } };
	const struct lull_sim_curve none = { .count = 0 };
	const struct lull_sim_curve one = { 1, { { 5, 7 } } };

	assert_int_equal(lull_sim_curve_at(&curve, 0), 100);
	assert_int_equal(lull_sim_curve_at(&curve, 2), 100);
	assert_int_equal(lull_sim_curve_at(&curve, 3), 150); /* 150.5 rounded down */
	assert_int_equal(lull_sim_curve_at(&curve, 4), 201);
	assert_int_equal(lull_sim_curve_at(&curve, 7), 141);
	assert_int_equal(lull_sim_curve_at(&curve, 10), 81);
	assert_int_equal(lull_sim_curve_at(&curve, UINT64_MAX), 81);
	assert_int_equal(lull_sim_curve_at(&none, 3), 0);
	assert_int_equal(lull_sim_curve_at(&one, 0), 7);
	assert_int_equal(lull_sim_curve_at(&one, 9), 7);
}

TEST(machines__are_found_and_whole)
{
	const struct lull_sim_machine *machine;

	for (machine = lull_sim_machines; machine->name != NULL; machine++) {
		assert_ptr_equal(lull_sim_machine_find(machine->name), machine);
		assert_true(strlen(machine->summary) > 10);
		assert_true(machine->burst.count > 0 && machine->burst.knots[0].at == 0);
		for (uint32_t i = 1; i < machine->burst.count; i++)
			assert_true(machine->burst.knots[i].at > machine->burst.knots[i - 1].at);
		for (uint32_t i = 1; i < machine->overshoot.count; i++) {
			const struct lull_sim_knot *knots = machine->overshoot.knots;

			assert_true(knots[i].at > knots[i - 1].at);
			assert_true(knots[i].ns >= knots[i - 1].ns);
		}
		assert_true(machine->fifo_late.count > 0 && machine->fair_late.count > 0);
		for (uint64_t at = LULL_SIM_PPB / 2; at <= LULL_SIM_PPB; at += LULL_SIM_PPB / 1000)
			assert_true(lull_sim_curve_at(&machine->fifo_late, at) <=
				    lull_sim_curve_at(&machine->fair_late, at));
		assert_true(machine->stall_ns <= machine->stall_ns_max);
		assert_true(machine->competitor_ppm == 0 || machine->competitor_run_ns > 0);
		for (uint32_t i = 1; i < machine->cstate_count; i++) {
			assert_true(machine->cstates[i].least_ns >
				    machine->cstates[i - 1].least_ns);
			assert_true(machine->cstates[i].watts < machine->cstates[i - 1].watts);
		}
		assert_true(machine->watts > machine->cstates[0].watts);
	}
	assert_null(lull_sim_machine_find("gues"));
	assert_null(lull_sim_machine_find(""));
}

TEST(machine_pps__full_bursts)
{
	const struct lull_sim_machine *guest = lull_sim_machine_find("guest");

	/* 60 + 960 ns for 32, 60 + 150 for one */
	assert_true(lull_sim_machine_pps(guest, 32) > 31.37e6);
	assert_true(lull_sim_machine_pps(guest, 32) < 31.38e6);
	assert_true(lull_sim_machine_pps(guest, 1) > 4.761e6);
	assert_true(lull_sim_machine_pps(guest, 1) < 4.762e6);
}

static int
order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Quantiles of what is drawn against the curve it is drawn from. */
TEST(sampler_draw__quantiles_of_the_curve)
{
	static const struct {
		uint32_t permille_tenths; /* 1/10000 */
		double tolerance;
	} quantiles[] = { { 1000, 0.01 }, { 5000, 0.01 }, { 9900, 0.01 }, { 9990, 0.03 } };
	const uint64_t seed = 14;
	uint64_t *draws = calloc(DRAWS, sizeof(*draws));
	struct lull_sim_sampler *sampler = calloc(1, sizeof(*sampler));
	const struct lull_sim_machine *machine;

	assert_non_null(draws);
	assert_non_null(sampler);
	print_message("seed %llu\n", (unsigned long long)seed);
	for (machine = lull_sim_machines; machine->name != NULL; machine++) {
		lull_sim_sampler_init(sampler, &machine->overshoot, seed);
		for (uint32_t i = 0; i < DRAWS; i++)
			draws[i] = lull_sim_sampler_draw(sampler);
		qsort(draws, DRAWS, sizeof(*draws), order);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
			uint64_t at = LULL_SIM_PPB / 10000 * quantiles[i].permille_tenths;
			double stated = (double)lull_sim_curve_at(&machine->overshoot, at);
			double drawn = (double)draws[DRAWS / 10000 * quantiles[i].permille_tenths];

			if (drawn < stated * (1 - quantiles[i].tolerance) ||
			    drawn > stated * (1 + quantiles[i].tolerance))
				fail_msg("%s: %u/10000 is %f, drawn %f", machine->name,
					 quantiles[i].permille_tenths, stated, drawn);
		}
		assert_true(draws[0] >= machine->overshoot.knots[0].ns);
		assert_true(draws[DRAWS - 1] <=
			    machine->overshoot.knots[machine->overshoot.count - 1].ns);
	}
	free(sampler);
	free(draws);
}

TEST(sampler_draw__level_and_empty_curves)
{
	const struct lull_sim_curve level = { 1, { { LULL_SIM_PPB / 2, 1234 } } };
	const struct lull_sim_curve none = { .count = 0 };
	struct lull_sim_sampler *sampler = calloc(1, sizeof(*sampler));

	assert_non_null(sampler);
	lull_sim_sampler_init(sampler, &level, 1);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(lull_sim_sampler_draw(sampler), 1234);
	lull_sim_sampler_init(sampler, &none, 1);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(lull_sim_sampler_draw(sampler), 0);
	free(sampler);
}
