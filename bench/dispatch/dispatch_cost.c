/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What choosing a worker costs: ns per packet for parse, digest, decide, stage and enqueue by every
 * scheduler, on one thread, over frames that are in no cache; DPDK's distributor and software event
 * devices beside them. All rows of a round follow each other, ratios are taken round by round.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include "options.h"
#include "peer.h"

#define ROWS_MAX 40
#define PEERS 3
#define NAME_SIZE 32

struct rte_mbuf *peer_mbufs[PEER_MBUFS];

static const struct peer *const peers[PEERS] = {
	&peer_distributor,
	&peer_event_sw,
	&peer_event_dsw,
};

/* All rows of one number of workers. */
struct table {
	struct lane lane;
	uint32_t row_count, stage_row, hrw_row;
	struct lane_row rows[ROWS_MAX];
	char names[ROWS_MAX][NAME_SIZE];
	bool peer_here[PEERS];
	char peer_notes[PEERS][PEER_NOTE_SIZE];
	struct figure peer_figures[PEERS];
};

struct bench {
	struct options options;
	struct headers headers;
	struct lull_flow_parser *parser;
	struct ticks ticks;
	FILE *json;
	uint32_t json_rows;
	struct table table;
};

static int
complain(const char *what)
{
	fprintf(stderr, "dispatch-cost: %s\n", what);
	return -1;
}

/* ---- rows ---- */

static int
table_add(struct bench *bench, const char *name, const struct lull_scheduler *scheduler,
	  enum lull_weights weights, bool parses)
{
	struct table *table = &bench->table;
	struct lane_row *row = &table->rows[table->row_count];
	const struct lull_dispatch_config config = {
		.scheduler = scheduler,
		.worker_count = table->lane.config.worker_count,
		.weights = weights,
		.tracks = bench->options.tracks,
	};
	void *memory;

	if (table->row_count == ROWS_MAX)
		return complain("too many rows");
	snprintf(table->names[table->row_count], NAME_SIZE, "%s", name);
	*row = (struct lane_row){ .name = table->names[table->row_count++], .parses = parses };
	if (scheduler == NULL)
		return 0;
	memory = headers_memory(&bench->headers, lull_dispatch_size(&config));
	if (memory == NULL || lull_dispatch_init(memory, &config, &row->dispatch) != 0)
		return complain("no memory for a dispatcher");
	row->tracks = lull_dispatch_tracks(row->dispatch);
	return 0;
}

/* hrw once more by each way its weights are computed. */
static int
table_add_weights(struct bench *bench, const struct lull_scheduler *hrw)
{
	char name[NAME_SIZE];
	int rc = 0;

	for (int i = LULL_WEIGHTS_SCALAR; rc == 0 && i <= LULL_WEIGHTS_AVX512; i++) {
		enum lull_weights weights = (enum lull_weights)i;

		snprintf(name, sizeof(name), "hrw, %s", lull_weights_name(weights));
		if (lull_weights_available(weights))
			rc = table_add(bench, name, hrw, weights, true);
	}
	return rc;
}

static int
table_fill(struct bench *bench)
{
	struct table *table = &bench->table;
	int rc = table_add(bench, "stage only", NULL, LULL_WEIGHTS_BEST, false);

	if (rc == 0)
		rc = table_add(bench, "parse+digest", NULL, LULL_WEIGHTS_BEST, true);
	for (uint32_t i = 0; rc == 0 && lull_schedulers[i] != NULL; i++) {
		const char *name = lull_scheduler_name(lull_schedulers[i]);

		if (strcmp(name, "hrw") == 0)
			table->hrw_row = table->row_count;
		rc = table_add(bench, name, lull_schedulers[i], LULL_WEIGHTS_BEST, true);
		if (rc == 0 && strcmp(name, "hrw") == 0)
			rc = table_add_weights(bench, lull_schedulers[i]);
	}
	return rc;
}

static int
table_open(struct bench *bench, uint32_t worker_count)
{
	struct table *table = &bench->table;
	const struct lane_config config = {
		.worker_count = worker_count,
		.burst_pkts = bench->options.burst_pkts,
		.ring_pkts = bench->options.ring_pkts,
		.prefetch = bench->options.prefetch,
		.hot = bench->options.hot,
	};

	memset(table, 0, sizeof(*table));
	if (lane_open(&table->lane, &config, &bench->headers, bench->parser, &bench->ticks) != 0)
		return complain("no memory for rings");
	for (int i = 0; i < PEERS; i++) {
		snprintf(table->peer_notes[i], PEER_NOTE_SIZE, "left out");
		table->peer_here[i] = bench->options.peers &&
				      peers[i]->open(worker_count, table->peer_notes[i]) == 0;
	}
	return table_fill(bench);
}

