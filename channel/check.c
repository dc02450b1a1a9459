/* SPDX-License-Identifier: BSD-3-Clause */
/* The self-check: what would lose packets, make them slow, or let others in. */
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "check_rails.h"
#include "host/node.h"
#include "net/check_cpu.h"
#include "net/check_interrupts.h"
#include "net/finding.h"
#include "net/interface.h"
#include "state.h"

#define CHECK_CPUS 8 /* as many are looked at; with more one is free */

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

/* Not pinned: is any CPU of this process free? @p name: who uses the last one. */
static bool
check_all_shared(const cpu_set_t *allowed, int tid, char *name, size_t name_size)
{
	int looked = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, allowed))
			continue;
		if (looked++ == CHECK_CPUS || !check_cpu_shared(cpu, tid, name, name_size))
			return false;
	}
	return looked > 0;
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

static void
check_busy(const struct lull_channel *channel, int tid, struct lull_findings *findings)
{
	cpu_set_t allowed;
	char name[32];

	if (channel->config.cpu != 0 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
	    !check_all_shared(&allowed, tid, name, sizeof(name)))
		return;
	lull_finding_add(findings, "shared core", LULL_GRADE_NOTE,
			 "no CPU of this process is free: %s uses one of %d all the time", name,
			 CPU_COUNT(&allowed));
	lull_finding_remedy(findings, "end it or move it (taskset, cpuset), or pin the thread to "
				      "a CPU of its own by cpu");
}

/* Pinned: another thread there, or a device far away? */
static void
check_pinned(const struct lull_channel *channel, int tid, int device_node,
	     struct lull_findings *findings)
{
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

/* The kernel's interface in "kernel:IF,port=N" or "dpdk:af_packet=IF"; "": none. */
static void
check_interface(const char *text, char name[IF_NAMESIZE])
{
	const char *at = strstr(text, "=");

	if (strncmp(text, "dpdk:af_", 8) != 0)
		at = strncmp(text, "kernel", 6) == 0 ? strchr(text, ':') : NULL;
	snprintf(name, IF_NAMESIZE, "%.*s", at == NULL ? 0 : (int)strcspn(at + 1, ","),
		 at == NULL ? "" : at + 1);
}

static void
check_one(const struct lull_channel *channel, const struct channel_rail *rail,
	  const struct channel_rail_facts *facts, struct check_rail *seen, bool company,
	  struct lull_findings *findings)
{
	bool polled = channel->polled && channel->config.cpu > 0;
	char interface[IF_NAMESIZE];

	*seen = (struct check_rail){
		.text = rail->text,
		.mtu_bytes = facts->mtu_bytes,
		.packet_bytes = rail->bundle.packet_bytes,
		.mbps = facts->mbps,
		.ring_pkts = rail->bundle.ring_pkts,
		.up = facts->up,
		.own = rail->bundle.kind >= CHANNEL_KIND_PAIR,
	};
	check_rail(seen, findings);
	if (rail->way->check != NULL)
		rail->way->check(rail->state, findings);
	check_interface(rail->text, interface);
	if (company && interface[0] != '\0')
		check_interrupts("", interface, rail->text, polled ? channel->config.cpu - 1 : -1,
				 findings);
}

uint32_t
channel_check(struct lull_channel *channel, struct lull_finding *lines, uint32_t count_max,
	      bool company)
{
	struct lull_findings found = { .lines = lines, .count_max = count_max };
	int tid = channel->looped ? lull_loop_tid(&channel->loop) : 0;
	struct check_rail rails[LULL_CHANNEL_RAILS_MAX];
	int device_node = -1; /* of the first that tells */
	uint32_t count = 0;

	pthread_mutex_lock(&channel->rails_lock);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];
		struct channel_rail_facts facts;

		if (rail == NULL)
			continue;
		rail->way->facts(rail->state, &facts);
		check_one(channel, rail, &facts, &rails[count++], company, &found);
		if (device_node < 0)
			device_node = facts.node - 1;
	}
	check_rails(rails, count, &found);
	check_networks(channel, &found);
	check_security(channel, &found);
	check_core(channel, &found);
	if (company) {
		check_busy(channel, tid, &found);
		check_pinned(channel, tid, device_node, &found);
	}
	pthread_mutex_unlock(&channel->rails_lock);
	return found.count;
}

uint32_t
lull_channel_check(struct lull_channel *channel, struct lull_finding *lines, uint32_t count_max)
{
	return channel_check(channel, lines, count_max, true);
}
