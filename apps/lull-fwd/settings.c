/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program/rows.h"
#include "program/traffic_spec.h"

static const char *const mode_names[] = { "io", "macswap", "sink", NULL };

static int
traffic_parse(const char *text, void *member, struct lull_error *error)
{
	struct fwd_traffic *traffic = member;
	int rc;

	if (strcmp(text, "none") == 0) {
		traffic->wanted = false;
		return 0;
	}
	rc = lull_traffic_spec_parse(text, &traffic->arrival, error);
	if (rc == 0)
		traffic->wanted = true;
	return rc;
}

static char *
traffic_print(const void *member, char *text, size_t size)
{
	const struct fwd_traffic *traffic = member;

	if (traffic->wanted)
		return lull_traffic_spec_print(&traffic->arrival, text, size);
	snprintf(text, size, "none");
	return text;
}

#define MEMBER(member) LULL_OPTION_MEMBER(struct fwd_settings, member)

static const struct lull_option fwd_options[] = {
	LULL_PORT_OPTIONS(struct fwd_settings, "Ports", "server"),
	{
		.key = "mode",
		.help = "io: ports forward in pairs, 0 to 1 and 1 to 0, a single or last odd port "
			"to itself. macswap: the same with MAC addresses swapped. sink: take and "
			"drop.",
		.type = LULL_OPTION_CHOICE,
		.choices = mode_names,
		.value = "io",
		MEMBER(mode),
	},
	{
		.key = "queues",
		.argument = "N",
		.help = "Rx and Tx queues per port; thread i of n polls queues i, i + n, ... of "
			"every port.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = 64,
		MEMBER(queues),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Descriptors per queue, as far as the driver goes by them.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 32,
		.high = 32768,
		MEMBER(ring),
	},
	LULL_BURST_OPTION(struct fwd_settings, LULL_BURST_MAX),
	{
		.key = "threads",
		.group = "Threads",
		.argument = "N",
		.help = "Forwarding threads, at most one per queue.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = FWD_THREADS_MAX,
		MEMBER(threads),
	},
	{
		.key = "cpus",
		.argument = "LIST",
		.help = "CPUs of the forwarding threads, like 1 or 2,3.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the last CPUs",
		.parse = lull_cpus_parse,
		.print = lull_cpus_print,
		.joined = true,
		MEMBER(cpus),
	},
	LULL_RESTING_OPTIONS(struct fwd_settings, resting, .value = "objective"),
	{
		.key = "traffic",
		.group = "Traffic in this process",
		.argument = "SPEC",
		.help = "Generate and judge traffic over rings in this process instead of using "
			"ports: " LULL_TRAFFIC_SPEC_GRAMMAR
			". Rates are packets/s and take k, M, G; times take ns, us, ms, s, m, h.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = traffic_parse,
		.print = traffic_print,
		.live = true,
		MEMBER(traffic),
	},
	{
		.key = "traffic-size",
		.argument = "SIZES",
		.help = "Sizes on the wire with CRC, and weights: 64 or 64:7,594:4,1518:1.",
		.type = LULL_OPTION_CUSTOM,
		.value = "64",
		.parse = lull_traffic_size_parse,
		.print = lull_traffic_size_print,
		.joined = true,
		MEMBER(traffic.arrival),
	},
	{
		.key = "flows",
		.argument = "N",
		.help = "UDP source ports, taken in turn.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = 65536,
		MEMBER(flows),
	},
	{
		.key = "traffic-cpu",
		.argument = "CPU",
		.help = "CPU of the generator; it never rests.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the first CPU",
		.parse = lull_cpus_parse,
		.print = lull_cpus_print,
		MEMBER(traffic_cpu),
	},
	{
		.key = "seed",
		.argument = "N",
		.help = "Seed of times and sizes: the same seed makes the same traffic.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		MEMBER(traffic.arrival.seed),
	},
	{
		.key = "duration",
		.group = "Run",
		.argument = "TIME",
		.help = "End after this time, 0: run until a signal.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	LULL_STATS_OPTION(struct fwd_settings),
	{
		.key = "json",
		.argument = "FILE",
		.help = "At the end, write the result as JSON, - is stdout.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(json),
	},
	{ .key = NULL },
};

static const char *const fwd_examples[] = {
	"lull-fwd --traffic poisson:300k --governor objective --max-latency 200 --duration 10",
	"lull-fwd --vdev net_af_packet0,iface=veth0 --vdev net_af_packet1,iface=veth1",
	"lull-fwd --pci 0000:01:00.0 --pci 0000:01:00.1 --cpus 2,3 --threads 2 --queues 2",
	NULL,
};

const struct lull_program fwd_program = {
	.name = "lull-fwd",
	.version = LULL_VERSION,
	.summary = "Forward packets between DPDK ports with threads that rest as far as a latency "
		   "and loss objective allows.",
	.examples = fwd_examples,
	.options = fwd_options,
};

void
fwd_settings_preset(struct fwd_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	settings->stats_ns = isatty(STDERR_FILENO) ? LULL_NS_PER_S : 0;
}

int
fwd_settings_check(const struct fwd_settings *settings, struct lull_error *error)
{
	uint32_t ports = settings->vdev.count + settings->pci.count;

	if (ports == 0 && !settings->traffic.wanted)
		return lull_error_set(error, -EINVAL,
				      "no port: name one with --vdev or --pci, or try "
				      "--traffic poisson:300k, which needs none");
	if (ports > 0 && settings->traffic.wanted)
		return lull_error_set(error, -EINVAL,
				      "traffic: it flows over rings in this process, so no vdev or "
				      "pci; lull-gen sends through ports");
	if (settings->traffic.wanted && settings->queues > 1)
		return lull_error_set(error, -EINVAL,
				      "queues: traffic in this process has one queue");
	if (settings->threads > settings->queues)
		return lull_error_set(
			error, -EINVAL,
			"threads: %u threads for %u queues per port; give --queues %u",
			settings->threads, settings->queues, settings->threads);
	if (settings->cpus.count > 0 && settings->cpus.count != settings->threads)
		return lull_error_set(error, -EINVAL, "cpus: %u CPUs for %u threads",
				      settings->cpus.count, settings->threads);
	if (settings->traffic_cpu.count > 1)
		return lull_error_set(error, -EINVAL, "traffic-cpu: one thread, so one CPU");
	return 0;
}
