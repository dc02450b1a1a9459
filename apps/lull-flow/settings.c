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
	return index == 0 ? "no second scheduler" : lull_dispatch_scheduler_help(index - 1);
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

static const struct {
	const char *name;
	uint32_t part;
} key_parts[] = {
	{ "vlan", LULL_FLOW_KEY_VLAN }, { "vni", LULL_FLOW_KEY_VNI },
	{ "gre", LULL_FLOW_KEY_GRE },   { "teid", LULL_FLOW_KEY_TEID },
	{ "mpls", LULL_FLOW_KEY_MPLS }, { "interface", LULL_FLOW_KEY_INTERFACE },
};
#define KEY_PARTS (sizeof(key_parts) / sizeof(key_parts[0]))

static int
key_parse(const char *text, void *member, struct lull_error *error)
{
	uint32_t parts = 0;

	if (strcmp(text, "none") == 0) {
		*(uint32_t *)member = LULL_FLOW_KEY_NONE;
		return 0;
	}
	for (;;) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < KEY_PARTS && (strlen(key_parts[i].name) != len ||
					 memcmp(key_parts[i].name, text, len) != 0))
			i++;
		if (i == KEY_PARTS)
			return lull_error_set(error, -EINVAL,
					      "'%.*s' is not one of vlan, vni, gre, teid, mpls, "
					      "interface; none stands alone",
					      (int)LULL_MIN(len, (size_t)LULL_ERROR_SHOWN), text);
		parts |= key_parts[i].part;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	*(uint32_t *)member = parts;
	return 0;
}

static char *
key_print(const void *member, char *text, size_t size)
{
	uint32_t parts = *(const uint32_t *)member;
	size_t used = 0;

	snprintf(text, size, "none");
	for (size_t i = 0; i < KEY_PARTS; i++) {
		if ((parts & key_parts[i].part) == 0)
			continue;
		snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", key_parts[i].name);
		used = strlen(text);
	}
	return text;
}

#define LULL_SETTINGS struct flow_settings

