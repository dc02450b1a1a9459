/* SPDX-License-Identifier: BSD-3-Clause */
/* The self-check: what would lose packets, make them slow, or let others in. */
#include <sched.h>
#include <string.h>

#include "host/node.h"
#include "net/check_cpu.h"
#include "net/finding.h"
#include "net/interface.h"
#include "state.h"

#define CHECK_MTU_MIN 1280u   /* of IPv6: less is hardly meant */
#define CHECK_RING_PKTS 1024u /* a window of a path */
#define CHECK_MBPS_MIN 100u

static void
check_mtu(const struct channel_rail *rail, const struct channel_rail_facts *facts,
	  struct lull_findings *findings)
{
	bool small = facts->mtu_bytes < CHECK_MTU_MIN;

	lull_finding_add(findings, "MTU", small ? LULL_GRADE_WRONG : LULL_GRADE_FINE,
			 "%.80s: %u bytes, packets of %u", rail->text, facts->mtu_bytes,
			 rail->bundle.packet_bytes);
	if (small)
		lull_finding_remedy(findings, "ip link set dev IF mtu 1500, or leave it out");
}

static void
check_link(const struct channel_rail *rail, const struct channel_rail_facts *facts,
	   struct lull_findings *findings)
{
	bool slow = facts->mbps != 0 && facts->mbps < CHECK_MBPS_MIN;

	if (!facts->up) {
		lull_finding_add(findings, "link", LULL_GRADE_NOTE, "%.80s: the link is down",
				 rail->text);
		lull_finding_remedy(findings, "plug it in, or ip link set dev IF up; the channel "
					      "uses it as soon as it answers");
		return;
	}
	lull_finding_add(findings, "link", slow ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%.80s: up, %u Mb/s (0: not told)", rail->text, facts->mbps);
	if (slow)
		lull_finding_remedy(findings, "look at cable and switch: ethtool IF");
}

static void
check_ring(const struct channel_rail *rail, struct lull_findings *findings)
{
	bool small =
		rail->bundle.ring_pkts < CHECK_RING_PKTS && rail->bundle.kind < CHANNEL_KIND_PAIR;

	lull_finding_add(findings, "receive buffer", small ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%.80s: room for %u packets", rail->text, rail->bundle.ring_pkts);
	if (small)
		lull_finding_remedy(findings,
				    "sysctl -w net.core.rmem_max=8388608 (dpdk: the driver's "
				    "queue), or peers send slower than they could");
}

/* Pieces are as long as the shortest rail takes. */
static void
check_unequal(const struct lull_channel *channel, struct lull_findings *findings)
{
	const struct channel_rail *least = NULL, *most = NULL;

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];

		if (rail == NULL)
			continue;
		if (least == NULL || rail->bundle.packet_bytes < least->bundle.packet_bytes)
			least = rail;
		if (most == NULL || rail->bundle.packet_bytes > most->bundle.packet_bytes)
			most = rail;
	}
	if (least == NULL || least->bundle.packet_bytes + 64 >= most->bundle.packet_bytes)
		return;
	lull_finding_add(findings, "unequal MTU", LULL_GRADE_NOTE,
			 "%.80s takes packets of %u bytes, %.80s of %u: all get the shorter ones",
			 least->text, least->bundle.packet_bytes, most->text,
			 most->bundle.packet_bytes);
	lull_finding_remedy(findings, "give all rails one MTU, or leave the shorter one out");
}

/* Neighbours of a host with two addresses in a network reach both by either of its ports. */
static void
check_networks(const struct lull_channel *channel, struct lull_findings *findings)
{
	struct lull_net_ip ips[LULL_CHANNEL_RAILS_MAX];

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];

		if (rail == NULL || rail->bundle.kind != CHANNEL_KIND_IP4)
			continue;
		ips[i] = lull_net_ip_from4(rail->bundle.address.bytes);
		for (uint32_t k = 0; k < i; k++) {
			const struct channel_rail *other = channel->rails[k];

			if (other == NULL || other->bundle.kind != CHANNEL_KIND_IP4 ||
			    !lull_net_interface_same(&ips[k], &ips[i]))
				continue;
			lull_finding_add(findings, "network", LULL_GRADE_NOTE,
					 "%.80s and %.80s are in one IP network: packets for "
					 "either come in by both",
					 other->text, rail->text);
			lull_finding_remedy(findings,
					    "give each rail a network of its own, or sysctl -w "
					    "net.ipv4.conf.all.arp_ignore=1");
		}
	}
}

static void
check_security(const struct lull_channel *channel, struct lull_findings *findings)
{
	bool open = channel->config.security == LULL_CHANNEL_OPEN;

	lull_finding_add(findings, "security", open ? LULL_GRADE_NOTE : LULL_GRADE_FINE, "%s%s",
			 lull_channel_security_name(channel->config.security),
			 open ? ": anybody on these links can connect, read and forge" : "");
	if (open)
		lull_finding_remedy(findings, "lull channel key > FILE, and key_file on all nodes");
}

static void
check_core(const struct lull_channel *channel, struct lull_findings *findings)
{
	cpu_set_t allowed;
	int count = 1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		count = CPU_COUNT(&allowed);
	if (channel->polled && count == 1) {
		lull_finding_add(findings, "core", LULL_GRADE_NOTE,
				 "this process has one CPU, for the polling thread and all others");
		lull_finding_remedy(findings, "use kernel:IF, or give the process another CPU");
	} else if (channel->polled && channel->config.cpu == 0 && !channel->config.own_loop) {
		lull_finding_add(findings, "core", LULL_GRADE_NOTE,
				 "the thread is not pinned, so it shares CPUs with other threads");
		lull_finding_remedy(findings, "set cpu, and keep other programs off this CPU "
					      "(isolcpus, cpuset)");
	} else {
		lull_finding_add(findings, "core", LULL_GRADE_FINE, "%d CPUs for this process",
				 count);
	}
}

/* Pinned: another thread there, or a device far away? */
static void
check_pinned(const struct lull_channel *channel, int device_node, struct lull_findings *findings)
{
	int tid = channel->looped ? lull_loop_tid(&channel->loop) : 0;
	int cpu = channel->config.cpu - 1;
	char name[32];

	if (cpu < 0)
		return;
	check_cpu_near(cpu, lull_cpu_node(cpu), device_node, findings);
	if (!check_cpu_shared(cpu, tid, name, sizeof(name)))
		return;
	lull_finding_add(findings, "shared core", LULL_GRADE_NOTE,
			 "%s uses CPU %d too, all the time", name, cpu);
	lull_finding_remedy(findings,
			    "move it to another CPU (taskset, cpuset, isolcpus=%d), or set "
			    "another cpu",
			    cpu);
}

uint32_t
lull_channel_check(struct lull_channel *channel, struct lull_finding *lines, uint32_t count_max)
{
	struct lull_findings found = { .lines = lines, .count_max = count_max };
	int device_node = -1; /* of the first that tells */

	pthread_mutex_lock(&channel->rails_lock);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];
		struct channel_rail_facts facts;

		if (rail == NULL)
			continue;
		rail->way->facts(rail->state, &facts);
		check_mtu(rail, &facts, &found);
		check_link(rail, &facts, &found);
		check_ring(rail, &found);
		if (device_node < 0)
			device_node = facts.node - 1;
		if (rail->way->check != NULL)
			rail->way->check(rail->state, &found);
	}
	check_unequal(channel, &found);
	check_networks(channel, &found);
	check_security(channel, &found);
	check_core(channel, &found);
	check_pinned(channel, device_node, &found);
	pthread_mutex_unlock(&channel->rails_lock);
	return found.count;
}
