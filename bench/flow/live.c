/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Largest rate without loss of a running pipeline, by bisection: a source with the pace and the
 * queue of a NIC in front of the I/O loop, rings, workers with a fixed time per packet, the
 * aggregator. Every trial is a new pipeline: all flows are new. A rate counts as carried when no
 * packet was lost, neither before the I/O loop nor at a worker's ring.
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lull/pipeline.h>

#include "figure.h"
#include "live_frames.h"

#define POLICIES 7
#define TRAFFICS 5
#define WORKERS_MAX 16
#define LOOPS_MAX (WORKERS_MAX + 2)
#define LIMIT_NS (60 * LULL_NS_PER_S)

static const char *const policies[POLICIES] = { "rr-packet",     "crc32", "hrw",   "subflow",
						"subflow-paper", "jsq",   "sticky" };
static const struct live_traffic traffics[TRAFFICS] = {
	{ "uniform", 0, 0, 0 },
	{ "Zipf(1.1)", 1.1, 0, 0 },
	{ "50 % elephant", 1.1, 500000, 0 },
	{ "all to one", 1.1, 0, 1 },
	{ "all to two", 1.1, 0, 2 },
};

struct options {
	uint32_t worker_count, work_ns, step_percent, trials;
	uint64_t pkts, seed;
	const char *only; /* a policy, NULL: all */
	const char *json;
};

struct live {
	struct options options;
	struct live_frames frames;
	struct lull_pipeline *pipeline;
	struct lull_loop *loops[LOOPS_MAX];
	uint32_t loop_count, cpu_count;
	struct lull_error error;
};

static const char usage[] =
	"dispatch-live: largest rate without loss of a running pipeline, by scheduler\n\n"
	"One thread each: I/O loop, workers, aggregator; the source is read by the I/O loop and "
	"loses\n"
	"what finds more than 1024 packets waiting. One real core per thread: with fewer the\n"
	"output says so and its figures tell about this program, not about the schedulers.\n\n"
	"  --workers N    1..16 [as many as there are CPUs left over from I/O and aggregator, up "
	"to 4]\n"
	"  --work NS      a worker's time for a packet, besides its flow table [1000]\n"
	"  --packets N    of a trial [200000]\n"
	"  --step N       percent of --workers / --work that rates are multiples of, 1..50 [5]\n"
	"  --trials N     of each rate; one with loss rules it out [1]\n"
	"  --only NAME    one scheduler [all]\n"
	"  --seed N       of frames and their order [1]\n"
	"  --json FILE    also write the figures there\n"
	"\n"
	"On a large machine: taskset -c 0-5 dispatch-live --workers 4 --packets 4000000 --trials "
	"3,\n"
	"and with 10 CPUs --workers 8.\n";

/* ---- one trial ---- */

static void
sink_record(void *arg, const struct lull_flow_record *record)
{
	(void)arg;
	(void)record;
}

static uint64_t
sink_iterate(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals)
{
	(void)arg;
	(void)now_ns;
	(void)totals;
	return 0;
}

static bool
live_shares(const struct live *live)
{
	return live->cpu_count < live->options.worker_count + 2;
}

static int
live_loop(struct live *live, const char *name, uint32_t index, const struct lull_stage *stage)
{
	const struct lull_pipeline_place place = { live->pipeline, index };
	struct lull_loop_config config = {
		.kind = "flow",
		.lcore_id = live->loop_count + 1,
		.burst_pkts = 32,
		/* Who shares a CPU must let go of it. */
		.governor = lull_idle_governor_find(live_shares(live) ? "ramp" : "spin"),
		.limits = { .loss = LULL_LOSS_TOLERATE,
			    .envelope = LULL_ENVELOPE_LEARNED,
			    .ring_pkts = 1024 },
		.stage = stage,
		.stage_config = &place,
	};
	struct lull_loop **loop = &live->loops[live->loop_count];

	snprintf(config.name, sizeof(config.name), "%s%u", name, index);
	if (lull_loop_create(&config, loop, &live->error) != 0)
		return -1;
	live->loop_count++;
	return lull_loop_start(*loop);
}

static int
live_start(struct live *live, const char *scheduler)
{
	struct lull_pipeline_config config = {
		.worker_count = live->options.worker_count,
		.dispatch = { .scheduler = lull_scheduler_find(scheduler) },
		.work_ns = live->options.work_ns,
		.sources[0] = { live_frames_read, &live->frames },
		.sinks[0] = { sink_record, sink_iterate, NULL },
	};
	int rc = lull_pipeline_create(&config, &live->pipeline, &live->error);

	if (rc == 0)
		rc = live_loop(live, "aggregator", 0, &lull_stage_flow_aggregator);
	for (uint32_t i = 0; rc == 0 && i < live->options.worker_count; i++)
		rc = live_loop(live, "worker", i, &lull_stage_flow_worker);
	if (rc == 0)
		rc = live_loop(live, "io", 0, &lull_stage_flow_io);
	return rc;
}

