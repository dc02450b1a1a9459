/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/dispatch_rows.h"
#include "program/number.h"

static const char *const weights_names[] = { "best", "scalar", "avx2", "avx512", NULL };

static const char *
shadow_name(uint32_t index)
{
	return index == 0 ? "none" : lull_dispatch_scheduler_name(index - 1);
}

static const char *
shadow_help(uint32_t index)
{
	return index == 0 ? "ask no second one" : lull_dispatch_scheduler_help(index - 1);
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

#define LULL_SETTINGS struct flow_settings

const struct lull_option flow_options[] = {
	LULL_ROW_LIST("pcap", "PATH", pcap,
		      "Capture file, or a folder of them, pcap or pcapng. May stand more than "
		      "once; several are merged by time stamps. Nothing is lost: reading waits for "
		      "the workers.",
		      .group = "Input", .file = true),
	LULL_PORT_OPTIONS(NULL, "server"),
	LULL_ROW_BOOL("keep-going", keep_going,
		      "End well although a capture file was truncated or malformed. What could be "
		      "read of it counts either way.",
		      .value = "no"),
	LULL_ROW_BOOL("inner", inner,
		      "Look into tunnels (GRE, IP in IP, 6in4, GTP-U, VXLAN, Geneve, Teredo): "
		      "flows are those of the innermost packets.",
		      .value = "no"),
	LULL_ROW_COUNT("io", "N", io,
		       "I/O threads. Ports are dealt out to them; with fewer ports than threads "
		       "each port gets a queue per thread.",
		       .group = "Threads", .value = "1", .low = 1, .high = LULL_PIPELINE_IO_MAX),
	LULL_ROW_COUNT("workers", "N", workers, "Worker threads, each with a flow table.",
		       .value = "1", .low = 1, .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_ROW_COUNT("logs", "N", logs,
		       "Log threads, which put records together and export them.", .value = "1",
		       .low = 1, .high = LULL_PIPELINE_LOG_MAX),
	LULL_ROW_CUSTOM("cpus", "LIST", cpus, lull_cpus,
			"CPUs of the I/O threads, then of the workers, the log threads and the "
			"output. With too few of them, workers share those behind the I/O threads, "
			"and the others those of the I/O threads.",
			.value_help = "all", .joined = true),
	LULL_ROW_CHOICE("scheduler", scheduler, "Who decides which worker gets a packet.",
			.group = "Dispatch", .value_help = "sticky",
			.choice = lull_dispatch_scheduler_name,
			.choice_help = lull_dispatch_scheduler_help, .live = true),
	LULL_ROW_CHOICE("shadow", shadow,
			"A second scheduler that is asked too and not obeyed: what it would have "
			"done is counted.",
			.value = "none", .choice = shadow_name, .choice_help = shadow_help,
			.live = true),
	LULL_ORDER_OPTION(order, "drain"),
	LULL_THRESHOLD_OPTIONS(threshold, enter, leave, true),
	LULL_ROW_COUNT(
		"pin", "PACKETS", pin,
		"Until it is identified a flow stays, for its first so many packets at most (nDPI "
		"wants up to 80) and while its worker has room; 0: it may move at once.",
		.value = "80", .low = 0, .high = 255),
	LULL_ROW_CHOICE("weights", weights, "How hrw computes its weights; all choose alike.",
			.value = "best", .choices = weights_names),
	LULL_ROW_COUNT("seed", "N", seed,
		       "Seed of the digests that schedulers go by. Drawn at random, nobody outside "
		       "can make all flows meet at one worker.",
		       .value_help = "0 for files, otherwise drawn at random", .high = UINT32_MAX),
	LULL_ROW_COUNT("ring", "PACKETS", ring,
		       "Packets between an I/O thread and a worker, a power of two. Also the "
		       "descriptors per queue of a port, as far as the driver goes by them.",
		       .value = "1024", .low = 64, .high = 32768),
	LULL_BURST_OPTION(burst, LULL_BURST_MAX),
	LULL_FLUSH_OPTIONS(flush_burst, flush_ns, LULL_BURST_MAX, true),
	LULL_ROW_CUSTOM("output", "PORT", output, output,
			"Port that packets leave by behind the workers, by its number; none: they "
			"end there.",
			.group = "Output of packets", .value = "none"),
	LULL_RESEQUENCE_OPTIONS(resequence_delay_ns, resequence_window),
	LULL_ROW_TIME(
		"idle-timeout", idle_ns,
		"A flow ends when it has been silent for so long, by the time of the packets.",
		.group = "Flows", .value = "30", .unit = "s", .low = LULL_NS_PER_MS,
		.high = 86400 * LULL_NS_PER_S, .live = true),
	LULL_ROW_TIME("active-timeout", active_ns,
		      "A longer flow is recorded in parts of at most so long; 0: in one.",
		      .value_help = "0 for files, otherwise 5 min", .unit = "s"),
	LULL_ROW_COUNT("flows-max", "N", flows_max,
		       "Flows a worker keeps; more are recorded early, and counted.",
		       .value = "65536", .low = 16, .high = 67108864),
	LULL_ROW_COUNT("payload", "BYTES", payload_bytes,
		       "First bytes of payload kept per direction.", .value = "0", .low = 0,
		       .high = LULL_FLOW_PAYLOAD_MAX),
	LULL_ROW_BOOL("identify", identify,
		      "Find out which protocol a flow speaks, with nDPI; --identify=no: do not.",
		      .value_help = "yes when built with nDPI"),
	LULL_ROW_FILE("records", "WHERE", records,
		      "Write a JSON object per flow to FILE, - (stdout), udp://HOST:PORT, "
		      "tcp://HOST:PORT or unix:PATH. From capture files to a file or stdout: all "
		      "at the end, by time.",
		      .group = "Export"),
	LULL_ROW_FILE("ipfix", "WHERE", ipfix,
		      "Send IPFIX to udp://HOST:PORT or tcp://HOST:PORT, or write it to a file."),
	LULL_ROW_TEXT("kafka", "WHERE", kafka,
		      "Send JSON to a topic: BROKER[:PORT][,BROKER...]/TOPIC."),
	LULL_ROW_BOOL(
		"facts", facts,
		"Export what scheduling did to each flow too: workers, moves, reordered packets.",
		.value = "no"),
	LULL_RESTING_OPTIONS(resting, .value_help = "objective, on shared CPUs ramp"),
	LULL_DURATION_OPTION("Run", "at the end of the files, or at a signal"),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	LULL_ROW_FILE("trace", "FILE", trace,
		      "Record every decision of the first dispatcher in FILE."),
	LULL_ROW_FILE(
		"replay", "FILE", replay,
		"Repeat the decisions recorded in FILE with the scheduler of the trace, or another "
		"one if --scheduler names it, and print the differences as JSON. Needs no input."),
	LULL_ROW_TIME("worker-delay", worker_delay_ns,
		      "Further work per packet of each worker, for trials.", .value = "0",
		      .unit = "ns", .low = 0, .high = LULL_NS_PER_S, .live = true),
	{ .key = NULL },
};
