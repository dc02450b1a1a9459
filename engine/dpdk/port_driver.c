/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No virtual driver answers "how large is the Rx ring", and most of them ignore the descriptors
 * asked for. The zero-loss bound stands or falls with that number, so it is looked up here.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

#include "port.h"

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
lull_port_driver_hardware(const struct rte_eth_dev_info *info)
{
	return strcmp(rte_bus_name(rte_dev_bus(info->device)), "pci") == 0 &&
	       strcmp(info->driver_name, "net_virtio") != 0 &&
	       strcmp(info->driver_name, "net_vmxnet3") != 0;
}

uint32_t
lull_port_driver_ring(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *devargs = rte_dev_devargs(info->device);
	const char *args = devargs == NULL ? NULL : devargs->args;

	for (const struct port_driver *driver = port_drivers; driver->name != NULL; driver++) {
		uint32_t ring_pkts;

		if (strcmp(driver->name, info->driver_name) != 0)
			continue;
		if (driver->kernel_queue)
			return driver_kernel_queue(info->if_index, driver->otherwise);
		if (driver->argument == NULL)
			return driver->otherwise;
		ring_pkts = lull_port_driver_argument(args, driver->argument, driver->otherwise);
		return driver->log2 ? 1u << LULL_MIN(ring_pkts, 20u) : ring_pkts;
	}
	return 0;
}
