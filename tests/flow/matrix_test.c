/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All captures together, and each of them, by every scheduler with 1, 2, 4 and 8 workers under any
 * order contract: the same JSON, byte for byte. The pipeline's counters add up while it runs, also
 * when a worker stands still. Where a scheduler keeps flows whole, workers also read the captures
 * themselves.
 *
 * All together they go through every cell. Each alone goes through one cell per scheduler, another
 * for each capture so that all cells have their turn; with LULL_LONG set, through every cell too.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include <lull-flow/files.h>

#include "pipeline_stand.h"

#define ORDERS 3
#define WORKER_COUNTS 4
#define CELLS (ORDERS * WORKER_COUNTS) /* of a scheduler */
#define LABELS_DIFFER_PPM 2000

static const uint32_t worker_counts[WORKER_COUNTS] = { 1, 2, 4, 8 };

struct cell {
	const struct lull_scheduler *scheduler;
	uint32_t workers;
	enum lull_order order;
	bool identify, stall, read;
};

/* Records of a run, and their JSON without labels. */
struct run {
	uint32_t count;
	struct lull_flow_record *records;
	size_t bytes;
	char *json;
};

static int
setup(void **state)
{
	(void)state;
	return stand_start_many(NULL, PIPELINE_LOOPS);
}

/* ---- one run ---- */

static void
run_json(struct run *run)
{
	const struct lull_encode_json_config config = { .facts = false };

	run->json = malloc((size_t)run->count * LULL_ENCODE_JSON_MAX + 1);
	assert_non_null(run->json);
	for (uint32_t i = 0; i < run->count; i++)
		run->bytes += lull_encode_json(&config, &run->records[i], run->json + run->bytes);
}

static void
run_free(struct run *run)
{
	free(run->records);
	free(run->json);
}

static void
run_bench(struct bench *bench, const struct cell *cell, struct run *run)
{
	const struct lull_pipeline_command stall = { .verb = LULL_PIPELINE_STALL,
						     .stall_ns = LULL_NS_PER_MS };

	bench->config.worker_count = cell->workers;
	bench->config.dispatch.scheduler = cell->scheduler;
	bench->config.dispatch.order = cell->order;
	bench->config.table.idle_ns = 30 * LULL_NS_PER_S;
	bench->config.identify = cell->identify;
	bench->config.workers_read = cell->read;
	if (cell->read)
		bench->config.aggregator_count =
			LULL_MIN(cell->workers, (uint32_t)LULL_PIPELINE_AGGREGATOR_MAX);
	bench->config.dispatch.pin_pkts = 80; /* as lull-flow has it */
	bench_start(bench, NULL);
	if (cell->stall)
		bench_post(bench->workers[cell->workers - 1], &stall);
	do
		bench_check(bench);
	while (!bench_ended(bench));
	bench_complete(bench);
	run->records = calloc(RECORDS_MAX, sizeof(run->records[0]));
	assert_non_null(run->records);
	run->count = bench_records(bench, run->records);
	bench_close(bench);
	run_json(run);
}

static struct run
run_cell(const char *path, const struct cell *cell)
{
	struct lull_option_list paths = { .count = 1 };
	struct run run = { .count = 0 };
	struct flow_files files;
	struct lull_error error;
	struct bench bench;

	snprintf(paths.items[0], sizeof(paths.items[0]), "%s", path);
	if (flow_files_open(&files, &paths, NULL, &error) != 0)
		fail_msg("%s", error.text);
	bench_init(&bench, NULL);
	bench.config.sources[0] = (struct lull_pipeline_source){ flow_files_read, &files, true };
	run_bench(&bench, cell, &run);
	assert_int_equal(files.faults, 0);
	flow_files_close(&files);
	return run;
}

/* ---- all of them ---- */