static int
table_round(struct table *table, bool counts)
{
	const double ns_per_tick = 1e9 / (double)rte_get_tsc_hz();

	for (uint32_t i = 0; i < table->row_count; i++) {
		double ns = ns_per_tick * lane_pass(&table->lane, &table->rows[i]);

		if (counts)
			figure_add(&table->rows[i].figure, ns);
	}
	for (int i = 0; i < PEERS; i++) {
		double ns;

		if (!table->peer_here[i])
			continue;
		ns = ns_per_tick * peers[i]->pass(&table->lane);
		if (ns < 0)
			return complain("a peer lost packets");
		if (counts)
			figure_add(&table->peer_figures[i], ns);
	}
	if (table->lane.lost + table->lane.strayed > 0)
		return complain("packets were lost on the way to the rings");
	return 0;
}

/* ---- output ---- */

static void
json_row(struct bench *bench, const char *name, const struct figure *figure, bool reads,
	 bool tracks, const char *note)
{
	const struct table *table = &bench->table;

	if (bench->json == NULL)
		return;
	fprintf(bench->json,
		"%s\n  {\"workers\": %u, \"row\": \"%s\", \"reads_frames\": %s, \"buckets\": %s, "
		"\"ns_median\": %.3f, \"ns_least\": %.3f, \"x_stage\": %.3f, \"x_hrw\": %.3f, "
		"\"note\": \"%s\"}",
		bench->json_rows++ > 0 ? "," : "", table->lane.config.worker_count, name,
		reads ? "true" : "false", tracks ? "true" : "false", figure_median(figure),
		figure_least(figure), figure_ratio(figure, &table->rows[table->stage_row].figure),
		figure_ratio(figure, &table->rows[table->hrw_row].figure), note);
}

static void
table_print_row(struct bench *bench, const char *name, const struct figure *figure, bool reads,
		bool tracks, const char *note)
{
	const struct table *table = &bench->table;

	printf("| %u | %s | %s | %s | %.2f | %.2f | %.2f | %.2f | %s |\n",
	       table->lane.config.worker_count, name, reads ? "yes" : "no", tracks ? "yes" : "no",
	       figure_median(figure), figure_least(figure),
	       figure_ratio(figure, &table->rows[table->stage_row].figure),
	       figure_ratio(figure, &table->rows[table->hrw_row].figure), note);
	json_row(bench, name, figure, reads, tracks, note);
}

static void
table_print(struct bench *bench)
{
	const struct table *table = &bench->table;

	for (uint32_t i = 0; i < table->row_count; i++)
		table_print_row(bench, table->rows[i].name, &table->rows[i].figure,
				table->rows[i].parses, table->rows[i].tracks, "");
	for (int i = 0; i < PEERS; i++)
		if (table->peer_here[i])
			table_print_row(bench, peers[i]->name, &table->peer_figures[i], true, false,
					table->peer_notes[i]);
		else if (bench->options.peers)
			printf("| %u | %s | | | | | | | %s |\n", table->lane.config.worker_count,
			       peers[i]->name, table->peer_notes[i]);
}

/* 0: not known. The kernel's answer: in a guest, that of the C library tells of the whole host. */
static uint32_t
last_level_megabytes(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
	unsigned int kilobytes = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%uK", &kilobytes) != 1)
		kilobytes = 0;
	fclose(file);
	return kilobytes >> 10;
}

static void
print_setting(const struct bench *bench)
{
	const struct options *options = &bench->options;
	uint32_t cache = last_level_megabytes();
	double load = 0;

#ifdef BENCH_COMMIT
	printf("Static build of commit %s.\n\n", BENCH_COMMIT);
#endif
	figure_print_machine(LULL_TREE);
	printf("%u frames of %u bytes (%u MB), %s, %u flows; pages of %s; burst %u, prefetch %u "
	       "ahead, staging %u, rings of %u%s. %d rounds. Wall time of one thread.\n",
	       bench->headers.count, HEADERS_FRAME_BYTES, options->headers.megabytes,
	       options->headers.linear ? "one after the other" : "in random order",
	       options->headers.flow_count, bench->headers.pages, options->burst_pkts,
	       options->prefetch, LANE_FLUSH_PKTS, options->ring_pkts,
	       options->hot ? ", worker 0 shown half full" : "", options->rounds);
	if (getloadavg(&load, 1) == 1 && load > 0.5)
		printf("NOT A QUIET MACHINE: load average %.1f before the start.\n", load);
	if (cache * 2 > options->headers.megabytes)
		printf("The last level cache has %u MB: NOT ALL FRAMES ARE COLD, use "
		       "--megabytes.\n",
		       cache);
	printf("\n| N | row | reads frames | buckets | ns/packet | least | x stage only | x hrw | "
	       "note |\n|---:|---|---|---|---:|---:|---:|---:|---|\n");
}

