/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "figure.h"
#include "lane.h"

static const char help[] =
	"dispatch-cost: ns per packet of choosing a worker, by scheduler\n"
	"\n"
	"Parses, digests, decides, stages and enqueues on one thread, over frames that are in no\n"
	"cache; prints medians of rounds, and ratios taken round by round. Nothing is sent.\n"
	"\n"
	"  --workers N,N...  numbers of workers to go through [4,8,16]\n"
	"  --rounds N        of each row, 1..101 [9]; the rounds of all rows alternate\n"
	"  --burst N         packets of a burst, 8..256 [64]\n"
	"  --flows N         all alike [10000]\n"
	"  --megabytes N     of frames, 1..4096 [64]: twice the last level cache or more\n"
	"  --linear          frames follow each other in memory [in random order]\n"
	"  --prefetch N      frames ahead, 0..64 [8]\n"
	"  --ring N          slots of a worker's ring, a power of two, 1024..65536 [4096]\n"
	"  --tracks          keep buckets for every scheduler, as order contracts want it\n"
	"  --hot             show worker 0 as half full: what relieving it costs\n"
	"  --no-peers        leave out rte_distributor, event_sw and event_dsw\n"
	"  --json FILE       also write the rows there\n"
	"  --help\n"
	"\n"
	"\"buckets\": each packet also looks up and updates its bucket, as it must for schedulers\n"
	"that may split flows.\n"
	"One real core per role: run it with taskset on cores of one socket without their\n"
	"hyper-threads, e.g. taskset -c 0-17 (main, up to 16 workers, event_sw's scheduler). The\n"
	"main thread takes the highest CPU; the other CPUs work for the peers alone, and with\n"
	"fewer CPUs than roles the note of the row says who shares. Reserve 2 MB pages first\n"
	"(echo 300 > /proc/sys/vm/nr_hugepages) or let transparent ones be used; the output\n"
	"says which it got. The governor of the CPU should be \"performance\".\n";

enum {
	OPT_WORKERS = 256,
	OPT_ROUNDS,
	OPT_BURST,
	OPT_FLOWS,
	OPT_MEGABYTES,
	OPT_LINEAR,
	OPT_PREFETCH,
	OPT_RING,
	OPT_TRACKS,
	OPT_HOT,
	OPT_NO_PEERS,
	OPT_JSON,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "workers", required_argument, NULL, OPT_WORKERS },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "flows", required_argument, NULL, OPT_FLOWS },
	{ "megabytes", required_argument, NULL, OPT_MEGABYTES },
	{ "linear", no_argument, NULL, OPT_LINEAR },
	{ "prefetch", required_argument, NULL, OPT_PREFETCH },
	{ "ring", required_argument, NULL, OPT_RING },
	{ "tracks", no_argument, NULL, OPT_TRACKS },
	{ "hot", no_argument, NULL, OPT_HOT },
	{ "no-peers", no_argument, NULL, OPT_NO_PEERS },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* A number of @p text up to a comma or the end; complains when it is out of its range. */
static bool
read_number(const char **text, uint32_t low, uint32_t high, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(*text, &end, 10);

	if (end == *text || (*end != '\0' && *end != ',') || value < low || value > high) {
		fprintf(stderr, "dispatch-cost: '%s' is not a number in %u..%u\n", *text, low,
			high);
		return false;
	}
	*number = (uint32_t)value;
	*text = end;
	return true;
}

static bool
read_workers(struct options *options, const char *text)
{
	options->worker_counts = 0;
	do {
		if (options->worker_counts == OPTIONS_WORKERS_MAX)
			return false;
		if (!read_number(&text, 1, LANE_WORKERS_MAX,
				 &options->workers[options->worker_counts++]))
			return false;
	} while (*text++ == ',');
	return true;
}

static bool
read_option(struct options *options, int option, const char *text)
{
	uint32_t number;

	switch (option) {
	case OPT_WORKERS:
		return read_workers(options, text);
	case OPT_ROUNDS:
		if (!read_number(&text, 1, FIGURE_ROUNDS_MAX, &number))
			return false;
		options->rounds = (int)number;
		return true;
	case OPT_BURST:
		return read_number(&text, 8, LANE_BURST_MAX, &options->burst_pkts);
	case OPT_FLOWS:
		return read_number(&text, 1, 1u << 24, &options->headers.flow_count);
	case OPT_MEGABYTES:
		return read_number(&text, 1, 4096, &options->headers.megabytes);
	case OPT_PREFETCH:
		return read_number(&text, 0, 64, &options->prefetch);
	case OPT_RING:
		if (!read_number(&text, 1024, 65536, &options->ring_pkts))
			return false;
		if ((options->ring_pkts & (options->ring_pkts - 1)) == 0)
			return true;
		fprintf(stderr, "dispatch-cost: %u is not a power of two\n", options->ring_pkts);
		return false;
	case OPT_LINEAR:
		options->headers.linear = true;
		return true;
	case OPT_TRACKS:
		options->tracks = true;
		return true;
	case OPT_HOT:
		options->hot = true;
		return true;
	case OPT_NO_PEERS:
		options->peers = false;
		return true;
	case OPT_JSON:
		options->json = text;
		return true;
	default:
		return false;
	}
}

int
options_read(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){
		.headers = { .megabytes = 64, .flow_count = 10000, .seed = 1 },
		.workers = { 4, 8, 16 },
		.worker_counts = 3,
		.burst_pkts = 64,
		.ring_pkts = 4096,
		.prefetch = 8,
		.rounds = 9,
		.peers = true,
	};
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == OPT_HELP) {
			fputs(help, stdout);
			return 1;
		}
		if (!read_option(options, option, optarg)) {
			fprintf(stderr, "dispatch-cost: see --help\n");
			return -1;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "dispatch-cost: '%s' is too much: see --help\n", argv[optind]);
		return -1;
	}
	return 0;
}
