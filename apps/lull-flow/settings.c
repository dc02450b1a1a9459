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
	return index == 0 ? "ask no second one" : scheduler_help(index - 1);
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
		.help = "Capture file, or a folder of them, pcap or pcapng. May stand more than "
			"once; several are merged by time stamps. Nothing is lost: reading waits "
			"for the workers.",
		.type = LULL_OPTION_LIST,
		.file = true,
		MEMBER(pcap),
	},
	LULL_PORT_OPTIONS(struct flow_settings, NULL, "server"),
	{
		.key = "keep-going",
		.help = "End well although a capture file was truncated or malformed. What could "
			"be read of it counts either way.",
		.type = LULL_OPTION_BOOL,
		.value = "no",
		MEMBER(keep_going),
	},
	{
		.key = "inner",
		.help = "Look into tunnels (GRE, IP in IP, 6in4, GTP-U, VXLAN, Geneve, Teredo): "
			"flows are those of the innermost packets.",
		.type = LULL_OPTION_BOOL,
		.value = "no",
		MEMBER(inner),
	},
	{
		.key = "io",
		.group = "Threads",
		.argument = "N",
		.help = "I/O threads. Ports are dealt out to them; with fewer ports than threads "
			"each port gets a queue per thread.",
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
		.help = "Log threads, which put records together and export them.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_PIPELINE_LOG_MAX,
		MEMBER(logs),
	},
	{
		.key = "cpus",
		.argument = "LIST",
		.help = "CPUs of the I/O threads, then of the workers, the log threads and the "
			"output. With too few of them, workers share those behind the I/O "
			"threads, and the others those of the I/O threads.",
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
		.help = "Who decides which worker gets a packet.",
		.type = LULL_OPTION_CHOICE,
		.value_help = "sticky",
		.choice = scheduler_name,
		.choice_help = scheduler_help,
		.live = true,
		MEMBER(scheduler),
	},
	{
		.key = "shadow",
		.help = "A second scheduler that is asked too and not obeyed: what it would have "
			"done is counted.",
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
		.help = "Until it is identified a flow stays, for its first so many packets at "
			"most (nDPI wants up to 80) and while its worker has room; 0: it may move "
			"at once.",
		.type = LULL_OPTION_COUNT,
		.value = "80",
		.low = 0,
		.high = 255,
		MEMBER(pin),
	},
	{
		.key = "weights",
		.help = "How hrw computes its weights; all choose alike.",
		.type = LULL_OPTION_CHOICE,
		.value = "best",
		.choices = weights_names,
		MEMBER(weights),
	},
	{
		.key = "seed",
		.argument = "N",
		.help = "Seed of the digests that schedulers go by. Drawn at random, nobody "
			"outside can make all flows meet at one worker.",
		.type = LULL_OPTION_COUNT,
		.value_help = "0 for files, otherwise drawn at random",
		.high = UINT32_MAX,
		MEMBER(seed),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Packets between an I/O thread and a worker, a power of two. Also the "
			"descriptors per queue of a port, as far as the driver goes by them.",
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
		.help = "Port that packets leave by behind the workers, by its number; none: they "
			"end there.",
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
		.help = "A flow ends when it has been silent for so long, by the time of the "
			"packets.",
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
		.help = "A longer flow is recorded in parts of at most so long; 0: in one.",
		.type = LULL_OPTION_DURATION,
		.value_help = "0 for files, otherwise 5 min",
		.unit = "s",
		MEMBER(active_ns),
	},
	{
		.key = "flows-max",
		.argument = "N",
		.help = "Flows a worker keeps; more are recorded early, and counted.",
		.type = LULL_OPTION_COUNT,
		.value = "65536",
		.low = 16,
		.high = 67108864,
		MEMBER(flows_max),
	},
	{
		.key = "payload",
		.argument = "BYTES",
		.help = "First bytes of payload kept per direction.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.low = 0,
		.high = LULL_FLOW_PAYLOAD_MAX,
		MEMBER(payload_bytes),
	},
	{
		.key = "identify",
		.help = "Find out which protocol a flow speaks, with nDPI; --identify=no: do not.",
		.type = LULL_OPTION_BOOL,
		.value_help = "yes when built with nDPI",
		MEMBER(identify),
	},
	{
		.key = "records",
		.group = "Export",
		.argument = "WHERE",
		.help = "Write a JSON object per flow to FILE, - (stdout), udp://HOST:PORT, "
			"tcp://HOST:PORT or unix:PATH. From capture files to a file or stdout: "
			"all at the end, by time.",
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
		.help = "Export what scheduling did to each flow too: workers, moves, reordered "
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
		.help = "Record every decision of the first dispatcher in FILE.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(trace),
	},
	{
		.key = "replay",
		.argument = "FILE",
		.help = "Repeat the decisions recorded in FILE with the scheduler of the trace, "
			"or another one if --scheduler names it, and print the differences as "
			"JSON. Needs no input.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(replay),
	},
	{
		.key = "worker-delay",
		.argument = "TIME",
		.help = "Further work per packet of each worker, for trials.",
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
