/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No virtual driver answers "how large is the Rx ring", and most of them ignore the descriptors
 * asked for. The zero-loss bound stands or falls with that number, so it is looked up here.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "port_facts.h"

#define WIRE_BITS_MIN (84 * 8) /* 64 bytes, preamble and gap */

struct port_driver {
	const char *name;
	const char *argument; /* device argument that sets the ring, NULL: none does */
	uint32_t otherwise;   /* the driver's default */
	bool log2;            /* the argument is an exponent */
	bool kernel_queue;    /* the ring is the interface's queue in the kernel */
};

static const struct port_driver port_drivers[] = {
	{ .name = "net_af_packet", .argument = "framecnt", .otherwise = 512 },
	{ .name = "net_memif", .argument = "rsize", .otherwise = 10, .log2 = true },
	{ .name = "net_virtio_user", .argument = "queue_size", .otherwise = 256 },
	/* The other side chooses; nearly all choose 256. */
	{ .name = "net_vhost", .otherwise = 256 },
	{ .name = "net_ring", .otherwise = 1023 },
	{ .name = "net_tap", .otherwise = 500, .kernel_queue = true },
	{ .name = NULL },
};

uint32_t
lull_port_driver_argument(const char *args, const char *key, uint32_t otherwise)
{
	size_t length = strlen(key);

	for (; args != NULL && *args != '\0'; args += *args == ',') {
		if (strncmp(args, key, length) == 0 && args[length] == '=') {
			unsigned long value = strtoul(args + length + 1, NULL, 0);

			return value > 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
		}
		args += strcspn(args, ",");
	}
	return otherwise;
}

static uint32_t
driver_kernel_queue(unsigned int if_index, uint32_t otherwise)
{
	char name[IF_NAMESIZE], path[IF_NAMESIZE + 64];
	unsigned int length = 0;
	FILE *file;

	if (if_index == 0 || if_indextoname(if_index, name) == NULL)
		return otherwise;
	snprintf(path, sizeof(path), "/sys/class/net/%s/tx_queue_len", name);
	file = fopen(path, "re");
	if (file == NULL)
		return otherwise;
	if (fscanf(file, "%u", &length) != 1 || length == 0)
		length = otherwise;
	fclose(file);
	return length;
}

/* Paravirtual PCI devices name a link rate that limits nothing. */
bool
lull_port_driver_hardware(const struct lull_port_driver *driver)
{
	return strcmp(driver->bus, "pci") == 0 && strcmp(driver->name, "net_virtio") != 0 &&
	       strcmp(driver->name, "net_vmxnet3") != 0;
}

uint32_t
lull_port_driver_ring(const struct lull_port_driver *driver)
{
	for (const struct port_driver *known = port_drivers; known->name != NULL; known++) {
		uint32_t ring_pkts;

		if (strcmp(known->name, driver->name) != 0)
			continue;
		if (known->kernel_queue)
			return driver_kernel_queue(driver->if_index, known->otherwise);
		if (known->argument == NULL)
			return known->otherwise;
		ring_pkts =
			lull_port_driver_argument(driver->args, known->argument, known->otherwise);
		return known->log2 ? 1u << LULL_MIN(ring_pkts, 20u) : ring_pkts;
	}
	return 0;
}

uint64_t
lull_link_pps(uint32_t link_mbps)
{
	return link_mbps * 1000000ULL / WIRE_BITS_MIN;
}

/* What is known of a driver counts more than what it tells: the descriptors that were asked for. */
void
lull_port_facts(const struct lull_port_driver *driver, const struct lull_port_answer *answer,
		struct lull_ring_facts *facts)
{
	*facts = (struct lull_ring_facts){
		.count = 1,
		.ring_pkts = lull_port_driver_ring(driver),
		.link_pps = lull_link_pps(answer->link_mbps),
	};
	if (lull_port_driver_hardware(driver))
		facts->hardware_pps = facts->link_pps;
	if (facts->ring_pkts != 0)
		return;
	facts->ring_pkts = answer->desc_pkts != 0 ? answer->desc_pkts : answer->otherwise_pkts;
	if (answer->rearm_pkts < answer->desc_pkts)
		facts->held_pkts = answer->rearm_pkts;
}
