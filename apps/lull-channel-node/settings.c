/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include "channel/neighbour.h"

#define LULL_SETTINGS struct node_settings

const struct lull_option node_options[] = {
	LULL_ROW_LIST("rail", "RAIL", rails,
		      "One port of this node; repeat it for each, 16 at most: kernel:IF[,port=N] "
		      "(UDP sockets, the thread sleeps in the kernel), kernel-busy:IF[,port=N] "
		      "(the same, polled), dpdk:DEVICE (a PCI address, a vdev, or af_packet=IF, "
		      "af_xdp=IF[,queue=N]).",
		      .group = "Node"),
	LULL_ROW_FILE("socket", "SOCKET", socket,
		      "Where processes attach, with --rail node:SOCKET. Processes of this user and "
		      "of root may.",
		      .value_help = "in the runtime directory of this user"),
	LULL_ROW_COUNT(
		"neighbours", "N", neighbours,
		"Processes of this node with which an attachment exchanges packets directly, "
		"through memory of the two alone; what goes to others passes this program. "
		"0: none. With each it takes 3 MB for packets of 1500 bytes.",
		.value = "16", .high = CHANNEL_NEIGHBOURS_MAX),
	LULL_ROW_BOOL("check", check,
		      "Print the self-check of the rails, with a remedy for each problem, and end.",
		      .action = true),
	LULL_ROW_BOOL("unchecked", unchecked, "Start even if the self-check finds an error."),
	LULL_ROW_TEXT("eal", "ARGUMENTS", eal,
		      "dpdk: further EAL arguments, split into words as in a shell."),
	LULL_GOVERNOR_OPTION(governor, .live = true, .value = "phase", .group = "Resting"),
	LULL_CHANNEL_REST_OPTION(
		max_latency_ns,
		"Longest rest of the thread that moves packets. What processes send ends it."),
	LULL_CPUS_OPTION(cpu, "cpu", "CPU of the thread that moves packets.", "any"),
	LULL_DURATION_OPTION("Run", "until a signal"),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	{ .key = NULL },
};

int
node_settings_check(const struct node_settings *settings, struct lull_error *error)
{
	if (settings->rails.count == 0)
		return lull_error_set(error, -EINVAL,
				      "no rail: name the ports of this node, like --rail "
				      "kernel:eth0 --rail kernel:eth1");
	for (uint32_t i = 0; i < settings->rails.count; i++)
		if (strncmp(settings->rails.items[i], "pair:", 5) == 0 ||
		    strncmp(settings->rails.items[i], "node:", 5) == 0 ||
		    strncmp(settings->rails.items[i], "node-busy:", 10) == 0)
			return lull_error_set(error, -EINVAL,
					      "rail %.*s: the node's program owns ports; name one, "
					      "like kernel:eth0",
					      LULL_ERROR_SHOWN, settings->rails.items[i]);
	if (settings->cpu.count > 1)
		return lull_error_set(error, -EINVAL, "cpu: one thread moves packets, so one CPU");
	return 0;
}