/* ---- set up ---- */

/* An lcore per CPU this process may use, the main one on the last. */
static int
eal_start(void)
{
	char lcores[1024] = "", name[] = "dispatch-cost", option[] = "--lcores";
	char *argv[] = { name,
			 (char[]){ "--no-huge" },
			 (char[]){ "--no-shconf" },
			 (char[]){ "--no-pci" },
			 (char[]){ "--no-telemetry" },
			 (char[]){ "--log-level=error" },
			 (char[]){ "-m" },
			 (char[]){ "512" },
			 option,
			 lcores,
			 NULL };
	uint32_t count = 0;
	size_t used = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -1;
	for (int cpu = CPU_SETSIZE; cpu-- > 0 && count < LANE_WORKERS_MAX + 2;)
		if (CPU_ISSET(cpu, &set))
			used += (size_t)snprintf(lcores + used, sizeof(lcores) - used, "%s%u@%d",
						 count > 0 ? "," : "", count, cpu),
				count++;
	return rte_eal_init((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) < 0 ? -1 : 0;
}

static int
bench_open(struct bench *bench)
{
	const struct lull_flow_parser_config config = { .seed = 1 };
	struct rte_mbuf *mbufs;
	void *memory;

	if (eal_start() != 0)
		return complain("DPDK does not start");
	if (headers_open(&bench->headers, &bench->options.headers) != 0)
		return complain("no memory for frames");
	memory = headers_memory(&bench->headers, lull_flow_parser_size(&config));
	if (memory == NULL || lull_flow_parser_init(memory, &config, &bench->parser) != 0)
		return complain("no memory for the parser");
	mbufs = headers_memory(&bench->headers, PEER_MBUFS * sizeof(*mbufs));
	if (mbufs == NULL)
		return complain("no memory for mbufs");
	memset(mbufs, 0, PEER_MBUFS * sizeof(*mbufs));
	for (uint32_t i = 0; i < PEER_MBUFS; i++)
		peer_mbufs[i] = &mbufs[i];
	if (bench->options.json != NULL) {
		bench->json = fopen(bench->options.json, "we");
		if (bench->json == NULL)
			return complain("cannot write the JSON file");
	}
	return 0;
}

static int
bench_table(struct bench *bench, uint32_t worker_count)
{
	size_t used = bench->headers.used;
	int rc = table_open(bench, worker_count);

	/* The first round fills caches and lets clocks rise. */
	for (int round = -1; rc == 0 && round < bench->options.rounds; round++)
		rc = table_round(&bench->table, round >= 0);
	for (int i = 0; i < PEERS; i++)
		if (bench->table.peer_here[i])
			peers[i]->close();
	if (rc == 0)
		table_print(bench);
	headers_trim(&bench->headers, used);
	return rc;
}

/* Every frame must have been understood, or the figures are of something else. */
static int
bench_check(const struct bench *bench)
{
	const struct lull_flow_parser_counters *counters = lull_flow_parser_counters(bench->parser);

	for (int cause = LULL_FLOW_OK + 1; cause < LULL_FLOW_CAUSE_COUNT; cause++)
		if (counters->causes[cause] > 0)
			return complain("a frame was not understood");
	return 0;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	int rc = options_read(&bench.options, argc, argv);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	rc = bench_open(&bench);
	if (rc != 0)
		return 1;
	print_setting(&bench);
	if (bench.json != NULL)
		fprintf(bench.json,
			"{\"frames\": %u, \"flows\": %u, \"pages\": \"%s\", \"rows\": [",
			bench.headers.count, bench.options.headers.flow_count, bench.headers.pages);
	for (uint32_t i = 0; rc == 0 && i < bench.options.worker_counts; i++)
		rc = bench_table(&bench, bench.options.workers[i]);
	if (bench.json != NULL) {
		fprintf(bench.json, "\n]}\n");
		fclose(bench.json);
	}
	if (rc == 0)
		rc = bench_check(&bench);
	printf("\n%lu of %lu windows (%u packets) were beyond three medians and left out.\n",
	       bench.ticks.left_out, bench.ticks.windows,
	       bench.options.burst_pkts * bench.table.lane.window_bursts);
	headers_close(&bench.headers);
	rte_eal_cleanup();
	return rc == 0 ? 0 : 1;
}
