/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/number.h"
#include "gen.h"

#define SPEED_LEAST 0.001
#define SPEED_MOST 1000000.0

static int
speed_parse(const char *text, void *member, struct lull_error *error)
{
	double speed;

	if (strcmp(text, "original") == 0) {
		speed = 1;
	} else if (strcmp(text, "max") == 0) {
		speed = 0;
	} else if (lull_number_parse_real(text, strlen(text), &speed) != 0 ||
		   !(speed >= SPEED_LEAST && speed <= SPEED_MOST)) {
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is neither original, nor max, nor a factor in "
				      "0.001..1000000",
				      LULL_ERROR_SHOWN, text);
	}
	*(double *)member = speed;
	return 0;
}

static char *
speed_print(const void *member, char *text, size_t size)
{
	double speed = *(const double *)member;

	if (speed == 0)
		snprintf(text, size, "max");
	else if (speed == 1)
		snprintf(text, size, "original");
	else
		lull_real_print(speed, text, size);
	return text;
}

#define MEMBER(member) LULL_OPTION_MEMBER(struct gen_settings, member)

const struct lull_option gen_options[] = {
	LULL_PORT_OPTIONS(struct gen_settings, "Ports", "client"),
	{
		.key = "tx-port",
		.argument = "N",
		.help = "Port to send on.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = GEN_PORTS_MAX - 1,
		MEMBER(tx_port),
	},
	{
		.key = "rx-port",
		.argument = "N",
		.help = "Port to receive on.",
		.type = LULL_OPTION_COUNT,
		.value_help = "the last port",
		.high = GEN_PORTS_MAX - 1,
		MEMBER(rx_port),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Descriptors per queue.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 32,
		.high = 32768,
		MEMBER(ring),
	},
	LULL_BURST_OPTION(struct gen_settings, LULL_BURST_MAX),
	LULL_CPUS_OPTION(struct gen_settings, cpus, "cpus",
			 "CPU of the thread that sends and receives; it never rests.",
			 "the first CPU"),
	{
		.key = "traffic",
		.group = "Traffic",
		.argument = "SPEC",
		.help = "Traffic to send: " LULL_TRAFFIC_SPEC_GRAMMAR
			". Rates are packets/s and take k, M, G; times take ns, us, ms, s, m, h.",
		.type = LULL_OPTION_CUSTOM,
		.value = "constant:10k",
		.parse = lull_traffic_spec_parse,
		.print = lull_traffic_spec_print,
		.live = true,
		MEMBER(arrival),
	},
	LULL_TRAFFIC_SIZE_OPTION(struct gen_settings, arrival),
	{
		.key = "flows",
		.argument = "N",
		.help = "Number of UDP source ports, used in turn. With more than 16, flows share "
			"sequence numbers, and a path that keeps order only per flow shows "
			"reordering.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = 65536,
		MEMBER(flows),
	},
	LULL_TRAFFIC_SEED_OPTION(struct gen_settings, arrival),
	{
		.key = "pcap",
		.argument = "FILE",
		.help = "Send the Ethernet frames of this pcap or pcapng file instead. They carry "
			"no probe: frames that come back are counted, not checked.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(pcap),
	},
	{
		.key = "pcap-speed",
		.argument = "SPEED",
		.help = "Speed of the replay: original, a factor (2: twice as fast), or max (as "
			"fast as the port allows).",
		.type = LULL_OPTION_CUSTOM,
		.value = "original",
		.parse = speed_parse,
		.print = speed_print,
		MEMBER(pcap_speed),
	},
	{
		.key = "pcap-loop",
		.argument = "N",
		.help = "Number of times to send the file; 0: without end.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		MEMBER(pcap_loop),
	},
	{
		.key = "rx-only",
		.help = "Only receive and check the packets of another lull-gen.",
		.type = LULL_OPTION_BOOL,
		MEMBER(rx_only),
	},
	{
		.key = "tx-only",
		.help = "Only send.",
		.type = LULL_OPTION_BOOL,
		MEMBER(tx_only),
	},
	{
		.key = "count",
		.group = "Run",
		.argument = "PACKETS",
		.help = "End after this many packets sent (with rx-only: received); 0: no limit.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		MEMBER(count),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "End after this time; 0: run until a signal or until all is sent.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	{
		.key = "drain",
		.argument = "TIME",
		.help = "Longest wait at the end for packets that are not back yet. With tx-only: "
			"time for which the ports stay open for the receiver.",
		.type = LULL_OPTION_DURATION,
		.value = "200",
		.unit = "ms",
		MEMBER(drain_ns),
	},
	{
		.key = "link-wait",
		.argument = "TIME",
		.help = "Longest wait at the start for the link of the ports. A memif or vhost "
			"port gets its link when the other side connects.",
		.type = LULL_OPTION_DURATION,
		.value = "10",
		.unit = "s",
		MEMBER(link_wait_ns),
	},
	LULL_STATS_OPTION(struct gen_settings),
	LULL_JSON_OPTION(struct gen_settings),
	{ .key = NULL },
};

void
gen_preset(void *settings)
{
	((struct gen_settings *)settings)->rx_port = GEN_PORT_LAST;
}

int
gen_check(void *state, struct lull_error *error)
{
	const struct gen_settings *settings = &((struct gen *)state)->settings;
	bool pcap = settings->pcap[0] != '\0';

	if (settings->rx_only && settings->tx_only)
		return lull_error_set(error, -EINVAL, "rx-only and tx-only: one of them");
	if (settings->rx_only && pcap)
		return lull_error_set(error, -EINVAL, "rx-only sends nothing, so no pcap");
	if (settings->devices.vdev.count == 0 && settings->devices.pci.count == 0)
		return lull_error_set(error, -EINVAL,
				      "no port: name one with --vdev or --pci, like "
				      "--vdev net_af_packet0,iface=veth0");
	if (settings->cpus.count > 1)
		return lull_error_set(error, -EINVAL,
				      "cpus: one thread sends and receives, so one "
				      "CPU");
	return 0;
}
