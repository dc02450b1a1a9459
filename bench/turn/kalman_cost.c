/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sleep model costs: CPU time of an update of the record table in its three layouts, of a
 * look into it, of each estimate, and of one whole decision of the governors kalman and
 * kalman-guarded, in invented time. No packets, no DPDK, no sleeping.
 */
#include <stdio.h>
#include <stdlib.h>

#include <lull/idle.h>

#include "figure.h"
#include "idle/estimate.h"
#include "idle/record_table.h"

#define ROUNDS 31
#define CALLS 2000
#define CYCLES 20000
#define STEP_NS (10 * LULL_NS_PER_US)
#define LATE_NS (20 * LULL_NS_PER_US) /* of a wake-up in invented time */
#define REST_CPU_NS 15000
#define BURST_PKTS 64

/* Keeps the compiler from leaving out what nobody looks at. */
static volatile double sink;

static struct lull_record_table table;
static struct lull_estimate estimate;

/* Packet sizes of a flow: those of the source's figures, and every size there is. */
static const uint32_t few_sizes[] = { 64, 128, 256, 512, 768, 1024, 1280, 1500 };

static uint32_t
size_at(bool few, uint32_t i)
{
	return few ? few_sizes[i % (sizeof(few_sizes) / sizeof(few_sizes[0]))] :
		     LULL_RECORD_BYTES_MIN + i * 7919u % LULL_RECORD_ROWS;
}

static void
table_fill(enum lull_record_layout layout, uint32_t row_bytes, bool few)
{
	lull_record_table_init(&table, layout, row_bytes);
	for (uint32_t i = 0; i < LULL_RECORD_ROWS; i++)
		lull_record_table_find(&table, size_at(few, i));
}

static void
run_update_all(bool few)
{
	(void)few;
	for (uint32_t i = 0; i < CALLS; i++)
		lull_record_table_raise(&table, LULL_RECORD_BYTES_MIN, i);
}

static void
run_update_some(bool few)
{
	for (uint32_t i = 0; i < CALLS; i++)
		lull_record_table_raise(&table, size_at(few, i), i);
}

/* Case 5: nothing changes. */
static void
run_look(bool few)
{
	uint64_t rest_ns = 0;

	for (uint32_t i = 0; i < CALLS; i++)
		rest_ns += lull_record_table_search(&table, size_at(few, i), 0.0, rest_ns, STEP_NS,
						    10000);
	sink = (double)rest_ns;
}

static void
measure_calls(void (*run)(bool few), bool few, char end)
{
	struct figure figure = { .count = 0 };

	run(few);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = figure_cpu_ns();

		run(few);
		figure_add(&figure, (double)(figure_cpu_ns() - begin_ns) / CALLS);
	}
	printf(" %.1f |%c", figure_median(&figure), end);
}

static void
measure_layout(enum lull_record_layout layout, uint32_t row_bytes, bool few)
{
	table_fill(layout, row_bytes, few);
	printf("| %s | %u | %s |", lull_record_layout_name(layout), row_bytes, few ? "8" : "all");
	measure_calls(run_update_all, few, ' ');
	measure_calls(run_update_some, few, ' ');
	measure_calls(run_look, few, '\n');
}

/* ---- estimates ---- */

static void
run_size(bool few)
{
	uint64_t now_ns = estimate.window.times_ns[0] + LULL_NS_PER_S;

	for (uint32_t i = 0; i < CALLS; i++) {
		uint64_t size = size_at(few, i);

		now_ns += 30 * LULL_NS_PER_US;
		sink = lull_estimate_size(&estimate, now_ns, BURST_PKTS, BURST_PKTS * size + i,
					  BURST_PKTS * size * size + 2 * size * i + i * i);
	}
}

static void
run_speed(bool few)
{
	uint64_t now_ns = estimate.window.times_ns[0] + LULL_NS_PER_S;

	for (uint32_t i = 0; i < CALLS; i++) {
		now_ns += 30 * LULL_NS_PER_US;
		sink = lull_estimate_speed(&estimate, now_ns, BURST_PKTS * size_at(few, i),
					   30 * LULL_NS_PER_US, size_at(few, i));
	}
}

