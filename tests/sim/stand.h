/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: simulations for the tests, whole ones and threads put together by hand.
 *
 * What is drawn at random comes from the seed in the configuration; stand_run()
 * prints it when a run fails, as the cases do.
 * Memory: results are the caller's; a bench is freed by stand_bench_done().
 */
#ifndef LULL_TEST_STAND_H
#define LULL_TEST_STAND_H

#include <string.h>

#include "case.h"
#include "sim/schedule.h"
#include "sim/sim.h"

/** Fails the test, in which @p what is not within a share @p tolerance of what is expected. */
void stand_about(double value, double expected, double tolerance, const char *what);
/** Machine guest, one thread, a ring of 1024, burst 32, no link, seed 1, 50 ms, no warm-up. */
struct lull_sim_config stand_config(const char *governor,
				    const struct lull_arrival_config *arrival);
/** Frames of 60 bytes, at @p pps; the other members by kind, usual for a test. */
struct lull_arrival_config stand_arrival(enum lull_arrival_kind kind, double pps);
/** Costs that are easy to reckon with: iteration 100, burst 100 + 50 per packet, no overshoot. */
struct lull_sim_machine stand_machine(void);
/** Create, run, read the receiving side, free; fails the test when the simulator refuses. */
void stand_run(const struct lull_sim_config *config, struct lull_sim_result *result);
/** The same, both sides; results[LULL_SIM_SIDE_COUNT]. */
void stand_run_sides(const struct lull_sim_config *config, struct lull_sim_result *results);
/** Over every integer of a result and nothing else: the same wherever the result is. */
uint64_t stand_digest(const struct lull_sim_result *result);

/** Threads on one core, each with a ring and a feed of its own. */
#define STAND_THREADS_MAX 2
struct stand_bench {
	struct lull_sim_machine machine;
	struct lull_sim_quirks quirks;
	struct lull_sim_cpu cpu;
	struct lull_sim_schedule schedule;
	uint32_t thread_count;
	struct lull_sim_thread threads[STAND_THREADS_MAX];
	struct lull_sim_ring rings[STAND_THREADS_MAX];
	struct lull_sim_ring *ring_list[STAND_THREADS_MAX];
	struct lull_sim_feed feeds[STAND_THREADS_MAX];
};
/** Zero, a core without stalls, costs of stand_machine(). */
void stand_bench_init(struct stand_bench *bench);
/** One more thread; its packets come at the times given (borrowed). */
struct lull_sim_thread *stand_bench_add(struct stand_bench *bench, const char *governor,
					const struct lull_idle_limits *limits,
					const struct lull_sim_trace *trace);
void stand_bench_done(struct stand_bench *bench);

#endif