static void
cell_name(const struct cell *cell, const char *path, char *text, size_t size)
{
	snprintf(text, size, "%s: %s, %u workers%s, order %s", path,
		 lull_scheduler_name(cell->scheduler), cell->workers,
		 cell->read ? " that read" : "", lull_order_name(cell->order));
}

static void
same_json(const struct run *a, const struct run *b, const char *what)
{
	if (a->bytes != b->bytes || memcmp(a->json, b->json, a->bytes) != 0)
		fail_msg("%s: %u records, other bytes than the %u of one worker", what, b->count,
			 a->count);
}

/* Identified flows by one worker, and how many of them have another label here. */
struct labels {
	uint64_t identified, differ;
};

static void
compare_labels(const struct run *a, const struct run *b, struct labels *labels)
{
	for (uint32_t i = 0; i < a->count; i++) {
		labels->identified += a->records[i].app != 0;
		labels->differ += a->records[i].app != b->records[i].app ||
				  a->records[i].app_master != b->records[i].app_master;
	}
}

/* Cells that a scheduler tries on a capture. */
struct turn {
	uint32_t first, step; /* every step-th from first on */
	bool identify;
};

static void
compare_cell(const char *path, const struct cell *cell, const struct run *one,
	     struct labels *labels)
{
	struct run run = run_cell(path, cell);
	char what[1200];

	cell_name(cell, path, what, sizeof(what));
	same_json(one, &run, what);
	compare_labels(one, &run, labels);
	run_free(&run);
}

static uint32_t
matrix(const char *path, struct turn turn, struct labels *labels)
{
	struct cell cell = { .scheduler = lull_scheduler_find("crc32"),
			     .workers = 1,
			     .identify = turn.identify };
	struct run one = run_cell(path, &cell);
	uint32_t count = one.count;

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		for (uint32_t j = (turn.first + i) % turn.step; j < CELLS; j += turn.step) {
			cell.scheduler = lull_schedulers[i];
			cell.workers = worker_counts[j / ORDERS];
			cell.order = (enum lull_order)(j % ORDERS);
			cell.stall = (i + j) % 8 == 0;
			cell.read = false;
			compare_cell(path, &cell, &one, labels);
			cell.read = cell.order != LULL_ORDER_RESEQUENCE &&
				    !lull_scheduler_splits(cell.scheduler);
			if (cell.read)
				compare_cell(path, &cell, &one, labels);
		}
	}
	run_free(&one);
	return count;
}

static int
is_capture(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot != NULL && strcmp(dot, ".pcap") == 0;
}

TEST(matrix__each_capture_has_the_same_records)
{
	struct turn turn = { .step = getenv("LULL_LONG") != NULL ? 1 : CELLS };
	struct labels labels = { .differ = 0 };
	uint32_t records = 0;
	struct dirent **entries;
	int count = scandir(CAPTURES, &entries, is_capture, alphasort);

	assert_in_range(count, 1, 1000);
	for (int i = 0; i < count; i++) {
		char path[1024];

		snprintf(path, sizeof(path), "%s/%s", CAPTURES, entries[i]->d_name);
		turn.first = (uint32_t)i;
		records += matrix(path, turn, &labels);
		free(entries[i]);
	}
	free(entries);
	assert_in_range(records, count, RECORDS_MAX);
	assert_int_equal(labels.identified, 0);
}

TEST(matrix__all_captures_together_and_their_labels)
{
	struct turn turn = { .step = 1, .identify = lull_identify_version() != NULL };
	struct labels labels = { .differ = 0 };

	assert_in_range(matrix(CAPTURES, turn, &labels), 100, RECORDS_MAX);
	printf("labels: %llu of %llu differ from those of one worker\n",
	       (unsigned long long)labels.differ, (unsigned long long)labels.identified);
	assert_true(!turn.identify || labels.identified > 10000);
	assert_true(labels.differ * 1000000 <= labels.identified * LABELS_DIFFER_PPM);
}

TEST_GROUP(setup, stand_stop);