static void
measure_estimate(const char *name, void (*run)(bool few))
{
	lull_estimate_init(&estimate, 10 * LULL_NS_PER_MS);
	printf("| %s |", name);
	measure_calls(run, true, '\n');
}

/* ---- decisions ---- */

/* An iteration and the rest it may lead to; returns the time after it. */
static uint64_t
drive_iterate(struct lull_idle *idle, uint64_t now_ns, uint16_t pkts, uint64_t size,
	      uint64_t *rests)
{
	struct lull_iteration iteration = {
		.now_ns = now_ns,
		.queue_pkts = &pkts,
		.queue_count = 1,
		.size_pkts = pkts,
		.bytes = pkts * size,
		.bytes_squared = pkts * size * size,
	};
	struct lull_wake wake = { .rest = lull_idle_plan(idle, &iteration),
				  .reason = LULL_WAKE_TIMER };

	now_ns += 100 + 50ULL * pkts;
	if (wake.rest.idle_state == LULL_IDLE_NONE)
		return now_ns;
	wake.begin_ns = now_ns;
	wake.end_ns = now_ns + wake.rest.limit_ns + LATE_NS;
	wake.cpu_ns = (*rests)++ % 64 == 0 ? REST_CPU_NS : 0;
	lull_idle_wake(idle, &wake);
	return wake.end_ns;
}

/* CPU time per cycle: a short burst (none, if @p silent) and the empty iteration after it. */
static double
drive_cycles(struct lull_idle *idle, uint64_t *now_ns, bool silent, uint64_t *rests)
{
	uint64_t begin_ns = figure_cpu_ns();

	for (uint32_t i = 0; i < CYCLES; i++) {
		if (!silent)
			*now_ns = drive_iterate(idle, *now_ns, 24, size_at(true, i / 64), rests);
		*now_ns = drive_iterate(idle, *now_ns, 0, 0, rests);
	}
	return (double)(figure_cpu_ns() - begin_ns) / CYCLES;
}

static int
measure_decision(const char *governor, enum lull_record_layout layout, bool silent, void *memory)
{
	struct lull_idle_limits limits = { .kalman.layout = layout };
	uint64_t now_ns = LULL_NS_PER_S, rests = 0;
	struct figure figure = { .count = 0 };
	struct lull_idle *idle;

	if (lull_idle_init(memory, lull_idle_governor_find(governor), &limits, now_ns, &idle) != 0)
		return -1;
	drive_cycles(idle, &now_ns, silent, &rests);
	rests = 0;
	for (int round = 0; round < ROUNDS; round++)
		figure_add(&figure, drive_cycles(idle, &now_ns, silent, &rests));
	printf("| %s | %s | %s | %.1f | %.1f | %.2f |\n", governor, lull_record_layout_name(layout),
	       silent ? "silent" : "bursts", figure_median(&figure), figure_least(&figure),
	       (double)rests / ((double)ROUNDS * CYCLES));
	return 0;
}

int
main(void)
{
	static const char *const governors[] = { "kalman", "kalman-guarded" };
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);
	int failed = memory == NULL;

	figure_print_machine(LULL_TREE);
	printf("| table | row, bytes | sizes seen | update all, ns | update, ns | look, ns |\n"
	       "|---|---:|---:|---:|---:|---:|\n");
	for (uint32_t layout = 0; layout <= LULL_RECORD_SEGMENTS; layout++)
		for (uint32_t i = 0; i < 4; i++)
			measure_layout((enum lull_record_layout)layout, i < 2 ? 10 : 1, i % 2 == 0);
	printf("\n| estimate | ns |\n|---|---:|\n");
	measure_estimate("size of a burst", run_size);
	measure_estimate("speed of an interval", run_speed);
	printf("\n| governor | table | traffic | ns/cycle | least | rests/cycle |\n"
	       "|---|---|---|---:|---:|---:|\n");
	for (uint32_t i = 0; failed == 0 && i < 12; i++)
		failed |= measure_decision(governors[i / 6], (enum lull_record_layout)(i % 3),
					   i / 3 % 2 == 1, memory) != 0;
	/* what any governor that rests after an empty iteration costs */
	for (uint32_t i = 0; failed == 0 && i < 2; i++)
		failed |= measure_decision("yield", LULL_RECORD_LINKED, i == 1, memory) != 0;
	free(memory);
	return failed;
}
