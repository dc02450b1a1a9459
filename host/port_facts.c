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

/*
 * What is known of drivers, by their sources in DPDK 22.11 (drivers/net/<name>/). A burst that is
 * short empties the ring ("exact") where the driver looks until there is nothing more:
 *
 * driver     | short burst          | ring                | info_get | queue_count | stats_get
 * -----------|----------------------|---------------------|----------|-------------|--------------
 * af_packet  | exact: stops at a    | framecnt frames     | no       | no          | sums of the
 *            | frame of the kernel  | (rte_eth_af_packet) |          |             | queues; losses
 *            |                      |                     |          |             | by socket
 * memif      | exact: all slots of  | 2^rsize             | no       | no          | sums
 *            | the ring             | (rte_eth_memif.c)   |          |             |
 * ring       | exact: rte_ring      | the ring's, which   | no       | no          | sums, misses
 *            |                      | others make         |          |             | none
 * null       | exact: always full   | none                | no       | no          | sums
 * tap        | exact: reads until   | tx_queue_len of the | no       | no          | sums
 *            | EAGAIN (rte_eth_tap) | interface           |          |             |
 * vhost      | exact: as many as    | the other side's    | no       | yes; a guest| sums
 *            | are on offer         |                     |          | gone logs   |
 * virtio,    | leaves: of more than | PCI: the device's,  | no       | no          | sums; no
 * virtio_user| 4 it ends at a cache | whatever was asked; |          |             | misses, the
 *            | line of descriptors, | fewer asked for     |          |             | device does
 *            | of 64 at most        | count; QEMU has 256 |          |             | not tell
 *            | (virtio_rxtx.c)      | user: queue_size    |          |             |
 * af_xdp     | leaves: what came    | 2048, of the socket | no       | no          | sums, and a
 *            | after its last look  | (rte_eth_af_xdp.c)  |          |             | getsockopt
 * i40e, ice, | leaves: hands out    | as asked            | yes, with| yes, 4 at a | 60 registers
 * ixgbe      | what an earlier look |                     | rearm    | time        |
 *            | has staged           |                     | threshold|             |
 * iavf       | likewise             | as asked            | yes      | yes         | admin queue,
 *            |                      |                     |          |             | steps of 1 ms
 *
 * A driver that has no row counts as one that leaves packets.
 */
struct port_driver {
	const char *name;
	const char *argument; /* device argument that sets the ring, NULL: none does */
	uint32_t otherwise;   /* the driver's default; 0: what was asked for */
	bool log2;            /* the argument is an exponent */
	bool kernel_queue;    /* the ring is the interface's queue in the kernel */
	bool asked_counts;    /* fewer descriptors asked for are fewer */
	bool exact;           /* a short burst means that the ring was empty */
};

static const struct port_driver port_drivers[] = {
	{ .name = "net_af_packet", .argument = "framecnt", .otherwise = 512, .exact = true },
	{ .name = "net_memif", .argument = "rsize", .otherwise = 10, .log2 = true, .exact = true },
	{ .name = "net_virtio_user", .argument = "queue_size", .otherwise = 256 },
	{ .name = "net_virtio", .otherwise = 256, .asked_counts = true },
	/* The other side chooses; nearly all choose 256. */
	{ .name = "net_vhost", .otherwise = 256, .exact = true },
	{ .name = "net_ring", .otherwise = 1023, .exact = true },
	{ .name = "net_tap", .otherwise = 500, .kernel_queue = true, .exact = true },
	{ .name = "net_null", .exact = true },
	{ .name = NULL },
};

/* NULL: not known. */
static const struct port_driver *
driver_find(const char *name)
{
	for (const struct port_driver *known = port_drivers; known->name != NULL; known++)
		if (strcmp(known->name, name) == 0)
			return known;
	return NULL;
}

bool
lull_port_driver_short_leaves(const struct lull_port_driver *driver)
{
	const struct port_driver *known = driver_find(driver->name);

	return known == NULL || !known->exact;
}

/* The virtual ones count themselves; ENA hears of its losses from the device, once a second. */
uint64_t
lull_port_driver_loss_lag_ns(const struct lull_port_driver *driver)
{
	return driver_find(driver->name) != NULL ? 0 : LULL_PORT_LOSS_LAG_NS;
}

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
lull_port_driver_ring(const struct lull_port_driver *driver, uint32_t asked_pkts)
{
	const struct port_driver *known = driver_find(driver->name);
	uint32_t ring_pkts;

	if (known == NULL || known->otherwise == 0)
		return 0;
	if (known->kernel_queue)
		return driver_kernel_queue(driver->if_index, known->otherwise);
	if (known->asked_counts && asked_pkts > 0)
		return LULL_MIN(asked_pkts, known->otherwise);
	if (known->argument == NULL)
		return known->otherwise;
	ring_pkts = lull_port_driver_argument(driver->args, known->argument, known->otherwise);
	return known->log2 ? 1u << LULL_MIN(ring_pkts, 20u) : ring_pkts;
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
		.ring_pkts = lull_port_driver_ring(driver, answer->asked_pkts),
		.link_pps = lull_link_pps(answer->link_mbps),
		.short_leaves = lull_port_driver_short_leaves(driver),
		.loss_lag_ns = lull_port_driver_loss_lag_ns(driver),
	};
	if (lull_port_driver_hardware(driver))
		facts->hardware_pps = facts->link_pps;
	if (facts->ring_pkts != 0)
		return;
	facts->ring_pkts = answer->desc_pkts != 0 ? answer->desc_pkts : answer->otherwise_pkts;
	if (facts->ring_pkts == 0)
		facts->ring_pkts = LULL_PORT_RING_LEAST;
	if (answer->rearm_pkts < answer->desc_pkts)
		facts->held_pkts = answer->rearm_pkts;
}
