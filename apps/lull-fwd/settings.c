/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/traffic_spec.h"

static const char *const mode_names[] = { "io", "macswap", "sink", NULL };
static const char *const loss_names[] = { "zero", "tolerate", NULL };
static const char *const layout_names[] = { "linked", "array", "segments", NULL };

static const char *
governor_name(uint32_t index)
{
	uint32_t i;

	for (i = 0; i < index && lull_idle_governors[i] != NULL; i++)
		;
	return lull_idle_governors[i] != NULL ? lull_idle_governor_name(lull_idle_governors[i]) :
						NULL;
}

static const char *
governor_help(uint32_t index)
{
	return lull_idle_governor_summary(lull_idle_governors[index]);
}

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
	{
		.key = "vdev",
		.group = "Ports",
		.argument = "DEVICE",
		.help = "DPDK virtual device, like net_af_packet0,iface=veth0 or "
			"net_memif0,role=server. May stand more than once; ports count from 0 in "
			"this order.",
		.type = LULL_OPTION_LIST,
		MEMBER(vdev),
	},
	{
		.key = "pci",
		.argument = "ADDRESS",
		.help = "PCI address of a NIC bound to a driver for DPDK. May stand more than "
			"once.",
		.type = LULL_OPTION_LIST,
		MEMBER(pci),
	},
	{
		.key = "eal",
		.argument = "ARGUMENTS",
		.help = "Further arguments for DPDK's environment, split like a shell does.",
		.type = LULL_OPTION_TEXT,
		MEMBER(eal),
	},
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
	{
		.key = "burst",
		.argument = "PACKETS",
		.help = "Most packets of one receive.",
		.type = LULL_OPTION_COUNT,
		.value = "32",
		.low = 1,
		.high = LULL_BURST_MAX,
		MEMBER(burst),
	},
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
	{
		.key = "governor",
		.group = "Resting",
		.help = "Who decides how long a thread may rest.",
		.type = LULL_OPTION_CHOICE,
		.choice = governor_name,
		.choice_help = governor_help,
		.value = "objective",
		.live = true,
		MEMBER(governor),
	},
	{
		.key = "max-latency",
		.argument = "TIME",
		.help = "Objective: added latency at the percentile.",
		.type = LULL_OPTION_DURATION,
		.value = "200",
		.unit = "us",
		.low = LULL_NS_PER_US,
		.high = LULL_NS_PER_S,
		.live = true,
		MEMBER(max_latency_ns),
	},
	{
		.key = "percentile",
		.help = "Objective: the percentile meant.",
		.type = LULL_OPTION_REAL,
		.value = "99",
		.real_low = 50,
		.real_high = 99.9999,
		.live = true,
		MEMBER(percentile),
	},
	{
		.key = "loss",
		.help = "Objective: may a rest lose packets?",
		.type = LULL_OPTION_CHOICE,
		.choices = loss_names,
		.value = "zero",
		.live = true,
		MEMBER(loss),
	},
	{
		.key = "max-rest",
		.argument = "TIME",
		.help = "No rest longer than this, whatever the governor; the cap of ramp, halve, "
			"drain and kalman.",
		.type = LULL_OPTION_DURATION,
		.value = "1000",
		.unit = "us",
		.low = 1,
		.high = LULL_NS_PER_S,
		.live = true,
		MEMBER(max_rest_ns),
	},
	{
		.key = "rest",
		.argument = "TIME",
		.help = "fixed: the rest; metronome: the vacation target.",
		.type = LULL_OPTION_DURATION,
		.value = "50",
		.unit = "us",
		.low = 1,
		.high = LULL_NS_PER_S,
		.live = true,
		MEMBER(rest_ns),
	},
	{
		.key = "pps-max",
		.argument = "RATE",
		.help = "What may arrive at one ring, for loss=zero: link (rate of 64-byte frames),"
			" learned (twice the largest seen, at least 1M), packets/s, or auto: link "
			"on hardware, learned on virtual ports.",
		.type = LULL_OPTION_CUSTOM,
		.value = "auto",
		.parse = lull_pps_max_parse,
		.print = lull_pps_max_print,
		.live = true,
		MEMBER(pps_max),
	},
	{
		.key = "kalman-step",
		.argument = "TIME",
		.help = "kalman and kalman-guarded: step by which the rest grows.",
		.type = LULL_OPTION_DURATION,
		.value = "10",
		.unit = "us",
		.low = 1,
		.high = 10 * LULL_NS_PER_MS,
		.live = true,
		MEMBER(kalman.step_ns),
	},
	{
		.key = "kalman-tolerance",
		.argument = "PERCENT",
		.help = "kalman and kalman-guarded: loss of speed that counts as none.",
		.type = LULL_OPTION_REAL,
		.value = "1",
		.real_low = 0.0001,
		.real_high = 50,
		.live = true,
		MEMBER(kalman_tolerance),
	},
	{
		.key = "kalman-row",
		.argument = "BYTES",
		.help = "kalman and kalman-guarded: packet sizes that share a row of the record "
			"table.",
		.type = LULL_OPTION_COUNT,
		.value = "10",
		.low = 1,
		.high = 1437,
		.live = true,
		MEMBER(kalman.row_bytes),
	},
	{
		.key = "kalman-window",
		.argument = "TIME",
		.help = "kalman and kalman-guarded: sizes and speeds of so long are reckoned with; "
			"10 ms for 1 GbE, 1 ms for 10 GbE.",
		.type = LULL_OPTION_DURATION,
		.value = "10",
		.unit = "ms",
		.low = LULL_NS_PER_US,
		.high = LULL_NS_PER_S,
		.live = true,
		MEMBER(kalman.window_ns),
	},
	{
		.key = "kalman-layout",
		.help = "kalman and kalman-guarded: how the record table is kept; all decide "
			"alike.",
		.type = LULL_OPTION_CHOICE,
		.choices = layout_names,
		.value = "linked",
		.live = true,
		MEMBER(kalman_layout),
	},
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
	{
		.key = "stats",
		.argument = "TIME",
		.help = "Time between progress lines on stderr, 0: none.",
		.type = LULL_OPTION_DURATION,
		.value_help = "1 s on a terminal, otherwise 0",
		.unit = "s",
		MEMBER(stats_ns),
	},
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

const struct lull_idle_governor *
fwd_settings_governor(const struct fwd_settings *settings)
{
	return lull_idle_governors[settings->governor];
}

struct lull_idle_limits
fwd_settings_limits(const struct fwd_settings *settings, uint32_t ring_pkts, uint32_t held_pkts,
		    uint64_t link_pps)
{
	const struct lull_pps_max *pps_max = &settings->pps_max;
	struct lull_idle_limits limits = {
		.latency_ns = settings->max_latency_ns,
		.percentile_ppm = (uint32_t)(settings->percentile * 10000 + 0.5),
		.loss = (enum lull_loss)settings->loss,
		.rest_ns_max = settings->max_rest_ns,
		.rest_ns = settings->rest_ns,
		.ring_pkts = ring_pkts,
		.held_pkts = held_pkts < ring_pkts ? held_pkts : 0,
		.envelope = pps_max->envelope,
		.pps_max = pps_max->pps,
		.kalman = settings->kalman,
	};

	limits.kalman.tolerance_ppm = (uint32_t)(settings->kalman_tolerance * 10000 + 0.5);
	limits.kalman.layout = (enum lull_record_layout)settings->kalman_layout;
	if (pps_max->automatic)
		limits.envelope = link_pps > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
	if (limits.envelope == LULL_ENVELOPE_LINK)
		limits.pps_max = link_pps;
	return limits;
}