const struct lull_option flow_options[] = {
	LULL_ROW_LIST("pcap", "PATH", pcap,
		      "Capture file (pcap, pcapng or snoop, also compressed by gzip or zstd), a "
		      "folder of such files, a pipe, or - (stdin). Several captures are merged by "
		      "time stamps. No packet is lost: reading waits for the workers.",
		      .group = "Input", .file = true),
	LULL_PORT_OPTIONS(NULL, "server"),
	LULL_ROW_BOOL("keep-going", keep_going,
		      "Do not fail when a capture file is truncated or malformed. Its readable "
		      "part counts in any case.",
		      .value = "no"),
	LULL_ROW_TEXT("filter", "EXPRESSION", filter,
		      "Look only at packets that match, in the language of tcpdump(8), "
		      "pcap-filter(7): \"udp port 53 or (vlan and udp port 53)\". What does not "
		      "match counts as filtered and nowhere else."),
	LULL_ROW_COUNT("mtu", "BYTES", mtu,
		       "MTU of the ports: bytes of the longest packet without its Ethernet header. "
		       "A mirror of jumbo frames needs 9000 or more.",
		       .value_help = "the driver's", .low = 0, .high = 16000),
	LULL_ROW_BOOL("inner", inner,
		      "Decode tunnels (GRE, IP in IP, 6in4, GTP-U, VXLAN, VXLAN-GPE, Geneve, "
		      "Teredo, AH): flows are those of the innermost packets.",
		      .value = "no"),
	LULL_ROW_CUSTOM(
		"key", "LIST", key, key,
		"What tells flows apart besides addresses, ports and protocol: vlan "
		"(outermost VLAN id), vni (number of VXLAN and Geneve) and gre (GRE key), both "
		"with --inner, teid (GTP-U tunnel, with --inner), mpls (bottom label), "
		"interface (input port, or interface of a pcapng file); none of them. With "
		"teid, mpls and interface the two directions of a flow are often two flows.",
		.value = "vlan,vni,gre", .joined = true),
	LULL_ROW_TIME("fragment-wait", fragment_wait_ns,
		      "How long a fragment that comes before the first one of its datagram waits "
		      "for that, which tells its flow, by the time of the packets; up to 256 of "
		      "each I/O thread do. 0: they do not wait, and have ports 0.",
		      .value = "100", .unit = "ms", .high = 10 * LULL_NS_PER_S),
	LULL_ROW_COUNT("io", "N", io,
		       "I/O threads. Each gets a part of the ports; with fewer ports than "
		       "threads, each port gets a queue per thread, and deals packets out by a "
		       "symmetric hash where its driver can (af_packet: qpairs=N).",
		       .group = "Threads", .value = "1", .low = 1, .high = LULL_PIPELINE_IO_MAX),
	LULL_ROW_COUNT("workers", "N", workers, "Worker threads, each with a flow table.",
		       .value = "1", .low = 1, .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_ROW_COUNT("aggregators", "N", aggregators,
		       "Aggregator threads, which join records and export them.", .value = "1",
		       .low = 1, .high = LULL_PIPELINE_AGGREGATOR_MAX),
	LULL_ROW_CUSTOM("cpus", "LIST", cpus, lull_cpus,
			"CPUs of the I/O threads, then of the workers, the aggregators and the "
			"output. With too few CPUs, workers share the CPUs after those of the I/O "
			"threads, and the others share those of the I/O threads.",
			.value_help = "all", .joined = true),
	LULL_ROW_CHOICE("scheduler", scheduler, "Policy that chooses the worker of each packet.",
			.group = "Dispatch", .value_help = "sticky; hrw for files",
			.choice = lull_dispatch_scheduler_name,
			.choice_help = lull_dispatch_scheduler_help, .live = true),
	LULL_ROW_CHOICE("shadow", shadow, "Second scheduler, whose choices are only counted.",
			.value = "none", .choice = shadow_name, .choice_help = shadow_help,
			.live = true),
	LULL_ORDER_OPTION(order, "drain"),
	LULL_THRESHOLD_OPTIONS(threshold, enter, leave, true),
	LULL_ROW_COUNT(
		"pin", "PACKETS", pin,
		"Number of first packets of a flow that do not move it to another worker, unless "
		"nDPI has identified it (which takes up to 80) or the worker's ring is nearly "
		"full; 0: flows may move at once.",
		.value = "80", .low = 0, .high = 255),
	LULL_ROW_CHOICE("weights", weights,
			"Instructions with which hrw computes weights; all "
			"choose the same workers.",
			.value = "best", .choices = weights_names),
	LULL_ROW_COUNT("seed", "N", seed,
		       "Seed of the digests. A random seed keeps attackers from sending all flows "
		       "to one worker.",
		       .value_help = "0 for files, otherwise random", .high = UINT32_MAX),
	LULL_ROW_COUNT("ring", "PACKETS", ring,
		       "Room of the ring between an I/O thread and a worker, a power of two. Also "
		       "the descriptors per queue of a port; some drivers ignore this.",
		       .value = "1024", .low = 64, .high = 32768),
	LULL_BURST_OPTION(burst, LULL_BURST_MAX),
	LULL_FLUSH_OPTIONS(flush_burst, flush_ns, LULL_BURST_MAX, true),
	LULL_ROW_CUSTOM("output", "PORT", output, output,
			"Number of the port that sends the packets after the workers; none: "
			"packets are not sent.",
			.group = "Output of packets", .value = "none"),
	LULL_RESEQUENCE_OPTIONS(resequence_delay_ns, resequence_window),
	LULL_ROW_TIME("idle-timeout", idle_ns,
		      "Silence after which a flow ends, by the time of the packets.",
		      .group = "Flows", .value = "30", .unit = "s", .low = LULL_NS_PER_MS,
		      .high = 86400 * LULL_NS_PER_S, .live = true),
	LULL_ROW_TIME("active-timeout", active_ns,
		      "Longest time of a record; a longer flow is recorded in parts. 0: no limit.",
		      .value_help = "0 for files, otherwise 5 min", .unit = "s"),
	LULL_ROW_TIME(
		"closed-timeout", closed_ns,
		"How long packets still belong to a TCP connection that was closed by FIN from "
		"both sides or by RST; a SYN begins the next one at once.",
		.value = "5", .unit = "s", .low = LULL_NS_PER_MS, .high = 86400 * LULL_NS_PER_S),
	LULL_ROW_TIME("late-timeout", late_ns,
		      "How far a worker may be behind the others before the records of flows that "
		      "were split do not wait for it; they say that they are not exact. 0: no "
		      "limit.",
		      .value_help = "0 for files, otherwise 1 s", .unit = "s"),
	LULL_ROW_COUNT("flows-max", "N", flows_max,
		       "Largest number of open flows per worker; with more flows, some are "
		       "recorded early.",
		       .value = "65536", .low = 16, .high = 67108864),
	LULL_ROW_COUNT("half-open-rate", "N", half_open_rate,
		       "With a full flow table, flows that have not answered go first. So many of "
		       "their records per second and worker are kept; of more, one in a power of "
		       "two, which the record tells (sampling_interval). 0: all.",
		       .value_help = "0 for files, otherwise 10000", .high = 100000000),
	LULL_ROW_COUNT("prefix4", "BITS", prefix4,
		       "Sources with the same first bits share places of flows that have not "
		       "answered; one prefix cannot take those of others. For IPv4.",
		       .value = "24", .low = 1, .high = 32),
	LULL_ROW_COUNT("prefix6", "BITS", prefix6, "The same for IPv6.", .value = "48", .low = 1,
		       .high = 128),
	LULL_ROW_COUNT("payload", "BYTES", payload_bytes,
		       "Number of first payload bytes to record per direction.", .value = "0",
		       .low = 0, .high = LULL_FLOW_PAYLOAD_MAX),
	LULL_ROW_BOOL("identify", identify,
		      "Identify the protocol of each flow with nDPI; --identify=no: do not.",
		      .value_help = "yes when built with nDPI"),
	LULL_ROW_LIST("records", "WHERE", records,
		      "Write a JSON object per flow to FILE, - (stdout), udp://HOST:PORT, "
		      "tcp://HOST:PORT or unix:PATH. With captures as input, a file is replaced "
		      "and gets all records at the end, sorted by time; with ports, a file is "
		      "continued. May be given several times.",
		      .group = "Export", .file = true),
	LULL_ROW_LIST("ipfix", "WHERE", ipfix,
		      "Send IPFIX to udp://HOST:PORT or tcp://HOST:PORT, or write it to a file. "
		      "May be given several times.",
		      .file = true),
	LULL_ROW_LIST("kafka", "WHERE", kafka,
		      "Send JSON to a topic: BROKER[:PORT][,BROKER...]/TOPIC. May be given several "
		      "times."),
	LULL_ROW_BOOL(
		"facts", facts,
		"Also export what scheduling did to each flow: workers, moves, reordered packets.",
		.value = "no"),
	LULL_ROW_COUNT(
		"observation-point", "N", observation_point,
		"Number of the place where this program observes packets, such as a link or a "
		"tap, in every record; 0: records do not tell it.",
		.value = "0", .high = UINT32_MAX),
	LULL_ROW_TIME(
		"rotate-time", rotate_ns,
		"Begin a new file at each multiple of this time since 1970 (UTC). The old one "
		"gets the time in its name: flows.json becomes flows-20261123T130000Z.json; "
		"under that name it is whole. 0: never.",
		.value = "0", .unit = "s", .high = 366 * 86400 * LULL_NS_PER_S),
	LULL_ROW_COUNT("rotate-size", "BYTES", rotate_bytes,
		       "Begin a new file when one has so many bytes, in the same way; 0: never.",
		       .value = "0"),
	LULL_ROW_COUNT("export-rate", "N", export_rate,
		       "Datagrams per second to each collector over UDP. 0: 1000, which collectors "
		       "with ordinary buffers follow; with ports, up to 10000 while the queue is "
		       "more than half full.",
		       .value = "0", .high = 10000000),
	LULL_ROW_COUNT("export-queue", "BYTES", export_queue_bytes,
		       "Room for records that wait for a destination, for each destination and "
		       "aggregator.",
		       .value = "32M", .low = 131072, .high = UINT32_MAX),
	LULL_ROW_TIME("export-timeout", export_timeout_ns,
		      "Time without an answer after which a TCP connection is given up and opened "
		      "again.",
		      .value = "30", .unit = "s", .low = LULL_NS_PER_S,
		      .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_COUNT("ipfix-domain", "N", ipfix_domain,
		       "Observation domain of the first aggregator; the others follow.",
		       .value = "1", .low = 1, .high = UINT32_MAX - LULL_PIPELINE_AGGREGATOR_MAX),
	LULL_ROW_COUNT("ipfix-enterprise", "N", ipfix_enterprise,
		       "Private enterprise number of lull's own elements; 32473 is the one for "
		       "documentation.",
		       .value = "32473", .low = 1, .high = UINT32_MAX),
	LULL_ROW_TIME("ipfix-templates", ipfix_template_ns,
		      "Time after which templates are sent again over UDP.", .value = "60",
		      .unit = "s", .low = LULL_NS_PER_S, .high = 86400 * LULL_NS_PER_S),
	LULL_ROW_TIME("ipfix-totals", ipfix_totals_ns,
		      "Time between options records with the totals; 0: only at the end.",
		      .value_help = "10 s, over UDP 60 s", .unit = "s"),
	LULL_ROW_COUNT("ipfix-message", "BYTES", ipfix_message_bytes, "Longest IPFIX message.",
		       .value = "1420", .low = 512, .high = 65507),
	LULL_ROW_LIST("kafka-property", "NAME=VALUE", kafka_properties,
		      "Property of librdkafka, such as compression.type=zstd or "
		      "security.protocol=ssl. May be given several times. Passwords belong into "
		      "--kafka-properties."),
	LULL_ROW_FILE("kafka-properties", "FILE", kafka_file,
		      "Read properties of librdkafka from FILE, a line NAME=VALUE for each, such "
		      "as sasl.password. Neither results nor lists of processes show them."),
	LULL_RESTING_OPTIONS(resting, .value_help = "objective, on shared CPUs ramp"),
	LULL_DURATION_OPTION("Run", "at the end of the files, or at a signal"),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	LULL_ROW_TEXT("user", "NAME[:GROUP]", user,
		      "Go on as this user, without any capability, once ports, files and exports "
		      "are open; root alone can. With GROUP that is its only group."),
	LULL_ROW_FILE("trace", "FILE", trace,
		      "Write every decision of the first I/O thread's dispatcher to FILE."),
	LULL_ROW_FILE("replay", "FILE", replay,
		      "Repeat the decisions in FILE, with the scheduler of the trace or with "
		      "--scheduler, and print the differences as JSON. Needs no input."),
	LULL_ROW_TIME("worker-delay", worker_delay_ns,
		      "Additional busy time per packet of each worker, for experiments.",
		      .value = "0", .unit = "ns", .low = 0, .high = LULL_NS_PER_S, .live = true),
	{ .key = NULL },
};
