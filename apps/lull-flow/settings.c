/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/dispatch_rows.h"
#include "program/number.h"

static const char *const order_names[] = { LULL_ORDER_NAMES };
static const char *const weights_names[] = { "best", "scalar", "avx2", "avx512", NULL };

static const char *
scheduler_name(uint32_t index)
{
	uint32_t i;

	for (i = 0; i < index && lull_schedulers[i] != NULL; i++)
		;
	return lull_schedulers[i] != NULL ? lull_scheduler_name(lull_schedulers[i]) : NULL;
}

static const char *
scheduler_help(uint32_t index)
{
	return lull_scheduler_summary(lull_schedulers[index]);
}

static const char *
shadow_name(uint32_t index)
{
	return index == 0 ? "none" : scheduler_name(index - 1);
}

static const char *
shadow_help(uint32_t index)
{
	return index == 0 ? "no second scheduler" : scheduler_help(index - 1);
}

static int
output_parse(const char *text, void *member, struct lull_error *error)
{
	struct flow_way_out *output = member;
	uint64_t index;

	if (strcmp(text, "none") == 0) {
		output->wanted = false;
		return 0;
	}
	if (lull_number_parse(text, strlen(text), lull_count_units, 1, &index) != 0 ||
	    index >= 2 * LULL_OPTION_LIST_MAX)
		return lull_error_set(error, -EINVAL, "'%.*s' is neither none nor a port's number",
				      LULL_ERROR_SHOWN, text);
	output->wanted = true;
	output->port_index = (uint16_t)index;
	return 0;
}

static char *
output_print(const void *member, char *text, size_t size)
{
	const struct flow_way_out *output = member;

	if (output->wanted)
		snprintf(text, size, "%u", output->port_index);
	else
		snprintf(text, size, "none");
	return text;
}

#define MEMBER(member) LULL_OPTION_MEMBER(struct flow_settings, member)

