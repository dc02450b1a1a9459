/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What deciding costs: CPU time of one iteration's plan (and wake, when it rests) for every
 * governor, in invented time, and of the services around it. No packets, no DPDK, no sleeping.
 */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#include <lull/rest.h>

#include "figure.h"

#define ROUNDS 31
#define ITERATIONS 20000
#define BUSY_ITERATION_NS 2000
#define EMPTY_ITERATION_NS 100
#define BURST_PKTS 32
#define LATE_NS 20000 /* of a wake-up in invented time */
#define REST_CPU_NS 15000
#define VALUES 1024

/* Keeps the compiler from leaving out what nobody looks at. */
static volatile uint64_t sink;

struct load {
	const char *name;
	uint16_t pkts;   /* in each iteration that carries some */
	uint32_t period; /* iterations from one of these to the next; 0: never */
};
static const struct load loads[] = {
	{ .name = "empty", .period = 0 },
	{ .name = "trickle", .pkts = 1, .period = 10 },
	{ .name = "busy", .pkts = BURST_PKTS, .period = 1 },
};

struct drive {
	struct lull_idle *idle;
	uint64_t now_ns;
	uint64_t rests;
};

static void
drive_iterate(struct drive *drive, uint16_t pkts)
{
	struct lull_iteration iteration = { .now_ns = drive->now_ns,
					    .queue_pkts = &pkts,
					    .queue_count = 1 };
	struct lull_wake wake = { .reason = LULL_WAKE_TIMER };

	drive->now_ns += pkts > 0 ? BUSY_ITERATION_NS : EMPTY_ITERATION_NS;
	wake.rest = lull_idle_plan(drive->idle, &iteration);
	if (wake.rest.idle_state == LULL_IDLE_NONE)
		return;
	wake.begin_ns = drive->now_ns;
	wake.end_ns = drive->now_ns + wake.rest.limit_ns + LATE_NS;
	wake.cpu_ns = drive->rests++ % 64 == 0 ? REST_CPU_NS : 0;
	drive->now_ns = wake.end_ns;
	lull_idle_wake(drive->idle, &wake);
}

/* CPU time of one iteration, ns. */
static double
drive_iterations(struct drive *drive, const struct load *load)
{
	uint64_t begin_ns = figure_cpu_ns();

	for (uint32_t i = 0; i < ITERATIONS; i++)
		drive_iterate(drive, load->period > 0 && i % load->period == 0 ? load->pkts : 0);
	return (double)(figure_cpu_ns() - begin_ns) / ITERATIONS;
}

static int
measure_governor(const struct lull_idle_governor *governor, const struct load *load, void *memory)
{
	struct lull_idle_limits limits = { 0 };
	struct drive drive = { .now_ns = LULL_NS_PER_S };
	struct figure figure = { .count = 0 };

	if (lull_idle_init(memory, governor, &limits, drive.now_ns, &drive.idle) != 0)
		return -1;
	drive_iterations(&drive, load);
	drive.rests = 0;
	for (int round = 0; round < ROUNDS; round++)
		figure_add(&figure, drive_iterations(&drive, load));
	printf("| %s | %s | %.1f | %.1f | %.0f %% |\n", lull_idle_governor_name(governor),
	       load->name, figure_median(&figure), figure_least(&figure),
	       100.0 * (double)drive.rests / ((double)ROUNDS * ITERATIONS));
	return 0;
}

/* ---- services ---- */

static struct lull_histogram histogram;
static uint64_t values[VALUES];

static void
run_histogram(void)
{
	for (uint32_t i = 0; i < ITERATIONS; i++)
		lull_histogram_add(&histogram, values[i % VALUES], 1);
}

static void
run_quantile(void)
{
	for (uint32_t i = 0; i < ITERATIONS / 100; i++)
		sink = lull_histogram_quantile(&histogram, 990000);
}

static void
run_clock(void)
{
	for (uint32_t i = 0; i < ITERATIONS; i++)
		sink = lull_clock_ns();
}

static const struct service {
	const char *name;
	void (*run)(void);
	double calls;
} services[] = {
	{ "lull_histogram_add", run_histogram, ITERATIONS },
	{ "lull_histogram_quantile", run_quantile, ITERATIONS / 100 },
	{ "lull_clock_ns", run_clock, ITERATIONS },
};

static void
measure_service(const struct service *service)
{
	struct figure figure = { .count = 0 };

	service->run();
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = figure_cpu_ns();

		service->run();
		figure_add(&figure, (double)(figure_cpu_ns() - begin_ns) / service->calls);
	}
	printf("| `%s` | %.1f | %.1f |\n", service->name, figure_median(&figure),
	       figure_least(&figure));
}

int
main(void)
{
	void *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);
	int failed = memory == NULL;

	figure_print_machine(LULL_TREE);
	printf("| governor | iterations | ns/iteration | least | rests "
	       "|\n|---|---|---:|---:|---:|\n");
	for (uint32_t i = 0; failed == 0 && lull_idle_governors[i] != NULL; i++)
		for (uint32_t j = 0; j < sizeof(loads) / sizeof(loads[0]); j++)
			failed |= measure_governor(lull_idle_governors[i], &loads[j], memory) != 0;
	for (uint32_t i = 0; i < VALUES; i++) /* spread over 1 ns..1 ms, the same each time */
		values[i] = (i * 2654435761u) >> (12 + i % 20);
	printf("\n| service | ns/call | least |\n|---|---:|---:|\n");
	for (uint32_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		measure_service(&services[i]);
	free(memory);
	return failed;
}