static void
live_stop(struct live *live)
{
	for (uint32_t i = 0; i < live->loop_count; i++)
		lull_loop_stop(live->loops[i]);
	for (uint32_t i = 0; i < live->loop_count; i++)
		lull_loop_destroy(live->loops[i]);
	live->loop_count = 0;
	lull_pipeline_destroy(live->pipeline);
	live->pipeline = NULL;
}

/* Packets lost at @p pps; -1: it did not run. */
static int64_t
live_trial(struct live *live, const char *scheduler, double pps)
{
	const struct timespec pause = { 0, LULL_NS_PER_MS };
	struct lull_pipeline_totals all = { .staged = 0 };
	int rc;

	live_frames_rewind(&live->frames, pps, live->options.pkts);
	rc = live_start(live, scheduler);
	while (rc == 0 && !lull_pipeline_ended(live->pipeline, 0))
		nanosleep(&pause, NULL);
	if (rc == 0)
		rc = lull_pipeline_finish(live->pipeline, LIMIT_NS, &live->error);
	if (rc == 0) {
		lull_pipeline_totals(live->pipeline, &all);
		rc = lull_pipeline_check(live->pipeline, &live->error);
	}
	live_stop(live);
	if (rc != 0) {
		fprintf(stderr, "dispatch-live: %s\n", live->error.text);
		return -1;
	}
	return (int64_t)(live->frames.lost + all.totals.drop_ring);
}

/* Largest rate without loss, in steps; -1: a trial did not run. */
static int
live_bisect(struct live *live, const char *scheduler, double step_pps)
{
	/* Nothing is tried above the workers' time. */
	int good = 0, bad = (int)(100 / live->options.step_percent) + 1;

	while (bad - good > 1) {
		int middle = (good + bad) / 2;
		int64_t lost = 0;

		for (uint32_t i = 0; i < live->options.trials && lost == 0; i++)
			lost = live_trial(live, scheduler, middle * step_pps);
		if (lost < 0)
			return -1;
		if (lost > 0)
			bad = middle;
		else
			good = middle;
	}
	return good;
}

/* ---- all of them ---- */

static void
print_setting(const struct live *live)
{
	const struct options *options = &live->options;
	uint32_t roles = options->worker_count + 2;
	double load = 0;

#ifdef BENCH_COMMIT
	printf("Static build of commit %s.\n\n", BENCH_COMMIT);
#endif
	figure_print_machine(LULL_TREE);
	printf("%u workers of %u ns per packet, rings of 1024, %u flows, %lu packets a trial, %u "
	       "trials, steps of %u %% of %.0f kpps, seed %lu.\n",
	       options->worker_count, options->work_ns, LIVE_FLOWS, (unsigned long)options->pkts,
	       options->trials, options->step_percent,
	       1e6 * options->worker_count / options->work_ns, (unsigned long)options->seed);
	if (live_shares(live))
		printf("TOO FEW CPUS: %u for %u threads. These figures say that it "
		       "runs, nothing else.\n",
		       live->cpu_count, roles);
	if (options->worker_count < 2)
		printf("ONE WORKER: there is nothing to choose, all schedulers are alike.\n");
	if (getloadavg(&load, 1) == 1 && load > 0.5)
		printf("NOT A QUIET MACHINE: load average %.1f before the start.\n", load);
	printf("\n| scheduler |");
	for (int i = 0; i < TRAFFICS; i++)
		printf(" %s, kpps |", traffics[i].name);
	printf("\n|---|---:|---:|---:|---:|---:|\n");
}