const struct lull_option flow_options[] = {
	{
		.key = "pcap",
		.group = "Input",
		.argument = "PATH",
		.help = "Capture file (pcap or pcapng), or a folder of such files. Several "
			"captures are merged by time stamps. No packet is lost: reading waits for "
			"the workers.",
		.type = LULL_OPTION_LIST,
		.file = true,
		MEMBER(pcap),
	},
	LULL_PORT_OPTIONS(struct flow_settings, NULL, "server"),
	{
		.key = "keep-going",
		.help = "Do not fail when a capture file is truncated or malformed. Its readable "
			"part counts in any case.",
		.type = LULL_OPTION_BOOL,
		.value = "no",
		MEMBER(keep_going),
	},
	{
		.key = "inner",
		.help = "Decode tunnels (GRE, IP in IP, 6in4, GTP-U, VXLAN, Geneve, Teredo): "
			"flows are those of the innermost packets.",
		.type = LULL_OPTION_BOOL,
		.value = "no",
		MEMBER(inner),
	},
	{
		.key = "io",
		.group = "Threads",
		.argument = "N",
		.help = "I/O threads. Each gets a part of the ports; with fewer ports than "
			"threads, each port gets a queue per thread.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_PIPELINE_IO_MAX,
		MEMBER(io),
	},
	{
		.key = "workers",
		.argument = "N",
		.help = "Worker threads, each with a flow table.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_DISPATCH_WORKERS_MAX,
		MEMBER(workers),
	},
	{
		.key = "logs",
		.argument = "N",
		.help = "Aggregator threads, which join records and export them.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_PIPELINE_LOG_MAX,
		MEMBER(logs),
	},
	{
		.key = "cpus",
		.argument = "LIST",
		.help = "CPUs of the I/O threads, then of the workers, the aggregators and the "
			"output. With too few CPUs, workers share the CPUs after those of the I/O "
			"threads, and the others share those of the I/O threads.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "all",
		.parse = lull_cpus_parse,
		.print = lull_cpus_print,
		.joined = true,
		MEMBER(cpus),
	},
	{
		.key = "scheduler",
		.group = "Dispatch",
		.help = "Policy that chooses the worker of each packet.",
		.type = LULL_OPTION_CHOICE,
		.value_help = "sticky",
		.choice = scheduler_name,
		.choice_help = scheduler_help,
		.live = true,
		MEMBER(scheduler),
	},
	{
		.key = "shadow",
		.help = "Second scheduler, whose choices are only counted.",
		.type = LULL_OPTION_CHOICE,
		.value = "none",
		.choice = shadow_name,
		.choice_help = shadow_help,
		.live = true,
		MEMBER(shadow),
	},
	LULL_ORDER_OPTION(struct flow_settings, order, order_names, "drain"),
	LULL_THRESHOLD_OPTIONS(struct flow_settings, threshold, enter, leave, true),
	{
		.key = "pin",
		.argument = "PACKETS",
		.help = "Number of first packets for which a flow that nDPI has not identified "
			"yet stays at its worker (nDPI needs up to 80), unless the worker's ring "
			"is nearly full; 0: flows may move at once.",
		.type = LULL_OPTION_COUNT,
		.value = "80",
		.low = 0,
		.high = 255,
		MEMBER(pin),
	},
	{
		.key = "weights",
		.help = "Instructions with which hrw computes weights; all choose the same "
			"workers.",
		.type = LULL_OPTION_CHOICE,
		.value = "best",
		.choices = weights_names,
		MEMBER(weights),
	},
	{
		.key = "seed",
		.argument = "N",
		.help = "Seed of the digests. A random seed keeps attackers from sending all "
			"flows to one worker.",
		.type = LULL_OPTION_COUNT,
		.value_help = "0 for files, otherwise random",
		.high = UINT32_MAX,
		MEMBER(seed),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Room of the ring between an I/O thread and a worker, a power of two. "
			"Also the descriptors per queue of a port; some drivers ignore this.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 64,
		.high = 32768,
		MEMBER(ring),
	},
	LULL_BURST_OPTION(struct flow_settings, LULL_BURST_MAX),
	LULL_FLUSH_OPTIONS(struct flow_settings, flush_burst, flush_ns, LULL_BURST_MAX, true),
	{
		.key = "output",
		.group = "Output of packets",
		.argument = "PORT",
		.help = "Number of the port that sends the packets after the workers; none: "
			"packets are not sent.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = output_parse,
		.print = output_print,
		MEMBER(output),
	},
	LULL_RESEQUENCE_OPTIONS(struct flow_settings, resequence_delay_ns, resequence_window),
	{
		.key = "idle-timeout",
		.group = "Flows",
		.argument = "TIME",
		.help = "Silence after which a flow ends, by the time of the packets.",
		.type = LULL_OPTION_DURATION,
		.value = "30",
		.unit = "s",
		.low = LULL_NS_PER_MS,
		.high = 86400 * LULL_NS_PER_S,
		.live = true,
		MEMBER(idle_ns),
	},
	{
		.key = "active-timeout",
		.argument = "TIME",
		.help = "Longest time of a record; a longer flow is recorded in parts. 0: no "
			"limit.",
		.type = LULL_OPTION_DURATION,
		.value_help = "0 for files, otherwise 5 min",
		.unit = "s",
		MEMBER(active_ns),
	},
	{
		.key = "flows-max",
		.argument = "N",
		.help = "Largest number of open flows per worker; with more flows, some are "
			"recorded early.",
		.type = LULL_OPTION_COUNT,
		.value = "65536",
		.low = 16,
		.high = 67108864,
		MEMBER(flows_max),
	},
	{
		.key = "payload",
		.argument = "BYTES",
		.help = "Number of first payload bytes to record per direction.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.low = 0,
		.high = LULL_FLOW_PAYLOAD_MAX,
		MEMBER(payload_bytes),
	},
	{
		.key = "identify",
		.help = "Identify the protocol of each flow with nDPI; --identify=no: do not.",
		.type = LULL_OPTION_BOOL,
		.value_help = "yes when built with nDPI",
		MEMBER(identify),
	},
	{
		.key = "records",
		.group = "Export",
		.argument = "WHERE",
		.help = "Write a JSON object per flow to FILE, - (stdout), udp://HOST:PORT, "
			"tcp://HOST:PORT or unix:PATH. With captures as input, a file or stdout "
			"gets all records at the end, sorted by time.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(records),
	},
	{
		.key = "ipfix",
		.argument = "WHERE",
		.help = "Send IPFIX to udp://HOST:PORT or tcp://HOST:PORT, or write it to a file.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(ipfix),
	},
	{
		.key = "kafka",
		.argument = "WHERE",
		.help = "Send JSON to a topic: BROKER[:PORT][,BROKER...]/TOPIC.",
		.type = LULL_OPTION_TEXT,
		MEMBER(kafka),
	},
	{
		.key = "facts",
		.help = "Also export what scheduling did to each flow: workers, moves, reordered "
			"packets.",
		.type = LULL_OPTION_BOOL,
		.value = "no",
		MEMBER(facts),
	},
	LULL_RESTING_OPTIONS(struct flow_settings, resting,
			     .value_help = "objective, on shared CPUs ramp"),
	LULL_DURATION_OPTION(struct flow_settings, "at the end of the files, or at a signal"),
	LULL_STATS_OPTION(struct flow_settings),
	LULL_JSON_OPTION(struct flow_settings),
	{
		.key = "trace",
		.argument = "FILE",
		.help = "Write every decision of the first I/O thread's dispatcher to FILE.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(trace),
	},
	{
		.key = "replay",
		.argument = "FILE",
		.help = "Repeat the decisions in FILE, with the scheduler of the trace or with "
			"--scheduler, and print the differences as JSON. Needs no input.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(replay),
	},
	{
		.key = "worker-delay",
		.argument = "TIME",
		.help = "Additional busy time per packet of each worker, for experiments.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "ns",
		.low = 0,
		.high = LULL_NS_PER_S,
		.live = true,
		MEMBER(worker_delay_ns),
	},
	{ .key = NULL },
};
