/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fwd.h"

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

#define LULL_SETTINGS struct fwd_settings

const struct lull_option fwd_options[] = {
	LULL_PORT_OPTIONS("Ports", "server"),
	LULL_ROW_CHOICE(
		"mode", mode,
		"io: forward between pairs of ports, 0 to 1 and 1 to 0, and an odd last port to "
		"itself. macswap: the same, with MAC addresses swapped. sink: receive and drop.",
		.choices = mode_names, .value = "io"),
	LULL_ROW_COUNT("queues", "N", queues,
		       "Rx and Tx queues per port. Thread i of n polls queues i, i + n, ... of "
		       "every port.",
		       .value = "1", .low = 1, .high = 64),
	LULL_RING_AUTO_OPTION,
	LULL_BURST_OPTION(burst, LULL_BURST_MAX),
	LULL_ROW_COUNT("threads", "N", threads,
		       "Forwarding threads, at most one per queue, but for share-queues.",
		       .group = "Threads", .value = "1", .low = 1, .high = FWD_THREADS_MAX),
	LULL_CPUS_OPTION(cpus, "cpus", "CPUs of the forwarding threads, such as 1 or 2,3.",
			 "the last CPUs"),
	LULL_SHARE_OPTIONS(share_queues, resting.backup_rest_ns, true),
	LULL_RESTING_OPTIONS(resting, .value = "objective"),
	LULL_TRAFFIC_OPTION(
		traffic, traffic,
		"Send and check traffic over rings in this process instead of using ports: ",
		.group = "Traffic in this process", .value = "none", .live = true),
	LULL_TRAFFIC_SIZE_OPTION(traffic.arrival),
	LULL_TRAFFIC_FLOWS_OPTION(""),
	LULL_CPUS_OPTION(traffic_cpu, "traffic-cpu", "CPU of the generator; it never rests.",
			 "the first CPU"),
	LULL_TRAFFIC_SEED_OPTION(traffic.arrival),
	LULL_DURATION_OPTION("Run", "run until a signal"),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	{ .key = NULL },
};

int
fwd_share_check(const struct fwd_settings *settings, uint32_t queues, struct lull_error *error)
{
	if (queues > LULL_SHARE_QUEUES_MAX)
		return lull_error_set(error, -EINVAL, "share-queues: %u queues, at most %d", queues,
				      LULL_SHARE_QUEUES_MAX);
	if (settings->threads < queues)
		return lull_error_set(error, -EINVAL,
				      "share-queues: %u threads for %u queues in all; with fewer "
				      "threads than queues one is polled by nobody",
				      settings->threads, queues);
	return lull_live_share_check(&settings->resting, error);
}

int
fwd_check(void *state, struct lull_error *error)
{
	const struct fwd_settings *settings = &((struct fwd *)state)->settings;
	uint32_t ports = fwd_settings_ports(settings);
	int rc = 0;

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
	if (settings->share_queues)
		rc = fwd_share_check(settings, LULL_MAX(ports, 1u) * settings->queues, error);
	if (rc != 0)
		return rc;
	if (settings->threads > settings->queues && !settings->share_queues)
		return lull_error_set(
			error, -EINVAL,
			"threads: %u threads for %u queues per port; give --queues %u, or "
			"--share-queues",
			settings->threads, settings->queues, settings->threads);
	if (settings->cpus.count > 0 && settings->cpus.count != settings->threads)
		return lull_error_set(error, -EINVAL, "cpus: %u CPUs for %u threads",
				      settings->cpus.count, settings->threads);
	if (settings->traffic_cpu.count > 1)
		return lull_error_set(error, -EINVAL, "traffic-cpu: one thread, so one CPU");
	return 0;
}