static int
live_all(struct live *live, FILE *json)
{
	const struct options *options = &live->options;
	double step_pps =
		1e9 * options->worker_count / options->work_ns * options->step_percent / 100;
	double kpps[POLICIES][TRAFFICS] = { { 0 } };
	const char *comma = "";

	for (int t = 0; t < TRAFFICS; t++) {
		struct live_traffic traffic = traffics[t];

		traffic.target_count = LULL_MIN(traffic.target_count, options->worker_count);
		if (live_frames_make(&live->frames, &traffic, options->worker_count,
				     options->seed) != 0)
			return -1;
		for (int p = 0; p < POLICIES; p++) {
			int steps;

			if (options->only != NULL && strcmp(options->only, policies[p]) != 0)
				continue;
			steps = live_bisect(live, policies[p], step_pps);
			if (steps < 0)
				return -1;
			kpps[p][t] = steps * step_pps / 1e3;
			if (json != NULL)
				fprintf(json,
					"%s\n  {\"scheduler\": \"%s\", \"traffic\": \"%s\", "
					"\"kpps\": %.1f}",
					comma, policies[p], traffics[t].name, kpps[p][t]);
			comma = ",";
		}
	}
	for (int p = 0; p < POLICIES; p++) {
		if (options->only != NULL && strcmp(options->only, policies[p]) != 0)
			continue;
		printf("| %s |", policies[p]);
		for (int t = 0; t < TRAFFICS; t++)
			printf(" %.0f |", kpps[p][t]);
		printf("\n");
	}
	return 0;
}

/* ---- set up ---- */

static int
engine_start(struct live *live)
{
	struct lull_engine_config config = { .program = "dispatch-live", .memory_mb = 512 };
	int cpus[CPU_SETSIZE], loops[LOOPS_MAX];
	struct options *options = &live->options;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned int)cpu, &set))
			cpus[live->cpu_count++] = cpu;
	if (options->worker_count == 0)
		options->worker_count = live->cpu_count > 3 ? LULL_MIN(live->cpu_count - 2, 4u) : 1;
	config.cpus = loops;
	config.cpu_count = options->worker_count + 2;
	/* The main thread sleeps: it may sit with the aggregator. */
	config.main_cpu = cpus[0];
	for (uint32_t i = 0; i < config.cpu_count; i++)
		loops[i] = cpus[i % live->cpu_count];
	return lull_engine_init(&config, &live->error);
}

static uint64_t
number(const char *text, uint64_t low, uint64_t high)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < low || value > high) {
		fprintf(stderr, "dispatch-live: %s is not a number from %lu to %lu\n", text,
			(unsigned long)low, (unsigned long)high);
		exit(2);
	}
	return value;
}

static void
options_read(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "workers", 1, NULL, 'w' }, { "work", 1, NULL, 'n' }, { "packets", 1, NULL, 'p' },
		{ "step", 1, NULL, 's' },    { "seed", 1, NULL, 'r' }, { "trials", 1, NULL, 't' },
		{ "only", 1, NULL, 'o' },    { "json", 1, NULL, 'j' }, { "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int name;

	*options = (struct options){
		.work_ns = 1000, .step_percent = 5, .trials = 1, .pkts = 200000, .seed = 1
	};
	while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (name == 'w')
			options->worker_count = (uint32_t)number(optarg, 1, WORKERS_MAX);
		else if (name == 'n')
			options->work_ns = (uint32_t)number(optarg, 100, 1000000);
		else if (name == 'p')
			options->pkts = number(optarg, 1, UINT32_MAX);
		else if (name == 's')
			options->step_percent = (uint32_t)number(optarg, 1, 50);
		else if (name == 't')
			options->trials = (uint32_t)number(optarg, 1, 1000);
		else if (name == 'r')
			options->seed = number(optarg, 0, UINT64_MAX);
		else if (name == 'o')
			options->only = optarg;
		else if (name == 'j')
			options->json = optarg;
		else
			break;
	}
	if (name == -1 && optind == argc)
		return;
	fputs(usage, name == 'h' ? stdout : stderr);
	exit(name == 'h' ? 0 : 2);
}

int
main(int argc, char **argv)
{
	static struct live live;
	FILE *json = NULL;
	int rc;

	options_read(&live.options, argc, argv);
	if (live.options.only != NULL && lull_scheduler_find(live.options.only) == NULL) {
		fprintf(stderr, "dispatch-live: no scheduler %s\n", live.options.only);
		return 2;
	}
	if (engine_start(&live) != 0) {
		fprintf(stderr, "dispatch-live: %s\n", live.error.text);
		return 1;
	}
	if (live.options.json != NULL && (json = fopen(live.options.json, "we")) == NULL) {
		perror(live.options.json);
		return 1;
	}
	print_setting(&live);
	if (json != NULL)
		fprintf(json,
			"{\"workers\": %u, \"work_ns\": %u, \"cpus\": %u, \"enough_cpus\": %s, "
			"\"rows\": [",
			live.options.worker_count, live.options.work_ns, live.cpu_count,
			live_shares(&live) ? "false" : "true");
	rc = live_all(&live, json);
	if (json != NULL) {
		fprintf(json, "\n]}\n");
		fclose(json);
	}
	lull_engine_fini();
	return rc == 0 ? 0 : 1;
}
