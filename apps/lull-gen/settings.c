/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "gen.h"

#define LULL_SETTINGS struct gen_settings

const struct lull_option gen_options[] = {
	LULL_PORT_OPTIONS("Ports", "client"),
	LULL_ROW_COUNT("tx-port", "N", tx_port, "Port to send on.", .value = "0",
		       .high = GEN_PORTS_MAX - 1),
	LULL_ROW_COUNT("rx-port", "N", rx_port, "Port to receive on.",
		       .value_help = "the last port", .high = GEN_PORTS_MAX - 1),
	LULL_RING_OPTION,
	LULL_BURST_OPTION(burst, LULL_BURST_MAX),
	LULL_CPUS_OPTION(cpus, "cpus", "CPU of the thread that sends and receives; it never rests.",
			 "the first CPU"),
	LULL_TRAFFIC_OPTION(arrival, lull_traffic_spec, "Traffic to send: ", .group = "Traffic",
			    .value = "constant:10k", .live = true),
	LULL_TRAFFIC_SIZE_OPTION(arrival),
	LULL_TRAFFIC_FLOWS_OPTION(
		" Up to 16 have a sequence of their own; beyond that flows share sequences, and a "
		"path that keeps order only per flow shows reordering."),
	LULL_TRAFFIC_SEED_OPTION(arrival),
	LULL_ROW_FILE("pcap", "FILE", pcap,
		      "Send the Ethernet frames of this pcap or pcapng file instead. They carry "
		      "no probe: frames that come back are counted, not checked."),
	LULL_PCAP_SPEED_OPTION(lull_speed_max,
			       "Speed of the replay: original, a factor (2: twice as fast), or "
			       "max (as fast as the port allows)."),
	LULL_ROW_COUNT("pcap-loop", "N", pcap_loop,
		       "Number of times to send the file; 0: without "
		       "end.",
		       .value = "1"),
	LULL_ROW_BOOL("rx-only", rx_only,
		      "Only receive and check the packets of another "
		      "lull-gen."),
	LULL_ROW_BOOL("tx-only", tx_only, "Only send."),
	LULL_ROW_COUNT("count", "PACKETS", count,
		       "End after this many packets sent (with rx-only: received); 0: no limit.",
		       .group = "Run", .value = "0"),
	LULL_DURATION_OPTION(NULL, "run until a signal or until all is sent"),
	LULL_ROW_TIME(
		"drain", drain_ns,
		"Longest wait at the end for packets that are not back yet. With tx-only: time "
		"for which the ports stay open for the receiver.",
		.value = "200", .unit = "ms"),
	LULL_ROW_TIME("link-wait", link_wait_ns,
		      "Longest wait at the start for the link of the ports. A memif or vhost port "
		      "gets its link when the other side connects.",
		      .value = "10", .unit = "s"),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
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
